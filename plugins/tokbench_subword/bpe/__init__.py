"""Byte-pair encoding: patterns, model, encoder, trainer, file formats."""
