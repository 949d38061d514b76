"""`BpeModel`: a BPE vocabulary with its merges and rules, without the text preparation.

Trainers return one, every file format reads and writes one, and the encoder compiles one into its tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from tokbench.errors import TokenizerError
from tokbench.kernels.copies import Rebuilt, cached_property
from tokbench_subword.pipeline.patterns import Pattern

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Level = Literal["byte", "char"]

MOST_TOKENS = 1 << 21
"""The encoder's packed pair table has room for ids below this number."""


def check_size(size: int, *, where: str = "a BPE vocabulary") -> None:
    """Raise `TokenizerError` if `size` is above `MOST_TOKENS`; called before any list of that size is made."""
    if size > MOST_TOKENS:
        raise TokenizerError(f"{where}: its highest id is {size - 1}, and only {MOST_TOKENS} tokens have room")


def can_happen(merges: NDArray[np.int32], vocabulary: Sequence[bytes]) -> NDArray[np.bool_]:
    """Whether the three tokens of each merge, ``(n, 3)``, are all non-empty; else text can never reach it."""
    import numpy as np

    empty = np.fromiter((not token for token in vocabulary), np.bool_, len(vocabulary))
    can: NDArray[np.bool_] = np.logical_not(empty[merges].any(axis=1))
    return can


def each_pair_once(merges: NDArray[np.int32]) -> NDArray[np.int32]:
    """Merges, ``(n, 3)``, without the earlier entries of a repeated pair: `tokenizers` uses the last rank."""
    import numpy as np

    keys = (merges[:, 0].astype(np.int64) << 32) | merges[:, 1]
    _, last = np.unique(keys[::-1], return_index=True)
    return merges[np.sort(len(merges) - 1 - last)]


@dataclass(frozen=True, kw_only=True, eq=False)
class BpeModel(Rebuilt):
    """A BPE vocabulary with its merges.

    - `vocabulary`: the bytes of every token by id; empty for ids that the model itself never returns (unused
      ids and special tokens). At level ``char`` the bytes are the UTF-8 of the token as written, with its
      prefix or suffix (``lo``, ``w</w>``).
    - `unreachable`: tokens that no text can produce, by id: at level ``byte``, tokens that a file spells with
      characters outside the byte alphabet. Their entries in `vocabulary` are empty.
    - `merges`: int32 of shape ``(n, 3)``: left id, right id, resulting id; none of these tokens is empty.
    - `ranks`: int32 of shape ``(n,)``. The merge of lowest rank is applied first; of merges of equal rank,
      which must result in the same token, the leftmost. By default ranks follow the order of `merges`.
    - `pattern`: cuts text before BPE.
    - `special_tokens`: the ids of special tokens by text; `unk`: the id of the unknown token, or None.
    - `level`: whether the first symbols are bytes or characters. With `byte_fallback`, a character without a
      token becomes the tokens ``<0x00>`` … of its bytes, if all of these exist. Otherwise it becomes `unk`;
      with `fuse_unk`, a run of such characters becomes a single `unk`. Without `unk` the character is dropped.
    - `continuing_prefix`, `end_of_word`: written before every symbol of a pre-token except the first, and after
      the last symbol (``</w>``).
    - `whole_tokens`: a pre-token that is itself a token becomes that token without merging (tiktoken, and
      ``ignore_merges`` of `tokenizer.json`).
    - `dropout`: the probability with which `encode` leaves out each merge (BPE-dropout), 0 for none.

    Raises `TokenizerError` if the parts contradict each other.

    Example:
        >>> import numpy as np
        >>> model = BpeModel(vocabulary=(b"a", b"b", b"ab"), merges=np.array([[0, 1, 2]], np.int32))
        >>> len(model), model.ids[b"ab"]
        (3, 2)
    """

    vocabulary: tuple[bytes, ...]
    merges: NDArray[np.int32]
    unreachable: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    ranks: NDArray[np.int32] | None = None
    pattern: Pattern = field(default_factory=lambda: Pattern("none"))
    special_tokens: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    unk: int | None = None
    level: Level = "byte"
    byte_fallback: bool = False
    fuse_unk: bool = False
    continuing_prefix: str = ""
    end_of_word: str = ""
    whole_tokens: bool = False
    dropout: float = 0.0

    def __post_init__(self) -> None:
        import numpy as np

        size = len(self.vocabulary)
        check_size(size)
        merges = np.ascontiguousarray(self.merges, np.int32).reshape(-1, 3)
        object.__setattr__(self, "merges", merges)
        if len(merges) and (merges.min() < 0 or merges.max() >= size):
            worst = int(np.flatnonzero((merges < 0).any(1) | (merges >= size).any(1))[0])
            raise TokenizerError(
                f"merge {worst} has the ids {merges[worst].tolist()}, not all in the vocabulary of {size}"
            )
        if self.ranks is not None and len(self.ranks) != len(merges):
            raise TokenizerError(f"{len(self.ranks)} ranks for {len(merges)} merges")
        if not 0.0 <= self.dropout <= 1.0:
            raise TokenizerError(f"dropout must lie between 0 and 1; it is {self.dropout}")
        if self.byte_fallback:
            self._check_fallback()
        hashes = np.sort(np.fromiter(map(hash, self.vocabulary), np.int64, size))
        if (hashes[1:] == hashes[:-1]).any() or b"" in self.vocabulary:
            self._check_tokens()

    def _check_fallback(self) -> None:
        """Raise `TokenizerError` if byte fallback would not use the bytes of the text's characters.

        `tokenizers` uses the bytes of the symbol as files spell it: with its affix, or in the byte alphabet.
        """
        affix = self.continuing_prefix or self.end_of_word
        missing = self.level == "byte" and any(bytes([byte]) not in self.ids for byte in range(256))
        if (affix or missing) and any(b"<0x%02X>" % byte in self.ids for byte in range(256)):
            other = f"the affix {affix!r}" if affix else "an incomplete byte alphabet"
            raise TokenizerError(
                f"byte_fallback together with {other} is not supported by this plugin; "
                "load the tokenizer with `transformers:` instead"
            )

    def _check_tokens(self) -> None:
        """Raise `TokenizerError` for a repeated token, and for a merge with an empty token."""
        import numpy as np

        seen: set[bytes] = set()
        for token in filter(None, self.vocabulary):
            if token in seen:
                raise TokenizerError(f"the token {token!r} is in the vocabulary twice")
            seen.add(token)
        never = np.flatnonzero(~can_happen(self.merges, self.vocabulary)).tolist()
        if never:
            tokens = self.merges[never[0]].tolist()
            raise TokenizerError(f"merge {never[0]} has the ids {tokens}, and one of these tokens is empty")

    def __len__(self) -> int:
        """The number of ids: one more than the highest, special tokens included."""
        return max(len(self.vocabulary), max(self.special_tokens.values(), default=-1) + 1)

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token by its bytes."""
        ids = dict(zip(self.vocabulary, range(len(self.vocabulary)), strict=True))
        ids.pop(b"", None)
        return ids

    @cached_property
    def byte_ids(self) -> NDArray[np.int64]:
        """The id of each byte's token, -1 for a byte without one: int64 of shape ``(256,)``."""
        import numpy as np

        ids = np.full(256, -1, np.int64)
        for index, token in enumerate(self.vocabulary):
            if len(token) == 1:
                ids[token[0]] = index
        ids.flags.writeable = False
        return ids

    @cached_property
    def merge_ranks(self) -> NDArray[np.int32]:
        """The rank of each merge: int32 of shape ``(n,)``."""
        import numpy as np

        if self.ranks is None:
            return np.arange(len(self.merges), dtype=np.int32)
        return np.ascontiguousarray(self.ranks, np.int32)
