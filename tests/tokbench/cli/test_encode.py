"""`tokbench encode`, `decode` and `compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tokbench
from tests.command import invoke, output
from tokbench.errors import SpecError, TokbenchError, TokenizerError


def test_encode_shows_tokens_ids_and_bytes():
    shown = output("encode", "bytes", "né [b]")
    assert shown.splitlines()[0] == "n|é₂|·|[|b|]"
    assert "c3" in shown
    assert "7 tokens, 6 characters, 7 bytes" in shown


def test_what_is_unknown_or_decoded_otherwise_is_shown(unigram: str):
    shown = output("encode", unigram, "a  ☃ b")
    assert "(1 unknown)" in shown
    assert "decoding gives another text: at character 3, 'a " in shown
    assert "for 'a  ☃ b'" in shown
    assert "(1 unknown)" in output("compare", "bytes", unigram, "a ☃ b")
    assert "unknown" not in output("compare", "bytes", "chars", "a ☃ b")
    assert "decoding" not in output("encode", "bytes", "a ☃ b")


def test_ids_alone_and_from_standard_input():
    assert output("encode", "bytes", "-", "--ids", text="hi") == "104 105\n"


def test_json_is_the_pieces():
    content = json.loads(output("encode", "bytes", "é", "--json"))
    assert [piece["id"] for piece in content["pieces"]] == [195, 169]


def test_compare_shows_each():
    shown = output("compare", "bytes", "chars", "né")
    assert "bytes  (3 tokens" in shown
    assert "chars  (2 tokens" in shown
    assert [row["n_tokens"] for row in json.loads(output("compare", "bytes", "chars", "né", "--json"))] == [
        3,
        2,
    ]


@pytest.mark.parametrize("given", [["only text"], ["bytes", "a text"]])
def test_compare_needs_two_tokenizers(given: list[str]):
    with pytest.raises(SpecError, match=r"two tokenizers or more, .*tokbench compare SPEC"):
        output("compare", *given)


@pytest.fixture
def unigram(tmp_path: Path) -> str:
    tokenizer = tokbench.load("unigram:vocab_size=300", train_on="bundled:prose,languages=eng_Latn")
    path = tmp_path / "toy.model"
    tokenizer.save(path)
    return f"unigram:{path}"


def test_samples_are_segmentations_of_the_text_and_a_seed_repeats_them(unigram: str):
    tokenizer = tokbench.load(unigram)
    drawn = output("encode", unigram, "unhappily", "--sample", "20", "--ids", "--seed", "3")
    lines = [[int(index) for index in line.split()] for line in drawn.splitlines()]
    assert len(lines) == 20
    assert len({tuple(line) for line in lines}) > 1
    assert {tokenizer.decode(line) for line in lines} == {"unhappily"}
    assert output("encode", unigram, "unhappily", "--sample", "20", "--ids", "--seed", "3") == drawn
    assert output("encode", unigram, "unhappily", "--sample", "20", "--ids", "--seed", "4") != drawn


def test_samples_are_shown_with_how_often_they_were_drawn(unigram: str):
    shown = output("encode", unigram, "unhappily", "--sample", "30").splitlines()
    counts = [int(line.split("×")[0]) for line in shown[1:-1]]
    assert sum(counts) == 30
    assert counts == sorted(counts, reverse=True)
    assert shown[-1] == "30 drawn with alpha 0.1, seed 0"
    content = json.loads(output("encode", unigram, "unhappily", "--sample", "2", "--json"))
    assert [row["text"] for row in content] == ["unhappily"] * 2


def test_what_does_not_sample_says_so():
    with pytest.raises(TokenizerError, match="bytes does not draw segmentations"):
        output("encode", "bytes", "x", "--sample", "2")


PANICKING = """
import tokbench

class PanicException(BaseException):
    pass

class Panicking:
    name, vocab_size = "panicking", 1

    def encode(self, text):
        raise PanicException("index out of range") if text == "rust" else SystemExit(7)

    def decode(self, ids):
        return ""

@tokbench.hookimpl
def tokbench_tokenizers():
    yield tokbench.TokenizerFamily(name="panicking", summary="…", load=lambda spec, context: Panicking())
"""


@pytest.mark.parametrize("text", ["rust", "else"])
def test_what_rust_panics_with_ends_without_a_traceback(text, tmp_path, call, capsys):
    plugin = tmp_path / "panicking.py"
    plugin.write_text(PANICKING)
    assert call("encode", "panicking", text, "--plugin", str(plugin)) == 1
    told = {
        "rust": "a library gave up (a panic in Rust: index out of range)",
        "else": f"the plugin 'panicking' failed: SystemExit: 7 ({plugin}, line 11)",
    }
    assert capsys.readouterr().err == f"error: {told[text]}\n"


@pytest.mark.parametrize("options", [["--ids", "--json"], ["--alpha", "0.2"], ["--seed", "3"]])
def test_options_that_have_no_effect_together_are_refused(options: list[str]) -> None:
    with pytest.raises(SpecError, match=r"--json|--sample"):
        output("encode", "bytes", "hi", *options)


@pytest.mark.parametrize("alpha", ["inf", "nan"])
def test_alpha_is_a_finite_number(alpha: str) -> None:
    done = invoke("encode", "bytes", "hi", "--sample", 2, "--alpha", alpha)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"Invalid value for '--alpha': {alpha} is no finite number." in done.stderr


def test_the_name_of_a_file_is_taken_as_text_and_that_is_told(tmp_path):
    file = tmp_path / "prose.txt"
    file.write_text("one")
    done = invoke("encode", "bytes", file, "--ids")
    assert f"for what is in the file: - < {file}" in done.stderr
    assert len(done.stdout.split()) == len(str(file))
    assert invoke("encode", "bytes", "prose", "--ids").stderr == ""
    with pytest.raises(SpecError, match=r"two tokenizers or more, then the text"):
        output("compare", "bytes", "chars")


POOR = """
import tokbench

class Poor:
    name, vocab_size = "poor", 100

    def __init__(self, answer):
        self.answer = answer

    def encode(self, text):
        return {"far": [5, 100], "below": [-1], "nothing": None}[self.answer]

    def decode(self, ids):
        return ""

@tokbench.hookimpl
def tokbench_tokenizers():
    load = lambda spec, context: Poor(spec.variant)
    return [tokbench.TokenizerFamily(name="poor", summary="", variant="answer", load=load)]
"""


@pytest.mark.parametrize("form", [[], ["--ids"], ["--json"]])
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("far", "returned the id 100, outside its vocabulary"),
        ("below", "returned the id -1, outside"),
        ("nothing", r"a flat sequence of whole numbers; it returned NoneType \(None\)"),
        ("raises", r"the plugin 'poor' failed: KeyError: 'raises' \(.*poor\.py, line 11\)"),
    ],
)
def test_a_plugin_at_fault_is_named(tmp_path, form, answer, why):
    plugin = tmp_path / "poor.py"
    plugin.write_text(POOR)
    with pytest.raises(TokbenchError, match=why):
        output("encode", "--plugin", str(plugin), *form, f"poor:{answer}", "text")


def test_a_file_called_as_standard_input_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "-").write_text("in the file")
    (tmp_path / "a.txt").write_text("in the file")
    monkeypatch.chdir(tmp_path)
    assert "taken as the text" not in invoke("encode", "bytes", "-", "--ids", text="ab").output
    assert "a.txt is taken as the text" in invoke("encode", "bytes", "a.txt", "--ids").output


@pytest.mark.parametrize("text", ["naïve 漢字", "a  b\tc", ""])
def test_what_encode_prints_is_read_back(text: str) -> None:
    assert output("decode", "bytes", "-", text=output("encode", "bytes", text, "--ids")) == f"{text}\n"


def test_that_a_text_is_empty_is_said() -> None:
    said = "0 tokens: the text is empty"
    assert output("compare", "bytes", "chars", "") == f"bytes  ({said})\nchars  ({said})\n"
    assert output("encode", "bytes", "-", text="") == f"{said}\n"


def test_ids_as_people_paste_them() -> None:
    for ids in (["104", "105"], ["104 105"], ["[104, 105]"], ["104,105"]):
        assert output("decode", "bytes", *ids) == "hi\n"
    assert output("decode", "bytes", "-", text="104 105\n106\n") == "hi\nj\n"


def test_half_a_character_is_a_replacement() -> None:
    assert output("decode", "bytes", "104", "195") == "h\ufffd\n"
    assert output("decode", "chars", "104", "55296") == "h\ufffd\n"


@pytest.mark.parametrize("ids", ["256", "12345678901234567890", "1.5", "x", "²"])
def test_what_is_no_id_is_refused(ids: str) -> None:
    with pytest.raises(SpecError, match="no id"):
        output("decode", "bytes", ids)
