"""A WordPiece tokenizer written in another format than it came in, proved to give the same ids."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tokbench_subword.files.probes import probes, texts_of
from tokbench_subword.files.proof import Encode, by_tokenizers, write_proved
from tokbench_subword.files.tokenizer_json import read_document, write_document
from tokbench_subword.wordpiece.tokenizer_json import document_of_model, model_of_document

if TYPE_CHECKING:
    from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer


def save_json(tokenizer: WordPieceTokenizer, path: Path) -> None:
    """Write the `tokenizer.json`; raises `TokenizerError` where ids would change."""
    document, added = document_of_model(tokenizer.model), tokenizer.model.added_tokens

    def read(aside: Path) -> Encode:
        again = type(tokenizer)("again", model_of_document(read_document(aside), where=str(aside)))
        return by_tokenizers(aside) or again.encode

    write_proved(
        path,
        write=lambda aside: write_document(document, aside),
        read=read,
        source=tokenizer.encode,
        probes=probes(
            texts_of(map(tokenizer.token_bytes, range(tokenizer.vocab_size))),
            symbols=[token.content for token in added if not token.special],
            never=[token.content for token in added if token.special],
        ),
        name=tokenizer.name,
    )
