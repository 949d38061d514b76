"""Golden packs: texts with the ids that a tokenizer gives, to test any other implementation of it against."""
