"""The speed pass on a small text: what is timed, in what turns, and what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

from tests.tokbench.testing.right_tokenizer import Right
from tokbench.errors import TokenizerError
from tokbench.results import Run
from tokbench.runner.speed.passages import Passage
from tokbench.runner.speed.stopwatch import _call, verified

RunIt = Callable[..., Run]
FORMS = ["batch", "single", "long", "short", "lists", "decode"]


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    from tokbench.runner.run import run_suite

    folder = tmp_path_factory.mktemp("speed")
    (folder / "eng_Latn.txt").write_text("a line of text to be timed\n" * 400, encoding="utf-8")
    speed = {"rounds": 3, "threads": [1, 2, 1], "forms": FORMS, "processes": 2, "passage_bytes": 5000}
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
    assert (raw["seconds"] > 0).all()
    assert (warm[warm["form"] == "batch"]["n_tokens"] > 0).all()
    assert warm[warm["form"] == "long"]["n_tokens"].isna().all(), "not counted, and no zero"


def test_a_first_pass_is_over_all_of_a_text_once(timed: Run) -> None:
    """And not only over what is repeated; every tokenizer takes a part before any takes the next."""
    cold = timed.speed[timed.speed["state"] == "cold"]
    for _, rows in cold.groupby(["tokenizer", "process"]):
        assert rows["n_bytes"].sum() == 400 * len("a line of text to be timed")
    assert set(cold["threads"]) == {1}
    assert list(cold[cold["process"] == 0]["tokenizer"]) == ["bytes", "chars"]  # 10 kB are one part


def test_all_text_is_in_parts_of_about_a_size() -> None:
    from tokbench.runner.speed.passages import _parts

    texts = ["x" * 1000] * 400
    parts = list(_parts(texts))
    assert [text for part in parts for text in part] == texts
    assert {len(part) for part in parts} == {50}
    assert list(_parts(["a" * 100, "b"])) == [("a" * 100, "b")]


def test_who_else_uses_the_machine_is_listened_to_while_the_run_is_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not by the load of the last minute, in which the run itself counted."""
    import psutil

    from tokbench.runner.speed.doubts import busy

    heard: list[float] = []

    def shared_by(share: float) -> list[str]:
        monkeypatch.setattr(psutil, "cpu_percent", lambda interval: heard.append(interval) or share)
        return busy()

    monkeypatch.setattr(psutil, "cpu_count", lambda: 4)
    assert shared_by(8.0) == []
    assert shared_by(60.0) == ["the machine was busy: others used 2.4 of 4 cores when timing began"]
    assert min(heard) > 0


def test_waiting_while_it_was_timed_is_told_of_the_run() -> None:
    from tokbench.runner.speed.doubts import waited
    from tokbench.runner.speed.timings import SpeedResult

    def result(cpu: float) -> SpeedResult:
        return SpeedResult([{"threads": 1, "seconds": 1.0, "cpu_seconds": cpu}] * 3)

    assert waited(result(0.97)) == []
    (said,) = waited(result(0.6))
    assert said.endswith("had a processor for 60 % of its time")


def test_rounds_are_interleaved_and_begin_with_another(timed: Run) -> None:
    raw = timed.speed
    first = raw[(raw["process"] == 0) & (raw["form"] == "single") & (raw["state"] == "warm")]
    order = [list(group["tokenizer"]) for _, group in first.groupby("round", sort=False)]
    assert order == [["bytes", "chars"], ["chars", "bytes"], ["bytes", "chars"]]


def test_figures_follow_from_the_rounds(timed: Run) -> None:
    frame = timed.frame.set_index(["tokenizer", "metric"])
    row = frame.loc[("bytes", "encode_speed")]
    raw = timed.speed
    of_batches = (raw["tokenizer"] == "bytes") & (raw["form"] == "batch") & (raw["state"] == "warm")
    chosen = raw[of_batches & (raw["threads"] == 1)]
    seconds = (chosen["seconds"] / chosen["loops"]).median()
    assert row["value"] == pytest.approx(chosen["n_bytes"].iloc[0] / 1e6 / seconds)
    assert row["ci_low"] <= row["value"] <= row["ci_high"]
    others = ("encode_speed_cold", "decode_speed", "latency_p50", "latency_p99", "load_time", "peak_memory")
    for metric in others:
        assert frame.loc[("chars", metric)]["value"] > 0, metric
    for metric in ("train_time", "train_memory"):
        assert frame.loc[("bytes", metric)]["status"].startswith("undefined")


@pytest.mark.long
def test_training_has_figures_of_its_own(corpus: Path, run: RunIt) -> None:
    done = run(["maxmatch:vocab_size=300"], [f"text:{corpus}"], train_on=f"text:{corpus}", speed={"rounds": 1})
    figures = done.frame[done.frame["tokenizer"] != "all"].set_index("metric")["value"]
    [training] = [entry["training"] for entry in done.manifest["tokenizers"]]
    assert figures["train_time"] == training["seconds"]
    assert figures["train_memory"] == training["peak_memory_bytes"] / 2**20
    assert figures["first_call_time"] > 0


COMPILES = """
import numba
import numpy
import tokbench
import tokbench.kernels.compiling

class Letters:
    name, vocab_size, lossless = "letters", 0x110000, True
    encode = staticmethod(lambda text: [ord(letter) for letter in text])
    decode = staticmethod(lambda ids: "".join(map(chr, ids)))
    def save(self, path):
        path.write_text("{}")

def train(corpus, options, progress):
    numba.njit(lambda numbers: numbers.sum() + len(numbers))(numpy.arange(3))
    return Letters()

@tokbench.hookimpl
def tokbench_tokenizers():
    return [tokbench.TokenizerFamily(
        name="letters", summary="code points", load=lambda spec, context: Letters(), train=train
    )]
"""


@pytest.mark.long
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_training_is_not_charged_with_compiling(corpus: Path, tmp_path: Path, run: RunIt) -> None:
    """The first training on a machine told 24 s of a trainer that takes half a second."""
    (tmp_path / "letters.py").write_text(COMPILES, encoding="utf-8")
    plugins = [str(tmp_path / "letters.py")]
    given = {"plugins": plugins, "train_on": f"text:{corpus}", "speed": {"rounds": 1, "forms": ["batch"]}}
    done = run(["letters"], [f"text:{corpus}"], **given)
    frame = done.frame[done.frame["tokenizer"] != "all"].set_index("metric")
    [training] = [entry["training"] for entry in done.manifest["tokenizers"]]
    assert frame.loc["train_time"]["value"] == training["seconds"] < training["compiling_seconds"]
    assert frame.loc["train_memory"]["status"].startswith("undefined: kernels were compiled meanwhile")


def test_the_manifest_states_form_and_output(timed: Run) -> None:
    summary = timed.manifest["speed"]["summary"]
    outputs = {(row["form"], row["output"]) for row in summary if row["tokenizer"] == "bytes"}
    assert ("batch", "TokenBatch") in outputs
    assert ("decode", "str") in outputs
    assert ("lists", "list") in outputs
    assert all(row["minimum"] <= row["value"] <= row["maximum"] for row in summary)


def test_a_resumed_run_keeps_its_timings(timed: Run) -> None:
    from tokbench.runner.run import run_suite

    before = (timed.path / "measurements.parquet").read_bytes()
    speed = timed.manifest["suite"]["speed"]
    again = run_suite(None, timed.tokenizers, timed.datasets, timed.path, speed=speed, audit=False, samples=0)
    assert (again.path / "measurements.parquet").read_bytes() == before


@pytest.mark.long
def test_calls_that_disagree_have_no_speed(corpus: Path, run: RunIt) -> None:
    done = run(["disagrees", "bytes"], [f"text:{corpus}"], faulty=["faults"], speed={"rounds": 1})
    [entry] = done.failures
    assert "encode and encode_batch disagree" in entry["message"]
    rows = done.frame[done.frame["metric"] == "encode_speed"]
    assert rows.loc[rows["tokenizer"] == "disagrees", "value"].isna().all()
    assert rows.loc[rows["tokenizer"] == "bytes", "value"].notna().all()
    of_it = done.frame[(done.frame["tokenizer"] == "disagrees") & (done.frame["metric"] == "load_time")]
    assert of_it["status"].str.startswith("failed: ").all()
    kept = json.loads((done.path / "speed.json").read_text())
    assert kept["identity"] is None, "whoever resumes the run times all of them again"


def test_ids_that_change_from_call_to_call_are_noticed() -> None:
    class Alternates(Right):
        calls = 0

        def encode(self, text: str) -> Any:
            Alternates.calls += 1
            return [(byte + Alternates.calls) % 256 for byte in text.encode()]

    passage = Passage("text:prose", ("a document",), (("a document",),))
    with pytest.raises(TokenizerError, match="encoding text:prose twice gives other ids the second time"):
        verified(Alternates(), passage)  # type: ignore[arg-type]


def test_no_text_pays_for_what_a_form_of_call_needs_once(corpus: Path, run: RunIt) -> None:
    done = run(["starts-late"], [f"text:{corpus}"], faulty=["faults"], speed={"rounds": 1}, jobs=1)
    cold = done.speed[done.speed["state"] == "cold"]["seconds"]
    [set_up] = json.loads((done.path / "speed.json").read_text())["set_ups"]
    assert cold.max() < 0.2 <= set_up["first_batch_seconds"]


def test_what_is_timed_is_what_the_form_of_call_says() -> None:
    asked: list[str] = []

    def told(name: str) -> Callable[[Any, Any], Any]:
        return lambda self, given: (asked.append(name), getattr(Right, name)(self, given))[1]

    methods = ("encode", "encode_batch", "decode", "offsets")
    tokenizer = type("Told", (Right,), {name: told(name) for name in methods})()
    for form in (*FORMS, "offsets"):
        call = _call(tokenizer, form, ["a text", "another"])
        asked.clear()
        call()
        wanted = {"batch": "encode_batch", "decode": "decode", "offsets": "offsets"}.get(form, "encode")
        assert asked[0] == wanted, form


@pytest.mark.long
def test_tokenizers_of_the_same_ids_are_found_and_the_clock_is_the_one_asked_for(
    corpus: Path, run: RunIt
) -> None:
    speed = {"rounds": 2, "forms": ["batch", "single", "offsets"], "clock": "cpu"}
    specs = ["bytes", "chars", "port:true"]
    done = run(specs, [f"text:{corpus}"], faulty=["ports"], speed=speed)
    assert done.manifest["speed"]["same_ids"] == [["bytes", "chars", "port:true"]], "the text is ASCII"
    assert done.manifest["speed"]["clock"] == "cpu"
    raw = done.speed
    chosen = raw[(raw["tokenizer"] == "bytes") & (raw["form"] == "batch") & (raw["state"] == "warm")]
    frame = done.frame.set_index(["tokenizer", "metric"])
    median = (chosen["cpu_seconds"] / chosen["loops"]).median()
    assert frame.loc[("bytes", "encode_speed"), "value"] == pytest.approx(
        chosen["n_bytes"].iloc[0] / 1e6 / median
    )
    told = raw[raw["form"] == "offsets"]
    assert set(told["tokenizer"]) == {"bytes", "chars"}, "one of them has no offsets to give"


@pytest.mark.long
def test_many_tokenizers_are_timed_in_groups(corpus: Path, run: RunIt, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokbench.runner.speed import turns as speeds

    monkeypatch.setattr(speeds, "SIDE_BY_SIDE", 2)
    monkeypatch.setattr(speeds, "GROUP", 2)
    specs = ["bytes", "chars", "whitespace:vocab_size=20"]
    done = run(specs, [f"text:{corpus}"], speed={"rounds": 2, "forms": ["batch"]})
    warm = done.speed[done.speed["state"] == "warm"]
    turns = list(warm["tokenizer"])
    assert {name: turns.count(name) for name in set(turns)} == dict.fromkeys(done.tokenizers, 2)
    assert len(set(turns[:2])) == 1, "the first group is one of three"
    assert len(set(turns[2:])) == 2
    assert any("timed in 2 groups" in note for note in done.manifest["speed"]["notes"])
