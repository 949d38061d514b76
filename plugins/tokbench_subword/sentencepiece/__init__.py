"""sentencepiece's models, Unigram and BPE, from file to ids and back; and the family `unigram`."""
