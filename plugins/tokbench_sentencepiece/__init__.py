"""tokbench_sentencepiece."""
