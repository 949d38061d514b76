"""`BpeModel`: everything that a BPE vocabulary *is*, apart from how text is prepared for it.

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
"""More tokens than this do not fit the encoder's packed pair table."""


def check_size(size: int, *, where: str = "a BPE vocabulary") -> None:
    """Raise `TokenizerError` where ids below `size` are more than `MOST_TOKENS`: before any list of so many."""
    if size > MOST_TOKENS:
        raise TokenizerError(f"{where}: its highest id is {size - 1}, and only {MOST_TOKENS} tokens have room")


def can_happen(merges: NDArray[np.int32], vocabulary: Sequence[bytes]) -> NDArray[np.bool_]:
    """Whether each merge, ``(n, 3)``, is of tokens that text can give: none of them is empty."""
    import numpy as np

    empty = np.fromiter((not token for token in vocabulary), np.bool_, len(vocabulary))
    can: NDArray[np.bool_] = np.logical_not(empty[merges].any(axis=1))
    return can


def each_pair_once(merges: NDArray[np.int32]) -> NDArray[np.int32]:
    """Merges, ``(n, 3)``, each pair at its last place alone: so `tokenizers` ranks one that it merges twice."""
    import numpy as np

    keys = (merges[:, 0].astype(np.int64) << 32) | merges[:, 1]
    _, last = np.unique(keys[::-1], return_index=True)
    return merges[np.sort(len(merges) - 1 - last)]


@dataclass(frozen=True, kw_only=True, eq=False)
class BpeModel(Rebuilt):
    """A BPE vocabulary with its merges.

    - `vocabulary`: the bytes of every token by id; empty for ids that the model itself never gives (holes, and
      special tokens). At level ``char`` the bytes are UTF-8 of the token as written, with its prefix or suffix
      (``lo``, ``w</w>``).
    - `unreachable`: tokens that no text gives, by id: at level ``byte``, what a file spells in letters that
      stand for no byte. The vocabulary is empty there.
    - `merges`: int32 of shape ``(n, 3)``: left id, right id, resulting id, none of them empty.
    - `ranks`: int32 of shape ``(n,)``, which merge goes first, ascending; the leftmost of equals, which give
      one token. Left out, it is the order of `merges`.
    - `pattern`: the cuts before BPE.
    - `special_tokens`: text of each special token and its id; `unk`: the id for what the vocabulary lacks.
    - `level`: whether the first symbols are bytes or characters. A character that is no token is written in
      tokens ``<0x00>`` … where `byte_fallback` and all of them exist, else as `unk` (a run of them as one
      where `fuse_unk`), else dropped.
    - `continuing_prefix`, `end_of_word`: what is put before every symbol of a pre-token but the first, and
      after its last (``</w>``).
    - `whole_tokens`: a pre-token that is itself a token is that token, whatever the merges say (tiktoken; and
      ``ignore_merges`` of `tokenizer.json`).
    - `dropout`: the probability with which `encode` leaves out each merge (BPE-dropout), 0 for none.

    Raises `TokenizerError` where the parts contradict each other.

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
                f"merge {worst} is of tokens {merges[worst].tolist()}, outside the vocabulary of {size}"
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
        """Raise `TokenizerError` where the fallback's bytes would not be those of the text's characters.

        `tokenizers` takes the bytes of the symbol as files spell it, with its affix, in the byte alphabet.
        """
        affix = self.continuing_prefix or self.end_of_word
        missing = self.level == "byte" and any(bytes([byte]) not in self.ids for byte in range(256))
        if (affix or missing) and any(b"<0x%02X>" % byte in self.ids for byte in range(256)):
            other = f"the affix {affix!r}" if affix else "a byte alphabet that is not complete"
            raise TokenizerError(
                f"byte_fallback together with {other} is not known to this plugin; "
                "load the tokenizer with `transformers:` instead"
            )

    def _check_tokens(self) -> None:
        """Raise `TokenizerError` for a token that is there twice, or a merge of one that is empty."""
        import numpy as np

        seen: set[bytes] = set()
        for token in filter(None, self.vocabulary):
            if token in seen:
                raise TokenizerError(f"the token {token!r} is in the vocabulary twice")
            seen.add(token)
        never = np.flatnonzero(~can_happen(self.merges, self.vocabulary)).tolist()
        if never:
            tokens = self.merges[never[0]].tolist()
            raise TokenizerError(f"merge {never[0]} is of tokens {tokens}, one of which is empty")

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
        """The id of the token that is each byte, -1 where there is none: int64 of shape ``(256,)``."""
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
