"""The gate before training and before deploying: named checks of a tokenizer, each with a stable code."""
