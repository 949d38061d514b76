"""`tokenizer.json` without the model: its other parts are checked, read and written here.

Each algorithm reads its own model. Padding and truncation are ignored, since they change the number of tokens.
The post-processor (BOS, EOS, templates) is kept for writing but not applied: encoding is content only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokbench.errors import TokenizerError
from tokbench.vocabulary_files import read_text
from tokbench_subword.files.json_numbers import WrittenFloat
from tokbench_subword.files.well_formed import check_parts
from tokbench_subword.pipeline.added_tokens import FLAGS, AddedToken, numbered
from tokbench_subword.pipeline.document import TokenizerJson, steps_of

_ESCAPES = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<half>u[dD][89a-fA-F]..)|.)", re.DOTALL)
"""A JSON escape; a surrogate pair is matched as one."""


def read_document(path: str | os.PathLike[str]) -> TokenizerJson:
    """The document in a file; raises `TokenizerError` saying what is wrong with it."""
    return document_of(parse(read_text(path), str(path)), where=str(path))


def parse(text: str, where: str) -> Any:
    """The JSON value in `text`; raises `TokenizerError` with line and column if it is not JSON."""
    half = next((found for found in _ESCAPES.finditer(text) if found["half"]), None) if "\\u" in text else None
    if half is not None:
        raise TokenizerError(
            f"{where}: half a surrogate pair, \\{half['half']}, at character {half.start()}: that is no text"
        )
    if text.startswith("\ufeff"):
        raise TokenizerError(f"{where}: begins with a byte order mark, which JSON must not; save it without")
    try:
        return json.loads(text, parse_float=WrittenFloat.of)
    except json.JSONDecodeError as error:
        raise TokenizerError(
            f"{where}, line {error.lineno}, column {error.colno}: not JSON ({error.msg}); is the file complete?"
        ) from error
    except ValueError as error:  # Python refuses integers of thousands of digits
        raise TokenizerError(f"{where}: has a number of too many digits for any tokenizer's") from error
    except RecursionError as error:
        raise TokenizerError(f"{where}: its JSON is nested deeper than any tokenizer's is") from error


def document_of(content: Any, *, where: str) -> TokenizerJson:
    """The document in parsed JSON; raises `TokenizerError` if it is not a tokenizer's."""
    if not isinstance(content, Mapping) or not isinstance(content.get("model"), Mapping):
        raise TokenizerError(f'{where}: is not a tokenizer.json: it has no "model"')
    if content.get("version", "1.0") != "1.0":
        raise TokenizerError(f"{where}: version: {content['version']!r:.80} is not '1.0', the one there is")
    check_parts(content, where)
    _check_templates(content.get("post_processor"), where)
    return TokenizerJson(
        model=content["model"],
        normalizer=content.get("normalizer"),
        pre_tokenizer=content.get("pre_tokenizer"),
        post_processor=content.get("post_processor"),
        decoder=content.get("decoder"),
        added_tokens=_added_tokens(content.get("added_tokens"), where),
    )


def _check_templates(post_processor: Mapping[str, Any] | None, where: str) -> None:
    """Raise `TokenizerError` if the template for one text does not contain the text exactly once.

    `tokenizers` would then drop the text's ids or repeat them, even when no special tokens are requested.
    """
    for step in steps_of(post_processor, "processors"):
        if step["type"] != "TemplateProcessing":
            continue
        texts = [each["Sequence"]["id"] for each in step["single"] if "Sequence" in each]
        if texts != ["A"]:
            raise TokenizerError(
                f"{where}: post_processor: the template 'single' holds the texts {texts}, not A alone: what "
                "`tokenizers` gives is not the ids of the text; correct it, or load the tokenizer with "
                "`transformers:`"
            )


def _added_tokens(entries: Any, where: str) -> tuple[AddedToken, ...]:
    """The added tokens as `tokenizers` reads them. Empty ones are left out. If a token is listed twice, the
    last entry counts, and the token is special if either entry is. Raises `TokenizerError` for a token with two
    ids, and for two tokens that share one.
    """
    if not isinstance(entries, list | None):
        raise TokenizerError(f"{where}: added_tokens: is not a list: {entries!r:.80}")
    found: dict[str, AddedToken] = {}
    by_id: dict[int, str] = {}
    for token in (_added(entry, where) for entry in entries or []):
        before = found.get(token.content, token)
        if before.id != token.id:
            raise TokenizerError(
                f"{where}: the added token {token.content!r} has the ids {before.id} and {token.id}; keep one"
            )
        if token.content:
            found[token.content] = replace(token, special=token.special or before.special)
            other = by_id.setdefault(token.id, token.content)
            if other != token.content:
                raise TokenizerError(
                    f"{where}: the added tokens {other!r} and {token.content!r} share the id {token.id}"
                )
    return tuple(found.values())


def _added(entry: Any, where: str) -> AddedToken:
    flags = FLAGS if isinstance(entry, Mapping) else ()
    if not flags or not isinstance(entry.get("content"), str) or type(entry.get("id")) is not int:
        raise TokenizerError(
            f"{where}: an added token without its content, a string, and its id: {entry!r:.80}"
        )
    said = {flag: entry.get(flag, False) for flag in flags}
    for flag, value in said.items():
        if not isinstance(value, bool):
            raise TokenizerError(
                f"{where}: the added token {entry['content']!r:.80} has {flag} {value!r:.80}, not true or false"
            )
    return AddedToken(entry["content"], entry["id"], **said)


_FAMILIES = {"BPE": "bpe", "WordPiece": "wordpiece", "Unigram": "unigram"}


def of_other_type(where: str, found: str | None, wanted: str) -> TokenizerError:
    """The error for a model of the type `found`, of none if it is None, in place of `wanted`."""
    families = [_FAMILIES[found]] if found in _FAMILIES else []
    opened = " or ".join(f"{family}:" for family in [*families, "transformers"])
    return TokenizerError(
        f"{where}: the model is {found or 'of no stated type'}, not {wanted}; open it with {opened}"
    )


def naming_added(vocab: Mapping[str, int], added: Iterable[AddedToken]) -> dict[str, int]:
    """A vocabulary ordered by id, with the added tokens that would otherwise get other ids in `tokenizers`.

    The model can then produce such a token even in text where it is not matched as an added token.
    """
    added = tuple(added)
    if any(token.id != index for token, index in numbered(added, vocab)):
        vocab = {**{token.content: token.id for token in added}, **vocab}
    return dict(sorted(vocab.items(), key=lambda item: item[1]))


def content_of(document: TokenizerJson) -> dict[str, Any]:
    """The document as `tokenizers` and `transformers` read it, ready for JSON."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": token.id, "content": token.content, **{flag: getattr(token, flag) for flag in FLAGS}}
            for token in sorted(document.added_tokens, key=lambda token: token.id)
        ],
        "normalizer": document.normalizer,
        "pre_tokenizer": document.pre_tokenizer,
        "post_processor": document.post_processor,
        "decoder": document.decoder,
        "model": dict(document.model),
    }


def bpe_model(vocab: Mapping[str, int], merges: Sequence[Sequence[str]], **stated: Any) -> dict[str, Any]:
    """A model of the type BPE, with the usual settings except those `stated`."""
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        **stated,
        "vocab": vocab,
        "merges": merges,
    }


def unigram_model(vocab: Sequence[Sequence[Any]], unk_id: int | None, *, byte_fallback: bool) -> dict[str, Any]:
    """A model of the type Unigram; `vocab` lists pieces with their scores, in the order of their ids."""
    return {"type": "Unigram", "unk_id": unk_id, "vocab": vocab, "byte_fallback": byte_fallback}


def write_document(document: TokenizerJson, path: str | os.PathLike[str]) -> None:
    """Write the document to a file, by way of a temporary file so that no half-written file can remain."""
    target = Path(path)
    aside = target.with_name(target.name + ".part")
    text = json.dumps(content_of(document), ensure_ascii=False, indent=1)
    aside.write_text(text + "\n", encoding="utf-8", newline="\n")
    aside.replace(target)
