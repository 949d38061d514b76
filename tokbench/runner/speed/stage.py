"""The speed pass as a stage of a run: whether anything is timed, on what text, and what is kept of it.

A run that goes on, or is asked for again, takes the timings that are in its folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from tokbench.errors import ResultsError
from tokbench.results.atomic import write_json
from tokbench.results.folder import RunFolder, read_json
from tokbench.results.frames import read_frame, write_rows
from tokbench.runner.fingerprint import digest_of
from tokbench.runner.planning.plan import Plan
from tokbench.runner.progress import Display
from tokbench.runner.recipe import key_of
from tokbench.runner.speed.passages import choose_passages
from tokbench.runner.speed.timings import SpeedResult
from tokbench.runner.speed.turns import time_all
from tokbench.runner.training.candidates import Candidate
from tokbench.workers.interrupt import Stop
from tokbench.workers.pool import close_idle


def speed_pass(
    plan: Plan, folder: RunFolder, candidates: Sequence[Candidate], stop: Stop, display: Display
) -> SpeedResult | None:
    """What the speed pass finds, from disk where the same was timed before; None where speed is not asked for.

    With a shared engine nothing is timed: on a cluster one cannot tell who else is working.
    """
    settings = plan.suite.speed_settings
    if settings is None or plan.engine.shared or not any(m.level == "speed" for m in plan.metrics):
        return None
    identity = digest_of(
        "speed 1",
        settings.model_dump(),
        [candidate.recipe.fingerprint for candidate in candidates if candidate.recipe],
        [asdict(shard) for corpus in plan.corpora for shards in corpus.shards.values() for shard in shards],
    )
    found = _timings_on_disk(folder, identity)
    if found is not None:
        return found
    wanted = [key_of(plan.registry.dataset_spec(spec)) for spec in settings.datasets]
    timed = [corpus for corpus in plan.corpora if not wanted or corpus.recipe.key in wanted]
    passages = choose_passages(timed, settings, plan.limits)
    close_idle()  # so that nothing runs beside what is timed
    result = time_all(candidates, passages, settings, plan.limits, stop, display)
    if not stop.asked:
        write_rows(folder.speed, result.rounds)
        known = {"set_ups": result.set_ups, "notes": result.notes, "clock": result.clock}
        # What failed may go well the next time: without an identity, these timings are not reused.
        write_json(folder.speed_state, {"identity": None if result.failures else identity, **known})
    return result


def _timings_on_disk(folder: RunFolder, identity: str) -> SpeedResult | None:
    """The timings on disk, if they are of the same tokenizers, text and settings."""
    try:
        known = read_json(folder.speed_state, "delete it and run again")
        if known["identity"] != identity:
            return None
        frame = read_frame(folder.speed)
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    except (ResultsError, KeyError):
        return None
    return SpeedResult(rows, known["set_ups"], {}, known["notes"], known["clock"])
