"""The family `bpe`: its options, loading and training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench import LoadContext, Spec, TokenizerFamily, TrainingCorpus
from tokbench.family import Progress
from tokbench_subword.bpe.opening import as_asked, files, load, recognises
from tokbench_subword.bpe.options import OPTIONS
from tokbench_subword.bpe.training import COUNTING, check, trained_sizes
from tokbench_subword.files import formats
from tokbench_subword.words.cache_size import cache_bytes

if TYPE_CHECKING:
    from tokbench.tokenizer import Tokenizer


def train(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Tokenizer:
    """A tokenizer trained on a corpus of text or of word counts."""
    size = options["vocab_size"]
    return train_sizes(corpus, options, [size], progress)[size]


def train_sizes(
    corpus: TrainingCorpus, options: Mapping[str, Any], sizes: Sequence[int], progress: Progress
) -> Mapping[int, Tokenizer]:
    """Tokenizers of several vocabulary sizes from one training, by size."""
    if options["base"]:
        from tokbench_subword.bpe.continuing import continued_sizes

        trained = continued_sizes(corpus, {**options, "vocab_size": max(sizes)}, sizes, progress)
    else:
        from tokbench_subword.bpe.tokenizer import BpeTokenizer

        cache = cache_bytes(options["cache"], where="bpe")
        trained = {
            size: BpeTokenizer.of_model(model, name=f"bpe:vocab_size={len(model)}", cache=cache)
            for size, model in trained_sizes(corpus, options, sizes, progress).items()
        }
    return {
        size: as_asked(tokenizer, options["encoding"], options["dropout"])
        for size, tokenizer in trained.items()
    }


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
    loads_with=("encoding", "match_special", "cache"),
    recognises=recognises,
    saved_as=formats.BPE,
    counting=COUNTING,
    files=files,
    training_files=_training_files,
    libraries=("numba", "regex"),
    examples=("bpe:vocab_size=8k", "bpe:vocab_size=8k,pattern=o200k", "bpe:gpt2/tokenizer.json"),
)
