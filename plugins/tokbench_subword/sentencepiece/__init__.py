"""sentencepiece's models, Unigram and BPE: reading, encoding, decoding, writing; and the family `unigram`."""
