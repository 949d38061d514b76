"""tokbench_tiktoken."""
