"""What the specs of the family `bpe` can say."""

from __future__ import annotations

from tokbench import Option
from tokbench.kernels.threads import THREADS
from tokbench_subword.words.cache_size import CACHE

TRAINING_ONLY = (
    "vocab_size",
    "ties",
    "min_frequency",
    "initial_alphabet",
    "max_token_length",
    "transition",
    "base",
    "parity",
    "parity_window",
    "parity_alpha",
    "global_merges",
    "ratios",
    "development",
    "level",
    "threads",
)

OF_PARITY = {
    "parity_window": ("window",),
    "parity_alpha": ("window",),
    "global_merges": ("base", "window"),
    "ratios": ("base", "window"),
    "development": ("base", "window"),
}
"""Options that say how parity-aware training goes, and with which kind of it each does something."""

OPTIONS = (
    Option("vocab_size", "int", 8000, "Training: tokens in all, special tokens and the alphabet included."),
    Option(
        "pattern",
        "str",
        None,
        "How text is cut before merging: gpt2, cl100k, llama3, qwen2, o200k, whitespace, none, or a regular "
        "expression. Not set: gpt2; whitespace where end_of_word is given. For tiktoken's ranks it must "
        "be given.",
    ),
    Option(
        "ties",
        "str",
        "hf",
        "Training: which of equally frequent pairs goes first: as tokenizers, by bytes, as sentencepiece, or "
        "the one seen first.",
        choices=("hf", "bytes", "lexicographic", "first_seen"),
    ),
    Option("min_frequency", "int", 0, "Training: pairs seen less often are not merged."),
    Option("end_of_word", "str", None, "Training: what marks the end of a word, as </w>; means level=char."),
    Option("level", "str", None, "Training: byte or char. Not set: byte.", choices=("byte", "char")),
    Option(
        "special_tokens",
        "str",
        "",
        "Special tokens, separated by spaces: text=id, or a text alone, which gets the next id; or a JSON file "
        "{text: id}. In training texts alone: they get the first ids.",
    ),
    Option(
        "initial_alphabet",
        "str",
        None,
        "Training: characters that are tokens from the start. Not set: all bytes at level=byte, those seen at "
        "level=char.",
    ),
    Option("max_token_length", "int", None, "Training: no token of more symbols than this."),
    Option(
        "base",
        "str",
        None,
        "Training: a tokenizer's file to go on from: its tokens keep their ids, new merges follow its own.",
    ),
    Option(
        "transition",
        "int",
        None,
        "Training: the size from which on tokens may be of several words (SuperBPE). Not set: none is.",
    ),
    Option(
        "parity",
        "str",
        None,
        "Training: merge for the language that is worst off (parity-aware BPE); window: none too often.",
        choices=("base", "window"),
    ),
    Option("parity_window", "int", 100, "Training, parity=window: of how many last merges shares are taken."),
    Option("parity_alpha", "float", 2.0, "Training, parity=window: the most of it, in even shares."),
    Option("global_merges", "int", 0, "Training, parity: so many merges first that are best for all text."),
    Option("ratios", "str", None, "Training, parity: compression aimed at, as eng_Latn=1+hin_Deva=2.6."),
    Option(
        "development",
        "str",
        None,
        "Training, parity: a folder of LANGUAGE.txt, aligned, whose tokens say which language is worst off.",
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
