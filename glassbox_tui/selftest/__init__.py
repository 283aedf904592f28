"""The invariants, runnable by anyone: `glassbox-tui selftest`."""
