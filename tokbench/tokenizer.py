"""The protocol of a tokenizer, and functions that work with every tokenizer.

A plugin's object needs only `Tokenizer`. `tokbench.capabilities` has what it may offer in addition; the
functions here use a capability if the tokenizer has it, and derive the answer if not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import getattr_static
from numbers import Integral
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from tokbench.batch import Ids, TokenBatch
from tokbench.capabilities import BatchDecoder, BatchEncoder, BatchOffsetEncoder, OffsetEncoder, TokenByter
from tokbench.errors import TokenizerError
from tokbench.wording import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class Tokenizer(Protocol):
    """What a plugin's `load` returns: text to ids and back, content only (no BOS, EOS or template).

    `name` and `vocab_size` are only read, so attributes, properties or fields of a frozen dataclass will do.
    """

    @property
    def name(self) -> str:
        """The name of the tokenizer."""

    @property
    def vocab_size(self) -> int:
        """A number above every id."""

    def encode(self, text: str, /) -> Ids:
        """The ids of `text`, a list, a tuple, an array; the text of a special token is ordinary text."""

    def decode(self, ids: Sequence[int], /) -> str:
        """The text of `ids`."""


# Plain attributes, read with getattr where present:
#   special_ids: frozenset[int]     ids of special and control tokens
#   unk_id: int | None              the id of the unknown token
#   lossless: bool                  declared: decode(encode(x)) == x for every text
#   decode_joins_bytes: bool        declared: decode(ids) is the UTF-8 text of token_bytes joined, for any ids
#                                   that are not special
#   decode_drops_space: bool        declared: the same without the first byte, where that is a space and what
#                                   follows is UTF-8 and begins with none


def encode_batch(tokenizer: Tokenizer, texts: Sequence[str]) -> TokenBatch:
    """The ids of many texts, by the tokenizer's own batch call if it has one.

    That call gets its own list, so that a tokenizer that changes its list does not change the caller's texts.
    """
    if isinstance(tokenizer, BatchEncoder):
        batch = tokenizer.encode_batch(list(texts))
        if not isinstance(batch, TokenBatch):
            raise TokenizerError(
                f"{tokenizer.name}: encode_batch returned {type(batch).__name__}, not a TokenBatch; "
                "TokenBatch.of makes one of any sequences of ids"
            )
        if len(batch) != len(texts):
            raise TokenizerError(
                f"{tokenizer.name}: encode_batch returned {len(batch)} documents for {len(texts)} texts"
            )
        return batch
    return TokenBatch.of((tokenizer.encode(text) for text in texts), name=tokenizer.name)


def checked_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """The ids of one text; raises `TokenizerError` if the result is not a sequence of ids of the vocabulary.

    Example:
        >>> import tokbench
        >>> checked_ids(tokbench.load("bytes"), "hi")
        [104, 105]
    """
    ids = TokenBatch.of([tokenizer.encode(text)], name=tokenizer.name).ids
    check_encoded(tokenizer.name, ids, tokenizer.vocab_size)
    found: list[int] = ids.tolist()
    return found


def check_encoded(name: str, ids: NDArray[np.int32], size: int) -> None:
    """Raise `TokenizerError` for ids outside a vocabulary of `size`; `name` is the tokenizer's."""
    if not len(ids):
        return
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high >= size:
        raise TokenizerError(
            f"{name}: encode returned the id {low if low < 0 else high}, outside its vocabulary "
            f"of {size:,} ids (0 to {size - 1:,}); vocab_size must count every id, "
            f"special and added tokens included"
        )


def decode_batch(tokenizer: Tokenizer, batch: TokenBatch) -> list[str]:
    """The text of every document, by the tokenizer's own batch call if it has one.

    Example:
        >>> import tokbench
        >>> decode_batch(tokbench.load("bytes"), TokenBatch.of([[104, 105], []]))
        ['hi', '']
    """
    if isinstance(tokenizer, BatchDecoder):
        texts = tokenizer.decode_batch(batch)
        if len(texts) != len(batch):
            raise TokenizerError(
                f"{tokenizer.name}: decode_batch returned {len(texts)} texts for {len(batch)} documents"
            )
    else:
        texts = [tokenizer.decode(ids) for ids in batch.to_lists()]
    for text in texts:
        if not isinstance(text, str):
            raise TokenizerError(f"{tokenizer.name}: decode returned {type(text).__name__}, not str")
    return texts


def token_bytes(tokenizer: Tokenizer, token_id: int) -> bytes:
    """The bytes of one token: the tokenizer's own answer, or else the UTF-8 of its decoded text."""
    if isinstance(tokenizer, TokenByter):
        found = tokenizer.token_bytes(token_id)
        check_told(tokenizer.name, [found])
        return found
    return token_text(tokenizer, token_id).encode("utf-8", "surrogatepass")


def token_text(tokenizer: Tokenizer, token_id: int) -> str:
    """The decoded text of one token; U+FFFD if `decode` raises because it is a part of a character."""
    try:
        text = tokenizer.decode([token_id])
    except UnicodeDecodeError:
        return "\ufffd"
    if not isinstance(text, str):
        raise TokenizerError(f"{tokenizer.name}: decode returned {type(text).__name__}, not str")
    return text


def check_told(name: str, found: Iterable[object], method: str = "token_bytes") -> None:
    """Raise `TokenizerError` unless a tokenizer's `method` returned bytes for each token."""
    for each in found:
        if not isinstance(each, bytes):
            raise TokenizerError(f"{name}: {method} returned {type(each).__name__}, not bytes")


def offsets_batch(
    tokenizer: OffsetEncoder, texts: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The spans of the tokens of many texts, and the limits of each text, by the tokenizer's own batch call."""
    import numpy as np

    if isinstance(tokenizer, BatchOffsetEncoder):
        spans, limits = tokenizer.offsets_batch(texts)
        if len(limits) != len(texts) + 1 or limits[0] != 0 or limits[-1] != len(spans):
            raise TokenizerError(
                f"{getattr(tokenizer, 'name', 'a tokenizer')}: offsets_batch returned limits that do not cut "
                f"{counted(len(spans), 'span')} into {counted(len(texts), 'text')}"
            )
        return spans, limits
    found = [np.asarray(tokenizer.offsets(text), np.int64).reshape(-1, 2) for text in texts]
    limits = np.append(0, np.cumsum([len(spans) for spans in found], dtype=np.int64))
    return np.concatenate([np.zeros((0, 2), np.int64), *found]), limits


def text_of(data: bytes) -> str:
    """Decode UTF-8, with lone surrogates as ``surrogatepass`` writes them, and U+FFFD for anything invalid.

    For lossless tokenizers whose tokens are bytes.

    Example:
        >>> text_of("né".encode()), text_of(bytes([0xED, 0xA0, 0x80])) == chr(0xD800)
        ('né', True)
    """
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def whole_text(data: bytes, surrogates: str = "strict") -> str | None:
    """Decode UTF-8; None if it does not consist of whole characters.

    With ``"surrogatepass"`` a lone surrogate counts as a whole character.

    Example:
        >>> whole_text("né".encode()), whole_text("né".encode()[:2])
        ('né', None)
    """
    try:
        return data.decode("utf-8", surrogates)
    except UnicodeDecodeError:
        return None


def first_difference(one: Sequence[object], other: Sequence[object]) -> int:
    """The first index at which two sequences (text, ids, pieces) differ; their length if they are equal.

    Example:
        >>> first_difference("newer", "never"), first_difference([1, 2], [1, 2, 3])
        (2, 2)
    """
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def check_facts(tokenizer: Tokenizer, *, computed: bool = False) -> None:
    """Raise `TokenizerError` if what a tokenizer says about its vocabulary has an impossible type or size.

    Computed properties, such as whether it is lossless, may take long; they are checked only if `computed`.

    Example:
        >>> import tokbench
        >>> check_facts(tokbench.load("bytes"))
    """
    size = tokenizer.vocab_size
    if isinstance(size, bool) or not isinstance(size, Integral) or not 0 <= size < 1 << 31:
        raise TokenizerError(f"vocab_size: {size!r} is no whole number from 0 to 2³¹ − 1, as ids are int32")
    unknown = getattr(tokenizer, "unk_id", None)
    special = getattr(tokenizer, "special_ids", ())
    if not isinstance(special, Iterable):
        raise TokenizerError(f"special_ids: {special!r} is no collection of ids")
    for what, ids in (("unk_id", [] if unknown is None else [unknown]), ("special_ids", special)):
        for each in ids:
            if isinstance(each, bool) or not isinstance(each, Integral):
                raise TokenizerError(f"{what}: {each!r} is no id, which is a whole number")
    if unknown is not None and not 0 <= unknown < size:
        raise TokenizerError(f"unk_id: {unknown} is outside the vocabulary of {size} ids; without one, None")
    for what in ("lossless", "decode_joins_bytes", "decode_drops_space"):
        declared = (getattr if computed else getattr_static)(tokenizer, what, None)
        if declared is not None and not isinstance(declared, bool) and not hasattr(declared, "__get__"):
            raise TokenizerError(f"{what}: {declared!r} is neither True nor False; leave it out to say nothing")


def special_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """The ids of special tokens; empty if the tokenizer names none."""
    return frozenset(getattr(tokenizer, "special_ids", ()))


def unk_id(tokenizer: Tokenizer) -> int | None:
    """The id of the unknown token, or None."""
    value = getattr(tokenizer, "unk_id", None)
    return None if value is None else int(value)
