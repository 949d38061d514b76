"""What `tokbench lint` checks of patterns and merges: they are this plugin's own subject."""
