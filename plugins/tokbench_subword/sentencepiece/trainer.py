"""Training a unigram model: words, seeds, EM and pruning, and the model of the size asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench.family import Progress
from tokbench.kernels.threads import kept_threads
from tokbench_subword.files import sentencepiece_model as spm
from tokbench_subword.pipeline.patterns.cutters import cutter_of, joined_cutters
from tokbench_subword.pipeline.patterns.tree import quoted
from tokbench_subword.sentencepiece.charsmap import SPACE_SYMBOL, compile_normalizer, to_internal
from tokbench_subword.sentencepiece.rules import charsmap_of
from tokbench_subword.training.counting import count_blocks, filler
from tokbench_subword.training.stages import stage
from tokbench_subword.training.word_table import chosen_words
from tokbench_subword.unigram.path_tokens import byte_piece
from tokbench_subword.unigram.train_edges import find_edges
from tokbench_subword.unigram.train_em import estimate
from tokbench_subword.unigram.train_seeds import SPACE_SCRIPT, SeedPieces, find_seeds, scripts_of
from tokbench_subword.unigram.train_text import Text, character_counts, covering, lay_out

_OVERSHOOT = 1.1  # EM stops at this multiple of the size; then the lowest scores go, as in sentencepiece


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """Training options. Sizes count pieces, lengths count characters; the defaults are sentencepiece's.

    `special_tokens` are control symbols (never matched in text), after `unk_token`, `bos_token` and `eos_token`
    (empty: none); `user_symbols` are matched everywhere.
    """

    vocab_size: int = 8000
    normalizer: str = "nmt_nfkc"
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    byte_fallback: bool = False
    character_coverage: float = 0.9995
    max_piece_length: int = 16
    seed_size: int = 1_000_000
    shrinking_factor: float = 0.75
    sub_iterations: int = 2
    split_by_script: bool = True
    unk_token: str = "<unk>"
    bos_token: str = "<s>"
    eos_token: str = "</s>"
    special_tokens: Sequence[str] = ()
    user_symbols: Sequence[str] = ()
    threads: int = 1

    def check(self) -> None:
        """Raise `TokenizerError` for options that are out of range or contradict each other."""
        for name, low, high in (
            ("vocab_size", 1, 1 << 22),
            ("max_piece_length", 1, 512),
            ("seed_size", 1, 1 << 28),
            ("sub_iterations", 1, 10),
            ("threads", 1, 1024),
            ("shrinking_factor", 0.1, 0.99),
            ("character_coverage", 0.5, 1.0),
        ):
            if not low <= getattr(self, name) <= high:
                raise TokenizerError(f"unigram: {name} must lie in {low}..{high}, not {getattr(self, name)}")
        meta = [piece.text for piece in self.meta_pieces()]
        for text in meta:
            if not text or "\0" in text:
                raise TokenizerError(f"unigram: a special token or symbol cannot be {text!r}")
            if meta.count(text) > 1:
                raise TokenizerError(f"unigram: the token {text!r} is asked for twice")
        if not self.unk_token:
            raise TokenizerError("unigram: there must be an unknown token")

    def meta_pieces(self) -> list[spm.Piece]:
        """The pieces that are given, not learnt, in the order of their ids."""
        named = [self.bos_token, self.eos_token, *self.special_tokens]
        pieces = [spm.Piece(self.unk_token, 0.0, spm.UNKNOWN)]
        pieces += [spm.Piece(token, 0.0, spm.CONTROL) for token in named if token]
        pieces += [spm.Piece(symbol, 0.0, spm.USER_DEFINED) for symbol in self.user_symbols]
        if self.byte_fallback:
            pieces += [spm.Piece(byte_piece(byte), 0.0, spm.BYTE) for byte in range(256)]
        return pieces


def train_unigram(
    texts: Iterable[str] | WordCounts,
    options: TrainingOptions,
    progress: Progress = lambda done, what: None,
    n_bytes: int = 0,
) -> spm.SpmModel:
    """The model of `options.vocab_size` pieces learnt from `texts`, or from `counted` words.

    It is the same for any number of threads, and has fewer pieces if the text does not yield enough. `n_bytes`
    is the expected size of the text, for progress. Raises `TokenizerError` if the size is smaller than the
    alphabet.

    Example:
        >>> model = train_unigram(["the cat and the hat", "a cat, a hat"] * 4, TrainingOptions(vocab_size=16))
        >>> len(model.pieces), model.pieces[0].text
        (16, '<unk>')
    """
    options.check()
    with kept_threads(options.threads):
        return _train(texts, options, progress, n_bytes)


def _train(
    texts: Iterable[str] | WordCounts, options: TrainingOptions, progress: Progress, n_bytes: int
) -> spm.SpmModel:
    normalizer_spec = _normalizer_spec(options)
    meta = options.meta_pieces()
    words = counted(texts, options, stage(progress, "counting words", 0.0, 0.3, of=n_bytes))
    if not len(words):
        raise TokenizerError(
            "unigram: there is no text to train on: the corpus is empty, or nothing but spaces"
        )
    learnt = options.vocab_size - len(meta)
    points, totals = _alphabet(words, options, learnt, len(meta))
    text = lay_out(words, points, options.max_piece_length)
    progress(0.3, "seeds")
    scripts = scripts_of(points)
    if not options.split_by_script:
        scripts = np.where(scripts == SPACE_SCRIPT, scripts, 0).astype(np.int32)
    limits = options.max_piece_length, options.seed_size
    seeds, occurrences = find_seeds(text, totals, scripts, *limits, options.threads)
    progress(0.4, "edges")
    edges = find_edges(text, seeds, occurrences, options.threads)
    start = len(seeds)

    def report(size: int) -> None:
        share = 1.0 if start <= learnt else np.log(start / max(size, 1)) / np.log(start / max(learnt, 1))
        progress(0.4 + 0.59 * float(min(1.0, max(0.0, share))), f"{size:,} pieces")

    pieces = estimate(
        text,
        edges,
        seeds,
        target=int(options.vocab_size * _OVERSHOOT),
        shrinking_factor=options.shrinking_factor,
        sub_iterations=options.sub_iterations,
        threads=options.threads,
        progress=report,
    )
    chosen = _choose(text, pieces, learnt)
    progress(1.0, "done")
    return spm.SpmModel((*meta, *chosen), _trainer_spec(options, len(meta) + len(chosen)), normalizer_spec)


def _normalizer_spec(options: TrainingOptions) -> spm.NormalizerSpec:
    charsmap = charsmap_of(options.normalizer)
    spaces = options.add_dummy_prefix, options.remove_extra_whitespaces
    return spm.NormalizerSpec(options.normalizer, charsmap, *spaces)


def counted(
    texts: Iterable[str] | WordCounts,
    options: TrainingOptions,
    progress: Callable[[int], None] = lambda n_bytes: None,
) -> WordCounts:
    """The words of `texts` with their counts, for training; `texts` may be word counts already.

    Documents are normalized as `options` say and cut before each space. Given pieces separate words, and are
    left out. Words are in internal form; their order does not depend on the order of documents. `progress` gets
    the number of bytes read.
    """
    normalizer = compile_normalizer(_normalizer_spec(options), symbols=options.user_symbols)
    apart = [to_internal(piece.text, True).decode() for piece in options.meta_pieces()]
    longest_first = "|".join(map(quoted, sorted(apart, key=len, reverse=True)))
    removed = cutter_of(longest_first, "oniguruma", "Removed")
    cutters = joined_cutters([removed, cutter_of(" ", "oniguruma", "MergedWithNext")])
    fill = filler(cutters, normalizer.segments)
    return sorted_words(count_blocks(texts, fill, workers=options.threads, progress=progress))


def sorted_words(words: WordCounts) -> WordCounts:
    """The words sorted by count, the highest first, then by bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    buffers = [None, pa.py_buffer(words.starts), pa.py_buffer(words.data)]
    spelled = pa.Array.from_buffers(pa.large_binary(), len(words), buffers)
    table = pa.table({"count": words.counts, "word": spelled})
    order = pc.sort_indices(table, sort_keys=[("count", "descending"), ("word", "ascending")])
    return chosen_words(words, order.to_numpy())


def cut_of(options: TrainingOptions) -> str:
    """A name made of all options that affect word counts: counts with the same name give equal models."""
    named = ("normalizer", "add_dummy_prefix", "remove_extra_whitespaces", "byte_fallback")
    settings = " ".join(f"{name}={getattr(options, name)}" for name in named)
    apart = " ".join(piece.text for piece in options.meta_pieces() if piece.type != spm.BYTE)
    return f"sentencepiece {settings} apart={apart}"


def _alphabet(
    words: WordCounts, options: TrainingOptions, learnt: int, n_meta: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The characters that get a piece, with their counts, by code point."""
    points, totals = covering(*character_counts(words), options.character_coverage)
    if not len(points):
        raise TokenizerError("unigram: there is no text to train on: nothing but NUL characters")
    if len(points) > learnt:
        raise TokenizerError(
            f"unigram: vocab_size {options.vocab_size} is less than the alphabet: {len(points)} characters "
            f"cover {100 * options.character_coverage:.2f} % of the text, {n_meta} pieces are special; give at "
            f"least {len(points) + n_meta}, or a lower character_coverage"
        )
    return points, totals


def _choose(text: Text, pieces: SeedPieces, learnt: int) -> list[spm.Piece]:
    """All characters and the best other pieces, `learnt` at most, by score; equal scores by spelling."""
    ranked = sorted(zip((-pieces.scores).tolist(), pieces.spelled(text), range(len(pieces)), strict=True))
    order = np.array([index for _, _, index in ranked])
    single = pieces.lengths[order] == 1
    wanted = single | (np.cumsum(~single) <= learnt - np.count_nonzero(single))
    visible = np.where(text.alphabet == ord(" "), ord(SPACE_SYMBOL), text.alphabet)
    best = pieces.kept(order[wanted])
    scores = best.scores.astype(np.float32).tolist()
    return list(map(spm.Piece, best.spelled(text, visible), scores))


def _trainer_spec(options: TrainingOptions, size: int) -> spm.TrainerSpec:
    ids = {piece.text: index for index, piece in enumerate(options.meta_pieces())}
    return spm.TrainerSpec(
        model_type="unigram",
        vocab_size=size,
        byte_fallback=options.byte_fallback,
        unk_piece=options.unk_token,
        bos_piece=options.bos_token or "<s>",
        eos_piece=options.eos_token or "</s>",
        unk_id=0,
        bos_id=ids.get(options.bos_token, -1),
        eos_id=ids.get(options.eos_token, -1),
    )
