"""Every engine gives the same figures; a lost worker of a cluster changes nothing."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from tests.runs import made_up_text
from tokbench.errors import SpecError
from tokbench.registry import build_registry
from tokbench.results import CellResult, Run
from tokbench.runner.counting import dispatch, engines
from tokbench.runner.counting.count import PlannedCell
from tokbench.runner.progress import Display
from tokbench.runner.run import run_suite
from tokbench.runner.training.pretokens import count_pretokens
from tokbench.workers.calls import WorkerLost
from tokbench.workers.parent import allow
from tokbench.workers.pool import attempt

SPECS = ["bytes", "chars", "maxmatch:vocab_size=400"]


def figures(run: Run) -> list[bytes]:
    names = ("measurements.parquet", "measurements.csv", "comparisons.parquet")
    return [(run.path / name).read_bytes() for name in names]


def measured(corpus: Path, out: Path, engine: str, **options: Any) -> Run:
    return run_suite(
        None, SPECS, [f"text:{corpus}"], out / "run", engine=engine, jobs=2, cache=False,
        train_on=f"text:{corpus}", **options,
    )  # fmt: skip


@pytest.fixture
def local(corpus: Path, tmp_path: Path) -> list[bytes]:
    # A suite that is timed nowhere, so that the figures can be compared byte for byte.
    return figures(measured(corpus, tmp_path / "local", "local", speed=False))


@pytest.fixture
def quiet() -> Iterator[None]:
    """Clusters leave sockets and deprecated calls behind that are not ours to mend."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_whoever_interrupts_does_not_wait_for_what_is_in_flight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sleeps_in_workers.py").write_text("import time\ndef sleep(emit):\n    time.sleep(60)\n")
    monkeypatch.syspath_prepend(tmp_path)
    sleep = importlib.import_module("sleeps_in_workers").sleep
    begun = time.monotonic()
    flying: list[Future[Any]] = []

    def work() -> None:
        with engines.open_local(1, None) as executor:
            flying.append(executor.submit(attempt, sleep))
            time.sleep(1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    with pytest.raises(WorkerLost, match="stopped by the user"):
        flying[0].result()
    assert time.monotonic() - begun < 30
    allow()


@pytest.mark.filterwarnings("ignore")
def test_dask_gives_the_same(corpus: Path, tmp_path: Path, local: list[bytes], quiet: None) -> None:
    pytest.importorskip("distributed", reason="needs the extra 'dask'")
    done = measured(corpus, tmp_path / "dask", "dask")
    assert figures(done) == local
    assert done.manifest["speed"] is None, "speed is never timed on a shared engine"


class _KillsAtTheFirstCell(Display):
    """A display that kills a process once the first cell is finished, and counts how many were by then."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.before: int | None = None
        self.cells = 0

    def finished(self, cell: PlannedCell, result: CellResult) -> None:
        if self.before is None:
            os.kill(self.pid, signal.SIGKILL)
            self.before = self.cells
        self.cells += 1


@pytest.mark.filterwarnings("ignore")
def test_dask_worker_killed_changes_nothing(tmp_path: Path, quiet: None) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra 'dask'")
    languages = ("eng_Latn", "deu_Latn", "fra_Latn", "spa_Latn")
    corpus = made_up_text(tmp_path / "corpus", languages, 12_000)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        [pid, other] = [worker.process.pid for worker in cluster.workers.values()]
        display = _KillsAtTheFirstCell(pid)
        address = cluster.scheduler_address
        done = measured(corpus, tmp_path / "dask", "dask", address=address, display=display)
        assert pid not in [worker.process.pid for worker in cluster.workers.values()]
        assert other in [worker.process.pid for worker in cluster.workers.values()]
    assert display.before == 0
    assert display.cells == 3 * 4, "the worker was lost while nearly all was still to be done"
    assert figures(done) == figures(measured(corpus, tmp_path / "local", "local", speed=False))


@pytest.mark.filterwarnings("ignore")
def test_ray_gives_the_same(corpus: Path, tmp_path: Path, local: list[bytes], quiet: None) -> None:
    pytest.importorskip("ray", reason="needs the extra 'ray'")
    assert figures(measured(corpus, tmp_path / "ray", "ray")) == local


def test_a_worker_with_another_version_is_refused(tmp_path: Path, corpus: Path) -> None:
    class Elsewhere:
        def submit(self, fn: Any, *arguments: Any) -> Future[dict[str, str]]:
            future: Future[dict[str, str]] = Future()
            future.set_result({**fn(*arguments), "tokbench": "0.0.1"})
            return future

    with pytest.raises(SpecError, match=r"tokbench is 0\.0\.1 there and"):
        dispatch.check_workers(Elsewhere(), build_registry(), 1)  # type: ignore[arg-type]


def test_a_missing_extra_is_said_with_the_remedy_before_anything_is_made(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SpecError, match=r"pip install 'tokbench\[dask\]'"):
        measured(corpus, tmp_path / "refused", "dask")
    assert not (tmp_path / "refused").exists()


def test_an_engine_of_a_plugin_says_what_it_needs(corpus: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "far.py"
    plugin.write_text(
        "import tokbench\n@tokbench.hookimpl\ndef tokbench_engines():\n    return [tokbench.Engine(\n"
        "        name='far', summary='', open=lambda jobs, address: None, shared=True, package='no.such')]\n"
    )
    with pytest.raises(SpecError, match=r"the engine 'far' needs the package 'no\.such'.* 'no\.such'$"):
        measured(corpus, tmp_path / "refused", "far", plugins=[str(plugin)])
    assert not (tmp_path / "refused").exists()


def test_no_scheduler_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "PATIENCE", "1s")
    pytest.importorskip("distributed", reason="needs the extra 'dask'")
    with pytest.raises(SpecError, match="no scheduler answers"), engines.open_dask(1, "tcp://127.0.0.1:9"):
        pass


def test_an_address_is_not_for_the_local_engine(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="the engine 'local' has no scheduler"):
        count_pretokens(
            build_registry(), "bpe", ["bundled:prose"], tmp_path / "counts.parquet", address="tcp://host:1"
        )
