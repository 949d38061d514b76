"""`tokbench convert`: what is written in one format opens again and gives the same ids."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

import tokbench
from tests.command import output
from tokbench.errors import SpecError, TokenizerError

TEXT = "The lower stairs, counted: 1, 22, 333 — naïve 漢字!"

run = partial(output, "convert")


def trained(family: str, size: int, path: Path) -> str:
    tokenizer = tokbench.load(f"{family}:vocab_size={size}", train_on="bundled:prose,languages=eng_Latn")
    tokenizer.save(path)  # type: ignore[attr-defined]
    return f"{family}:{path}"


@pytest.mark.long
@pytest.mark.parametrize(
    ("family", "source", "target", "options"),
    [
        ("bpe", "a.json", "b.tiktoken", ",pattern=gpt2"),
        ("bpe", "a.json", "folder", ""),
        ("bpe", "a.tiktoken", "b.json", ""),
        ("wordpiece", "a.json", "vocab.txt", ",lowercase=true"),
        ("unigram", "a.model", "b.json", ""),
    ],
)
def test_the_ids_stay_the_same(family: str, source: str, target: str, options: str, tmp_path: Path) -> None:
    spec = trained(family, 400, tmp_path / source)
    if source.endswith(".tiktoken"):
        spec += ",pattern=gpt2"
    said = run(spec, str(tmp_path / target))
    before, after = tokbench.load(spec), tokbench.load(f"{family}:{tmp_path / target}{options}")
    assert str(before.vocab_size) in said
    assert list(before.encode(TEXT)) == list(after.encode(TEXT))
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("family", "source", "targets", "choices"),
    [
        ("bpe", "a.json", ["o.model", "o.txt", "o.bin"], "FILE.json or FILE.tiktoken or FILE.gguf or a folder"),
        (
            "wordpiece",
            "a.json",
            ["o.model", "o.tiktoken", "folder", "o.bin", "o.tekken.json"],
            "FILE.json or FILE.txt",
        ),
        ("unigram", "a.model", ["o.txt", "o.tiktoken", "folder", "o.bin"], ".model or FILE.json or FILE.gguf"),
        (
            "unigram",
            "a.json",
            ["o.model", "o.txt", "o.tiktoken", "folder", "o.bin", "o.tekken.json"],
            "name FILE.json",
        ),
    ],
)
def test_what_a_format_cannot_hold_is_refused(
    family: str, source: str, targets: list[str], choices: str, tmp_path: Path
) -> None:
    spec = trained(family, 400, tmp_path / source)
    for target in targets:
        with pytest.raises(TokenizerError, match=f"{source} cannot be written as '{target}'; .*{choices}$"):
            run(spec, str(tmp_path / target))
    assert [path.name for path in tmp_path.iterdir()] == [source]


def test_a_folder_is_written_again_only_by_force(tmp_path: Path) -> None:
    spec = trained("bpe", 300, tmp_path / "a.json")
    folder = tmp_path / "folder"
    run(spec, str(folder))
    (folder / "merges.txt").write_text("damaged")
    with pytest.raises(SpecError, match="exists"):
        run(spec, str(folder))
    run(spec, str(folder), "--force")
    assert (folder / "merges.txt").read_text() != "damaged"
    assert not list(tmp_path.glob(".*"))


def test_a_folder_that_cannot_be_written_to_is_told_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)  # root may write anywhere
    with pytest.raises(SpecError, match=r"x\.json cannot be written; name a place elsewhere"):
        run("bpe:none.json", str(tmp_path / "x.json"))


def test_a_family_writes_under_the_endings_that_it_names_alone(tmp_path: Path) -> None:
    spec = trained("words", 60, tmp_path / "a.json")
    for name in ("o.gguf", "folder"):
        with pytest.raises(TokenizerError, match=rf"cannot be written as '{name}'; name FILE\.json;"):
            run(spec, str(tmp_path / name))
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    run(spec, str(tmp_path / "b.json"))


def test_what_cannot_be_saved_says_so(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="bytes cannot be saved"):
        run("bytes", str(tmp_path / "x.json"))
    with pytest.raises(SpecError, match="does not exist"):
        run("bytes", str(tmp_path / "no" / "x.json"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", ["o.gguf", "o.tiktoken", "o.model", "o_tekken.json", "folder"])
def test_an_adapter_writes_its_own_format_alone_and_names_who_writes_others(
    target: str, tmp_path: Path
) -> None:
    path = trained("bpe", 300, tmp_path / "a.json").removeprefix("bpe:")
    with pytest.raises(TokenizerError, match=rf"written as FILE\.json alone, .*bpe:{path}"):
        run(f"transformers:{path}", str(tmp_path / target))
    assert not (tmp_path / target).exists()


@pytest.mark.parametrize(
    ("family", "source", "target"),
    [("bpe", "bpe.json", "o.tiktoken"), ("bpe", "a.json", "folder"), ("unigram", "a.model", "o.json")],
)
def test_a_path_without_a_family_is_opened_by_one_that_writes_the_format(
    family: str, source: str, target: str, tmp_path: Path
) -> None:
    trained(family, 300, tmp_path / source)
    assert f"use it as {family}:{tmp_path / target}" in run(str(tmp_path / source), str(tmp_path / target))


def test_where_no_family_writes_it_the_last_one_says_why(tmp_path: Path) -> None:
    trained("bpe", 300, tmp_path / "a.json")
    with pytest.raises(TokenizerError, match=r"bpe:.*a\.json cannot be written as 'o\.txt'; name FILE\.json"):
        run(str(tmp_path / "a.json"), str(tmp_path / "o.txt"))


def test_a_sentencepiece_model_is_written_by_the_family_that_can(tmp_path: Path) -> None:
    path = trained("unigram", 300, tmp_path / "a.model").removeprefix("unigram:")
    with pytest.raises(TokenizerError, match=rf"written as FILE\.model alone, .*unigram:{path}"):
        run(f"sentencepiece:{path}", str(tmp_path / "o.json"))
    assert not (tmp_path / "o.json").exists()


def test_bpe_of_sentencepiece_is_written_as_a_model(tmp_path: Path) -> None:
    import sentencepiece

    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([TEXT, "lower and lower, counted again"] * 20),
        model_prefix=str(tmp_path / "m"),
        vocab_size=80,
        model_type="bpe",
        treat_whitespace_as_suffix=True,
        hard_vocab_limit=False,
        minloglevel=9,
    )
    spec = f"bpe:{tmp_path / 'm.model'}"
    with pytest.raises(TokenizerError, match=r"cannot express spaces behind words; save a \.model"):
        run(spec, str(tmp_path / "o.json"))
    run(spec, str(tmp_path / "o.model"))
    library = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "o.model"))
    assert library.encode(TEXT) == list(tokbench.load(spec).encode(TEXT))


def test_what_ranks_leave_unsaid_is_in_the_spec_that_opens_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tokbench.load("bpe:vocab_size=300,pattern=gpt2", train_on=[TEXT] * 9).save("a.json")  # type: ignore[attr-defined]
    assert run("bpe:a.json", "b.tiktoken").endswith("use it as bpe:b.tiktoken,pattern=gpt2\n")


def test_what_a_format_leaves_unsaid_is_told(tmp_path: Path) -> None:
    tokenizer = tokbench.load(
        "wordpiece:vocab_size=120,lowercase=true,strip_accents=false", train_on=[f"{TEXT} été naive"] * 9
    )
    tokenizer.save(tmp_path / "a.json")  # type: ignore[attr-defined]
    spec, bare = f"wordpiece:{tmp_path / 'a.json'}", f"wordpiece:{tmp_path / 'vocab.txt'}"
    assert run(spec, str(tmp_path / "vocab.txt")).endswith(f"use it as {bare},strip_accents=false\n")
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')  # it lies beside the file
    bare = f"wordpiece:{tmp_path / 'v.txt'},strip_accents=false"
    assert f"opened as {bare} it gives other ids" in run(spec, str(tmp_path / "v.txt"))
    assert run(spec, str(tmp_path / "b.json")).endswith(f"use it as wordpiece:{tmp_path / 'b.json'}\n")
