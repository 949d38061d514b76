"""SuperBPE: merges within words first, then across them (Liu et al., 2025), from the in-house BPE in parts.

tokbench run --plugin superbpe.py -t superbpe:vocab_size=2k -t bpe:vocab_size=2k -d text:my_text.txt
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tokbench_subword.methods import train_bpe

import tokbench
from tokbench import LoadContext, Option, Progress, Spec, Tokenizer, TokenizerFamily, TrainingCorpus
from tokbench.registry import registry_of


def train(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Tokenizer:
    """The tokenizer; what is returned has `save(path)`, and `load` opens what it wrote."""
    first = int(options["vocab_size"] * options["within_words"])
    progress(0.0, "within words")
    words = train_bpe(corpus.texts(), max(256, first))
    progress(0.5, "across words")
    return train_bpe(
        corpus.texts(), options["vocab_size"], pattern=r"[^\n]+|\n+", initial=words, name="superbpe"
    )


def load(spec: Spec, context: LoadContext) -> Tokenizer:
    """The tokenizer in a file: what `train` gave was saved as a `tokenizer.json`."""
    return registry_of(context).load(Spec("bpe", spec.variant))


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:
    """Offer `superbpe`, trained on the training text of a run, and `superbpe:FILE`."""
    return [
        TokenizerFamily(
            name="superbpe",
            summary="BPE within words, then across them.",
            load=load,
            train=train,
            saved_as=(".json",),
            options=(
                Option("vocab_size", "int", 8000, "tokens in all"),
                Option("within_words", "float", 0.75, "share of them that is learned within words"),
            ),
            variant="a file that was saved",
            examples=("superbpe:vocab_size=4k",),
        )
    ]
