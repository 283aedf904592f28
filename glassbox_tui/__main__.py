"""`python -m glassbox_tui` is `glassbox-tui`."""

import sys

from glassbox_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
