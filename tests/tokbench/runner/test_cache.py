from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.runs import planned
from tokbench.errors import ResultsError, SpecError
from tokbench.registry import cache_dir
from tokbench.results import Run
from tokbench.results.cell import CellResult
from tokbench.results.folder import RunFolder, locked
from tokbench.runner.cache import DEFAULT_LIMIT, TallyCache, cache_limit
from tokbench.runner.counting.count import PlannedCell
from tokbench.runner.progress import Display
from tokbench.runner.run import _models

RunIt = Callable[..., Run]


def test_a_damaged_entry_is_none_and_goes(tmp_path: Path) -> None:
    cache = TallyCache(tmp_path)
    cache.put("abcd", b"x" * 100)
    [path] = tmp_path.glob("*/*.tally")
    path.write_bytes(path.read_bytes()[:-1])
    assert cache.get("abcd") is None
    assert not path.exists()


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    cache = TallyCache(tmp_path)
    for age, key in enumerate(["aa1", "bb2", "cc3"]):
        cache.put(key, b"x" * 1000)
        os.utime(tmp_path / key[:2] / f"{key}.tally", (1000 + age, 1000 + age))
    assert cache.get("aa1") is not None  # used: now the youngest
    assert cache.prune(2500) == 1
    assert cache.get("bb2") is None
    assert cache.get("aa1") is not None
    assert len(cache.sizes()) == 2


def test_many_writers_and_readers_see_whole_entries(tmp_path: Path) -> None:
    cache = TallyCache(tmp_path)
    body = os.urandom(200_000)

    def work(index: int) -> bool:
        cache.put("aa", body)
        found = cache.get("aa")
        cache.prune(150_000) if index % 7 == 0 else None
        return found is None or found == body

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(200)))


def test_a_cache_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = TallyCache(tmp_path / "file" / "below")
    cache.put("aa", b"x")
    assert cache.get("aa") is None
    assert len(cache.sizes()) == 0


def test_the_limit_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKBENCH_CACHE_LIMIT", raising=False)
    assert cache_limit() == DEFAULT_LIMIT
    monkeypatch.setenv("TOKBENCH_CACHE_LIMIT", "500MB")
    assert cache_limit() == 500_000_000
    monkeypatch.setenv("TOKBENCH_CACHE_LIMIT", "plenty")
    with pytest.raises(SpecError, match="TOKBENCH_CACHE_LIMIT"):
        cache_limit()


def entries() -> int:
    return len(TallyCache(cache_dir() / "tallies").sizes())


@pytest.mark.long
def test_adding_a_tokenizer_counts_one_tokenizer(
    corpus: Path, run: RunIt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    data = [f"text:{corpus}"]
    run(["bytes"], data, output=tmp_path / "one")
    assert entries() == 3
    kept = {path.read_bytes()[32:] for path in (tmp_path / "cache" / "tallies").rglob("*.tally")}
    cells = {path.read_bytes().split(b"\n", 3)[3] for path in (tmp_path / "one" / "cells").iterdir()}
    assert cells == kept, "the bytes of a tally are made once"
    heard: list[bool] = []

    both = run(["bytes", "chars"], data, output=tmp_path / "two", display=_Heard(heard))
    assert entries() == 6
    assert heard.count(True) == 3, "the cells of the first tokenizer came from the cache"
    assert heard.count(False) == 3
    alone = run(["bytes"], data, output=tmp_path / "three", cache=False)
    assert alone.table("fertility")["bytes"].equals(both.table("fertility")["bytes"])


@pytest.mark.parametrize(("cache", "place"), [(True, "cache"), (False, "out")])
def test_without_the_cache_what_is_trained_stays_with_the_run(
    cache: bool, place: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    plan = planned({"tokenizers": ["bytes"], "datasets": [f"text:{corpus}"], "cache": cache})
    assert _models(plan, RunFolder(tmp_path / "out")) == tmp_path / place / "trained"


class _Heard(Display):
    """A display that notes which cells came from the cache."""

    def __init__(self, heard: list[bool]) -> None:
        self._heard = heard

    def finished(self, cell: PlannedCell, result: CellResult) -> None:
        self._heard.append(result.cached)


@pytest.mark.long
def test_a_training_says_on_what(
    corpus: Path, run: RunIt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    said: list[str] = []

    class Listens(Display):
        def say(self, text: str) -> None:
            said.append(text)

    for folder in ("one", "two"):
        text = f"text:{corpus}"
        run(["words:vocab_size=30"], [text], output=tmp_path / folder, train_on=text, display=Listens())
    first, second = (line for line in said if "trained" in line)
    shares = "1,290 bytes: eng_Latn 54.3 %, fra_Latn 35.7 %, deu_Latn 10.1 %"
    on = f"words:vocab_size=30: trained on text:{corpus}"
    assert re.fullmatch(rf"{re.escape(on)} in \d+\.\d s; {re.escape(shares)}", first)
    assert second == f"{on} before; {shares}"


@pytest.mark.long
def test_two_runs_at_once_share_the_cache(
    corpus: Path, run: RunIt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    specs = ["bytes", "maxmatch:vocab_size=300"]

    def go(name: str) -> bytes:
        done = run(specs, [f"text:{corpus}"], output=tmp_path / name / "run", train_on=f"text:{corpus}")
        assert done.failures == []
        return (done.path / "measurements.parquet").read_bytes()

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(go, ["one", "other"])
    assert one == other


def test_a_folder_that_cannot_be_made_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "out"
    with pytest.raises(ResultsError) as caught, locked(RunFolder(folder)):
        pass
    assert str(caught.value) == f"cannot write to {folder}: Not a directory"


def test_two_runs_on_one_folder_are_refused(corpus: Path, run: RunIt, tmp_path: Path) -> None:
    with locked(RunFolder(tmp_path / "out")), pytest.raises(ResultsError, match="another run is writing"):
        run(["bytes"], [f"text:{corpus}"])
