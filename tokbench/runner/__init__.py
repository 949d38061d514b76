"""The runner: from a suite to a run folder. Importing this package is cheap; the work is in its modules."""
