"""WordPiece (Schuster & Nakajima 2012): words are split by repeated longest match from the left."""
