"""Rules for which of equally frequent pairs is merged first; libraries differ here, without documenting it.

| rule | first among equals | whose |
|---|---|---|
| `hf` | the smallest pair of ids; first ids in the order of the byte alphabet of `vocab.json` | `tokenizers` |
| `bytes` | the smallest pair of ids; first ids by byte value | tiktoken's vocabularies |
| `lexicographic` | the shorter merged token, in symbols; then the smaller, as bytes | sentencepiece |
| `first_seen` | the pair whose first occurrence comes first in the text as merged so far | minbpe |

`hf` copies another behaviour of `tokenizers`: if a merged pair occurs again, because another merge made one of
its tokens in a second way, the pair still has its old count, and so is merged again at once. The other rules
use the true count.
"""

from __future__ import annotations

from tokbench.errors import UnknownNameError

TIES = ("hf", "bytes", "lexicographic", "first_seen")
HF, BYTES, LEXICOGRAPHIC, FIRST_SEEN, BY_SCORE, GREATEST = range(6)
"""The numbers of the rules in kernels. The last two each belong to one trainer. `BY_SCORE` takes the pair of
the highest score first, then decides like `hf`. `GREATEST` takes, of equally frequent pairs, the one whose left
token, then whose right token, has the greater bytes.
"""


def tie_rule(name: str) -> int:
    """The number of a rule in kernels; raises `UnknownNameError` for an unknown name.

    Example:
        >>> tie_rule("first_seen") == FIRST_SEEN
        True
    """
    if name not in TIES:
        raise UnknownNameError.of("tie rule", name, TIES)
    return TIES.index(name)
