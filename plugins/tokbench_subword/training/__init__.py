"""Training by merges: counting words, and the merge loop over them, shared by all trainers that merge."""
