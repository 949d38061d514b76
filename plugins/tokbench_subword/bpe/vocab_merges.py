"""A byte-level BPE model of `vocab.json` with `merges.txt`, and back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.json_model import merges_of, texts_by_id, vocabulary_of
from tokbench_subword.bpe.model import BpeModel, can_happen
from tokbench_subword.bpe.preparation import document_around
from tokbench_subword.files.vocab_merges import read_merges, read_token_ids, write_vocab_merges
from tokbench_subword.pipeline.patterns import Pattern

if TYPE_CHECKING:
    from tokbench_subword.bpe.tokenizer import BpeTokenizer


def model_of_pair(
    vocab: str | os.PathLike[str], merges: str | os.PathLike[str], *, pattern: Pattern
) -> BpeModel:
    """The byte-level model of two files; raises `TokenizerError` saying which file, and where, is wrong.

    Tokens of no merge that are no single byte either are special tokens (``<|endoftext|>``).
    """
    ids = read_token_ids(vocab)
    for mark in ("</w>", "@@"):
        if sum(token.endswith(mark) for token in ids) > len(ids) // 10:
            raise TokenizerError(
                f"{vocab}: its tokens are marked with {mark}: they are not tokens of bytes, and the files do "
                f"not say how text is cut; load the folder with transformers:{Path(vocab).parent}"
            )
    rows = merges_of(read_merges(merges), ids, prefix="", where=str(merges))
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


def check_pair(tokenizer: BpeTokenizer) -> None:
    """Raise `TokenizerError` for a tokenizer that two files cannot say.

    They cannot say how text is prepared, and are read as GPT-2's.
    """
    model, document = tokenizer.model, tokenizer.document
    usual = document_around(Pattern("gpt2"), "byte")
    if model.level != "byte" or document.normalizer or document.pre_tokenizer != usual.pre_tokenizer:
        raise TokenizerError(
            "vocab.json and merges.txt do not say how text is prepared, and are read as GPT-2's: bytes, cut by "
            "its pattern; this tokenizer is another: save it as tokenizer.json instead"
        )


def save_pair(tokenizer: BpeTokenizer, folder: str | os.PathLike[str]) -> None:
    """Write `vocab.json` and `merges.txt` into a folder."""
    model = tokenizer.model
    texts = texts_by_id(model)
    vocab = {text: index for index, text in texts.items()}
    vocab |= {token.content: token.id for token in tokenizer.document.added_tokens}
    rows = model.merges[model.merge_ranks.argsort(kind="stable")].tolist()
    write_vocab_merges(vocab, ((texts[left], texts[right]) for left, right, _ in rows), folder)
