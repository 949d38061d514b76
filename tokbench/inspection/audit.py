"""The audit of a vocabulary: which ids some text can produce, and what the tokens are.

After Land and Bartolo, "Fishing for Magikarp" (2024): every id is decoded and the text encoded again.

- OK: the text gives the id back.
- UNDECODABLE: its bytes are not whole UTF-8 (a part of a character), so there is no text to try.
- UNREACHABLE: no text tried gives the id. What its own text gives instead is kept.
- SPECIAL: a special or control token.
- UNASSIGNED: a gap in the numbering, no token at all (such ids count in the vocabulary size).

Many tokens never stand alone, because the tokenizer marks where words begin (a dummy prefix, ``##``) or end
(``</w>``), or because it strips the ends of a text or cuts it there. So a text that does not give its id back
is also tried with other text before it, after it and on both sides: first a few fixed neighbours, then
characters of the vocabulary, drawn by chance from the token's own script and from all. If the id then occurs,
it is OK. So UNREACHABLE does not prove that no text gives the id.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property, partial
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
    encode_batch,
    special_ids,
    token_text,
    whole_text,
)

CHUNK = 20_000
NEIGHBOURS = ("zq", "«", "1", "я", "中")  # unlike enough that few tokens continue each of them
_LENGTHS = ((1, 0), (0, 1), (1, 1), (2, 1), (1, 2))  # of the text drawn before and after a token
DRAWS = 120
"""How many times characters of the vocabulary are drawn as neighbours of a token."""
_TRIED = 3 * len(NEIGHBOURS) + DRAWS


class Status(IntEnum):
    """The status of an id; runs store these numbers."""

    OK = 0
    UNDECODABLE = 1
    UNREACHABLE = 2
    SPECIAL = 3
    UNASSIGNED = 4


@dataclass(frozen=True)
class VocabularyAudit:
    """The audit of one vocabulary.

    `status` is uint8 of shape ``(vocab_size,)``, of `Status`; `tokens` the bytes of every id (empty for special
    and unassigned ones); `reencoded` maps each UNREACHABLE id to what its text gives instead; `in_context` maps
    each id that is OK only next to other text to a text that gives it.
    """

    tokenizer: str
    vocab_size: int
    status: NDArray[np.uint8]
    tokens: ByteStrings
    reencoded: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    in_context: Mapping[int, str] = field(default_factory=dict)

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

    def with_used(self, counts: NDArray[np.int64]) -> VocabularyAudit:
        """The audit once some text has used ids as often as `counts` says: UNREACHABLE ids used in it are OK.

        `counts` is int64 of shape ``(vocab_size,)``.
        """
        reencoded = {index: ids for index, ids in self.reencoded.items() if not counts[index]}
        status = self.status.copy()
        status[[index for index in self.reencoded if index not in reencoded]] = Status.OK
        return replace(self, status=status, reencoded=reencoded)

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
            "texts_in_context": {str(index): text for index, text in self.in_context.items()},
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
            in_context={int(index): text for index, text in content.get("texts_in_context", {}).items()},
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
    in_context = _reached_in_context(tokenizer, list(reencoded), parts, tell)
    reencoded = {index: ids for index, ids in reencoded.items() if index not in in_context}
    status[list(reencoded)] = Status.UNREACHABLE
    tell(1.0, "done")
    return VocabularyAudit(
        tokenizer.name,
        int(tokenizer.vocab_size),
        status,
        ByteStrings.of(parts),
        reencoded,
        in_context,
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
        tell(0.4 + 0.3 * start / len(items), "encoding again")
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


def _reached_in_context(
    tokenizer: Tokenizer, missing: Sequence[int], parts: Sequence[bytes], tell: Progress
) -> dict[int, str]:
    """The text that gives the id, for each of the `missing` ids that occurs with other text next to its own."""
    reached: dict[int, str] = {}
    texts = {index: whole_text(parts[index]) or "" for index in missing}
    ends = {index: (script_of(text.strip()[:1]), script_of(text.strip()[-1:])) for index, text in texts.items()}
    left = np.array(missing, np.int64)
    for number, (before, after) in enumerate(_neighbours(parts)):
        if not len(left):
            break
        tell(0.7 + 0.3 * number / _TRIED, "trying tokens next to other text")
        tried = [before(ends[index][0]) + texts[index] + after(ends[index][1]) for index in left.tolist()]
        given = _encode(tokenizer, tried)
        owner = np.repeat(np.arange(len(left)), given.lengths())
        found = np.zeros(len(left), np.bool_)
        found[owner[given.ids == left[owner]]] = True
        reached |= {int(left[at]): tried[at] for at in np.flatnonzero(found).tolist()}
        left = left[~found]
    return reached


def _neighbours(parts: Sequence[bytes]) -> Iterator[tuple[Callable[[str], str], Callable[[str], str]]]:
    """Pairs of functions that give the text to try before and after a token, from the script of that end of it.

    The fixed neighbours come first. Then single characters of the vocabulary are drawn by chance, from all and
    from the token's own script in turns, because words and numbers have characters of one script side by side.
    """
    for near in NEIGHBOURS:
        for before, after in ((near, ""), ("", near), (near, near)):
            yield partial(str.format, before), partial(str.format, after)
    texts = map(whole_text, parts)
    single = list(dict.fromkeys(text for text in texts if text and len(text) == 1 and not text.isspace()))
    by_script: dict[str, list[str]] = defaultdict(list)
    for text in single:
        by_script[script_of(text)].append(text)
    chance = random.Random(0)

    def draw(pools: Mapping[str, Sequence[str]], length: int) -> Callable[[str], str]:
        other = "".join(chance.choices(single, k=length)) if single else ""
        own = {script: "".join(chance.choices(pool, k=length)) for script, pool in pools.items()}
        return lambda script: own.get(script, other)

    for number in range(DRAWS):
        before_length, after_length = _LENGTHS[number // 2 % len(_LENGTHS)]
        pools = by_script if number % 2 else {}
        yield draw(pools, before_length), draw(pools, after_length)
