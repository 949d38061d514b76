"""What every compiled algorithm here stands on: pointers, hashing, UTF-8, code-point classes."""
