"""Unigram language models (Kudo 2018), and everything sentencepiece: its `.model` files, normaliser and BPE."""
