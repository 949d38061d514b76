"""Counted pre-tokens: exact, additive, the same from every engine; and tokenizers trained from them."""

from __future__ import annotations

import warnings
from collections import Counter
from concurrent.futures import Executor, Future
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
import regex

from tests.command import output
from tokbench.corpora import counted
from tokbench.corpora.counts import UNIT, language_factors
from tokbench.counts import WordCounts
from tokbench.errors import CorpusError, SpecError, TokbenchError, UnknownNameError
from tokbench.extension import Engine
from tokbench.registry import build_registry
from tokbench.runner.recipe import DatasetRecipe, TrainingRecipe
from tokbench.runner.training import pretokens
from tokbench.runner.training.pretokens import count_pretokens
from tokbench.runner.training.stage import spool

PARALLEL = Path(__file__).parents[4] / "datasets" / "parallel"
GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for language in ("eng_Latn", "deu_Latn", "tha_Thai"):
        lines = (PARALLEL / f"{language}.txt").read_text(encoding="utf-8").splitlines()[:60]
        (folder / f"{language}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def rows(path: Path) -> dict[tuple[str, bytes], int]:
    table = parquet.read_table(path)
    found: Counter[tuple[str, bytes]] = Counter()
    for row in table.to_pylist():
        found[row["language"], row["pretoken"]] += row["count"]
    return found


@pytest.fixture(scope="module")
def counts(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("counts") / "counts.parquet"
    said = output("count", "-d", f"parallel:{corpus}", "-o", str(path), "--jobs", "1")
    assert "tha_Thai 5" in said
    assert f"counts:{path}" in said
    return path


@pytest.mark.parametrize("at", ["submit", "result"])
def test_an_engine_that_is_gone_is_told(corpus: Path, tmp_path: Path, at: str) -> None:
    class Gone(Executor):
        def submit(self, *task: object, **named: object) -> Future:
            future: Future = Future()
            if at == "submit":
                raise ConnectionError("no scheduler answers")
            future.set_exception(ConnectionError("no scheduler answers"))
            return future

    registry = build_registry()
    summary, opened = "a cluster that went away", lambda jobs, address: Gone()
    registry.engines["gone"] = Engine(name="gone", summary=summary, open=opened, shared=True)
    path = tmp_path / "counts.parquet"
    with pytest.raises(CorpusError, match="the engine gone failed: ConnectionError: no scheduler answers"):
        count_pretokens(registry, "bpe", [f"parallel:{corpus}"], path, engine="gone")
    assert list(tmp_path.iterdir()) == []


def test_counts_are_those_of_the_text(corpus: Path, counts: Path) -> None:
    expected: Counter[tuple[str, bytes]] = Counter()
    for file in corpus.glob("*.txt"):
        for line in file.read_text(encoding="utf-8").splitlines():
            expected.update((file.stem, piece.encode()) for piece in regex.findall(GPT2, line))
    assert rows(counts) == expected


@pytest.mark.parametrize(
    ("spec", "options", "ending"),
    [
        ("bpe:pattern=cl100k", ["pattern=cl100k", "vocab_size=700"], "json"),
        ("wordpiece", ["vocab_size=300"], "json"),
        ("wordpiece:lowercase=false", ["vocab_size=300", "lowercase=false", "score=likelihood"], "json"),
        ("unigram", ["vocab_size=220"], "model"),
    ],
)
def test_training_from_counts_is_training_from_the_text(
    corpus: Path, tmp_path: Path, spec: str, options: list[str], ending: str
) -> None:
    counted = tmp_path / "counts.parquet"
    output("count", "-d", f"parallel:{corpus}", "--for", spec, "-o", str(counted), "--jobs", "1")
    models, said = [], []
    for source in (f"counts:{counted}", f"parallel:{corpus}"):
        target = tmp_path / f"{len(models)}.{ending}"
        asked = [part for option in options for part in ("--option", option)]
        said.append(output("train", spec.partition(":")[0], "-d", source, *asked, "-o", str(target)))
        models.append(target.read_bytes())
    assert models[0] == models[1]
    shares = [next(line for line in text.splitlines() if line.startswith("trained on ")) for text in said]
    assert shares[0] == shares[1]
    assert "tha_Thai" in shares[0]


def test_counts_add_up_and_languages_can_be_chosen(corpus: Path, counts: Path, tmp_path: Path) -> None:
    parts = []
    for language in ("eng_Latn", "deu_Latn", "tha_Thai"):
        parts += ["--merge", str(tmp_path / f"{language}.parquet")]
        output("count", "-d", f"parallel:{corpus}", "-l", language, "-o", parts[-1], "--jobs", "1")
    output("count", *parts, *parts, "-o", str(tmp_path / "twice.parquet"))
    assert rows(tmp_path / "twice.parquet") == {key: 2 * count for key, count in rows(counts).items()}
    once, twice = (counted.read_head(path).texts for path in (counts, tmp_path / "twice.parquet"))
    assert {text.language: (text.documents, text.bytes) for text in twice} == {
        text.language: (2 * text.documents, 2 * text.bytes) for text in once
    }
    both = build_registry().dataset(f"counts:{counts},languages=eng_Latn;deu_Latn")
    assert list(both.languages) == ["eng_Latn", "deu_Latn"]
    dataset = build_registry().dataset(f"counts:{counts},languages=deu_Latn")
    words, sizes = dataset.counts(dataset.languages)  # type: ignore[attr-defined]
    expected = {word: count for (language, word), count in rows(counts).items() if language == "deu_Latn"}
    assert dict(words) == expected
    assert [*sizes] == ["deu_Latn"]


def test_spilling_changes_nothing(
    corpus: Path, counts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pretokens, "SLICE", 500)
    monkeypatch.setattr(pretokens, "MOST_ROWS", 200)
    monkeypatch.setattr(pretokens, "attempt", lambda function, *rest, **_: function(lambda event: None, *rest))
    monkeypatch.setattr(pretokens, "TASK", 3000)
    head, _ = count_pretokens(build_registry(), "bpe", [f"parallel:{corpus}"], tmp_path / "c.parquet")
    assert rows(tmp_path / "c.parquet") == rows(counts)
    assert not list(tmp_path.glob(".counts*"))
    sizes = {text.language: text.bytes for text in head.texts}
    assert sizes == {
        file.stem: len(file.read_bytes()) - len(file.read_bytes().splitlines()) for file in corpus.glob("*")
    }


def test_weights_are_what_they_say(counts: Path) -> None:
    plain = build_registry().dataset(f"counts:{counts}")
    alike = build_registry().dataset(f"counts:{counts},alpha=0,weights=deu_Latn=2")
    (words, before), (weighted, after) = (each.counts(each.languages) for each in (plain, alike))  # type: ignore[attr-defined]
    assert words.unit == 1
    assert weighted.unit == UNIT
    assert {language: round(4 * size / sum(before.values()), 3) for language, size in after.items()} == {
        "deu_Latn": 2.0,
        "eng_Latn": 1.0,
        "tha_Thai": 1.0,
    }
    factors = language_factors(before, 0.0, {"deu_Latn": 2.0}, where="")
    expected: Counter[bytes] = Counter()
    for (language, word), count in rows(counts).items():
        expected[word] += count * round(factors[language] * UNIT)
    assert dict(weighted) == expected
    digests = {each.digest(each.shards("deu_Latn")[0]) for each in (plain, alike)}
    assert len(digests) == 2


def test_what_is_put_aside_keeps_its_languages(corpus: Path, tmp_path: Path) -> None:
    registry = build_registry()
    recipe = DatasetRecipe.of(registry, registry.dataset_spec(f"parallel:{corpus}"))
    training = TrainingRecipe((recipe,))
    whole, again = training.load(), spool(print, training, tmp_path / "text.jsonl")
    assert again is not None
    assert list(again.texts()) == list(whole.texts())
    assert again.sizes == whole.sizes
    assert len(whole.sizes) == 3


@pytest.mark.parametrize(
    ("command", "error", "message"),
    [
        (["train", "bpe", "-d", "counts:{c},alpha=2"], SpecError, "0..1 .* it is 2"),
        (["train", "bpe", "-d", "counts:{c},weights=eng_Latn=0"], SpecError, "above 0"),
        (["train", "bpe", "-d", "counts:{c},weights=eng_Lat=2"], UnknownNameError, "did you mean 'eng_Latn'"),
        (["train", "wordpiece", "-d", "counts:{c}"], CorpusError, "counted for bpe.*count anew with --for"),
        (["train", "bpe", "-d", "counts:{c}", "-d", "counts:{c}"], CorpusError, "--merge"),
        (["train", "bpe", "-d", "counts:{c}", "--option", "ties=first_seen"], CorpusError, "first_seen"),
        (["train", "words", "-d", "counts:{c}"], CorpusError, "holds counts, not text"),
        (["train", "bpe", "-d", "counts:nowhere.parquet"], CorpusError, "nowhere.parquet: no such file"),
        (["train", "bpe", "-d", "counts:"], SpecError, "counts needs a path"),
        (["train", "bpe", "-d", f"counts:{__file__}"], CorpusError, "no file of counts.*tokbench count -d"),
        (["count", "-d", "x", "--merge", "{c}"], SpecError, "one of both"),
        (["count", "-d", "bundled:prose", "--for", "bytes"], SpecError, "bpe, unigram, wordpiece"),
    ],
)
def test_wrong_requests_are_told_before_any_work(
    counts: Path, tmp_path: Path, command: list[str], error: type[TokbenchError], message: str
) -> None:
    with pytest.raises(error, match=message):
        output(*(part.replace("{c}", str(counts)) for part in command), "-o", str(tmp_path / "out.json"))
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore")
def test_dask_counts_the_same(corpus: Path, counts: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs the extra 'dask'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output(
            "count", "-d", f"parallel:{corpus}", "--engine", "dask", "--jobs", "2", "-o", str(tmp_path / "d")
        )
    assert (tmp_path / "d").read_bytes() == counts.read_bytes()


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([3, 4], None),
        ([-3, 4], "has no count, or a count below 1"),
        ([0, 4], "a count below 1"),
        ([1 << 62, 4], "more than 2"),
    ],
)
def test_counts_that_nobody_counted_are_refused(tmp_path: Path, counts: list[int], said: str | None) -> None:
    path = tmp_path / "counts.parquet"
    head = counted.Head("pattern gpt2", "bpe", (counted.TextSize("und", "text:a", 1, 10),))
    words = WordCounts.of_pairs([b"a", b"bc"], counts)
    counted.write_table(path, head, counted.table_of(words, "und", "text:a"))
    if said is None:
        assert sum(len(part) for part in counted.read_parts(path)) == 2
    else:
        with pytest.raises(CorpusError, match=said):
            list(counted.read_parts(path))


def test_a_file_of_counts_that_was_rewritten_or_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    head = counted.Head("pattern gpt2", "bpe", (counted.TextSize("und", "text:a", 1, 10),))
    counted.write_table(path, head, counted.table_of(WordCounts.of_pairs([b"a"], [3]), "und", "text:a"))
    whole = path.read_bytes()
    parquet.write_table(parquet.read_table(path), path)
    with pytest.raises(CorpusError, match="rewritten since"):
        list(counted.read_parts(path))
    path.write_bytes(whole[:-20])
    with pytest.raises(CorpusError, match="damaged"):
        list(counted.read_parts(path))
