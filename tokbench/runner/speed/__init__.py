"""The speed pass: text is chosen, every tokenizer timed on it in turn in a process of its own, figures made."""
