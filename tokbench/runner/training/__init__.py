"""The tokenizers of a run made ready: trained where they have to be, loaded once, described."""
