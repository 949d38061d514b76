"""Trains the family `bpe`: checks its options and passes them to the trainers, with text or word counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tokbench import TrainingCorpus
from tokbench.counts import Counting, WordCounts
from tokbench.errors import CorpusError, TokenizerError
from tokbench.family import Progress
from tokbench.kernels.threads import threads_of
from tokbench.vocabulary_files import names_to_train
from tokbench_subword.bpe.options import OF_PARITY, OPTIONS, cut_by, level_of, pattern_of
from tokbench_subword.training.sizes import check_room, check_size
from tokbench_subword.training.stages import stage

if TYPE_CHECKING:
    from tokbench_subword.bpe.model import BpeModel
    from tokbench_subword.bpe.trainer import Learned

_UNKNOWN = ("<unk>", "[UNK]", "<UNK>")
"""Special tokens that become the unknown token at character level."""


def _cut(options: Mapping[str, Any]) -> str:
    if options["base"]:
        from tokbench_subword.bpe.continuing import base_of, cut_of

        return cut_of(base_of(options))
    if options["transition"] is not None:
        raise TokenizerError("bpe: transition= cuts text in two ways, so counts are not enough; train on text")
    return cut_by(pattern_of(options))


def _counted(texts: Iterable[str], options: Mapping[str, Any]) -> WordCounts:
    if options["base"]:
        from tokbench_subword.bpe.continuing import base_of, counted

        return counted(base_of(options), texts, threads_of(options))
    from tokbench_subword.training.counting import count_pretokens

    return count_pretokens(texts, pattern_of(options), workers=threads_of(options))


COUNTING = Counting(_cut, _counted)


def trained_sizes(
    corpus: TrainingCorpus, options: Mapping[str, Any], sizes: Sequence[int], progress: Progress
) -> dict[int, BpeModel]:
    """The models of several sizes from one training of the largest; each equals a training for its size.

    Sizes that leave no room for the alphabet are missing in the result.
    """
    learned = _learned(corpus, {**options, "vocab_size": max(sizes)}, progress)
    least = max(len(learned.special) + len(learned.tokens), options["transition"] or 0)
    return {size: _with_unknown(learned.model(size)) for size in sizes if size >= least}


def check(options: Mapping[str, Any]) -> None:
    """Raise `TokenizerError` for options that are invalid for any text, or would have no effect."""
    from tokbench_subword.bpe.trainer import check_numbers

    check_size("bpe", options["vocab_size"])
    defaults = {option.name: option.default for option in OPTIONS}
    for name, kinds in OF_PARITY.items():
        if options[name] != defaults[name] and options["parity"] not in kinds:
            raise TokenizerError(f"bpe: {name}= is for {' or '.join(f'parity={kind}' for kind in kinds)} alone")
    check_numbers(
        options["vocab_size"],
        options["min_frequency"],
        options["max_token_length"],
        level_of(options),
        options["end_of_word"],
    )
    if options["transition"] is not None:
        _check_superwords(options)
    special = names_to_train(options["special_tokens"] or "", where="bpe")
    if level_of(options) == "byte" and not options["base"] and options["initial_alphabet"] != "":
        check_room(options["vocab_size"], len(special), 256, "byte")


def _with_unknown(model: BpeModel) -> BpeModel:
    """The model with its `unk` set, if it is at character level and a special token is one of `_UNKNOWN`."""
    unk = next((index for text, index in model.special_tokens.items() if text in _UNKNOWN), None)
    return replace(model, unk=unk) if model.level == "char" and unk is not None else model


def _learned(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Learned:
    """The result of the training that the options select; see `trainer.learn` for the options."""
    from tokbench_subword.bpe.trainer import learn

    alphabet = options["initial_alphabet"]
    if corpus.counted and options["ties"] == "first_seen":
        raise CorpusError(
            f"bpe: ties=first_seen needs the order of the text, and {corpus.dataset.name} has only counts; "
            "train on the text, or with other ties"
        )
    if options["parity"]:
        from tokbench_subword.bpe.parity_training import learned_fairly

        return learned_fairly(corpus, options, progress)
    if options["transition"] is not None:
        return _superwords(corpus, options, progress)
    return learn(
        corpus.source(_cut(options)),
        vocab_size=options["vocab_size"],
        pattern=pattern_of(options),
        ties=options["ties"],
        min_frequency=options["min_frequency"],
        special_tokens=names_to_train(options["special_tokens"] or "", where="bpe"),
        initial_alphabet=None if alphabet is None else list(alphabet),
        max_token_length=options["max_token_length"],
        end_of_word=options["end_of_word"],
        level=level_of(options),
        workers=threads_of(options),
        n_bytes=corpus.n_bytes,
        progress=progress,
    )


def _check_superwords(options: Mapping[str, Any]) -> None:
    """Raise `TokenizerError` for options that do not work with superwords."""
    from tokbench_subword.training.ties import BYTES, HF, tie_rule

    transition, vocab_size, rule = options["transition"], options["vocab_size"], tie_rule(options["ties"])
    if transition > vocab_size:
        raise TokenizerError(f"bpe: transition={transition} is above vocab_size={vocab_size}; it must not be")
    if level_of(options) != "byte" or rule not in (HF, BYTES) or options["max_token_length"] is not None:
        raise TokenizerError("bpe: transition= is for level=byte, ties=hf or bytes, and no max_token_length")
    special = names_to_train(options["special_tokens"] or "", where="bpe")
    check_room(transition, len(special), 256, "byte", "transition")


def _superwords(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Learned:
    """Train to the size `transition`, then learn superwords from the same text, read a second time."""
    import numpy as np

    from tokbench_subword.bpe.continuing import learn_superwords
    from tokbench_subword.pipeline.patterns import Pattern
    from tokbench_subword.training.superwords import PATTERN
    from tokbench_subword.training.ties import tie_rule

    transition, vocab_size, rule = options["transition"], options["vocab_size"], tie_rule(options["ties"])
    workers = threads_of(options)
    if corpus.counted:
        _cut(options)  # raises: counts of one cutting are not enough
    plain = {**options, "transition": None, "vocab_size": transition}
    first = _learned(corpus, plain, lambda share, what: progress(share / 2, what))
    model = first.model(transition)
    pattern = Pattern.of(PATTERN)
    more = learn_superwords(
        model,
        corpus.texts(),
        pattern,
        vocab_size=vocab_size,
        rule=rule,
        minimum=options["min_frequency"],
        forbidden=[text.encode() for text in first.special],
        workers=workers,
        counted=stage(progress, "reading stretches", 0.5, 0.7, of=corpus.n_bytes),
        progress=stage(progress, "merging superwords", 0.7, 1.0),
    )
    merges = np.concatenate((first.merges_until(transition), more - len(first.special)))
    return replace(first, merges=merges, pattern=pattern)
