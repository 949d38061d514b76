"""A WordPiece tokenizer written in the format that a path names, proved to give its ids where converted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tokbench.errors import TokenizerError
from tokbench_subword.files import formats
from tokbench_subword.files.probes import probes_of
from tokbench_subword.files.proof import Encode, by_tokenizers, write_proved
from tokbench_subword.files.tokenizer_json import read_document, write_document
from tokbench_subword.files.vocab_txt import write_vocabulary
from tokbench_subword.wordpiece.encoder import WordPiecePreparation
from tokbench_subword.wordpiece.model import WordPieceModel
from tokbench_subword.wordpiece.tokenizer_json import document_of_model, model_of_document
from tokbench_subword.words.prepared import PreparedEncoder


def check_format(path: Path, *, name: str) -> None:
    """Raise `TokenizerError`, in the name of a tokenizer, for a path that names no format of WordPiece."""
    if path.suffix == ".gguf":
        raise TokenizerError(
            f"{name} is not written as {path.name}, which would change ids: llama.cpp prepares text "
            "for WordPiece by rules of its own (it takes Hangul syllables and some vowel signs apart and "
            "drops what follows their first part, folds case always, and knows no longest word); serve it "
            "with a program that reads tokenizer.json"
        )
    formats.check_ending(name, path, formats.WORDPIECE)


def save_converted(
    model: WordPieceModel, path: Path, *, encode: Encode, tokens: Iterable[bytes], name: str
) -> None:
    """Write the `tokenizer.json` of a model that came in another format, whose ids `encode` gives.

    `tokens` are the bytes of all ids. Raises `TokenizerError` where ids would change.
    """
    document = document_of_model(model)

    def read(aside: Path) -> Encode:
        again = model_of_document(read_document(aside), where=str(aside))
        preparation = WordPiecePreparation.of(again)
        ours = PreparedEncoder(preparation.compiled, preparation.encoder(again))
        return by_tokenizers(aside) or ours.encode

    write_proved(
        path,
        write=lambda aside: write_document(document, aside),
        read=read,
        source=encode,
        probes=probes_of(tokens, model.document.added_tokens),
        name=name,
    )


def save_vocabulary(model: WordPieceModel, path: Path, *, name: str) -> None:
    """Write BERT's `vocab.txt`; raises `TokenizerError` for a model that it cannot say."""
    if model.rules is None:
        steps = f"normalizer {model.document.normalizer}, pre-tokenizer {model.document.pre_tokenizer}"
        raise TokenizerError(
            f"{name}: vocab.txt is read by BERT's rules, and this tokenizer prepares text otherwise ({steps}): "
            "ids would change; save a .json instead"
        )
    added = [token.content for token in model.document.added_tokens if not token.special]
    if added:
        raise TokenizerError(
            f"{name}: vocab.txt does not say that {added[0]!r} is matched before others: ids would "
            "change; save a .json instead"
        )
    write_vocabulary([model.tokens.get(index) for index in range(model.size)], path)
