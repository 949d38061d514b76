"""The speed pass as a stage of a run: what it times, and finding again what an earlier try has timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from tokbench.errors import ResultsError
from tokbench.results.atomic import write_json
from tokbench.results.cell import Failure
from tokbench.results.folder import RunFolder, read_json
from tokbench.results.frames import read_frame, write_rows
from tokbench.runner.interrupt import Stop
from tokbench.runner.limits import Limits
from tokbench.runner.passages import choose_passage
from tokbench.runner.plan import Plan
from tokbench.runner.pool import close_idle
from tokbench.runner.recipe import digest_of
from tokbench.runner.speed import SpeedResult, state_of, time_all
from tokbench.runner.subjects import Subject


def speed_stage(
    plan: Plan,
    folder: RunFolder,
    subjects: Sequence[Subject],
    stop: Stop,
    report: Callable[[int, int, str], None],
) -> SpeedResult | None:
    """What the speed pass finds, from disk where the same was timed before; None where speed is not asked for.

    With a shared engine nothing is timed: on a cluster one cannot tell who else is working.
    """
    settings = plan.suite.speed_settings
    if settings is None or plan.engine.shared or not any(m.level == "speed" for m in plan.metrics):
        return None
    identity = digest_of(
        settings.model_dump(),
        [subject.recipe.fingerprint for subject in subjects if subject.recipe],
        [asdict(shard) for corpus in plan.corpora for shards in corpus.shards.values() for shard in shards],
    )
    found = _found(folder, identity)
    if found is not None:
        return found
    close_idle()  # nobody but the one being timed
    wanted = [str(plan.registry.dataset_spec(spec)) for spec in settings.datasets]
    timed = [corpus for corpus in plan.corpora if not wanted or corpus.recipe.key in wanted]
    chosen = (choose_passage(corpus, settings.passage_bytes) for corpus in timed)
    passages = [passage for passage in chosen if passage.documents]
    limits = Limits(plan.suite.timeout, plan.memory_limit)
    result = time_all(subjects, passages, settings, limits, stop, report)
    if not stop.asked:
        write_rows(folder.speed, result.rounds)
        write_json(_state(folder), state_of(result, identity))
    return result


def _state(folder: RunFolder) -> Any:
    return folder.path / "speed.json"


def _found(folder: RunFolder, identity: str) -> SpeedResult | None:
    """The timings on disk, if they are of the same tokenizers, text and settings."""
    if not _state(folder).is_file() or not folder.speed.is_file():
        return None
    try:
        known = read_json(_state(folder), "delete it and run again")
        if known["identity"] != identity or known["failures"]:
            return None
        frame = read_frame(folder.speed)
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    except (ResultsError, KeyError):
        return None
    failures = {key: Failure(**value) for key, value in known["failures"].items()}
    return SpeedResult(rows, known["set_ups"], failures, known["notes"], known["clock"])
