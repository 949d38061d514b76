"""Moved to `tokbench_subword.files.sentencepiece_model`."""

from tokbench_subword.files.sentencepiece_model import *  # noqa: F403
