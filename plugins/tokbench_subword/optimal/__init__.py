"""Tokenizers whose vocabularies are selected for few tokens: PathPiece, GreedTok and PickyBPE."""
