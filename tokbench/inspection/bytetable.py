"""The bytes that each id adds to the decoded text: the denominator of bits per byte, token by token.

Decoding single tokens and adding up would be wrong: a sentencepiece ``▁the`` decodes to ``the`` alone and to ``
the`` after other text, WordPiece joins ``##ing`` without a space, and one byte of a Chinese character decodes
to U+FFFD, which is three. So each id has two numbers: the bytes that it adds as the first token of a document,
and those that it adds after other tokens. Both come from `decode`, called with the token alone and after a
word. Only tokens that are not whole characters are asked for their bytes.

Special tokens add nothing, whatever `decode` shows for them. The unknown token adds what `decode` writes for
it. `prove` compares the sums with decoded documents, because `decode` may do what no table by id can express.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.arguments import check_ids
from tokbench.batch import TokenBatch
from tokbench.corpus import in_batches
from tokbench.errors import SpecError, TokenizerError
from tokbench.family import Progress
from tokbench.tokenizer import (
    Tokenizer,
    checked_ids,
    decode_batch,
    encode_batch,
    special_ids,
    token_bytes,
    unk_id,
    whole_text,
)

UNTOLD = -1
"""The number of bytes of a token whose bytes are not known."""
CHUNK = 20_000
EXAMPLES = 5
ENDINGS = (".npy", ".json", ".parquet")
_WORDS = ("a", "o", "1", ".")


class IdKind(IntEnum):
    """What an id is; the numbers are those stored."""

    TEXT = 0
    PARTIAL = 1
    SPECIAL = 2
    UNKNOWN = 3
    UNASSIGNED = 4


@dataclass(frozen=True, eq=False)
class ByteTable:
    """The bytes of every id of one tokenizer.

    `after` and `first` are int32 of shape ``(vocab_size,)``: the bytes that an id adds to the decoded text
    after other tokens, and as the first token of a document. They are `UNTOLD` for a token that is not whole
    characters and whose bytes the tokenizer does not give. `kind` is uint8, of `IdKind`.
    """

    tokenizer: str
    after: NDArray[np.int32]
    first: NDArray[np.int32]
    kind: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.after)

    def of_tokens(self, batch: TokenBatch) -> NDArray[np.int64]:
        """The bytes that each token of `batch` adds, int64 of shape ``(tokens,)``.

        The first token after leading special tokens counts as the first of its document. Raises
        `TokenizerError` for ids outside the vocabulary and for tokens whose bytes are not known.

        Example:
            >>> import tokbench
            >>> byte_table(tokbench.load("bytes")).of_tokens(TokenBatch.of([[104, 105], [200]])).tolist()
            [1, 1, 1]
        """
        ids = batch.ids
        check_ids(ids, len(self), name=self.tokenizer)
        added: NDArray[np.int64] = self.after[ids].astype(np.int64)
        special = self.kind[ids] == IdKind.SPECIAL
        text = np.flatnonzero(~special)
        where = np.searchsorted(text, batch.offsets[:-1])
        begins = text[where[where < len(text)]]
        begins = begins[begins < batch.offsets[1:][where < len(text)]]
        added[begins] = self.first[ids[begins]]
        if (added < 0).any():
            wrong = int(ids[np.flatnonzero(added < 0)[0]])
            raise TokenizerError(
                f"{self.tokenizer}: it does not tell the bytes of token {wrong}, a part of a character"
            )
        return added

    def of_documents(self, batch: TokenBatch) -> NDArray[np.int64]:
        """The bytes of the decoded text of each document, int64 of shape ``(documents,)``."""
        return np.diff(np.append(0, np.cumsum(self.of_tokens(batch)))[batch.offsets])

    def as_json(self) -> dict[str, Any]:
        """The table in JSON's types; null for bytes that are not known."""
        return {
            "tokenizer": self.tokenizer,
            "vocab_size": len(self),
            "bytes": [None if value < 0 else value for value in self.after.tolist()],
            "bytes_at_start": [None if value < 0 else value for value in self.first.tolist()],
            "kind": [IdKind(value).name.lower() for value in self.kind.tolist()],
        }

    def write(self, path: Path) -> None:
        """Write the table, in the form that the ending of `path` names; raises `SpecError` for another.

        ``.npy``: int32 of shape ``(2, vocab_size)``, `after` and then `first`. ``.parquet``: a row an id, with
        the columns id, bytes, bytes_at_start and kind. ``.json``: as `as_json`.
        """
        import json

        if path.suffix == ".npy":
            np.save(path, np.stack([self.after, self.first]))
        elif path.suffix == ".json":
            path.write_text(json.dumps(self.as_json()), encoding="utf-8")
        elif path.suffix == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            content = self.as_json()
            columns = {
                "id": pa.array(range(len(self)), pa.int32()),
                "bytes": pa.array(content["bytes"], pa.int32()),
                "bytes_at_start": pa.array(content["bytes_at_start"], pa.int32()),
                "kind": pa.array(content["kind"]).dictionary_encode(),
            }
            pq.write_table(pa.table(columns), path)
        else:
            raise SpecError(f"{path}: tables are written as {', '.join(ENDINGS)}, by the file's ending")


def byte_table(tokenizer: Tokenizer, progress: Progress | None = None) -> ByteTable:
    """The bytes that each id of `tokenizer` adds; some seconds for 200,000 ids of a slow library.

    Example:
        >>> import tokbench
        >>> table = byte_table(tokbench.load("bytes"))
        >>> int(table.after[ord("a")]), IdKind(table.kind[0xE9]).name
        (1, 'PARTIAL')
    """
    tell = progress or (lambda done, word: None)
    size, unknown = int(tokenizer.vocab_size), unk_id(tokenizer)
    table = ByteTable(
        tokenizer.name, np.zeros(size, np.int32), np.zeros(size, np.int32), np.zeros(size, np.uint8)
    )
    marks = np.array(sorted(special_ids(tokenizer) - {unknown}), np.int64)
    table.kind[marks[(marks >= 0) & (marks < size)]] = IdKind.SPECIAL
    anchor, alone = _anchor(tokenizer)
    wanted = np.flatnonzero(table.kind != IdKind.SPECIAL).tolist()
    for start in range(0, len(wanted), CHUNK):
        tell(start / max(1, len(wanted)), "decoding")
        ids = wanted[start : start + CHUNK]
        for index, first, later in zip(
            ids,
            _decoded(tokenizer, [[i] for i in ids]),
            _decoded(tokenizer, [[anchor, i] for i in ids]),
            strict=True,
        ):
            if first is None or later is None:
                table.kind[index] = IdKind.UNASSIGNED
            elif "\ufffd" in first or "\ufffd" in later:
                part = _own_bytes(tokenizer, index)
                table.first[index] = table.after[index] = UNTOLD if part is None else len(part)
                whole = part is not None and whole_text(part) is not None
                table.kind[index] = IdKind.TEXT if whole else IdKind.PARTIAL
            else:
                table.first[index] = len(_utf8(first))
                table.after[index] = len(_utf8(later)) - alone
    if unknown is not None and 0 <= unknown < size:
        table.kind[unknown] = IdKind.UNKNOWN
    tell(1.0, "done")
    return table


@dataclass
class Proof:
    """A table compared with `decode` on `documents` documents.

    `text`, `decoded` and `table` are bytes: of the text, of the decoded ids, and as the sum of the table over
    the ids. `examples` are documents in which `decoded` and `table` differ: (name, decoded, table).
    """

    documents: int = 0
    exact: int = 0
    tokens: int = 0
    text: int = 0
    decoded: int = 0
    table: int = 0
    examples: list[tuple[str, int, int]] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether the table is exact on every document; False without documents."""
        return self.documents > 0 and self.exact == self.documents

    def as_json(self) -> dict[str, Any]:
        """The proof in JSON's types."""
        named = ("document", "decoded", "table")
        examples = [dict(zip(named, example, strict=True)) for example in self.examples]
        return {**asdict(self), "examples": examples}


def prove(
    table: ByteTable,
    tokenizer: Tokenizer,
    documents: Iterable[tuple[str, str]],
    progress: Callable[[int], None] | None = None,
) -> Proof:
    """Compare the table with `decode` on documents, pairs of (name, text) that are encoded as a whole.

    Example:
        >>> import tokbench
        >>> tokenizer = tokbench.load("bytes")
        >>> prove(byte_table(tokenizer), tokenizer, [("one", "né"), ("two", "")]).as_json()["decoded"]
        3
    """
    proof = Proof()
    for some in in_batches(documents, progress):
        batch = encode_batch(tokenizer, [text for _, text in some])
        sums = table.of_documents(batch).tolist()
        for (name, text), back, total in zip(some, decode_batch(tokenizer, batch), sums, strict=True):
            size = len(_utf8(back))
            proof.documents += 1
            proof.exact += size == total
            proof.text += len(_utf8(text))
            proof.decoded += size
            proof.table += total
            if size != total and len(proof.examples) < EXAMPLES:
                proof.examples.append((name, size, total))
        proof.tokens += len(batch.ids)
    return proof


def _anchor(tokenizer: Tokenizer) -> tuple[int, int]:
    """A token of plain text, and the number of bytes that it decodes to alone."""
    for word in _WORDS:
        ids = checked_ids(tokenizer, word)
        if ids and ids[-1] != unk_id(tokenizer):
            text = tokenizer.decode([ids[-1]])
            if text.strip():
                return ids[-1], len(_utf8(text))
    raise TokenizerError(
        f"{tokenizer.name}: no token of {', '.join(map(repr, _WORDS))} decodes to text, so that what ids add "
        f"to a text cannot be found out"
    )


def _decoded(tokenizer: Tokenizer, ids: Sequence[Sequence[int]]) -> list[str | None]:
    """The decoded text of each; None if the tokenizer raises, as it may for unused ids."""
    try:
        return list(decode_batch(tokenizer, TokenBatch.of(ids)))
    except Exception:  # a gap in the numbering: libraries raise whatever they like
        return [_one(tokenizer, some) for some in ids]


def _one(tokenizer: Tokenizer, ids: Sequence[int]) -> str | None:
    try:
        return tokenizer.decode(ids)
    except Exception:
        return None


def _own_bytes(tokenizer: Tokenizer, index: int) -> bytes | None:
    """The bytes a token stands for, as the tokenizer itself knows them."""
    part = token_bytes(tokenizer, index)
    return part if part and hasattr(tokenizer, "token_bytes") else None


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
