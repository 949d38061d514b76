"""Quick spans are the careful ones, only quicker."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tokbench.inspection.pieces import pieces
from tokbench.reports.tokenview.quick import QuickSpans, Shown
from tokbench.reports.tokenview.render import Span, markup, shown, spans_of, unshown

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
BYTES = QuickSpans(tokbench.load("bytes"))


def laid_out(found: Shown) -> list[Span]:
    """The spans of a text in order."""
    assert len(set(found.sequence)) == len(found.spans)
    return [found.spans[number] for number in found.sequence]


@given(TEXT)
def test_on_bytes(text: str) -> None:
    assert laid_out(BYTES.of(text)) == spans_of(pieces(BYTES.tokenizer, text))


def test_on_real_vocabularies(test_data: Path) -> None:
    vocabs = test_data / "vocabs"
    specs = [
        "tiktoken:gpt2",
        f"sentencepiece:{vocabs}/t5-base/spiece.model",
        f"sentencepiece:{vocabs}/llama-2/tokenizer.model",
    ]
    quick = [QuickSpans(tokbench.load(spec)) for spec in specs]

    @settings(max_examples=60)
    @given(TEXT | st.sampled_from(["né 中👩‍👩‍👧 x", "ﷺ ﬁ", "가", "\u0301a"]))
    def same(text: str) -> None:
        for each in quick:
            found = each.of(text)
            ids, spans, exact = found.ids, laid_out(found), found.exact
            assert spans == spans_of(pieces(each.tokenizer, text))
            assert sum(len(span[1]) for span in spans) == len(ids)
            assert exact == (
                b"".join(bytes.fromhex(part) for span in spans for part in span[2]) == text.encode()
            )

    same()


@pytest.mark.parametrize("text", ["<b>&\"'", "\u202e", "a\nb"])
def test_markup_is_escaped(text: str) -> None:
    made = str(markup(BYTES.of(text).spans, "label <x>"))
    assert "<b>" not in made
    assert "\u202e" not in made
    assert 'aria-label="label &lt;x&gt;"' in made


@given(TEXT)
def test_bytes_left_out_are_those_of_the_text(text: str) -> None:
    """What a page's script works out from the text shown must be what the token stands for."""
    spans = [*BYTES.of(text).spans, (shown(text), [1], [text.encode().hex()], "")]
    for span in spans:
        made = str(markup([span], "x"))
        if "data-b" not in made:
            assert unshown(span[0]).encode().hex() == span[2][0]
