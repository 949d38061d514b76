"""Normal forms by kernels, against the plain form and `tokenizers`: hard characters, runs of marks, tables."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.pipeline.compiled_normalizers import compiled_normalizer_of
from tokbench_subword.pipeline.normal_form_kernel import normal_form
from tokbench_subword.pipeline.normal_form_runs import LONGEST
from tokbench_subword.pipeline.normal_form_tables import (
    FIRST_SYLLABLE,
    JOINS,
    MOST_PARTS,
    N_SYLLABLES,
    PARTS_SHIFT,
    SPECIAL,
    normal_form_tables,
)
from tokbench_subword.pipeline.normal_forms import Form, normalized
from tokbench_subword.pipeline.normalizers import text_normalizer_of
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.splicing import BoundWriter
from tokenizers import normalizers

from .batches import FORMS, HARD, applied, batch, texts_of


@cache
def functions(form: Form) -> tuple[Callable[[list[str]], list[str]], Callable[[str], str]]:
    normalizer = compiled_normalizer_of({"type": form})
    return lambda texts: applied(normalizer, texts), text_normalizer_of({"type": form})


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(FORMS), st.text(st.sampled_from(HARD), max_size=40))
def test_hard_characters(form: Form, text: str) -> None:
    compiled, plain = functions(form)
    assert compiled([text, "", text]) == [plain(text), "", plain(text)]
    assert plain(text) == getattr(normalizers, form)().normalize_str(text)


@pytest.mark.parametrize("form", FORMS)
def test_long_runs_of_marks(form: Form) -> None:
    compiled, plain = functions(form)
    marks = ("\u0301\u0323\u0334" * LONGEST)[: LONGEST + 7]
    long = [
        "e" + marks,
        "ok é e\u0301",
        "e" + marks[:900],
        "\uac00" * 2 * LONGEST,
        "\u09be" * 2 * LONGEST + "\u0344",
    ]
    assert compiled(long) == [plain(text) for text in long]
    assert compiled(["e\u0301", "e" + marks]) == [plain("e\u0301"), plain("e" + marks)]


@pytest.mark.parametrize("form", FORMS)
def test_a_run_of_any_length_is_the_kernels_and_takes_linear_time(form: Form) -> None:
    """Python took a hundred times as long as for ordinary text, for the whole text that has the run."""
    writer = BoundWriter(normal_form, normal_form_tables(form))
    at_random = random.Random(0)
    marks = "\u0301\u0323\u0334\u0327\u0344\u0f73\uff9e\u3099\u09be\u0345"

    def left_to_python(text: str) -> str:
        raise AssertionError(f"left to Python: {text[:8]!r}")

    def seconds(texts: list[str]) -> float:
        data, offsets = batch(texts)
        start = time.process_time()
        found = Segments(data, offsets).by_kernel(writer, 2 * len(data), left_to_python)
        taken = time.process_time() - start
        assert texts_of(found.data, found.offsets) == [normalized(text, form) for text in texts]
        return taken

    runs = [
        "e" + "".join(at_random.choices(marks[: at_random.randint(2, len(marks))], k=length)) + "x"
        for length in (2, 60, 63, 64, 65, 66, 100, LONGEST - 1, LONGEST, LONGEST + 1, 3 * LONGEST)
        for _ in range(3)
    ]
    seconds([*runs, "e\u0301", "".join(runs)])
    long = "e" + "\u0301\u0323" * 400_000
    short = ("e" + "\u0301\u0323" * 8) * 50_000
    assert seconds([long]) < 20 * seconds([short]) + 0.5


@pytest.mark.parametrize("form", FORMS)
def test_what_joins_has_no_more_parts_than_bytes(form: Form) -> None:
    """The room that the kernel has for a run relies on it."""
    _, about, parts, *_ = normal_form_tables(form)
    for point in np.flatnonzero(about & np.uint32(JOINS)).tolist():
        place = int(about[point]) >> PARTS_SHIFT
        assert not place or parts[place] <= len(chr(point).encode())
    assert not (about[FIRST_SYLLABLE : FIRST_SYLLABLE + N_SYLLABLES] & np.uint32(JOINS)).any()
    assert parts.max(initial=0, where=np.isin(np.arange(len(parts)), about >> PARTS_SHIFT)) <= MOST_PARTS


@pytest.mark.parametrize("form", FORMS)
def test_what_begins_anew_has_no_part_that_joins(form: Form) -> None:
    """The kernel cuts text before such characters, so nothing they are made of may reach back."""
    _, about, parts, *_ = normal_form_tables(form)
    for point in np.flatnonzero((about & np.uint32(JOINS)) == 0).tolist():
        place = int(about[point]) >> PARTS_SHIFT
        if place:
            assert not about[parts[place + 1]] & np.uint32(JOINS)
    assert not (about[:0x80] & np.uint32(SPECIAL)).any()


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_accents_that_were_composed_are_not_stripped(form: Form) -> None:
    config = {"type": "Sequence", "normalizers": [{"type": form}, {"type": "StripAccents"}]}
    compiled = compiled_normalizer_of(config)
    assert compiled is not None
    assert applied(compiled, ["e\u0301x\u0301"]) == ["\xe9x"]
