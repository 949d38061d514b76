r"""Patterns that look further than one character ahead or behind, by way of labels.

``\d{1,3}(?=(?:\d{3})*\b)`` cuts numbers in threes from the right, so a cut may depend on characters at any
distance. For each such lookaround, a first pass goes over the text (backwards for a lookahead) and notes at
each character whether the lookaround holds there. The class of a character, together with the lookarounds that
hold beside it, is its *label*. The pattern becomes an automaton over labels, which looks no further than one
label, and cuts the labels, one byte each, as any other automaton cuts text. Over English, `regex` takes four
times as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Bytes, Int, Ints, pointer
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench.kernels.utf8 import code_point
from tokbench_subword.pipeline.patterns.automaton import Automaton, Builder, classes_of, endings_of
from tokbench_subword.pipeline.patterns.tree import Around, Node, NotExpressible, all_of, turned

_MOST_LABELS = 120
"""The most labels, so that each is an ASCII byte."""


class Labels(NamedTuple):
    """The tables of `label_texts`."""

    classes: NDArray[np.uint8]
    """The class of each code point."""
    following: NDArray[np.uint16]
    """For each lookaround, state and class: the next state, doubled, plus 1 if the lookaround held."""
    looks: NDArray[np.int64]
    """For each lookaround: its begin in `following`, whether it looks behind, and what it adds to a label."""
    edge: int
    """The class that means that there is no character."""


@inline
def _note(tables: Labels, classes: Bytes, labels: Bytes, count: Int) -> None:
    """Add to the labels of one text, of `count` characters, which lookarounds hold beside each."""
    for look in range(len(tables.looks)):
        begin, behind, weight = tables.looks[look, 0], tables.looks[look, 1], tables.looks[look, 2]
        at, step = (np.int64(0), np.int64(1)) if behind else (count - 1, np.int64(-1))
        state = np.int64(0)
        for k in range(count):
            entry = np.int64(tables.following[begin + state + np.int64(classes[at])])
            if k > 0:  # a result before a character is noted at the character read last
                labels[at - step] += (entry & 1) * weight
            state = (entry >> 1) * (tables.edge + 1)
            at += step
        if count > 0:
            entry = np.int64(tables.following[begin + state + tables.edge])
            labels[at - step] += (entry & 1) * weight


@kernel
def label_texts(text: Bytes, units: Ints, tables: Labels, classes: Bytes, labels: Bytes, places: Ints) -> Ints:
    """Label the characters of the texts ``text[units[u, 0]:units[u, 1]]``, one text behind the other.

    `labels` (uint8), `classes` (uint8, scratch space) and `places` (int64, the first byte of each character)
    have an entry for each character, and one for the end of each text. Returns the begin and end of each text
    among these entries, int64 ``(len(units), 2)``.
    """
    data = pointer(text)
    labelled = np.empty((len(units), 2), np.int64)
    at = np.int64(0)
    for u in range(len(units)):
        begin, i = at, units[u, 0]
        while i < units[u, 1]:
            point, size = code_point(data, i)
            classes[at] = labels[at] = tables.classes[point]
            places[at] = i
            i += size
            at += 1
        _note(tables, classes[begin:at], labels[begin:at], at - begin)
        labelled[u, 0], labelled[u, 1] = begin, at
        places[at], labels[at] = i, 0
        at += 1
    return labelled


def labelled_automaton(tree: Node) -> tuple[Automaton, Labels]:
    """The automaton of a pattern over the labels of characters, and the tables that make the labels.

    Raises `NotExpressible` if there would be too many labels or states.
    """
    points, sets, edge = classes_of(tree)
    looks = [node for node in all_of(tree) if isinstance(node, Around)]
    n_labels = edge << len(looks)
    if n_labels > _MOST_LABELS:
        raise NotExpressible(f"more than {_MOST_LABELS} classes of characters and what they stand beside")
    labels_of = {
        key: frozenset(label for label in range(n_labels) if label % edge in members)
        for key, members in sets.items()
    }
    following: list[NDArray[np.uint16]] = []
    rows: list[tuple[int, bool, int]] = []
    for number, look in enumerate(looks):
        holds = {label for label in range(n_labels) if label // edge >> number & 1}
        labels_of[id(look)] = frozenset(holds if look.wanted else set(range(n_labels)) - holds)
        table = endings_of(look.part if look.behind else turned(look.part), sets, edge)
        rows.append((sum(len(one) for one in following), look.behind, edge << number))
        following.append(np.array([2 * state + told for row in table for state, told in row], np.uint16))
    builder = Builder(labels_of, n_labels)
    root = builder.add(tree, builder.match)
    characters = np.zeros(N_CODE_POINTS, np.uint8)
    characters[:n_labels] = np.arange(n_labels)
    labels = Labels(points, np.concatenate(following), np.array(rows, np.int64), edge)
    return builder.determinized(root, characters), labels
