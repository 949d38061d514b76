"""One run, from a suite to its folder: the stages in order, and what happens if one is interrupted."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokbench.errors import TokbenchError
from tokbench.registry import adopt, build_registry, default_context
from tokbench.results import CellResult, Run, RunFolder
from tokbench.results.atomic import write_json
from tokbench.results.failure import TaskFailure
from tokbench.results.folder import choose_folder, locked
from tokbench.runner.cache import cache_limit
from tokbench.runner.counting.cells import CellFiles, cut_into_tasks, look_through, make_cells, without_text
from tokbench.runner.counting.count import PlannedCell, get_ready
from tokbench.runner.counting.dispatch import EngineLost, OpenedEngine
from tokbench.runner.counting.quality import QualityPass
from tokbench.runner.figures import make_figures, measure_context, write_figures
from tokbench.runner.fingerprint import digest_of, forget_digests
from tokbench.runner.inspecting.leakage import find_leaks
from tokbench.runner.inspecting.stage import inspect_all
from tokbench.runner.manifest import Provenance, manifest
from tokbench.runner.planning.plan import Plan, make_plan
from tokbench.runner.planning.prices import price_notes
from tokbench.runner.planning.suite import load_suite
from tokbench.runner.progress import Display, tell
from tokbench.runner.reporting import write_reports
from tokbench.runner.speed.rows import speed_measurements
from tokbench.runner.speed.stage import speed_pass
from tokbench.runner.training.candidates import make_ready
from tokbench.wording import COMPILING, writable
from tokbench.workers.calls import WorkerLost
from tokbench.workers.interrupt import Stop, stopping
from tokbench.workers.pool import close_idle, start_ahead

NO_TEXT = TaskFailure(
    "empty",
    "there is no document in it: all of its text is blank",
    "leave the dataset out, or name the files that hold its text",
)


class RunError(TokbenchError):
    """The run could not continue, for a reason other than a tokenizer; the same command resumes it."""


class Interrupted(TokbenchError):
    """The user stopped the run; finished cells are on disk, and the same command resumes it."""


def run_suite(
    suite: str | os.PathLike[str] | None = None,
    tokenizers: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    *,
    display: Display | None = None,
    force: bool = False,
    report: bool = False,
    named_by: str = "plugins:",
    **options: Any,
) -> Run:
    """Run a suite (a file or a shipped name, with keys changed by `options`) and return the finished run.

    If `output` holds an unfinished run of the same request, it is resumed; another run is replaced only with
    `force`. With `report`, reports and plots are written, too. `named_by` names, in errors, the place where the
    `plugins` among the options were given. Failures of single tokenizers are in the run (`Run.failures`).
    Raises `SpecError` and similar errors for a wrong request, before any work, `Interrupted`, and
    `StorageError` if the disk cannot be written.
    """
    changes = {
        "tokenizers": tokenizers and list(tokenizers),
        "datasets": datasets and list(datasets),
        **options,
    }

    def named() -> dict[str, str]:
        files = options.get("plugins") or ()
        return dict.fromkeys([files] if isinstance(files, str) else files, named_by)

    def brought() -> Mapping[str, Path]:
        return build_registry(disable=options.get("disable_plugins") or (), plugin_files=named()).suites

    wanted = load_suite(suite, changes, brought)
    registry = build_registry(
        disable=wanted.disable_plugins,
        plugin_files=dict.fromkeys(wanted.plugins, f"{suite}: plugins:") | named(),
        context=default_context(allow_remote_code=wanted.allow_remote_code),
    )
    display = display or Display()
    registry.tell = display.say
    adopt(registry)
    forget_digests()
    plan = make_plan(wanted, registry)
    request = digest_of(plan.suite.request)
    folder = choose_folder(output, wanted.name, request, force=force)
    with OpenedEngine(plan.engine, plan.jobs, plan.suite.address, registry) as engine:
        if plan.engine.shared and (force or not folder.manifest.exists()):
            _reach(engine, plan)
        with locked(folder):
            known = Provenance(writable(folder.path.resolve().name), request, plan)
            return _RunStages(folder, known, display, engine, report=report).run()


def _reach(engine: OpenedEngine, plan: Plan) -> None:
    """Open an engine before anything is written; raises `RunError` if it does not answer."""
    try:
        engine.executor()
    except EngineLost as loss:
        raise RunError(f"the engine {plan.engine.name} failed: {loss}; nothing was written") from loss


@dataclass
class _RunStages:
    """A run in progress: its stages in order, and what to do if one is interrupted."""

    folder: RunFolder
    known: Provenance
    display: Display
    engine: OpenedEngine
    report: bool = False
    compiles: bool = False

    @property
    def plan(self) -> Plan:
        return self.known.plan

    def run(self) -> Run:
        self.display.begin(self.plan, self.folder)
        for note in price_notes(self.plan):
            self.display.say(note)
        self.write_manifest("unfinished")
        try:
            with stopping(self.display.say) as stop:
                jobs = self.plan.jobs
                here = min(jobs, len(self.plan.entries)) if self.plan.engine.shared else jobs
                start_ahead(here, get_ready, self.compiling)
                self.measure(stop)
        except KeyboardInterrupt:
            raise self.interrupted() from None
        except (WorkerLost, EngineLost) as loss:
            if isinstance(loss, WorkerLost) and loss.kind == "interrupted":
                raise self.interrupted() from None
            what = f"the engine {self.plan.engine.name} failed: " if isinstance(loss, EngineLost) else ""
            raise RunError(f"{what}{loss}; the same command goes on from {self.folder.path}") from loss
        finally:
            self.display.end()
            close_idle()
        run = Run.open(self.folder.path)
        self.display.measured(run)
        if self.report:
            self.known.faults += write_reports(self.plan, run, self.display.wrote)
            close_idle()
        self.write_manifest("finished")
        tell(self.plan.registry, "tokbench_run_finished", run=Run.open(self.folder.path))
        self.write_manifest("finished")
        return Run.open(self.folder.path)

    def measure(self, stop: Stop) -> None:
        plan, folder, known = self.plan, self.folder, self.known
        with self.timed("prepare", stop):
            models = _models(plan, folder)
            known.candidates = make_ready(plan, models, stop, self.display)
        with self.timed("quality", stop):
            cells = make_cells(plan, known.candidates)
            self.count(cells, stop)
        with self.timed("inspect", stop):
            failed = {cell.key for cell in known.failures}
            counted = CellFiles(folder, [cell.key for cell in cells if cell.key not in failed])
            known.failures += [CellResult(key, failure=NO_TEXT) for key in without_text(counted)]
            failed = {cell.key for cell in known.failures}
            known.inspections = inspect_all(plan, known.candidates, folder, failed, stop)
            known.leaks = find_leaks(plan, known.candidates, known.digests)
        with self.timed("figures", stop):  # before the speed pass, which needs a quiet machine
            context = measure_context(plan, known.candidates, known.inspections)
            figures = make_figures(plan, folder, known.candidates, cells, known.failures, context)
            known.faults += figures.faults
        with self.timed("speed", stop):
            known.speed = speed_pass(plan, folder, known.candidates, stop, self.display)
        speeds = speed_measurements(plan, known.speed, known.candidates) if known.speed else []
        write_figures(plan, folder, known.name, known.candidates, figures, speeds)
        self.write_manifest("finished")
        if plan.cache is not None:
            plan.cache.prune(cache_limit())

    def count(self, cells: Sequence[PlannedCell], stop: Stop) -> None:
        plan, known = self.plan, self.known
        todo, known.digests = look_through(self.folder, cells)
        work = cut_into_tasks(todo, plan.jobs, plan.cache, plan.limits)
        self.display.count(len(cells) - len(todo), todo)
        quality = QualityPass(todo, work, self.folder, self.display, tell=self.tell_cell)
        if todo:
            threading.Thread(target=_import_ahead).start()  # not a daemon: one that ends within C++ aborts
            with self.engine as engine:
                quality.run(engine.executor(), stop, jobs=plan.jobs, expected=engine.expected)
        known.digests |= quality.digests
        known.failures = quality.failures

    def tell_cell(self, cell: CellResult) -> None:
        tell(self.plan.registry, "tokbench_cell_finished", cell=cell)

    def compiling(self) -> None:
        if not self.compiles:
            self.compiles = True
            self.display.say(COMPILING)

    def interrupted(self) -> Interrupted:
        with contextlib.suppress(TokbenchError):
            self.write_manifest("interrupted")
        return Interrupted(f"interrupted; the same command goes on from {self.folder.path}")

    def write_manifest(self, status: str) -> None:
        self.known.status = status
        write_json(self.folder.manifest, manifest(self.known))

    @contextlib.contextmanager
    def timed(self, what: str, stop: Stop) -> Iterator[None]:
        """A timed stage of the run; after it the run ends if the user asked to stop."""
        self.display.stage(what)
        begun = time.monotonic()
        yield
        self.known.timings[what] = time.monotonic() - begun
        if stop.asked:
            raise KeyboardInterrupt


def _import_ahead() -> None:
    """Import what writes the figures while workers count; later it would delay the run."""
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401


def _models(plan: Plan, folder: RunFolder) -> Path:
    """Where trained tokenizers are kept: in the cache, or in the run's folder if that cannot be written."""
    kept = plan.registry.context.cache_dir / "trained"
    try:
        kept.mkdir(parents=True, exist_ok=True)
        writable_here = os.access(kept, os.W_OK)
    except OSError:
        writable_here = False
    return kept if plan.suite.cache and writable_here else folder.path / "trained"
