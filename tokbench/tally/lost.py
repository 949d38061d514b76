"""What each document that does not come back has lost: its text, the form of its letters, or its spaces.

A document keeps its text where both sides are the same without case, diacritics, compatibility forms, white
space and controls (`tokbench.tally.folding`), and no token is unknown. What else differs is form, where they
differ without white space and controls, and spaces, where they differ without the others. Marks may come back
in another order, that of normal forms: what differs is put into that order first, and compared again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tokbench.kernels.pointers import frozen
from tokbench.kernels.text import end_to_end
from tokbench.tally.folding import Degree, folded_characters
from tokbench.tally.folding_kernels import compare_folded
from tokbench.tally.normal_forms import normal_form
from tokbench.tally.text import Flags, TextBatch, Texts

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Ints


_REPLACED = "\ufffd".encode()


def what_is_lost(batch: TextBatch, decoded: dict[int, str], unknown: Ints) -> dict[str, Ints]:
    """The counters of what each document lost, 0 or 1, int64 ``(documents,)``.

    `decoded` is what those come back as that do not come back unchanged; `unknown` counts unknown tokens by
    document.
    """
    documents = np.fromiter(decoded, np.int64, len(decoded))
    texts = Texts(batch.data, batch.starts[documents], batch.ends[documents])
    others = _laid_out(list(decoded.values()))
    told = unknown[documents] == 0
    # U+FFFD stands for text that is gone, and folds to nothing: as many must come back as there were
    replaced = np.array([other.count("\ufffd") for other in decoded.values()])
    if replaced.any() or _REPLACED in batch.data.tobytes():
        told &= replaced == [batch.text(document).count("\ufffd") for document in decoded]
    kept = _same("marks", told, texts, others)
    form, spaces = kept & ~_same("blanks", kept, texts, others), kept & ~_same("form", kept, texts, others)
    if len(rest := np.flatnonzero(told & ~kept)):
        ordered = _in_order(texts, rest), _in_order(others, rest)
        again = _same("marks", np.ones(len(rest), np.bool_), *ordered)
        kept[rest] = form[rest] = again
        spaces[rest] = again & ~_same("form", again, *ordered)
    form |= kept & ~spaces  # such as a space of another width, which is either
    found = {}
    for name, lost in (("text_lost", ~kept), ("form_lost", form), ("spaces_lost", spaces)):
        found[name] = np.zeros(len(batch), np.int64)
        found[name][documents] = lost
    return found


def _same(degree: Degree, among: Flags, texts: Texts, others: Texts) -> Flags:
    """Which of those `among` the texts are the same as the others of their number after folding both."""
    characters, same = folded_characters(degree), np.zeros(len(among), np.bool_)
    while not compare_folded(np.flatnonzero(among), texts, others, characters.arrays, same):
        characters.know(str(each.data.data, "utf-8", "surrogatepass") for each in (texts, others))
    return same


def _in_order(texts: Texts, which: Ints) -> Texts:
    """Some of the texts, with the marks of each letter in canonical order (UAX #15)."""
    limits = zip(texts.starts[which].tolist(), texts.ends[which].tolist(), strict=True)
    found = [str(texts.data[start:end].data, "utf-8", "surrogatepass") for start, end in limits]
    return _laid_out([normal_form("NFKD", text) for text in found])


def _laid_out(texts: Sequence[str]) -> Texts:
    data, limits = end_to_end([text.encode("utf-8", "surrogatepass") for text in texts])
    return Texts(frozen(data), limits[:-1], limits[1:])
