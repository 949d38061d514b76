"""The live page: type, and see every tokenizer at work (`tokbench serve`)."""
