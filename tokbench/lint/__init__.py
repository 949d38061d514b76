"""Checks of a tokenizer before a model is trained with it or served, each with a stable code."""
