"""What is asked for in vain is said, with the reason, instead of an empty answer."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.command import invoke, refused
from tokbench.cli.headline import print_headline
from tokbench.errors import CorpusError, SpecError, TokbenchError, TokenizerError
from tokbench.registry import build_registry
from tokbench.results import Run


@pytest.fixture
def blank(tmp_path: Path) -> str:
    (tmp_path / "blank.txt").write_text("\n \n")
    return f"text:{tmp_path}/blank.txt"


def test_a_language_that_a_short_name_tells_is_said_where_it_may_be_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("my.txt", "notes.txt", "folder/it.txt", "folder/de.txt", "mixed/it.txt", "mixed/notes.txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("some words\n" * 30)
    Path("my.c").write_text("int main() {}\n")
    why = "was read from the file name; add language=und if that is not a language"
    told = f"text:my.txt: the language my (Burmese) {why}\n"
    for asked in (
        ["train", "words", "-d", "my.txt", "-d", "my.txt", "-o", "a.json", "--force"],
        ["count", "-d", "my.txt", "-o", "a.parquet"],
        ["optimum", "bpe", "-d", "my.txt", "--train-on", "my.txt"],
        ["run", "-t", "bytes", "-d", "my.txt", "-m", "tokens", "--no-report", "-o", "out"],
    ):
        assert invoke(*asked).stderr.count(told) == 1, asked
    asked = ["train", "words", "-o", "a.json", "--force", "-d"]
    assert invoke(*asked, "mixed").stderr == f"text:mixed: the language it (Italian) {why}\n"
    for silent in ("my.txt,language=und", "my.txt,language=my", "notes.txt", "folder", "my.c,kind=code"):
        done = invoke(*asked, silent)
        assert (done.exit_code, done.stderr) == (0, ""), silent
    assert "und 100.0 %" in invoke(*asked, "my.txt,language=und").stdout


def test_a_metric_is_measured_however_its_name_is_typed(tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("some words\n" * 30)
    text = f"text:{tmp_path}/few.txt,language=eng_Latn"
    done = invoke("run", "-t", "bytes", "-d", text, "-m", " tokens", "--no-report", "-o", tmp_path / "out")
    assert (done.exit_code, "not measured" in done.output) == (0, False)


def test_a_metric_that_is_timed_is_asked_for_in_vain_where_nothing_is(tmp_path: Path) -> None:
    """Both by options, it is a slip; of a suite that is run without its timing, it is said."""
    text, out, suite = tmp_path / "few.txt", tmp_path / "out", tmp_path / "suite.toml"
    text.write_text("some words\n" * 30)
    asked = ["-t", "bytes", "-d", text, "-m", "encode_speed", "--no-speed", "--no-report", "-o", out]
    assert refused(SpecError, "run", *asked).startswith("encode_speed is timed, and this run times nothing")
    assert not out.exists()
    given = f"tokenizers = ['bytes']\ndatasets = ['text:{text}']\nmetrics = ['encode_speed', 'tokens']\n"
    suite.write_text(given)
    done = invoke("run", suite, "--no-speed", "--no-report", "-o", out)
    assert done.exit_code == 0
    assert "encode_speed: not measured on anything: it is timed, and this run times nothing" in done.output
    suite.write_text(f"{given}speed = false\n")
    assert isinstance(invoke("run", suite, "--no-report", "-o", out).exception, SpecError)


def test_a_metric_that_is_undefined_everywhere(finished: Run, capsys: pytest.CaptureFixture[str]) -> None:
    print_headline(finished)
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(r"premium: not measured on anything: only (on parallel text|of several languages)", said)
    assert "indentation_tokens: not measured on anything: only on code" in said
    assert "fertility: not measured" not in said
    told = finished.frame[finished.frame["value"].isna() & (finished.frame["dataset"] != "")]
    assert set(told["language"]) == {"all"}, "what no language has is said once"
    assert set(zip(told["tokenizer"], told["metric"], strict=True)) == {
        (name, metric) for name in ("bytes", "chars") for metric in ("premium", "indentation_tokens")
    }


def test_a_metric_named_in_vain_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("some words\n" * 30)
    asked = ["run", "-t", "bytes", "-d", tmp_path / "text.txt", "-o", tmp_path / "out", "--no-speed"]
    assert invoke(*asked, "-m", "premium").exit_code == 1
    done = invoke(*asked, "-m", "premium", "-t", f"wordpiece:{tmp_path / 'text.txt'}", "--no-report", "--force")
    assert "failed: " in done.stdout
    assert "premium: not measured on anything: only on parallel text" in " ".join(done.stdout.split())


def test_two_metrics_in_one_name_are_a_wrong_request(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("some words\n" * 30)
    assert "no variant; several metrics are named one by one" in refused(
        SpecError, "run", "-t", "bytes", "-d", tmp_path / "text.txt", "-m", "compression_ratio,gini"
    )


def test_of_a_metric_by_language_alone_the_terminal_says_where_it_is(tmp_path: Path) -> None:
    """The table has what holds of a whole text; a premium is one language's."""
    for language in ("deu_Latn", "eng_Latn"):
        (tmp_path / f"{language}.txt").write_text("some words\n" * 30)
    asked = ["run", "-t", "bytes", "-d", f"parallel:{tmp_path}", "-o", tmp_path / "out", "--no-speed"]
    done = invoke(*asked, "--no-report", "-m", "premium", "-m", "gini")
    assert done.exit_code == 0
    assert "\npremium: by language only, in measurements.csv and the reports\n" in done.stdout
    assert "gini:" not in done.stdout


def test_two_names_of_one_tokenizer_are_one_row_and_that_is_said(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("some words\n" * 30)
    asked = ["run", "-d", text, "--train-on", text, "-o", tmp_path / "out", "--no-speed", "--no-report"]
    done = invoke(*asked, "-t", "bpe:vocab_size=300", "-t", "bpe:vocab_size=0.3k", "-t", "bytes")
    assert "bpe:vocab_size=0.3k: the same tokenizer as bpe:vocab_size=300, so there is one row" in done.output


def test_weights_under_which_nothing_weighs(finished: Run) -> None:
    weights = "price=0,context=0,fairness=0,embedding=0,speed=1"
    done = invoke("report", str(finished.path), "--weights", weights, "-o", "-")
    assert isinstance(done.exception, SpecError)
    assert "no decision can be made" in str(done.exception)
    assert done.stdout == ""


def test_audit_of_use_on_blank_text(blank: str) -> None:
    assert "no use of ids can be counted" in refused(SpecError, "audit", "bytes", "-d", blank)


def test_estimates_of_blank_text_and_of_a_kind_never_observed(blank: str, tmp_path: Path) -> None:
    rows = "".join(f"{'x' * n},{2 * n},prose\n" for n in range(1, 13))
    (tmp_path / "observed.csv").write_text("text,tokens,kind\n" + rows)
    fit = tmp_path / "fit.json"
    assert invoke("calibrate", "chars", "--observed", f"{tmp_path}/observed.csv", "-o", str(fit)).exit_code == 0
    assert "nothing to estimate" in refused(
        SpecError, "calibrate", "--fit", str(fit), "-d", blank, "--kind", "prose"
    )
    (tmp_path / "some.txt").write_text("some text\n")
    asked = ["calibrate", "--fit", str(fit), "-d", f"text:{tmp_path}/some.txt", "--kind"]
    assert "no text of kind 'code' was observed; the kinds that were: prose" in refused(
        SpecError, *asked, "code"
    )
    assert invoke(*asked, "prose").exit_code == 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("text,tokens\nabc,many\n", "line 2: tokens takes a whole number above 0, not 'many'"),
        ("file,tokens\nlatin.txt,3\n", "latin.txt is not UTF-8 (byte 1)"),
        ("file,tokens\nnone.txt,3\n", "none.txt: No such file"),
    ],
)
def test_reported_counts_that_cannot_be_read(rows: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "observed.csv").write_text(rows)
    (tmp_path / "latin.txt").write_bytes(b"a\xe9")
    assert message in refused(CorpusError, "calibrate", "chars", "--observed", f"{tmp_path}/observed.csv")


def test_bits_per_byte_of_ids_that_are_not_those_of_the_text(tmp_path: Path) -> None:
    losses = tmp_path / "losses.jsonl"
    row = {"nats": [1.0, 1.0, 1.0], "ids": [97, 98, 99], "text": "xyz"}
    losses.write_text(json.dumps(row) + "\n")
    assert "the ids decode to 'abc', the text is 'xyz'" in refused(CorpusError, "bpb", "bytes", str(losses))
    losses.write_text(json.dumps({**row, "text": "abc"}) + "\n")
    assert invoke("bpb", "bytes", str(losses)).exit_code == 0


def test_a_tokenizer_without_control_strings_has_nothing_to_inject() -> None:
    assert (
        invoke("injection", "bytes").stdout
        == "bytes: it has no control strings, so there is nothing to inject\n"
    )


def test_a_missing_file_is_a_wrong_request_however_it_is_named(tmp_path: Path) -> None:
    for spec in (f"{tmp_path}/none.json", f"bpe:{tmp_path}/none.json", f"maxmatch:{tmp_path}/none.txt"):
        done = invoke("lint", spec)
        assert isinstance(done.exception, TokbenchError), spec
        assert "there is no" in str(done.exception)
    damaged = tmp_path / "damaged.json"
    damaged.write_text('{"model": {"type": "BPE"')
    done = invoke("lint", f"bpe:{damaged}")
    assert done.exit_code == 1
    assert "TB001" in done.stdout


def test_what_must_be_trained_is_told_how() -> None:
    """By commands and options that there are: most commands have no --train-on."""
    done = invoke("encode", "bpe:vocab_size=500", "text")
    assert "`tokbench train bpe -d TEXT -o FILE.json`" in str(done.exception)
    assert "train-on" not in str(done.exception)


def test_golden_says_what_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(b"\xff\xfe")
    said = refused(SpecError, "golden", "check", str(tmp_path), "bytes")
    assert "codec" not in said
    assert "it is no JSON in UTF-8" in said
    pack, program = tmp_path / "pack", tmp_path / "answers.py"
    assert invoke("golden", "make", "bytes", "-o", str(pack), "--mutations", "0").exit_code == 0
    program.write_text(r"import sys; sys.stdout.buffer.write(b'1 2\n\xe9\n')")
    assert "line 2: the answer is not UTF-8" in refused(
        TokbenchError, "golden", "check", str(pack), "--command", f"{sys.executable} {program}"
    )


@pytest.mark.parametrize(
    ("encoding", "name", "text"),
    [
        ("cp1252", "cp1252", "Über den Größenwahn, déjà vu, ça va très bien à Noël\n"),
        ("cp1251", "cp1251", "Привет, мир. Это проверка кодировки текста\n"),
        ("koi8-r", "koi8-r", "Привет, мир. Это проверка кодировки текста\n"),
        ("cp932", "cp932", "日本語のテキストです。これは文字コードの試験です。\n"),
        ("euc_jp", "euc-jp", "日本語のテキストです。これは文字コードの試験です。\n"),
        ("cp949", "cp949", "한국어 텍스트입니다. 문자 인코딩을 시험합니다.\n"),
        ("gb18030", "gb18030", "这是中文文本，我们在测试字符编码。今天天气很好。\n"),
        ("big5", "big5", "這是中文文本，我們在測試字元編碼。今天天氣很好。\n"),
        ("utf-16", "utf-16", "Hello, world\n"),
        ("utf-16-be", "utf-16be", "Ünicode without a mark\n"),
    ],
)
def test_text_that_is_not_utf8_is_told_before_any_work(
    encoding: str, name: str, text: str, tmp_path: Path
) -> None:
    file, out = tmp_path / "text.txt", tmp_path / "out"
    file.write_bytes((text * 20).encode(encoding))
    assert f"say encoding={name}, or convert it (iconv -f {name} -t UTF-8 {file})" in refused(
        CorpusError, "run", "-t", "bytes", "-d", f"text:{file}", "-o", str(out)
    )
    assert not (out / "run.json").exists()
    dataset = build_registry().dataset(f"text:{file},encoding={name}")
    [shard] = dataset.shards("und")
    assert [document.text for document in dataset.read(shard)] == [text.rstrip()] * 20


def test_a_run_over_text_in_another_encoding(tmp_path: Path) -> None:
    file, out = tmp_path / "text.txt", tmp_path / "out"
    file.write_bytes("Über den Größenwahn\n".encode("cp1252") * 20)
    arguments = ["run", "-t", "bytes", "-o", str(out), "--no-speed", "--no-report", "-d"]
    refused = invoke(*arguments, f"text:{file},encoding=cp12522")
    assert isinstance(refused.exception, SpecError)
    assert "did you mean cp1252" in str(refused.exception)
    assert not out.exists()
    missing = invoke(*arguments, f"{file}.gz,encoding=cp1252")
    assert "did you mean" in str(missing.exception)
    assert invoke(*arguments, f"{file},encoding=cp1252").exit_code == 0
    run = Run.open(out)
    [size] = run.frame[(run.frame["metric"] == "text_bytes") & (run.frame["language"] == "all")]["value"]
    assert size == 20 * len("Über den Größenwahn".encode())


def test_a_damaged_place_is_no_other_encoding(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_bytes("Größenwahn, déjà vu\n".encode() * 9 + b"\xff\n")
    said = refused(CorpusError, "run", "-t", "bytes", "-d", f"text:{file}", "-o", str(tmp_path / "out"))
    assert "line 10, byte offset" in said
    assert "looks like" not in said


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["bytes", "bytes", "--documents", "3"], "--documents is of -d DATASET"),
        (["lint", "bytes", "--documents", "3"], "--documents is of -d DATASET"),
        (["audit", "bytes", "--rare", "10"], "--rare is of -d DATASET"),
        (["encode", "bytes", "a", "--alpha", "0.1", "--seed", "0"], "--alpha and --seed are of --sample N"),
        (["golden", "check", "pack", "bytes", "--timeout", "60"], "--timeout is of --command CMD"),
        (["count", "-o", "a", "--merge", "b", "--jobs", "1"], "--jobs is of -d DATASET"),
    ],
)
def test_an_option_that_does_nothing_without_another(asked: list[str], message: str) -> None:
    """Its default, said, is refused too."""
    assert refused(SpecError, *asked) == f"{message}, which is not given"


@pytest.mark.parametrize("command", [["optimum"], ["bytes"], ["diff", "bytes"]])
def test_commands_that_can_train_say_so_of_what_has_to_be_trained(command: list[str]) -> None:
    with pytest.raises(
        TokenizerError, match=r"bpe must be trained first: name the text here \(--train-on DATASET\)"
    ):
        invoke(*command, "bpe", "-d", "bundled:prose", catch=False)


@pytest.mark.parametrize("command", [["diff", "bytes", "bytes", "-d", "bundled:tricky"], ["bytes", "bytes"]])
def test_a_text_to_train_on_that_is_not_there_is_told_though_nothing_is_trained(command: list[str]) -> None:
    assert "nowhere.txt: there is no such file" in refused(SpecError, *command, "--train-on", "nowhere.txt")
