"""The speed pass on a small text: what is timed, in what turns, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokbench.results import Run
from tokbench.runner.stability import interval_rank, summarize

RunIt = Callable[..., Run]
FORMS = ["batch", "single", "long", "short", "decode"]


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    from tokbench.runner.run import run_suite

    folder = tmp_path_factory.mktemp("speed")
    (folder / "eng_Latn.txt").write_text("a line of text to be timed\n" * 400, encoding="utf-8")
    speed = {"rounds": 3, "threads": [1, 2], "forms": FORMS, "processes": 2, "passage_bytes": 5000}
    return run_suite(
        None, ["bytes", "chars"], [f"text:{folder}"], folder / "out", speed=speed, audit=False, samples=0
    )


def test_every_round_is_kept(timed: Run) -> None:
    raw = timed.speed
    warm = raw[raw["state"] == "warm"]
    one = warm[warm["threads"] == 1]
    # tokenizers × forms × rounds × processes
    assert len(one) == 2 * len(FORMS) * 3 * 2
    assert set(warm[warm["threads"] == 2]["form"]) == {"batch"}
    cold = raw[raw["state"] == "cold"]
    assert len(cold) == 2 * 2 * 2  # tokenizers × thread counts × processes
    assert (raw["seconds"] > 0).all()
    assert (cold["n_tokens"] > 0).all()


def test_rounds_are_interleaved_and_begin_with_another(timed: Run) -> None:
    raw = timed.speed
    first = raw[(raw["process"] == 0) & (raw["form"] == "single") & (raw["state"] == "warm")]
    order = [list(group["tokenizer"]) for _, group in first.groupby("round", sort=False)]
    assert order == [["bytes", "chars"], ["bytes", "chars"], ["bytes", "chars"]] or order[0] != order[1]
    assert all(sorted(each) == ["bytes", "chars"] for each in order)


def test_figures_follow_from_the_rounds(timed: Run) -> None:
    frame = timed.frame.set_index(["tokenizer", "metric"])
    row = frame.loc[("bytes", "encode_speed")]
    raw = timed.speed
    chosen = raw[
        (raw["tokenizer"] == "bytes")
        & (raw["form"] == "batch")
        & (raw["state"] == "warm")
        & (raw["threads"] == 1)
    ]
    seconds = (chosen["seconds"] / chosen["loops"]).median()
    assert row["value"] == pytest.approx(chosen["n_bytes"].iloc[0] / 1e6 / seconds)
    assert row["ci_low"] <= row["value"] <= row["ci_high"]
    for metric in (
        "encode_speed_cold",
        "decode_speed",
        "latency_p50",
        "latency_p99",
        "load_time",
        "peak_memory",
    ):
        assert frame.loc[("chars", metric)]["value"] > 0, metric
    assert frame.loc[("bytes", "train_time")]["status"].startswith("undefined")


def test_the_manifest_states_form_and_output(timed: Run) -> None:
    summary = timed.manifest["speed"]["summary"]
    outputs = {(row["form"], row["output"]) for row in summary if row["tokenizer"] == "bytes"}
    assert ("batch", "TokenBatch") in outputs
    assert ("decode", "str") in outputs
    assert all(row["minimum"] <= row["median"] <= row["maximum"] for row in summary)


def test_a_resumed_run_keeps_its_timings(timed: Run) -> None:
    from tokbench.runner.run import run_suite

    before = (timed.path / "measurements.parquet").read_bytes()
    again = run_suite(
        None,
        timed.tokenizers,
        timed.datasets,
        timed.path,
        speed=timed.manifest["suite"]["speed"],
        audit=False,
        samples=0,
    )
    assert (again.path / "measurements.parquet").read_bytes() == before


def test_calls_that_disagree_have_no_speed(corpus: Path, run: RunIt) -> None:
    done = run(["disagrees", "bytes"], [f"text:{corpus}"], faulty=["disagrees"], speed={"rounds": 1})
    [entry] = done.failures
    assert "encode and encode_batch disagree" in entry["message"]
    rows = done.frame[done.frame["metric"] == "encode_speed"]
    assert rows.loc[rows["tokenizer"] == "disagrees", "value"].isna().all()
    assert rows.loc[rows["tokenizer"] == "bytes", "value"].notna().all()


def test_no_round_is_dropped_and_unsteady_ones_are_said() -> None:
    summary = summarize([1.0, 1.0, 1.0, 9.0])
    assert summary.maximum == 9.0
    assert any("above the mean" in warning for warning in summary.warnings)
    assert summarize([1.0, 1.01, 0.99]).warnings == ()
    assert "less than 1 ms" in summarize([1e-5, 1e-5]).warnings[-1]


@pytest.mark.parametrize("n", range(6, 60))
def test_the_interval_of_the_median_covers(n: int) -> None:
    from math import comb

    def covers(rank: int) -> float:
        return 1 - 2 * sum(comb(n, k) for k in range(rank + 1)) / 2**n

    rank = interval_rank(n)
    assert covers(rank) >= 0.95
    assert covers(rank + 1) < 0.95
