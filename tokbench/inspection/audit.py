"""A vocabulary looked through: which ids can be produced at all, and what the tokens are.

After Land and Bartolo, "Fishing for Magikarp" (2024): every id is decoded and the text encoded again.

- OK: the text gives the id back.
- UNDECODABLE: its bytes are not whole UTF-8 (a part of a character), so there is no text to try.
- UNREACHABLE: the text gives other ids, which are kept as the proof.
- SPECIAL: a special or control token.
- UNASSIGNED: a gap in the numbering, no token at all (such ids count in the vocabulary size).

Where a tokenizer marks the beginnings of words (a dummy prefix, ``##``), a token from the middle of a word can
never stand alone; there an id also counts as OK if it appears in its text put after one of a few beginnings.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import Ids, TokenBatch
from tokbench.capabilities import TokenByter
from tokbench.family import Progress
from tokbench.inspection.bytestrings import ByteStrings, pack, unpack
from tokbench.inspection.scripts import PARTIAL, script_of
from tokbench.tokenizer import (
    Tokenizer,
    check_told,
    checked_ids,
    encode_batch,
    special_ids,
    token_bytes,
    token_text,
    whole_text,
)

CHUNK = 20_000
BEGINNINGS = ("zq", "«", "1", "я", "中")  # unlike enough that few tokens continue each of them
PROBE = "a b, c"


class Status(IntEnum):
    """What became of an id; the numbers are those stored."""

    OK = 0
    UNDECODABLE = 1
    UNREACHABLE = 2
    SPECIAL = 3
    UNASSIGNED = 4


@dataclass(frozen=True)
class VocabularyAudit:
    """The audit of one vocabulary.

    `status` is uint8 of shape ``(vocab_size,)``, of `Status`; `tokens` the bytes of every id (empty for special
    and unassigned ones); `reencoded` maps each UNREACHABLE id to what its text gives instead; `in_context` are
    the ids that are OK only after the beginning of a word.
    """

    tokenizer: str
    vocab_size: int
    status: NDArray[np.uint8]
    tokens: ByteStrings
    reencoded: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    in_context: frozenset[int] = frozenset()

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many ids have each status; sums to `vocab_size`."""
        found = np.bincount(self.status, minlength=len(Status))
        return {status.name: int(found[status]) for status in Status}

    def share(self, status: str) -> float:
        """The share of the vocabulary that has the status of this name; NaN for an empty vocabulary."""
        return self.counts[status] / self.vocab_size if self.vocab_size else float("nan")

    def ids(self, status: Status) -> list[int]:
        """The ids that have `status`, ascending."""
        return [int(index) for index in np.flatnonzero(self.status == status)]

    def text(self, token_id: int) -> str | None:
        """The text of a token; None where its bytes are not whole UTF-8."""
        return whole_text(self.tokens[token_id])

    def texts(self) -> Iterator[tuple[int, str]]:
        """The (id, text) of every token that has one."""
        for index, part in enumerate(self.tokens):
            if part and (text := whole_text(part)) is not None:
                yield index, text

    @cached_property
    def scripts(self) -> dict[str, int]:
        """Tokens per script, most first; parts of characters, digits, white space and symbols apart."""
        found = Counter(script_of(text) for _, text in self.texts())
        found[PARTIAL] = self.counts["UNDECODABLE"]
        return {script: count for script, count in found.most_common() if count}

    @cached_property
    def duplicates(self) -> dict[bytes, tuple[int, ...]]:
        """Byte strings that several ids stand for, with these ids."""
        owners: dict[bytes, list[int]] = defaultdict(list)
        for index, part in enumerate(self.tokens):
            if part:
                owners[part].append(index)
        return {part: tuple(ids) for part, ids in owners.items() if len(ids) > 1}

    def longest(self, n: int = 20) -> list[int]:
        """The ids of the `n` longest tokens in bytes, longest first."""
        order = np.argsort(-self.tokens.lengths(), kind="stable")[:n]
        return [int(index) for index in order if len(self.tokens[int(index)])]

    @cached_property
    def whitespace(self) -> list[int]:
        """Tokens that are white space alone."""
        return [index for index, text in self.texts() if text.isspace()]

    @cached_property
    def digits(self) -> list[int]:
        """Tokens that are decimal digits alone, a space before them allowed."""
        return [index for index, text in self.texts() if text.lstrip(" ").isdecimal()]

    def byte_strings(self) -> frozenset[bytes]:
        """What the vocabulary can say: the distinct byte strings of its ordinary tokens."""
        return frozenset(self.tokens) - {b""}

    def to_json(self) -> dict[str, Any]:
        """The audit in JSON's types; a vocabulary of 200,000 takes about a megabyte."""
        return {
            "tokenizer": self.tokenizer,
            "vocab_size": self.vocab_size,
            "counts": self.counts,
            "scripts": self.scripts,
            "status": pack(self.status.tobytes()),
            "tokens": self.tokens.to_json(),
            "reencoded": {str(index): list(ids) for index, ids in self.reencoded.items()},
            "in_context": sorted(self.in_context),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> VocabularyAudit:
        """The audit that `to_json` wrote."""
        return cls(
            tokenizer=content["tokenizer"],
            vocab_size=content["vocab_size"],
            status=np.frombuffer(unpack(content["status"]), np.uint8),
            tokens=ByteStrings.from_json(content["tokens"]),
            reencoded={int(index): tuple(ids) for index, ids in content["reencoded"].items()},
            in_context=frozenset(content["in_context"]),
        )


def audit(tokenizer: Tokenizer, progress: Progress | None = None) -> VocabularyAudit:
    """Look through the vocabulary of `tokenizer`; about a second for 200,000 entries of a fast library.

    Example:
        >>> import tokbench
        >>> audit(tokbench.load("bytes")).counts["UNDECODABLE"]
        128
    """
    tell = progress or (lambda done, word: None)
    status = np.full(tokenizer.vocab_size, Status.OK, np.uint8)
    parts, texts = _decode_all(tokenizer, status, tell)
    reencoded: dict[int, tuple[int, ...]] = {}
    for index, ids in _encoded(tokenizer, texts.items(), tell):
        if len(ids) != 1 or ids[0] != index:
            reencoded[index] = tuple(int(other) for other in ids)
    in_context = _reached_in_context(tokenizer, list(reencoded), parts)
    for index in in_context:
        del reencoded[index]
    status[list(reencoded)] = Status.UNREACHABLE
    tell(1.0, "done")
    return VocabularyAudit(
        tokenizer.name,
        int(tokenizer.vocab_size),
        status,
        ByteStrings.of(parts),
        reencoded,
        frozenset(in_context),
    )


def _decode_all(
    tokenizer: Tokenizer, status: NDArray[np.uint8], tell: Progress
) -> tuple[list[bytes], dict[int, str]]:
    """The bytes of every id, and the text of those that may be encoded again; sets every other status."""
    special = special_ids(tokenizer)
    # Asked once: whether a protocol is kept takes longer to find out than what a token is.
    bytes_of = tokenizer.token_bytes if isinstance(tokenizer, TokenByter) else None
    parts, texts = [b""] * len(status), dict[int, str]()
    for index in range(len(status)):
        if index % CHUNK == 0:
            tell(0.4 * index / len(status), "decoding")
        if index in special:
            status[index] = Status.SPECIAL
            continue
        try:
            text = token_text(tokenizer, index)
            part = bytes_of(index) if bytes_of else text.encode("utf-8", "surrogatepass")
        except Exception:  # a gap: libraries raise whatever they like for an id without a token
            part, text = b"", ""
        check_told(tokenizer.name, [part])
        parts[index] = part
        if not part:
            status[index] = Status.UNASSIGNED
        elif whole_text(part) is None or (bytes_of is None and "\ufffd" in text):
            status[index] = Status.UNDECODABLE
        else:
            texts[index] = text or part.decode()  # a decoder may drop the space that a token is
    return parts, texts


def _encoded(
    tokenizer: Tokenizer, texts: Iterable[tuple[int, str]], tell: Progress
) -> Iterator[tuple[int, NDArray[np.int32]]]:
    items = list(texts)
    for start in range(0, len(items), CHUNK):
        tell(0.4 + 0.6 * start / len(items), "encoding again")
        chunk = items[start : start + CHUNK]
        batch = _encode(tokenizer, [text for _, text in chunk])
        yield from zip((index for index, _ in chunk), batch, strict=True)


def _encode(tokenizer: Tokenizer, texts: Sequence[str]) -> TokenBatch:
    """The ids of every text; one that the tokenizer refuses has none."""
    try:
        return encode_batch(tokenizer, texts)
    except Exception:
        return TokenBatch.of([_one(tokenizer, text) for text in texts])


def _one(tokenizer: Tokenizer, text: str) -> Ids:
    try:
        return tokenizer.encode(text)
    except Exception:
        return []


def _reached_in_context(tokenizer: Tokenizer, missing: Sequence[int], parts: Sequence[bytes]) -> set[int]:
    """Those of the `missing` ids that appear in their text after the beginning of a word."""
    if not missing or _spells_exactly(tokenizer):
        return set()
    reached: set[int] = set()
    for beginning in BEGINNINGS:
        left = [index for index in missing if index not in reached]
        batch = _encode(tokenizer, [beginning + (whole_text(parts[index]) or "") for index in left])
        reached |= {index for index, ids in zip(left, batch, strict=True) if index in ids}
    return reached


def _spells_exactly(tokenizer: Tokenizer) -> bool:
    """Whether tokens mean the same wherever they stand: their bytes make up the text, with nothing added."""
    return b"".join(token_bytes(tokenizer, index) for index in checked_ids(tokenizer, PROBE)) == PROBE.encode()
