"""WordPiece (Schuster & Nakajima 2012): the longest token that a word goes on with, again and again."""
