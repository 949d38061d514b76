"""Which of equally frequent pairs is merged first: libraries differ in this, without saying so.

| rule | first among equals | whose |
|---|---|---|
| `hf` | the smallest pair of ids; first ids by the character that `vocab.json` has for a byte | `tokenizers` |
| `bytes` | the smallest pair of ids; first ids by byte value | tiktoken's vocabularies |
| `lexicographic` | the shorter merged token, in symbols; then the smaller, as bytes | sentencepiece |
| `first_seen` | the pair whose first occurrence comes first in the text as merged so far | minbpe |

`hf` follows `tokenizers` further: a pair that was merged, and arises again because its token was built in a
second way, keeps its old count, and so is merged again at once. The other rules count what is there.
"""

from __future__ import annotations

from tokbench.errors import UnknownNameError

TIES = ("hf", "bytes", "lexicographic", "first_seen")
HF, BYTES, LEXICOGRAPHIC, FIRST_SEEN, BY_SCORE, GREATEST = range(6)
"""The rules as kernels know them. Two belong to one way of training each: by `BY_SCORE` the pair of the highest
score is first, then as by `hf`; by `GREATEST`, of equally frequent pairs, that whose left token, then whose
right one, is spelled greater.
"""


def tie_rule(name: str) -> int:
    """The number of a rule, as the kernels know it; raises `UnknownNameError` for another name.

    Example:
        >>> tie_rule("first_seen") == FIRST_SEEN
        True
    """
    if name not in TIES:
        raise UnknownNameError.of("tie rule", name, TIES)
    return TIES.index(name)
