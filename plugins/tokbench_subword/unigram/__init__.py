"""Unigram language models (Kudo 2018): search, sampling, estimation, and the `tokenizer.json`."""
