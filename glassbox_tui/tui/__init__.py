"""The app: the only room that knows textual. Workers post frozen events, one state is rendered, widgets only draw."""
