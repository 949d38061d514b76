"""Spec strings: what is read, what is refused, and that the canonical form is stable."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.errors import SpecError
from tokbench.spec import Option, Spec, validate, with_defaults

BPE = [Option("vocab_size", "int"), Option("pattern"), Option("dropout", "float"), Option("greedy", "bool")]


@pytest.mark.parametrize(
    ("text", "family", "variant", "options"),
    [
        ("bytes", "bytes", None, {}),
        ("tiktoken:o200k_base", "tiktoken", "o200k_base", {}),
        ("bpe:vocab_size=8k,pattern=gpt2", "bpe", None, {"vocab_size": "8k", "pattern": "gpt2"}),
        ("bpe:models/mine.json", "bpe", "models/mine.json", {}),
        ("transformers:Qwen/Qwen3-8B,revision=main", "transformers", "Qwen/Qwen3-8B", {"revision": "main"}),
        (r"sentencepiece:C:\models\a.model", "sentencepiece", r"C:\models\a.model", {}),
        ('bpe:pattern="a,b=\\"c\\""', "bpe", None, {"pattern": 'a,b="c"'}),
        ('text:"lang=en, part 1.txt",unit=file', "text", "lang=en, part 1.txt", {"unit": "file"}),
        ("bpe,vocab_size=8k", "bpe", None, {"vocab_size": "8k"}),
    ],
)
def test_a_spec_is_read(text: str, family: str, variant: str | None, options: dict[str, str]) -> None:
    spec = Spec.parse(text)
    assert (spec.family, spec.variant, dict(spec.options)) == (family, variant, options)
    assert Spec.parse(str(spec)) == spec


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r"must begin with a family name, as in .* \(a tokenizer\) or 'text:notes.txt' \(a dataset\)"),
        (":x", "must begin with a family name"),
        ("bpe:a,b", "expected option=value, found 'b'"),
        ("bpe:vocab_size=1,vocab_size=2", "given twice"),
        ('bpe:pattern="a', "unclosed quote"),
        ("bpe:a,,b=1", "empty part"),
    ],
)
def test_a_wrong_spec_says_what_is_wrong(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        Spec.parse(text)


def test_a_name_that_reads_as_options_is_told_to_be_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError, match=r"""double quotes: 'bpe:"a,b.json"'$"""):
        Spec.parse("bpe:a,b.json")
    with pytest.raises(SpecError, match=r"""found ' b'. A value .* double quotes: 'csv:t.csv,field="a, b"'$"""):
        Spec.parse("csv:t.csv,field=a, b")
    assert Spec.parse('csv:t.csv,field="a, b"').options == {"field": "a, b"}
    with pytest.raises(SpecError, match=r"""found 'b.json'. A value .*: 'bpe:vocab_size="8k,b.json"'$"""):
        Spec.parse("bpe:vocab_size=8k,b.json")
    (tmp_path / "t,a=b,c.csv").touch()
    with pytest.raises(SpecError, match=r"""A name .* double quotes: 'csv:"t,a=b,c.csv"'$"""):
        Spec.parse("csv:t,a=b,c.csv")
    with pytest.raises(SpecError, match=r"dropout, greedy, pattern, vocab_size$"):
        validate(Spec.parse("bpe:x=y.json"), BPE)
    (tmp_path / "x=y.json").touch()
    with pytest.raises(SpecError, match=r"""double quotes: 'bpe:"x=y.json"'$"""):
        validate(Spec.parse("bpe:x=y.json"), BPE)
    with pytest.raises(SpecError, match="unknown option"):
        validate(Spec.parse("bpe:x=" + "y" * 5000), BPE)


@pytest.mark.parametrize(
    ("given_text", "canonical"),
    [
        ("bpe:vocab_size=8k,pattern=gpt2", "bpe:pattern=gpt2,vocab_size=8000"),
        ("bpe:vocab_size=0.5m", "bpe:vocab_size=500000"),
        ("bpe:vocab_size=32_000", "bpe:vocab_size=32000"),
        ("bpe:greedy=yes,dropout=.1", "bpe:dropout=0.1,greedy=true"),
    ],
)
def test_the_canonical_form_is_typed_and_sorted(given_text: str, canonical: str) -> None:
    assert str(validate(Spec.parse(given_text), BPE)) == canonical
    assert str(validate(Spec.parse(canonical), BPE)) == canonical


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bpe:vocabsize=8k", "unknown option of bpe: 'vocabsize'; did you mean 'vocab_size'"),
        ("bpe:vocab_size=eight", "takes a whole number"),
        ("bpe:vocab_size=1.5", "takes a whole number"),
        ("bpe:dropout=high", "takes a number"),
        ("bpe:greedy=maybe", "takes true or false"),
    ],
)
def test_options_are_checked_against_the_declared_ones(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        validate(Spec.parse(text), BPE)


@pytest.mark.parametrize(("text", "number"), [("9007199254740993", 2**53 + 1), ("1.5k", 1500), ("8_000", 8000)])
def test_a_whole_number_keeps_all_its_digits(text: str, number: int) -> None:
    assert Option("n", "int").parse(text, where="bpe") == number


def test_choices_are_held() -> None:
    option = Option("ties", choices=("hf", "bytes"))
    with pytest.raises(SpecError, match=r"option 'ties' of bpe: 'byte'; did you mean 'bytes'"):
        option.parse("byte", where="bpe")


def test_defaults_fill_what_was_not_given() -> None:
    options = [Option("vocab_size", "int", 8000), Option("pattern", default="gpt2")]
    assert with_defaults(options, {"pattern": "none"}) == {"vocab_size": 8000, "pattern": "none"}


@given(
    st.none() | st.text(min_size=1),
    st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.text()),
)
def test_any_spec_survives_its_text_form(variant: str | None, options: dict[str, str]) -> None:
    spec = Spec("family", variant, options)
    again = Spec.parse(str(spec))
    assert again == spec
    assert str(again) == str(spec)
