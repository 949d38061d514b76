"""The family `bpe`: what it offers, and how it is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench import LoadContext, Spec, TokenizerFamily, TrainingCorpus
from tokbench.family import Progress
from tokbench_subword.bpe.opening import as_asked, files, load, recognises
from tokbench_subword.bpe.options import OPTIONS
from tokbench_subword.bpe.training import COUNTING, check, trained, trained_sizes
from tokbench_subword.files import formats
from tokbench_subword.words.cache_size import cache_bytes

if TYPE_CHECKING:
    from tokbench.tokenizer import Tokenizer
    from tokbench_subword.bpe.model import BpeModel


def train(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Tokenizer:
    """A tokenizer trained on a corpus, text or counts."""
    if options["base"]:
        from tokbench_subword.bpe.continuing import continued

        return as_asked(
            continued(corpus, options, progress).tokenizer(options["vocab_size"]),
            options["encoding"],
            options["dropout"],
        )
    return _of_training(trained(corpus, options, progress), options)


def train_sizes(
    corpus: TrainingCorpus, options: Mapping[str, Any], sizes: Sequence[int], progress: Progress
) -> Mapping[int, Tokenizer]:
    """Tokenizers of several sizes by one training."""
    if options["base"]:
        from tokbench_subword.bpe.continuing import continued

        found = continued(corpus, {**options, "vocab_size": max(sizes)}, progress)
        fit = [size for size in sizes if size > found.first]
        return {s: as_asked(found.tokenizer(s), options["encoding"], options["dropout"]) for s in fit}
    models = trained_sizes(corpus, options, sizes, progress)
    return {size: _of_training(model, options) for size, model in models.items()}


def _of_training(model: BpeModel, options: Mapping[str, Any]) -> Tokenizer:
    from tokbench_subword.bpe.tokenizer import BpeTokenizer

    cache = cache_bytes(options["cache"], where="bpe")
    tokenizer = BpeTokenizer.of_model(model, name=f"bpe:vocab_size={len(model)}", cache=cache)
    return as_asked(tokenizer, options["encoding"], options["dropout"])


def _training_files(spec: Spec) -> Sequence[Path]:
    base, development = spec.get("base"), spec.get("development")
    found = list(files(Spec("bpe", str(base)), LoadContext(Path()))) if base else []
    return [*found, *sorted(Path(str(development)).expanduser().glob("*.txt"))] if development else found


BPE = TokenizerFamily(
    name="bpe",
    summary="Byte-pair encoding, in-house; opens tokenizer.json, vocab.json + merges.txt, .tiktoken, GGUF …",
    load=load,
    options=OPTIONS,
    variant="a tokenizer.json, vocab.json, .tiktoken, .model, .gguf or tekken.json, or a folder; else trained",
    train=train,
    train_sizes=train_sizes,
    check=check,
    trained_suffix=".json",
    recognises=recognises,
    saved_as=formats.BPE,
    counting=COUNTING,
    files=files,
    training_files=_training_files,
    libraries=("numba", "regex"),
    examples=("bpe:vocab_size=8k", "bpe:vocab_size=8k,pattern=o200k", "bpe:gpt2/tokenizer.json"),
)
