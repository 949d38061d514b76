"""The checks of patterns and merges for `tokbench lint`."""
