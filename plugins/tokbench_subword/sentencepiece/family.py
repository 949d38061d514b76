"""The family `unigram`: its options, and how it is trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from tokbench import Option, Tokenizer, TokenizerError, TokenizerFamily, TrainingCorpus
from tokbench.counts import Counting, WordCounts
from tokbench.family import Progress
from tokbench.kernels.threads import THREADS, threads_of
from tokbench.vocabulary_files import names_to_train
from tokbench_subword.files import formats
from tokbench_subword.sentencepiece.opening import files, load, recognises
from tokbench_subword.sentencepiece.rules import RULES
from tokbench_subword.words.cache_size import CACHE, cache_bytes

if TYPE_CHECKING:
    from tokbench_subword.sentencepiece.trainer import TrainingOptions

_OPTIONS = (
    Option("vocab_size", "int", 8000, "Training: number of pieces, including special ones and characters."),
    Option("normalizer", "str", "nmt_nfkc", "Training: the normalization rule.", choices=RULES),
    Option("add_dummy_prefix", "bool", True, "Training: put a space before every text."),
    Option("remove_extra_whitespaces", "bool", True, "Training: collapse runs of spaces, and trim the ends."),
    Option("byte_fallback", "bool", False, "Training: spell unknown characters in bytes (256 pieces)."),
    Option("character_coverage", "float", 0.9995, "Training: the share of characters that get a piece."),
    Option("max_piece_length", "int", 16, "Training: the longest piece, in characters."),
    Option("seed_size", "int", 1_000_000, "Training: number of substrings in the seed vocabulary."),
    Option("shrinking_factor", "float", 0.75, "Training: the share of pieces kept at each pruning."),
    Option("sub_iterations", "int", 2, "Training: EM iterations between prunings."),
    Option("split_by_script", "bool", True, "Training: no piece mixes scripts, or letters with digits."),
    Option("unk_token", "str", "<unk>", "Training: the unknown token, id 0."),
    Option("bos_token", "str", "<s>", "Training: the beginning-of-text token; empty for none."),
    Option("eos_token", "str", "</s>", "Training: the end-of-text token; empty for none."),
    Option("special_tokens", "str", "", "Training: further control symbols, separated by spaces."),
    Option("user_symbols", "str", "", "Training: symbols that are never split, separated by spaces."),
    Option(
        "match_special",
        "bool",
        False,
        "For a tokenizer.json or a class: encode the text of a special token as that token, not as text.",
    ),
    CACHE,
    THREADS,
)


def _settings(options: Mapping[str, Any]) -> TrainingOptions:
    from tokbench_subword.sentencepiece.trainer import TrainingOptions

    names = names_to_train(options["special_tokens"], where="unigram")
    lists = {"special_tokens": tuple(names), "user_symbols": tuple(options["user_symbols"].split())}
    chosen = {**options, **lists, "threads": threads_of(options)}
    if chosen.pop("match_special", False):
        raise TokenizerError("unigram: match_special is for loading a tokenizer.json, not for training")
    chosen.pop("cache", None)  # only for encoding
    settings = TrainingOptions(**chosen)
    settings.check()
    return settings


def _check(options: Mapping[str, Any]) -> None:
    """Raise `TokenizerError` for options that make training impossible."""
    settings = _settings(options)
    least = len(settings.meta_pieces()) + 1
    if settings.vocab_size < least:
        raise TokenizerError(
            f"unigram: vocab_size={settings.vocab_size} is less than {least - 1} pieces that are given and "
            f"one character; ask for at least {least}"
        )


def _cut(options: Mapping[str, Any]) -> str:
    from tokbench_subword.sentencepiece.trainer import cut_of

    return cut_of(_settings(options))


def _counted(texts: Iterable[str], options: Mapping[str, Any]) -> WordCounts:
    from tokbench_subword.sentencepiece.trainer import counted

    return counted(texts, _settings(options))


def train(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Tokenizer:
    """Train on the documents of `corpus`, or on its counts."""
    from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
    from tokbench_subword.sentencepiece.trainer import train_unigram

    settings = _settings(options)
    model = train_unigram(corpus.source(_cut(options)), settings, progress, corpus.n_bytes)
    cache = cache_bytes(options["cache"], where="unigram")
    return cast(Tokenizer, SpmTokenizer(f"unigram:vocab_size={settings.vocab_size}", model, cache=cache))


UNIGRAM = TokenizerFamily(
    name="unigram",
    summary="Unigram language model, in-house: sentencepiece .model, tokenizer.json, sampling, training",
    load=load,
    options=_OPTIONS,
    variant="a sentencepiece .model, a tokenizer.json of the type Unigram, a .gguf, or a folder with one",
    train=train,
    check=_check,
    trained_suffix=".model",
    loads_with=("cache",),
    recognises=recognises,
    saved_as=formats.UNIGRAM,
    counting=Counting(_cut, _counted),
    files=files,
    libraries=("numba", "numpy", "sentencepiece"),
    examples=("unigram:vocab_size=8k", "unigram:spiece.model", "unigram:tokenizer.json"),
)
