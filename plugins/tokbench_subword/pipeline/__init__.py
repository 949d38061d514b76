"""What stands around a subword model: added tokens, normalizers, pre-tokenizers, decoders, `tokenizer.json`."""
