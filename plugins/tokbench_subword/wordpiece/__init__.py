"""wordpiece."""
