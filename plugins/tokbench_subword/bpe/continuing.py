"""Training that goes on from a tokenizer's file: what it has keeps its ids, further merges follow its own.

Text is prepared and cut as the file says, and spelled in its tokens; then pairs are merged as ever. Text in
which no new token comes up is encoded as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench import LoadContext, Spec, TrainingCorpus
from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench.family import Progress
from tokbench.kernels.threads import usable_cores
from tokbench_subword.bpe.model import MOST_TOKENS, BpeModel
from tokbench_subword.bpe.onward import extended, learn_more
from tokbench_subword.bpe.opening import load
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.pipeline.compiled import CompiledPipeline
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.training.counting import Block, Fill, count_blocks, filler
from tokbench_subword.training.stages import stage
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
_COUNTING_SHARE = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class Continued:
    """A tokenizer, and the merges that were learned after its own: int32 ``(n, 3)``."""

    base: BpeTokenizer
    merges: NDArray[np.int32]

    def tokenizer(self, vocab_size: int) -> BpeTokenizer:
        """The tokenizer with so many tokens, or all that were found."""
        some = self.merges[: np.count_nonzero(np.maximum.accumulate(self.merges[:, 2]) < vocab_size)]
        return self.base.changed(model=extended(_filled(self.base), some), source="")


def _filled(base: BpeTokenizer) -> BpeModel:
    """Its model with an entry for each id, those of added tokens too: new tokens come behind all of them."""
    known = base.model.vocabulary
    return replace(base.model, vocabulary=(*known, *[b""] * (base.vocab_size - len(known))))


def base_of(options: Mapping[str, Any]) -> BpeTokenizer:
    """The tokenizer that a training goes on from; raises `TokenizerError` for one that cannot be continued."""
    path = str(options["base"])
    if options["parity"]:
        raise TokenizerError(f"bpe: base={path} and parity={options['parity']} do not go together")
    for name in _OF_THE_BASE:
        if options[name]:
            raise TokenizerError(f"bpe: base={path} says itself what {name}= would; leave it out")
    base = load(Spec("bpe", path), LoadContext(Path()))
    if not isinstance(base, BpeTokenizer) or base.model.level != "byte":
        kind = "a sentencepiece model" if not isinstance(base, BpeTokenizer) else "of characters"
        raise TokenizerError(f"bpe: base={path} is {kind}; only byte-level BPE can be continued")
    size, wanted = base.vocab_size, options["vocab_size"]
    if not size < wanted <= MOST_TOKENS:
        raise TokenizerError(
            f"bpe: vocab_size={wanted} must be above the {size} tokens of base={path}, at most {MOST_TOKENS}"
        )
    if tie_rule(options["ties"]) not in (HF, BYTES):
        raise TokenizerError(f"bpe: with base=, ties must be hf or bytes, not {options['ties']}")
    return base


def cut_of(base: BpeTokenizer) -> str:
    """What its pre-tokens depend on."""
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
    """The pre-tokens of `texts` as the tokenizer makes them; added tokens are none."""
    return count_blocks(texts, _prepared(base._preparation.compiled), workers=workers, progress=progress)


def _prepared(pipeline: CompiledPipeline) -> Fill:
    """Counts what a pipeline makes of the documents of a block."""
    inner = filler(pipeline.cuts.cutters)

    def fill(table: Any, block: Block) -> None:
        offsets = np.concatenate((np.zeros(1, np.int64), block.ends))
        found = pipeline.segments(Segments(block.data, offsets))
        start = int(found.offsets[0])
        inner(table, Block(found.data[start:], found.offsets[1:] - start, block.start))

    return fill


def continued(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Continued:
    """Go on from the base that the options name."""
    base = base_of(options)
    workers = options["threads"] or usable_cores()
    told = stage(progress, "counting", 0.0, _COUNTING_SHARE, of=corpus.n_bytes)
    words = counted(base, corpus.source(cut_of(base)), workers, told)
    merges = learn_more(
        replace(_filled(base), special_tokens={}),
        words,
        vocab_size=options["vocab_size"],
        rule=tie_rule(options["ties"]),
        minimum=options["min_frequency"],
        forbidden=[token.content.encode() for token in base.document.added_tokens],
        workers=workers,
        progress=stage(progress, "merging", _COUNTING_SHARE, 1.0),
    )
    return Continued(base, merges)
