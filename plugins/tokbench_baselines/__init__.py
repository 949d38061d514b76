"""tokbench_baselines."""
