"""Encodes text word by word, for any model: ids come from the word cache (`slots`, `cache`) or its search."""
