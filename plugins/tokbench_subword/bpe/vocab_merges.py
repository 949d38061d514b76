"""`vocab.json` with `merges.txt` (and `encoder.json` with `vocab.bpe`, their first names): read and written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.json_model import merges_of, texts_by_id, vocabulary_of
from tokbench_subword.bpe.model import BpeModel, can_happen
from tokbench_subword.bpe.patterns import Pattern
from tokbench_subword.bpe.preparation import document_around
from tokbench_subword.pipeline.tokenizer_json import parse

if TYPE_CHECKING:
    from tokbench_subword.bpe.tokenizer import BpeTokenizer

PAIRS = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
"""The names the two files go by."""


def read_vocab_merges(
    vocab: str | os.PathLike[str], merges: str | os.PathLike[str], *, pattern: Pattern
) -> BpeModel:
    """The byte-level model of two files; raises `TokenizerError` saying which file, and where, is wrong.

    Tokens of no merge that are no single byte either are special tokens (``<|endoftext|>``).
    """
    ids = parse(_text(vocab), str(vocab))
    if not isinstance(ids, dict) or not all(type(index) is int and index >= 0 for index in ids.values()):
        raise TokenizerError(f"{vocab}: expected an object that gives each token an id")
    for mark in ("</w>", "@@"):
        if sum(token.endswith(mark) for token in ids) > len(ids) // 10:
            raise TokenizerError(
                f"{vocab}: its tokens are marked with {mark}: they are not tokens of bytes, and the files do "
                f"not say how text is cut; load the folder with transformers:{Path(vocab).parent}"
            )
    lines = _text(merges).split("\n")
    pairs = []
    for number, line in enumerate(lines, 1):
        if not line.strip("\r") or (number == 1 and line.startswith("#version")):
            continue
        pair = line.rstrip("\r").split(" ")
        if len(pair) != 2:
            raise TokenizerError(f"{merges}, line {number}: expected two tokens, found {line[:60]!r}")
        pairs.append(pair)
    rows = merges_of(pairs, ids, prefix="", where=str(merges))
    merged = set(rows.ravel().tolist())
    vocabulary = list(vocabulary_of(ids, level="byte", where=str(vocab)))
    special = {
        token: index
        for token, index in ids.items()
        if index not in merged and len(vocabulary[index]) != 1 and token.startswith("<") and token.endswith(">")
    }
    for index in special.values():
        vocabulary[index] = b""
    return BpeModel(
        vocabulary=tuple(vocabulary),
        merges=rows[can_happen(rows, vocabulary)],
        unreachable={index: token for token, index in ids.items() if not vocabulary[index]},
        pattern=pattern,
        special_tokens=dict(special),
    )


def write_vocab_merges(tokenizer: BpeTokenizer, folder: str | os.PathLike[str]) -> None:
    """Write `vocab.json` and `merges.txt` into a folder.

    The two files cannot say how text is prepared, and are read as GPT-2's; raises `TokenizerError` where that
    would give other ids.
    """
    model, document = tokenizer.model, tokenizer.document
    usual = document_around(Pattern("gpt2"), "byte")
    if model.level != "byte" or document.normalizer or document.pre_tokenizer != usual.pre_tokenizer:
        raise TokenizerError(
            "vocab.json and merges.txt do not say how text is prepared, and are read as GPT-2's: bytes, cut by "
            "its pattern; this tokenizer is another: save it as tokenizer.json instead"
        )
    texts = texts_by_id(model)
    vocab = {text: index for index, text in texts.items()}
    vocab |= {token.content: token.id for token in tokenizer.document.added_tokens}
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    ordered = dict(sorted(vocab.items(), key=lambda item: item[1]))
    (target / "vocab.json").write_text(json.dumps(ordered, ensure_ascii=False), encoding="utf-8")
    rows = model.merges[model.merge_ranks.argsort(kind="stable")].tolist()
    lines = ["#version: 0.2", *(f"{texts[left]} {texts[right]}" for left, right, _ in rows)]
    (target / "merges.txt").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _text(path: str | os.PathLike[str]) -> str:
    try:
        return Path(path).read_bytes().decode()
    except OSError as error:
        raise TokenizerError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TokenizerError(f"{path}: is not UTF-8 at byte {error.start}") from error
