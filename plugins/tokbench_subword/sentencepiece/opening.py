"""Open Unigram files: choose the file in a folder, find its format, and make the tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tokbench import LoadContext, Spec, Tokenizer, TokenizerError
from tokbench_subword.files.gguf import read_gguf
from tokbench_subword.files.recognising import (
    Format,
    expect,
    file_of,
    format_of,
    is_folder,
    model_type_of,
    refuse_training,
)
from tokbench_subword.files.sentencepiece_model import USER_DEFINED
from tokbench_subword.words.cache_size import cache_bytes

if TYPE_CHECKING:
    from tokbench_subword.pipeline.document import TokenizerJson

_FILES = ("tokenizer.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model")


def load(spec: Spec, context: LoadContext) -> Tokenizer:
    """A tokenizer from a sentencepiece `.model`, a `tokenizer.json`, GGUF, or a folder with one of them.

    In a folder, if a file beside the `.model` states a class, the tokenizer is the one that class makes.
    """
    from tokbench_subword.files.tokenizer_json import read_document

    refuse_training(spec, {*spec.options} - {"match_special", "cache"})
    path = file_of(spec, _FILES, "sentencepiece")
    cache = cache_bytes(spec.get("cache"), where=str(spec))
    options: dict[str, Any] = {"threads": context.threads, "cache": cache}
    remedy = f"load it as 'bpe:{path}', ranks with pattern=…, or with transformers:{path}"
    found = expect(path, "sentencepiece", "tokenizer.json", "gguf", remedy=remedy)
    json = found == "tokenizer.json"
    document = read_document(path) if json else document_by_class(spec, path, found, bpe=False)
    if document is not None:
        from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer

        options |= {"name": str(spec), "match_special": bool(spec.get("match_special", False))}
        return cast(Tokenizer, JsonUnigramTokenizer(document, **options))
    if "match_special" in spec.options:
        raise TokenizerError(
            f"{spec}: match_special does not apply to a sentencepiece model, which never finds its control "
            "symbols in text; leave it out"
        )
    if found == "gguf":
        other = f"load it as bpe:{path} or wordpiece:{path}"
        return of_gguf(path, "t5", name=str(spec), remedy=other, **options)
    from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer

    return cast(Tokenizer, SpmTokenizer.from_file(path, "unigram", name=str(spec), **options))


def document_by_class(spec: Spec, path: Path, found: Format, *, bpe: bool) -> TokenizerJson | None:
    """What the class stated in a folder makes from the `.model` at `path`; None if no file states a class.

    If the spec names the file itself, the result is None too. Raises `TokenizerError` for an unknown class.
    """
    if found != "sentencepiece" or not is_folder(spec):
        return None
    from tokbench_subword.sentencepiece.folders import document_of_folder

    return document_of_folder(path, bpe=bpe)


def of_gguf(path: Path, model: str, *, name: str = "", remedy: str = "", **options: Any) -> Tokenizer:
    """The tokenizer of a GGUF file of the `model` ``llama`` or ``t5``; raises `TokenizerError` for another.

    `options` are ``threads`` and ``cache``.
    """
    from tokbench_subword.sentencepiece.served import model_of_gguf
    from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer

    found = read_gguf(path, model, remedy=remedy)
    name = name or str(path)
    symbols = {text for text, kind in zip(found.tokens, found.types, strict=True) if kind == USER_DEFINED}
    tokenizer = SpmTokenizer(name, model_of_gguf(found, name), **options)
    if not symbols:
        return tokenizer
    if model == "t5":
        raise TokenizerError(
            f"{name}: has user-defined symbols ({min(symbols)!r}), around which llama.cpp prepares text anew; "
            "with Unigram that is not known here"
        )
    from tokbench_subword.bpe.tokenizer import BpeTokenizer
    from tokbench_subword.sentencepiece.json_export import document_of_spm

    document = document_of_spm(tokenizer.vocabulary, tokenizer.algorithm)
    added = tuple(replace(token, special=token.content not in symbols) for token in document.added_tokens)
    return BpeTokenizer.of_document(
        replace(document, added_tokens=added), where=str(path), name=name, **options
    )


def files(spec: Spec, context: LoadContext) -> Sequence[Path]:
    """The files that `load` reads."""
    return files_by_class(spec, file_of(spec, _FILES, "sentencepiece")) if spec.variant is not None else []


def files_by_class(spec: Spec, path: Path) -> list[Path]:
    """The file at `path`, and, for the `.model` of a folder, the files that may state its class."""
    if not is_folder(spec) or format_of(path) != "sentencepiece":
        return [path]
    from tokbench_subword.files.beside import files_beside

    return [path, *files_beside(path)]


def recognises(path: Path, head: bytes) -> bool:
    """Whether a file, or one in a folder, is a Unigram model: sentencepiece's or a `tokenizer.json`."""
    if path.is_dir():
        try:
            path = file_of(Spec("unigram", str(path)), _FILES, "sentencepiece")
        except TokenizerError:
            return False
    return model_type_of(path) in ("unigram", "Unigram", "t5")
