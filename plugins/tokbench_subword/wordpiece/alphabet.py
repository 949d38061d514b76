"""BERT's text rules in the symbols of one vocabulary: what the encoding kernel looks up for each code point.

`table` says what the rules do with a character, in UTF-8; `trie` numbers the characters that tokens are made
of. Put together, one look-up takes a character of the text to the symbol that the trie wants, lower case and
accents settled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokbench_subword.wordpiece.table import (
    ALONE,
    ALONE_MAPPED,
    LETTER,
    LETTER_MAPPED,
    ORDERED,
    CharacterTable,
)


@dataclass(frozen=True, slots=True, eq=False)
class SymbolTable:
    """What each code point is to the kernel.

    `kinds` is uint8 of shape ``(0x110000,)``, see `table`; `entries` int32 of the same shape, the symbol, or
    for the kinds that are mapped where in `replacements` (int32) theirs stands: a count, then symbols.
    """

    kinds: NDArray[np.uint8]
    entries: NDArray[np.int32]
    replacements: NDArray[np.int32]

    @classmethod
    def of(cls, table: CharacterTable, symbols: NDArray[np.int32]) -> SymbolTable:
        """The table of some rules and the symbols of a trie.

        A character that becomes one other is of the kind of that other, so that the kernel never sees case.
        """
        kinds, entries = table.kinds.copy(), symbols.copy()
        entries[:128] = symbols[table.ascii]
        replacements = [0]
        for point in np.flatnonzero(np.isin(kinds, (LETTER_MAPPED, ORDERED, ALONE_MAPPED))).tolist():
            slot = int(table.slots[point])
            size = int(table.mapped[slot])
            becomes = table.mapped[slot + 1 : slot + 1 + size].tobytes().decode()
            if len(becomes) == 1 and kinds[point] != ORDERED:
                kinds[point] = LETTER if kinds[point] == LETTER_MAPPED else ALONE
                entries[point] = symbols[ord(becomes)]
            else:
                entries[point] = len(replacements)
                replacements += [len(becomes), *(int(symbols[ord(character)]) for character in becomes)]
        return cls(kinds, entries, np.array(replacements, np.int32))
