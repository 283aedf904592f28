"""What the app can do, a module per feature: each brings its commands, and its screens where it has any."""
