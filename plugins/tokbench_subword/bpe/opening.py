"""Opens BPE files: finds the file in a folder, detects its format, and loads the tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tokbench import LoadContext, Spec, TokenizerError
from tokbench.vocabulary_files import numbered_tokens
from tokbench_subword.bpe.options import ENCODINGS, TRAINING_ONLY, named_pattern
from tokbench_subword.files.gguf import gguf_model
from tokbench_subword.files.recognising import (
    NAMES,
    Format,
    expect,
    file_of,
    format_of,
    model_type_of,
    refuse_training,
    tell_damage,
)
from tokbench_subword.files.vocab_merges import PARTNER
from tokbench_subword.sentencepiece.opening import document_by_class, files_by_class, of_gguf
from tokbench_subword.words.cache_size import cache_bytes

if TYPE_CHECKING:
    from tokbench.tokenizer import Tokenizer
    from tokbench_subword.bpe.tokenizer import BpeTokenizer
    from tokbench_subword.pipeline.document import TokenizerJson


def load(spec: Spec, context: LoadContext) -> Tokenizer:
    """Load a tokenizer from the file, or the folder, that is the variant of `spec`.

    Formats: `tokenizer.json`, `vocab.json` with `merges.txt` (or their older names), `.tiktoken`, GGUF,
    `tekken.json`, sentencepiece's `.model`. Of two files, either may be named.
    """
    refuse_training(spec, TRAINING_ONLY)
    path = file_of(spec, _FILES, "ranks", "sentencepiece")
    found = expect(path, *_OPENED, remedy=f"open it with the family that reads it, or with transformers:{path}")
    by_class = document_by_class(spec, path, found, bpe=True)
    if by_class is None and (found == "sentencepiece" or gguf_model(path) == "llama"):
        return _of_sentencepiece(spec, path, context.threads)
    options: dict[str, Any] = {
        "name": str(spec),
        "threads": context.threads,
        "match_special": bool(spec.get("match_special", False)),
        "cache": cache_bytes(spec.get("cache"), where=str(spec)),
    }
    if found == "ranks":
        tokenizer = _of_ranks(spec, path, options)
    elif found in ("tokenizer.json", "gguf", "tekken", "sentencepiece"):
        tokenizer = _of_whole(spec, path, found, options, by_class)
    else:
        tokenizer = _of_pair(spec, path, options)
    return as_asked(tokenizer, spec.get("encoding", "bpe"), spec.get("dropout"))


_FILES = ("tokenizer.json", "vocab.json", "encoder.json", "tekken.json")
_OPENED: tuple[Format, ...] = (
    *("tokenizer.json", "vocab.json", "merges", "ranks", "sentencepiece", "gguf", "tekken"),
)


def files(spec: Spec, context: LoadContext) -> Sequence[Path]:
    """The files that `load` reads."""
    if spec.variant is None:
        return []
    path = file_of(spec, _FILES, "ranks", "sentencepiece")
    partner = PARTNER.get(path.name)
    if partner is None:
        return files_by_class(spec, path)
    from tokbench_subword.files.beside import files_beside

    return [path, path.with_name(partner), *files_beside(path)]


def recognises(path: Path, head: bytes) -> bool:
    """Whether a file, or a file in a folder, contains a BPE tokenizer in one of the formats of `load`.

    Raises `TokenizerError` for a `vocab.json` or `merges.txt` without the other, and for a damaged file.
    """
    if path.is_dir():
        try:
            path = file_of(Spec("bpe", str(path)), _FILES, "ranks", "sentencepiece")
        except TokenizerError:
            return False
    found = format_of(path)
    if found is None:
        tell_damage(path)
    if found in ("vocab.json", "merges") and path.name in PARTNER:
        _partner(path)
        return True
    return found in ("ranks", "tekken") or model_type_of(path) in ("BPE", "bpe", "gpt2", "gemma4", "llama")


def _of_ranks(spec: Spec, path: Path, options: dict[str, Any]) -> BpeTokenizer:
    from tokbench.vocabulary_files import read_ranks
    from tokbench_subword.bpe.ranks import model_of_ranks
    from tokbench_subword.bpe.tokenizer import BpeTokenizer

    text = spec.get("pattern") or ENCODINGS.get(path.stem)
    if text is None:
        raise TokenizerError(
            f"{spec}: a file of ranks does not say how text is cut: add pattern=gpt2, cl100k, o200k, none or a "
            f"regular expression"
        )
    ranks = read_ranks(path)
    special = numbered_tokens(str(spec.get("special_tokens", "")), taken=ranks.values(), where=str(spec))
    pattern = named_pattern(text, dialect="rust", keep_gaps=False)
    model = model_of_ranks(ranks, pattern=pattern, special_tokens=special)
    return BpeTokenizer.of_model(model, source=str(path), literal=True, **options)


def _of_pair(spec: Spec, path: Path, options: dict[str, Any]) -> BpeTokenizer:
    from tokbench_subword.bpe.tokenizer import BpeTokenizer
    from tokbench_subword.bpe.vocab_merges import read_pair

    vocab, merges = sorted((path, _partner(path)), key=lambda p: p.suffix != ".json")
    _refuse_special_tokens(spec, "the folder of vocab.json")
    return BpeTokenizer(*read_pair(vocab, merges, spec.get("pattern")), source=str(vocab), **options)


def _partner(path: Path) -> Path:
    """The other one of two files; raises `TokenizerError` if it does not exist."""
    name = PARTNER.get(path.name)
    if name is None:
        found = format_of(path)
        what = NAMES[found] if found else "one of two files"
        raise TokenizerError(
            f"{path}: is {what}; BPE needs both files in one folder, such as vocab.json and merges.txt"
        )
    other = path.with_name(name)
    if not other.is_file():
        raise TokenizerError(f"{path}: BPE also needs {name}, which is not in {path.parent}")
    return other


def _of_whole(
    spec: Spec, path: Path, found: Format, options: dict[str, Any], by_class: TokenizerJson | None
) -> BpeTokenizer:
    """The tokenizer of a self-contained file, or of `by_class`, a document that a class made from it."""
    from tokbench_subword.bpe.tokenizer import BpeTokenizer

    if spec.get("pattern"):
        raise TokenizerError(f"{spec}: {NAMES[found]} already says how text is cut; leave pattern out")
    _refuse_special_tokens(spec, NAMES[found])
    if by_class is not None:
        return BpeTokenizer.of_document(by_class, where=str(path), **options)
    if found == "tokenizer.json":
        return BpeTokenizer.from_file(path, **options)
    from tokbench_subword.bpe.served import document_of_gguf, model_of_tekken

    if found == "tekken":
        return BpeTokenizer.of_model(model_of_tekken(path), source=str(path), literal=True, **options)
    return BpeTokenizer.of_document(document_of_gguf(path), where=str(path), **options)


def _refuse_special_tokens(spec: Spec, what: str) -> None:
    if spec.get("special_tokens"):
        raise TokenizerError(f"{spec}: {what} already says which tokens are special; leave special_tokens out")


def _of_sentencepiece(spec: Spec, path: Path, threads: int) -> Tokenizer:
    """The tokenizer of a `.model` or its GGUF form, which contain all rules for normalizing and merging."""
    from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer

    for name in {*spec.options} - {"cache"}:
        raise TokenizerError(f"{spec}: {name} does not apply to a sentencepiece model; leave it out")
    cache = cache_bytes(spec.get("cache"), where=str(spec))
    if gguf_model(path):
        return of_gguf(path, "llama", name=str(spec), threads=threads, cache=cache)
    return cast("Tokenizer", SpmTokenizer.from_file(path, "bpe", name=str(spec), threads=threads, cache=cache))


def as_asked(tokenizer: BpeTokenizer, encoding: str, dropout: float | None) -> Tokenizer:
    """The tokenizer with the options `encoding` and `dropout` applied."""
    if dropout is not None:
        tokenizer = tokenizer.with_dropout(dropout)
    if encoding == "greedy":
        from tokbench_subword.bpe.greedy import GreedyTokenizer

        return cast("Tokenizer", GreedyTokenizer.of(tokenizer))
    return cast("Tokenizer", tokenizer)  # `encode` returns arrays; `vocab_size` can grow
