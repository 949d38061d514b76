"""What no tally tells: vocabularies, passages, pairs that claim to be the same, text that was trained on."""
