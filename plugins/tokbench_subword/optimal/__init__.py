"""Vocabularies chosen for how few tokens they make: PathPiece, GreedTok, and BPE that takes tokens back."""
