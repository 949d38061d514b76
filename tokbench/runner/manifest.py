"""Makes ``run.json``: everything needed to trust or repeat a run, and the machine that made it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tokbench.inspection.facts import versions
from tokbench.kernels.threads import usable_cores
from tokbench.metrics.definitions import described, with_orders
from tokbench.results.cell import CellResult
from tokbench.results.failure import TaskFailure
from tokbench.results.folder import SCHEMA_VERSION
from tokbench.runner.fingerprint import digest_of
from tokbench.runner.inspecting.leakage import Leaks
from tokbench.runner.inspecting.stage import Inspections
from tokbench.runner.planning.opening import Corpus
from tokbench.runner.planning.plan import Plan
from tokbench.runner.speed.rows import same_ids, speed_summary
from tokbench.runner.speed.timings import SpeedResult
from tokbench.runner.training.candidates import Candidate

MOST_SHARDS = 1_000
"""Datasets with more shards are listed with one digest for each language, not for each shard."""


@dataclass(slots=True)
class Provenance:
    """What is known about a run so far; each stage adds to it.

    `digests` are those of the shards of each dataset and language, `failures` the cells that could not be
    counted, `faults` the errors of metrics, reports and plots, and `timings` the seconds of each stage.
    """

    name: str
    request: str
    plan: Plan
    status: str = "unfinished"
    candidates: Sequence[Candidate] = ()
    digests: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    failures: list[CellResult] = field(default_factory=list)
    inspections: Inspections = field(default_factory=Inspections)
    leaks: Leaks = field(default_factory=dict)
    speed: SpeedResult | None = None
    faults: list[TaskFailure] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)


def manifest(known: Provenance) -> dict[str, Any]:
    """The content of ``run.json``."""
    plan = known.plan
    libraries = {name for candidate in known.candidates for name in candidate.libraries}
    return {
        "schema": SCHEMA_VERSION,
        "run": known.name,
        "status": known.status,
        "request": known.request,
        "suite": plan.suite.model_dump(),
        "baseline": plan.baseline,
        "train_on": plan.training.key if plan.training else None,
        "metrics": [metric.name for metric in plan.metrics],
        "definitions": described(with_orders(plan.metrics, plan.suite.renyi_alphas)),
        "tokenizers": [_tokenizer(plan, candidate) for candidate in known.candidates if not candidate.skipped],
        "skipped": list(_skipped(known)),
        "datasets": [_dataset(corpus, known) for corpus in plan.corpora],
        "failures": list(_failures(known)),
        "plots": [
            {"name": plot.name, "title": plot.title, "summary": plot.summary}
            for plot in plan.registry.brought_plots
        ],
        "plugins": [asdict(plugin) for plugin in plan.registry.host.plugins.values()],
        "versions": {
            "python": sys.version.split()[0],
            **versions(dict.fromkeys([*CORE_LIBRARIES, *sorted(libraries)])),
        },
        "machine": machine(),
        "jobs": plan.jobs,
        "speed": _speed(known.speed),
        "timings": {name: round(seconds, 3) for name, seconds in known.timings.items()},
    }


def _tokenizer(plan: Plan, candidate: Candidate) -> dict[str, Any]:
    family = plan.registry.tokenizers[candidate.entry.spec.family]
    shown = {"label": candidate.entry.label, "color": candidate.entry.color}
    return {
        "spec": candidate.entry.key,
        "typed": candidate.entry.typed,
        **{name: value for name, value in shown.items() if value},
        **({"also": candidate.entry.also} if candidate.entry.also else {}),
        "family": family.name,
        "plugin": plan.registry.owner(family.name),
        "status": "ok" if candidate.failure is None else candidate.failure.status,
        "fingerprint": candidate.recipe.fingerprint if candidate.recipe else None,
        **({} if candidate.about is None else asdict(candidate.about)),
        "files": candidate.files,
        "libraries": candidate.libraries,
        "training": candidate.training,
    }


def _skipped(known: Provenance) -> Iterator[dict[str, str]]:
    """The optional tokenizers that are not available, each with the reason."""
    for candidate in known.candidates:
        if candidate.failure is not None and candidate.skipped:
            remedy = candidate.failure.remedy or "optional; see the reason for what it takes"
            yield {"spec": candidate.entry.key, "reason": candidate.failure.message, "remedy": remedy}
    for text, why in known.plan.absent.items():
        remedy = "optional; install the plugin that offers it, or correct the name"
        yield {"spec": text, "reason": why, "remedy": remedy}


def _dataset(corpus: Corpus, run: Provenance) -> dict[str, Any]:
    key = corpus.recipe.key
    leaks = run.leaks.get(key)
    languages: dict[str, Any] = {}
    many = sum(map(len, corpus.shards.values())) > MOST_SHARDS
    for language, shards in corpus.shards.items():
        known = list(run.digests.get((key, language), ()))
        entry: dict[str, Any] = {
            "bytes": sum(shard.n_bytes for shard in shards),
            "sha256": digest_of(known) if known else None,
        }
        if not many:
            entry["shards"] = [
                {"source": shard.source, "start": shard.start, "stop": shard.stop, "bytes": shard.n_bytes}
                | ({"sha256": known[index]} if index < len(known) else {})
                for index, shard in enumerate(shards)
            ]
        languages[language] = entry
    return {
        "spec": key,
        **({"label": corpus.label} if corpus.label else {}),
        "parallel": corpus.parallel,
        "kind": corpus.kind,
        "languages": languages,
        "facts": dict(corpus.about),
        **({"in_training": leaks} if leaks else {}),
    }


def _failures(known: Provenance) -> Iterator[dict[str, Any]]:
    for candidate in known.candidates:
        if candidate.failure is not None and not candidate.skipped:
            yield _failure(candidate.failure, candidate.entry.key)
    for cell in known.failures:
        if cell.failure is not None:
            yield _failure(cell.failure, *cell.key)
    for fault in known.faults:
        yield _failure(fault)
    for plugin in known.plan.registry.host.failures():
        remedy = f"leave it out with --disable-plugin {plugin.name}"
        yield _failure(TaskFailure("plugin", f"{plugin.name}: {plugin.error}", remedy))
    timed = known.speed.failures if known.speed else {}
    for tokenizer, failure in [*known.inspections.failures.items(), *timed.items()]:
        yield _failure(failure, tokenizer)


def _failure(
    failure: TaskFailure, tokenizer: str | None = None, dataset: str | None = None, language: str | None = None
) -> dict[str, Any]:
    return {"tokenizer": tokenizer, "dataset": dataset, "language": language, **asdict(failure)}


def _speed(result: SpeedResult | None) -> dict[str, Any] | None:
    if result is None:
        return None
    return {
        "clock": result.clock,
        "notes": result.notes,
        "same_ids": same_ids(result),
        "set_ups": result.set_ups,
        "summary": speed_summary(result),
    }


CORE_LIBRARIES = ("tokbench", "numpy", "pandas", "pyarrow", "numba", "regex")
_TELLING = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMBA_DISABLE_JIT", "PYTHONMALLOC")


def machine() -> dict[str, Any]:
    """Processor, cores, memory, system and interpreter; never the host's or the user's name."""
    import psutil

    frequency = psutil.cpu_freq() if hasattr(psutil, "cpu_freq") else None
    return {
        "processor": _processor(),
        "cores": psutil.cpu_count(logical=False) or os.cpu_count(),
        "threads": os.cpu_count(),
        "available": usable_cores(),
        "megahertz": round(frequency.current) if frequency else None,
        "memory_bytes": psutil.virtual_memory().total,
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "architecture": platform.machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "environment": {name: os.environ[name] for name in _TELLING if name in os.environ},
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
