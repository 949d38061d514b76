"""Moved to `tokbench_subword.files.tokenizer_json`."""

from tokbench_subword.files.tokenizer_json import *  # noqa: F403
