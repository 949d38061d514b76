"""What becomes of matches and of the gaps between them, by the names of behaviors in `tokenizer.json`."""

from __future__ import annotations

from dataclasses import dataclass

GAP, MATCH = 0, 1
"""The kinds of pieces: text between matches, or a match."""
_AFTER_MATCH = {(MATCH, MATCH), (MATCH, GAP)}
_APART = {
    "Isolated": {*_AFTER_MATCH, (GAP, MATCH)},
    "Removed": {*_AFTER_MATCH, (GAP, MATCH)},
    "Contiguous": {(GAP, MATCH), (MATCH, GAP)},
    "MergedWithPrevious": _AFTER_MATCH,
    "MergedWithNext": {(MATCH, MATCH), (GAP, MATCH)},
}
BEHAVIORS = tuple(_APART)
"""The behaviors that a `Split` of a `tokenizer.json` may have."""
_INVERTED = {"MergedWithPrevious": "MergedWithNext", "MergedWithNext": "MergedWithPrevious"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Which neighbouring matches and gaps are cut apart, and which are kept.

    `apart` holds pairs of kinds between which there is a cut.
    """

    apart: frozenset[tuple[int, int]]
    keeps_matches: bool
    keeps_gaps: bool

    @classmethod
    def of(cls, behavior: str, *, invert: bool = False) -> Rules:
        """The rules of a behavior; `invert` swaps matches and gaps.

        Example:
            >>> Rules.of("Removed", invert=True).keeps_gaps
            False
        """
        removed = behavior == "Removed"
        return cls(
            apart=frozenset(_APART[_INVERTED.get(behavior, behavior) if invert else behavior]),
            keeps_matches=not removed or invert,
            keeps_gaps=not (removed and invert),
        )

    @property
    def ends_matches(self) -> bool:
        """Whether there is a cut after every match, whatever follows."""
        return self.apart >= _AFTER_MATCH

    def keeps(self, kind: int) -> bool:
        """Whether a piece that ends with a match, or a gap, is kept."""
        return self.keeps_matches if kind == MATCH else self.keeps_gaps
