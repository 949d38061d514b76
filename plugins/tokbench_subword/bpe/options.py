"""The options of the family `bpe`, and the pattern and level that they select for training."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tokbench import Option
from tokbench.errors import UnknownNameError
from tokbench.kernels.threads import THREADS
from tokbench_subword.words.cache_size import CACHE

if TYPE_CHECKING:
    from tokbench_subword.bpe.model import Level
    from tokbench_subword.pipeline.patterns import Pattern

OF_PARITY = {
    "parity_window": ("window",),
    "parity_alpha": ("window",),
    "global_merges": ("base", "window"),
    "ratios": ("base", "window"),
    "development": ("base", "window"),
}
"""The options of parity-aware training, and the values of `parity` with which each has an effect."""

OPTIONS = (
    Option("vocab_size", "int", 8000, "Training: tokens in all, special tokens and the alphabet included."),
    Option(
        "pattern",
        "str",
        None,
        "How text is cut before merging: gpt2, cl100k, llama3, qwen2, o200k, whitespace, none, an "
        "encoding of tiktoken (o200k_base), or a regular expression. Not set: gpt2; whitespace if end_of_word "
        "is given. For tiktoken's ranks it must be given.",
    ),
    Option(
        "ties",
        "str",
        "hf",
        "Training: which of several equally frequent pairs is merged first: as in tokenizers, by bytes, as in "
        "sentencepiece, or the one seen first.",
        choices=("hf", "bytes", "lexicographic", "first_seen"),
    ),
    Option("min_frequency", "int", 0, "Training: pairs seen less often are not merged."),
    Option("end_of_word", "str", None, "Training: the end-of-word suffix, such as </w>; implies level=char."),
    Option("level", "str", None, "Training: byte or char. Not set: byte.", choices=("byte", "char")),
    Option(
        "special_tokens",
        "str",
        "",
        "Special tokens, separated by spaces: text=id, or a text without id, which gets the next one; or a "
        "JSON file {text: id}. In training, only texts; they get the first ids.",
    ),
    Option(
        "initial_alphabet",
        "str",
        None,
        "Training: characters that are tokens from the start. Not set: all bytes at level=byte, the characters "
        "seen at level=char.",
    ),
    Option(
        "max_token_length",
        "int",
        None,
        "Training: a merged token has fewer symbols than this, or two, as in tokenizers.",
    ),
    Option(
        "base",
        "str",
        None,
        "Training: a tokenizer file to extend: its tokens keep their ids, and new merges follow its own.",
    ),
    Option(
        "transition",
        "int",
        None,
        "Training: above this vocabulary size, tokens may span several words (SuperBPE). Not set: never.",
    ),
    Option(
        "parity",
        "str",
        None,
        "Training: merge for the language that is worst off (parity-aware BPE); window: no language too often.",
        choices=("base", "window"),
    ),
    Option("parity_window", "int", 100, "Training, parity=window: how many recent merges the window has."),
    Option("parity_alpha", "float", 2.0, "Training, parity=window: each language's limit, in even shares."),
    Option("global_merges", "int", 0, "Training, parity: how many merges of plain BPE on all text come first."),
    Option("ratios", "str", None, "Training, parity: target compression, such as eng_Latn=1+hin_Deva=2.6."),
    Option(
        "development",
        "str",
        None,
        "Training, parity: a folder of parallel texts, LANGUAGE.txt; most tokens there means worst off.",
    ),
    THREADS,
    Option("dropout", "float", None, "Leave out each merge with this probability (BPE-dropout), seeded."),
    Option(
        "encoding",
        "str",
        "bpe",
        "bpe applies the merges; greedy takes the longest token at each place.",
        choices=("bpe", "greedy"),
    ),
    Option(
        "match_special",
        "bool",
        False,
        "Encode the text of a special token as that token. Otherwise it is ordinary text.",
    ),
    CACHE,
)

_OF_FILES = ("pattern", "special_tokens", "dropout", "encoding", "match_special", "cache")
TRAINING_ONLY = tuple(option.name for option in OPTIONS if option.name not in _OF_FILES)
"""Options that a tokenizer loaded from a file does not accept."""

ENCODINGS = {
    **dict.fromkeys(("r50k_base", "p50k_base", "p50k_edit"), "gpt2"),
    "cl100k_base": "cl100k",
    **dict.fromkeys(("o200k_base", "o200k_harmony"), "o200k"),
}
"""Encodings of tiktoken, and the pattern that each cuts by."""


def named_pattern(text: str, *, dialect: Any = "oniguruma", keep_gaps: bool = True) -> Pattern:
    """The pattern for a pattern's name, an encoding of tiktoken, or a regular expression.

    Raises `UnknownNameError` for any other single word: as a regular expression it would match only itself.
    """
    from tokbench_subword.pipeline.patterns import NAMED, Pattern

    text, names = ENCODINGS.get(text, text), [*NAMED, "none"]
    if text not in names and re.fullmatch(r"[\w-]+", text):
        hint = f"A regular expression is possible, too; write (?:{text}) if that word is meant as one"
        raise UnknownNameError.of("pattern", text, names, hint=hint)
    return Pattern.of(text, dialect=dialect, keep_gaps=keep_gaps)


def pattern_of(options: Mapping[str, Any]) -> Pattern:
    """The pattern that cuts the text of a training."""
    end_of_word = options["end_of_word"]
    text = options["pattern"] or ("whitespace" if end_of_word else "gpt2")
    if end_of_word and text == "whitespace":
        text = r"\S+"  # the end-of-word suffix replaces white space, which is not part of any token
    return named_pattern(text, keep_gaps=not end_of_word)


def cut_by(pattern: Pattern) -> str:
    """A description of the cutting: pre-token counts with the same description are interchangeable."""
    return f"pattern {pattern}" + ("" if pattern.keep_gaps else " matches alone")


def level_of(options: Mapping[str, Any]) -> Level:
    """Whether the first symbols are bytes or characters."""
    return options["level"] or ("char" if options["end_of_word"] else "byte")
