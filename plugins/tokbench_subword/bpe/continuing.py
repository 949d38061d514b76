"""Training that extends a vocabulary: it encodes text with the vocabulary, and then merges further pairs.

Old tokens keep their ids, and new merges follow the old ones, so text without any new token is encoded as
before. `continued_sizes` extends a tokenizer from a file (``bpe:base=``), which also prepares and cuts the
text. `learn_superwords` continues over longer stretches of text (``bpe:transition=``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench import LoadContext, Spec, Tokenizer, TrainingCorpus
from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench.family import Progress
from tokbench.kernels.pointers import PADDING
from tokbench.kernels.threads import threads_of
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import MOST_TOKENS, BpeModel, each_pair_once
from tokbench_subword.bpe.opening import files, load
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.pipeline.patterns.cutters import units_of
from tokbench_subword.training.chunks import learn_from_sequences
from tokbench_subword.training.counting import Utf8Buffer, blocks, count_blocks, filler
from tokbench_subword.training.session import MergeSession
from tokbench_subword.training.spelling import spelled
from tokbench_subword.training.stages import COUNTING_SHARE, stage
from tokbench_subword.training.superwords import MOST_WORDS
from tokbench_subword.training.ties import BYTES, HF, tie_rule

_OF_THE_BASE = (
    "pattern",
    "level",
    "end_of_word",
    "special_tokens",
    "initial_alphabet",
    "transition",
    "max_token_length",
)
_READ_AT_ONCE = 1 << 20  # characters of text


def learn_more(
    model: BpeModel,
    words: WordCounts,
    *,
    vocab_size: int,
    rule: int,
    minimum: int = 0,
    longest: int | None = None,
    forbidden: Sequence[bytes] = (),
    workers: int = 1,
    progress: Callable[[float], None] = lambda share: None,
) -> NDArray[np.int32]:
    """Learn merges that follow those of a byte-level `model`, from `words`: int32 ``(n, 3)``.

    Learning stops at `vocab_size` tokens. New tokens get the ids from ``len(model.vocabulary)`` on. The other
    options are those of `training.session.MergeSession`.
    """
    data = np.concatenate((words.data, np.zeros(PADDING, np.uint8)))
    spelled_words = _whole(model, workers).encode_utf8(data, words.starts)
    session = MergeSession(
        spelled_words.ids,
        spelled_words.offsets,
        words.counts,
        tokens=model.vocabulary,
        n_wanted=vocab_size,
        rule=rule,
        minimum=minimum * words.unit,
        longest=longest,
        forbidden=forbidden,
    )
    return session.run(progress)


def extended(model: BpeModel, learned: NDArray[np.int32]) -> BpeModel:
    """The model with the merges of `learn_more` after its own, and with their tokens.

    A merge of a pair that the model already has is left out, so text without new tokens is encoded as before.
    """
    merges = np.concatenate((model.merges, each_pair_once(learned)))
    n_own, ranks = len(model.merges), model.ranks
    _, first = np.unique(merges[:, :2], axis=0, return_index=True)
    kept = np.sort(first)
    if ranks is not None:
        ranks = np.append(ranks, ranks.max(initial=-1) + 1 + np.arange(len(merges) - n_own))[kept]
    vocabulary = tuple(spelled(model.vocabulary, learned))
    return replace(model, vocabulary=vocabulary, merges=merges[kept], ranks=ranks)


def learn_superwords(
    model: BpeModel,
    texts: Iterable[str],
    pattern: Pattern,
    *,
    vocab_size: int,
    workers: int = 1,
    counted: Callable[[int], None] = lambda n_bytes: None,
    **options: Any,
) -> NDArray[np.int32]:
    """Learn further merges, possibly superwords, from texts that are cut only by `pattern`; see `learn_more`.

    `counted` is called with the number of bytes read; other options are those of `learn_from_sequences`.
    """
    encoder, buffer, n_bytes = _whole(model, workers), Utf8Buffer(), 0
    (cutter,) = pattern.cutters
    batches = []
    for documents in blocks(texts, _READ_AT_ONCE):
        block = buffer.block(documents)
        units = units_of(block.texts.offsets)
        stretches, _ = cutter.cut(block.data, units[units[:, 0] < units[:, 1]])
        batches.append(encoder.encode_utf8(block.data, np.append(stretches[:, 0], block.ends[-1])))
        n_bytes += int(block.ends[-1])
        counted(n_bytes)
    return learn_from_sequences(
        batches, tokens=model.vocabulary, n_wanted=vocab_size, most_words=MOST_WORDS, **options
    )


def _whole(model: BpeModel, workers: int) -> BpeEncoder:
    """An encoder that cuts nothing and knows no special tokens."""
    return BpeEncoder(replace(model, pattern=Pattern("none"), special_tokens={}, dropout=0.0), threads=workers)


# --- from a file ------------------------------------------------------------------------------------------


def _filled(base: BpeTokenizer) -> BpeModel:
    """The model of `base` with an entry for each added id too, so that new tokens come after all of them."""
    known = base.model.vocabulary
    return replace(base.model, vocabulary=(*known, *[b""] * (base.vocab_size - len(known))))


def base_of(options: Mapping[str, Any]) -> BpeTokenizer:
    """The tokenizer to extend; raises `TokenizerError` if it or the options do not allow that."""
    path = str(options["base"])
    if options["parity"]:
        raise TokenizerError(f"bpe: base={path} and parity={options['parity']} cannot be combined")
    for name in _OF_THE_BASE:
        if options[name]:
            raise TokenizerError(f"bpe: base={path} already determines {name}; leave {name}= out")
    found = [file.stat() for file in files(Spec("bpe", path), LoadContext(Path()))]
    base = _opened(path, tuple((one.st_mtime_ns, one.st_size) for one in found))
    if not isinstance(base, BpeTokenizer) or base.model.level != "byte":
        kind = "a sentencepiece model" if not isinstance(base, BpeTokenizer) else "at character level"
        raise TokenizerError(f"bpe: base={path} is {kind}; only byte-level BPE can be extended")
    size, wanted = base.vocab_size, options["vocab_size"]
    if not size < wanted <= MOST_TOKENS:
        raise TokenizerError(
            f"bpe: vocab_size={wanted} must be above the {size} tokens of base={path}, at most {MOST_TOKENS}"
        )
    if tie_rule(options["ties"]) not in (HF, BYTES):
        raise TokenizerError(f"bpe: with base=, ties must be hf or bytes, not {options['ties']}")
    return base


@lru_cache(maxsize=1)
def _opened(path: str, files_as_they_are: tuple[tuple[int, int], ...]) -> Tokenizer:
    """The tokenizer at `path`, cached by its files' times and sizes: each part of a text asks for it."""
    return load(Spec("bpe", path), LoadContext(Path()))


def cut_of(base: BpeTokenizer) -> str:
    """A description of how `base` cuts text: counts with the same description are interchangeable."""
    document = base.document
    if base._preparation.compiled.leaves_text and base._preparation.pattern is not None:
        return f"pattern {base._preparation.pattern}"
    import hashlib

    said = repr((document.normalizer, document.pre_tokenizer, document.added_tokens))
    return f"file {hashlib.sha256(said.encode()).hexdigest()[:16]}"


def counted(
    base: BpeTokenizer,
    texts: Iterable[str] | WordCounts,
    workers: int,
    progress: Callable[[int], None] = lambda n_bytes: None,
) -> WordCounts:
    """Count the pre-tokens of `texts` as `base` cuts them, without added tokens."""
    pipeline = base._preparation.compiled
    fill = filler(pipeline.cutters, pipeline.segments)
    return count_blocks(texts, fill, workers=workers, progress=progress)


def continued_sizes(
    corpus: TrainingCorpus, options: Mapping[str, Any], sizes: Sequence[int], progress: Progress
) -> dict[int, BpeTokenizer]:
    """Extend the base that the options name: tokenizers by size, for those sizes that are above the base's."""
    base = base_of(options)
    workers, filled = threads_of(options), _filled(base)
    counting = stage(progress, "counting", 0.0, COUNTING_SHARE, of=corpus.n_bytes)
    merges = learn_more(
        replace(filled, special_tokens={}),
        counted(base, corpus.source(cut_of(base)), workers, counting),
        vocab_size=options["vocab_size"],
        rule=tie_rule(options["ties"]),
        minimum=options["min_frequency"],
        forbidden=[token.content.encode() for token in base.document.added_tokens],
        workers=workers,
        progress=stage(progress, "merging", COUNTING_SHARE, 1.0),
    )
    highest = np.maximum.accumulate(merges[:, 2])
    return {
        size: base.changed(model=extended(filled, merges[: np.count_nonzero(highest < size)]), source="")
        for size in sizes
        if size > base.vocab_size
    }
