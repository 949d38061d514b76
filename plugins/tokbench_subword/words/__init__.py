"""Text to ids word by word, whatever the model: from the word cache (`slots`, `cache`), or by its search."""
