"""Training by merges: words and their counts, and the merge loop over them, for every trainer that merges."""
