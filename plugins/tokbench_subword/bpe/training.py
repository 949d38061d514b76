"""How the family `bpe` is trained: its options as `trainer` wants them, and counts in place of text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tokbench import TrainingCorpus
from tokbench.counts import Counting, WordCounts
from tokbench.errors import CorpusError, UnknownNameError, nearest
from tokbench.kernels.threads import usable_cores
from tokbench.tokenizer import Progress
from tokbench_subword.files.special_tokens import names_to_train
from tokbench_subword.pipeline.sizes import check_size

if TYPE_CHECKING:
    from tokbench_subword.bpe.model import BpeModel, Level
    from tokbench_subword.bpe.patterns import Pattern
    from tokbench_subword.bpe.trainer import Learned

_UNKNOWN = ("<unk>", "[UNK]", "<UNK>")
"""Special tokens that, at character level, stand for characters the vocabulary lacks."""


def named_pattern(text: str, *, dialect: Any = "oniguruma", keep_gaps: bool = True) -> Pattern:
    """The pattern that a spec names; raises `UnknownNameError` for a word that looks like a misspelt name."""
    from tokbench_subword.bpe.patterns import NAMED, Pattern

    names = [*NAMED, "none"]
    if text not in names and re.fullmatch(r"[\w-]+", text) and nearest(text, names):
        raise UnknownNameError.of("pattern", text, names, hint="A regular expression may say how to cut, too")
    return Pattern.of(text, dialect=dialect, keep_gaps=keep_gaps)


def pattern_of(options: Mapping[str, Any]) -> Pattern:
    """How the text of a training is cut."""
    end_of_word = options["end_of_word"]
    text = options["pattern"] or ("whitespace" if end_of_word else "gpt2")
    if end_of_word and text == "whitespace":
        text = r"\S+"  # a word's end says where white space was: it is not itself a token
    return named_pattern(text, keep_gaps=not end_of_word)


def _cut(options: Mapping[str, Any]) -> str:
    pattern = pattern_of(options)
    return f"pattern {pattern}" + ("" if pattern.keep_gaps else " matches alone")


def _counted(texts: Iterable[str], options: Mapping[str, Any]) -> WordCounts:
    from tokbench_subword.bpe.counting import count_pretokens

    return count_pretokens(texts, pattern_of(options), workers=options["threads"] or usable_cores())


COUNTING = Counting(_cut, _counted)


def trained(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> BpeModel:
    """A model trained on a corpus, text or counts."""
    return _with_unknown(_learned(corpus, options, progress).model(options["vocab_size"]))


def trained_sizes(
    corpus: TrainingCorpus, options: Mapping[str, Any], sizes: Sequence[int], progress: Progress
) -> dict[int, BpeModel]:
    """The models of several sizes by one training, of the largest: each as trained for itself.

    Sizes that leave no room for the alphabet are left out.
    """
    learned = _learned(corpus, {**options, "vocab_size": max(sizes)}, progress)
    least = len(learned.special) + len(learned.tokens)
    return {size: _with_unknown(learned.model(size)) for size in sizes if size >= least}


def _with_unknown(model: BpeModel) -> BpeModel:
    """The model with the unknown token that its special tokens name, at character level."""
    unk = next((index for text, index in model.special_tokens.items() if text in _UNKNOWN), None)
    return replace(model, unk=unk) if model.level == "char" and unk is not None else model


def _learned(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Learned:
    """What a training learns; see `trainer.learn_from` for what the options do."""
    from tokbench_subword.bpe.trainer import learn_from

    check_size("bpe", options["vocab_size"])
    end_of_word = options["end_of_word"]
    level: Level = options["level"] or ("char" if end_of_word else "byte")
    alphabet = options["initial_alphabet"]
    if corpus.counted and options["ties"] == "first_seen":
        raise CorpusError(
            f"bpe: ties=first_seen asks where pairs come first, and {corpus.dataset.name} does not tell; "
            "train on the text, or with other ties"
        )
    return learn_from(
        corpus.source(_cut(options)),
        vocab_size=options["vocab_size"],
        pattern=pattern_of(options),
        ties=options["ties"],
        min_frequency=options["min_frequency"],
        special_tokens=names_to_train(options["special_tokens"] or "", where="bpe"),
        initial_alphabet=None if alphabet is None else list(alphabet),
        max_token_length=options["max_token_length"],
        end_of_word=end_of_word,
        level=level,
        workers=options["threads"] or usable_cores(),
        n_bytes=corpus.n_bytes,
        progress=progress,
    )
