"""`TokenBatch`: the token ids of many documents in one array."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from tokbench.arguments import holds_truth, kind_of
from tokbench.errors import TokenizerError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Ids: TypeAlias = "Sequence[int] | NDArray[np.integer[Any]]"
"""Ids of one document, as a tokenizer may give them."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenBatch:
    """Token ids of many documents, as a ragged array (the layout of an Arrow list).

    `ids` is int32 of shape ``(total,)``; `offsets` is int64 of shape ``(documents + 1,)``; document i is
    ``ids[offsets[i]:offsets[i + 1]]``. All of tokbench passes ids in this form, and compiled code relies on it;
    other arrays raise `TokenizerError`. `of` takes any sequences of ids.

    Example:
        >>> batch = TokenBatch.of([[1, 2], [], [3]])
        >>> len(batch), batch.lengths().tolist(), batch[0].tolist()
        (3, [2, 0, 1], [1, 2])
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        import numpy as np

        for what, found, dtype in (("ids", self.ids, np.int32), ("offsets", self.offsets, np.int64)):
            if not isinstance(found, np.ndarray) or found.dtype != dtype or found.ndim != 1:
                raise _malformed(f"{what} must be a flat array of {dtype.__name__}, not {kind_of(found)}")
            if not found.flags.c_contiguous:
                raise _malformed(f"{what} must lie side by side in memory")
        offsets, count = self.offsets, len(self.ids)
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != count or (offsets[1:] < offsets[:-1]).any():
            raise _malformed(f"offsets must go up from 0 to the number of ids, {count}; they are {offsets}")

    @classmethod
    def of(cls, documents: Iterable[Ids], *, name: str = "") -> TokenBatch:
        """The batch of some sequences of ids; raises `TokenizerError` for anything but sequences of int32.

        `name` is the name of the tokenizer that made the ids, for errors.
        """
        import numpy as np

        arrays = [_int32(ids, name) for ids in documents]
        offsets = np.cumsum([0, *map(len, arrays)], dtype=np.int64)
        return cls(np.concatenate(arrays) if arrays else np.zeros(0, np.int32), offsets)

    @classmethod
    def of_lists(cls, documents: Iterable[list[int]]) -> TokenBatch:
        """The batch of plain lists of ints, taken one by one, for libraries that return lists.

        Raises `TokenizerError` for ids beyond 32 bits, and for anything but lists of ints.

        Example:
            >>> TokenBatch.of_lists([[1, 2], [], [3]]).ids.tolist()
            [1, 2, 3]
        """
        import numpy as np

        flat, ends = array("i"), array("q", [0])
        for ids in documents:
            try:
                flat.fromlist(ids)
            except (OverflowError, TypeError) as error:
                raise _malformed(f"not a list of ids of 32 bits: {error}") from error
            ends.append(len(flat))
        return cls(np.frombuffer(flat, np.intc).astype(np.int32, copy=False), np.frombuffer(ends, np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> NDArray[np.int32]:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        return (self[index] for index in range(len(self)))

    def to_lists(self) -> list[list[int]]:
        """The documents as plain lists of ints, for libraries that take lists."""
        ids, limits = self.ids.tolist(), self.offsets.tolist()
        return [ids[start:stop] for start, stop in pairwise(limits)]

    def some(self, documents: NDArray[np.bool_]) -> TokenBatch:
        """The documents that `documents`, bool of shape ``(documents,)``, marks.

        Example:
            >>> import numpy as np
            >>> TokenBatch.of([[1, 2], [], [3]]).some(np.array([False, True, True])).to_lists()
            [[], [3]]
        """
        import numpy as np

        chosen = np.flatnonzero(documents)
        lengths = self.lengths()[chosen]
        offsets = np.append(0, np.cumsum(lengths))
        where = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return TokenBatch(self.ids[where], offsets)

    def copy(self) -> TokenBatch:
        """A copy with its own arrays, for code that may write to them."""
        return TokenBatch(self.ids.copy(), self.offsets.copy())

    def lengths(self) -> NDArray[np.int64]:
        """Tokens per document, int64 of shape ``(documents,)``."""
        import numpy as np

        return np.diff(self.offsets)


def _listed(ids: Iterable[int]) -> list[int]:
    found = list(ids)
    if holds_truth(found):
        raise TypeError("True and False are no ids")
    return found


def _int32(ids: Ids, name: str) -> NDArray[np.int32]:
    import numpy as np

    try:
        array = np.asarray(ids)
        if array.size == 0 and array.ndim == 1:
            return np.zeros(0, np.int32)
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise TypeError(kind_of(ids))
        if array.dtype != np.int32 and (array.min() < -(2**31) or array.max() >= 2**31):
            raise TypeError("ids beyond 32 bits")
    except ValueError:  # sequences of different lengths; the message of numpy does not help
        raise _not_flat(kind_of(ids), name) from None
    except TypeError as error:
        raise _not_flat(str(error), name) from error
    return array.astype(np.int32, copy=False)


def _not_flat(found: str, name: str) -> TokenizerError:
    whose = f"{name}: " if name else ""
    return TokenizerError(f"{whose}encode must return a flat sequence of whole numbers; it returned {found}")


def _malformed(what: str) -> TokenizerError:
    return TokenizerError(f"a batch of tokens cannot be made: {what}; TokenBatch.of takes any sequences of ids")


def batched(batch: TokenBatch | Iterable[Iterable[int]], *, name: str) -> TokenBatch:
    """A batch as it is, or the batch of several sequences of ids; raises `TokenizerError` for anything else.

    Example:
        >>> batched([[3, 1], []], name="demo").to_lists()
        [[3, 1], []]
    """
    if isinstance(batch, TokenBatch):
        return batch
    try:
        return TokenBatch.of_lists(_listed(ids) for ids in batch)
    except TypeError:
        raise TokenizerError(
            f"{name}: decode_batch takes a TokenBatch or lists of ids, not {kind_of(batch)}"
        ) from None
