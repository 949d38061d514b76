"""What texts lose, told again by the sentences of docs/metrics.md, with none of the code that tells it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from sentencepiece import SentencePieceProcessor
from tokenizers import Tokenizer

import tokbench
from tokbench.corpus import Document
from tokbench.metrics import CellKey
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.measure import measure
from tokbench.tally.collect import collect

TEXTS = (
    " ", " \t \n ", "Hello World", "hello world", "café résumé", "cafe\u0301", "ﬁne ½ ①", "naïve 漢字 👩‍👩‍👧",
    "a\u00a0b\u2003c", "tab\tand\r\nline\n\nends  ", "zero\u200bwidth \u200dx \ufeffbom", "no\u00adsoft hyphen",
    "control\x00\x01\x7f bell\x07", "\ufffd replacement", "мир труд май", "สวัสดีชาวโลก", "हिन्दी", "שָׁלוֹם",
    "[UNK] <unk> ⁇ text", "☃ snow 𐍈", "ß SS İI ıi", "x" * 5000, "㍿ ㌔", " lead", "trail ", "two  spaces", "﷽",
)  # fmt: skip


class Read:
    """A text as the library gives it back, and whether a token of it is unknown."""

    def __init__(self, decoded: str, unknown: bool) -> None:
        self.decoded, self.unknown = decoded, unknown


def of_bert(vocabs: Path) -> Callable[[str], Read]:
    library = Tokenizer.from_file(str(vocabs / "bert-base-uncased" / "hf" / "tokenizer.json"))
    library.encode_special_tokens = True
    unknown = library.token_to_id("[UNK]")

    def read(text: str) -> Read:
        ids = library.encode(text, add_special_tokens=False).ids
        return Read(library.decode(ids, skip_special_tokens=False), unknown in ids)

    return read


def of_t5(vocabs: Path) -> Callable[[str], Read]:
    library = SentencePieceProcessor(model_file=str(vocabs / "t5-base" / "spiece.model"))

    def read(text: str) -> Read:
        ids = library.encode(text)
        return Read(library.decode(ids), library.unk_id() in ids)

    return read


def letters(text: str) -> str:
    """Without white space, control and format characters."""
    return "".join(
        c for c in text if not c.isspace() and c != "\u2581" and unicodedata.category(c) not in ("Cc", "Cf")
    )


def plain(text: str) -> str:
    """Without case, diacritics of letters and compatibility forms."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return re.sub("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff]", "", text)


def lost(text: str, read: Read) -> set[str]:
    """What a text that did not come back has lost."""
    gone = text.count("\ufffd") != read.decoded.count("\ufffd")
    if read.unknown or gone or letters(plain(text)) != letters(plain(read.decoded)):
        return {"lost_text"}
    found = {"lost_form"} if letters(text) != letters(read.decoded) else set()
    found |= {"lost_spaces"} if plain(text) != plain(read.decoded) else set()
    return found or {"lost_form"}


@pytest.mark.parametrize(
    ("spec", "reader"),
    [
        ("transformers:{}/bert-base-uncased/hf/tokenizer.json", of_bert),
        ("wordpiece:{}/bert-base-uncased/hf/tokenizer.json", of_bert),
        ("sentencepiece:{}/t5-base/spiece.model", of_t5),
        ("unigram:{}/t5-base/spiece.model", of_t5),
    ],
)
def test_losses_are_those_of_their_definitions(
    test_data: Path, spec: str, reader: Callable[[Path], Callable[[str], Read]]
) -> None:
    vocabs = test_data / "vocabs"
    naughty = (test_data / "corpora" / "naughty-strings" / "blns.txt").read_text("utf-8").split("\n")
    texts = [*TEXTS, *filter(None, naughty)]
    read = reader(vocabs)
    kinds = [lost(text, read(text)) if read(text).decoded != text else {"round_trip"} for text in texts]
    key, tokenizer = CellKey("t", "d", "und"), tokbench.load(spec.format(vocabs))
    cells = {key: collect(tokenizer, map(Document, texts))}
    rows = measure(cells, CATALOGUE, context=MeasureContext(replicates=0))
    found = {row.metric: row.value for row in rows if row.language == "und"}
    for name in ("round_trip", "lost_form", "lost_spaces", "lost_text"):
        assert found[name] == pytest.approx(sum(name in kind for kind in kinds) / len(texts), abs=1e-9), name
