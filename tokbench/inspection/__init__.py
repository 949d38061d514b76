"""Looking into tokenizers: their tokens in a text, facts, vocabularies, and where two of them part."""
