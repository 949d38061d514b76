"""tokbench_transformers."""
