"""Reads and writes a byte-level BPE model as `vocab.json` with `merges.txt`.

The two files contain only tokens and merges. The text preparation follows from the tokenizer class, which the
configuration files of `transformers` in the same folder name. An unknown class is refused, since ids would be
silently wrong.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.classes import CLASSES, OF_MODELS, PairClass
from tokbench_subword.bpe.model import BpeModel, can_happen
from tokbench_subword.bpe.options import named_pattern
from tokbench_subword.bpe.tokenizer_json import (
    document_around,
    document_of_model,
    merged_texts,
    merges_of,
    texts_by_id,
    vocabulary_of,
)
from tokbench_subword.files.beside import Beside
from tokbench_subword.files.vocab_merges import read_merges, read_token_ids, write_vocab_merges
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.pipeline.patterns import Pattern


def model_of_pair(
    vocab: str | os.PathLike[str], merges: str | os.PathLike[str], *, pattern: Pattern
) -> BpeModel:
    """The byte-level model of the two files; raises `TokenizerError` with the file and place of an error.

    A token in angle brackets that is neither a single byte nor in any merge is special (``<|endoftext|>``).
    """
    ids = read_token_ids(vocab)
    for mark in ("</w>", "@@"):
        if sum(token.endswith(mark) for token in ids) > len(ids) // 10:
            raise TokenizerError(
                f"{vocab}: its tokens are marked with {mark}, so they are not at byte level, and the files do "
                f"not say how text is cut; load the folder with transformers:{Path(vocab).parent}"
            )
    vocabulary = list(vocabulary_of(ids, level="byte", where=str(vocab)))
    rows = merges_of(read_merges(merges), ids, prefix="", where=str(merges))
    merged = set(rows.ravel().tolist())
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


def read_pair(vocab: Path, merges: Path, pattern: str | None) -> tuple[BpeModel, TokenizerJson]:
    """The model of the two files, and the text preparation by its class and the files in the same folder.

    A `pattern` given by the user replaces the class's. If no file names a class, the special tokens are those
    of the model. Raises `TokenizerError` for invalid files, and for an unknown class if no pattern is given.
    """
    beside = Beside.of(vocab)
    known = CLASSES.get(beside.class_name("GPT2", OF_MODELS))
    if known is None and pattern is None:
        raise TokenizerError(
            f"{beside.class_not_known()}; give the pattern with pattern=…, or load the folder with "
            f"transformers:{vocab.parent}"
        )
    known = known or PairClass(special={})
    model = model_of_pair(vocab, merges, pattern=named_pattern(pattern or known.pattern))
    document = document_of_model(model)
    config: Any = document.pre_tokenizer
    prefix_space = bool(beside.config.get("add_prefix_space", known.prefix_space))
    if prefix_space and config["type"] == "Sequence":
        *steps, last = config["pretokenizers"]
        config = config | {"pretokenizers": [*steps, last | {"add_prefix_space": True}]}
    elif prefix_space:
        config = config | {"add_prefix_space": True}
    ids = {text: index for index, text in texts_by_id(model).items()}
    special = known.special if beside.states_class else {}
    added = beside.tokens(special, ids, plain=known.plain)
    if not special:
        added = tuple({token.content: token for token in (*document.added_tokens, *added)}.values())
    document = replace(
        document,
        normalizer={"type": known.normal_form} if known.normal_form else None,
        pre_tokenizer=config,
        added_tokens=tuple(sorted(added, key=lambda token: token.id)),
    )
    return model, document


def check_pair(model: BpeModel, document: TokenizerJson) -> None:
    """Raise `TokenizerError` for a tokenizer that the two files cannot describe.

    They do not contain the text preparation, and are read as GPT-2's.
    """
    usual = document_around(Pattern("gpt2"), "byte")
    if model.level != "byte" or document.normalizer or document.pre_tokenizer != usual.pre_tokenizer:
        raise TokenizerError(
            "vocab.json and merges.txt do not say how text is prepared, so they are read as byte-level BPE "
            "with GPT-2's pattern; this tokenizer differs from that: save it as tokenizer.json instead"
        )


def save_pair(model: BpeModel, document: TokenizerJson, folder: str | os.PathLike[str]) -> None:
    """Write `vocab.json` and `merges.txt` into a folder."""
    texts = texts_by_id(model)
    vocab = {text: index for index, text in texts.items()}
    vocab |= {token.content: token.id for token in document.added_tokens}
    write_vocab_merges(vocab, merged_texts(model, texts), folder)
