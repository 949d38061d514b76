"""The files that tokenizers come in: each format is recognised by its content, and read and written once."""
