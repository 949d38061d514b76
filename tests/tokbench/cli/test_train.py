"""`tokbench train`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

import tokbench
from tests.command import invoke, output, refused
from tokbench.errors import CorpusError, SpecError, TokenizerError

run = partial(output, "train")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("low lower lowest\nnew newer newest\n" * 40, encoding="utf-8")
    return path


@pytest.mark.parametrize("family", ["bpe", "wordpiece", "words"])
def test_what_is_trained_opens_again(corpus: Path, tmp_path: Path, family: str) -> None:
    target = tmp_path / "model.json"
    said = run(family, "-d", str(corpus), "--vocab-size", "0.3k", "-o", str(target))
    assert f"{family}:{target}" in said
    tokenizer = tokbench.load(f"{family}:{target}")
    assert f"{tokenizer.vocab_size} tokens" in said
    assert len(tokenizer.encode("lowest newest")) < 13
    assert not list(tmp_path.glob(".*"))


def test_a_name_with_spaces_is_told_as_a_shell_takes_it(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run("bpe", "-d", str(corpus), "--vocab-size", "300", "-o", "my words.json")
    assert "use it as 'bpe:my words.json'\n" in said


@pytest.mark.parametrize("pattern", ["cl100k", r"\p{L}+|[^\p{L}]+"])
def test_what_a_format_leaves_to_be_said_is_told(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--vocab-size", "300", "--option", f"pattern={pattern}", "--option", "special_tokens=<s>"]
    said = run("bpe", "-d", str(corpus), *options, "-o", "t.tiktoken")
    if pattern == "cl100k":
        assert "use it as 'bpe:t.tiktoken,pattern=cl100k,special_tokens=<s>=0'\n" in said
    else:
        assert "t.tiktoken: a file of ranks does not say how text is cut: add pattern=gpt2" in said


def test_options_reach_the_trainer(corpus: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "a.json", tmp_path / "b.json"
    run(
        "wordpiece",
        "-d",
        str(corpus),
        "--option",
        "score=frequency",
        "--option",
        "vocab_size=40",
        "-o",
        str(one),
    )
    run("wordpiece", "-d", str(corpus), "--option", "score=likelihood", "--vocab-size", "40", "-o", str(two))
    assert one.read_text() != two.read_text()
    run("wordpiece", "-d", str(corpus), "-d", str(corpus), "--vocab-size", "40", "-o", str(two), "--force")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bytes"], "bytes cannot be trained; these can: .*wordpiece"),
        (["wordpiece:vocab_size=300"], "only the family, 'wordpiece': .*--vocab-size"),
        (["wordpeice"], "did you mean 'wordpiece'"),
        (["wordpiece", "--option", "scor=likelihood"], "did you mean 'score'"),
        (["wordpiece", "--option", "score"], "NAME=VALUE"),
        (["wordpiece", "--option", "vocab_size=9", "--vocab-size", "9"], "given twice"),
        (["wordpiece", "--vocab-size", "many"], "a whole number"),
        (["wordpiece", "-l", "xxx"], "unknown language"),
    ],
)
def test_wrong_requests_are_said_before_anything_runs(
    corpus: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        run(*arguments, "-d", str(corpus), "-o", str(tmp_path / "x.json"))
    assert not (tmp_path / "x.json").exists()


def test_files_are_not_overwritten_and_folders_not_invented(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="--force"):
        run("words", "-d", str(corpus), "-o", str(corpus))
    with pytest.raises(SpecError, match="does not exist"):
        run("words", "-d", str(corpus), "-o", str(tmp_path / "no" / "x.json"))


def test_a_file_that_its_family_cannot_write_is_refused_before_the_training(
    corpus: Path, tmp_path: Path
) -> None:
    with pytest.raises(SpecError, match=r"bpe cannot be written as 'x\.model'; name FILE\.json or .* a folder"):
        run("bpe", "-d", str(corpus), "-o", str(tmp_path / "x.model"))
    for name in ("x.model", "folder"):
        with pytest.raises(SpecError, match=rf"transformers cannot be written as '{name}'; name FILE\.json$"):
            run("transformers", "-d", str(corpus), "-o", str(tmp_path / name))
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "file").touch()
    for family in ("transformers", "bpe"):
        with pytest.raises(SpecError, match=rf"{family} .* 'x_tekken\.json', which is Tekken's by its name"):
            run(family, "-d", str(corpus), "-o", str(tmp_path / "x_tekken.json"))
    for family, name, what in (("transformers", "folder.json", "folder"), ("bpe", "file", "file")):
        with pytest.raises(SpecError, match=f"{family} cannot be written as '{name}', which is a {what}; "):
            run(family, "-d", str(corpus), "-o", str(tmp_path / name), "--force")


def test_a_vocabulary_too_small_is_said_and_leaves_no_file(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="ask for at least"):
        run("bpe", "-d", str(corpus), "--vocab-size", "100", "-o", str(tmp_path / "x.json"))
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize("family", ["bpe", "wordpiece", "unigram"])
@pytest.mark.parametrize("size", [2**31, 2**53 + 1, 10**24])
def test_a_vocabulary_that_ids_cannot_number_is_refused(
    family: str, size: int, corpus: Path, tmp_path: Path
) -> None:
    with pytest.raises(TokenizerError, match=f"{family}:.*vocab_size.*{size}"):
        run(family, "-d", str(corpus), "--vocab-size", str(size), "-o", str(tmp_path / "x.json"))


def test_training_that_returns_no_tokenizer_is_said(corpus: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "none.py"
    plugin.write_text(
        "import tokbench\n\n@tokbench.hookimpl\ndef tokbench_tokenizers():\n"
        "    train = lambda corpus, options, progress: None\n"
        "    return [tokbench.TokenizerFamily(name='none', summary='', load=print, train=train)]\n"
    )
    with pytest.raises(TokenizerError, match=r"none: what training returned has no save\(path\)"):
        run("none", "-d", str(corpus), "-o", str(tmp_path / "x.json"), "--plugin", str(plugin))


def test_fewer_tokens_than_asked_for_is_said(corpus: Path, tmp_path: Path) -> None:
    command = ["train", "bpe", "-d", str(corpus), "--vocab-size", "100k", "-o", str(tmp_path / "x.json")]
    result = invoke(*command)
    assert result.exit_code == 0
    assert "100,000 tokens were asked for; training ended at" in result.stderr
    assert result.stdout.startswith(f"{tmp_path / 'x.json'}: "), (
        "in a pipe there is no empty line of a progress bar"
    )


def test_a_dataset_without_text_is_refused(tmp_path: Path) -> None:
    blank = tmp_path / "blank.txt"
    blank.write_text("\n \n\n")
    with pytest.raises(CorpusError, match=r"blank\.txt: no text in it"):
        run("bpe", "-d", str(blank), "-o", str(tmp_path / "x.json"))
    assert not (tmp_path / "x.json").exists()


def test_parity_wants_several_languages(corpus: Path, tmp_path: Path) -> None:
    asked = ["train", "bpe", "-d", str(corpus), "--vocab-size", "300", "-o", str(tmp_path / "m.json")]
    assert "balances languages" in refused(CorpusError, *asked, "--option", "parity=base")
    assert "ratios= is for parity=base or parity=window" in refused(
        TokenizerError, *asked, "--option", "ratios=a=1"
    )
