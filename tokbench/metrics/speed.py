"""The definitions of what the speed pass measures; see docs/speed.md for how it measures them."""

from __future__ import annotations

from typing import Any

from tokbench.metrics.metric import Better, Metric

_HONEST = (
    "Of one machine, one thread count and one form of call, all stated in the manifest; compare within a "
    "run, not between machines."
)


def _metric(name: str, unit: str, better: Better, summary: str, formula: str, **more: Any) -> Metric:
    """A metric whose rows the speed pass gives: there is nothing to compute from a tally."""
    return Metric(
        name=name, unit=unit, better=better, summary=summary, formula=formula, **more,
        caveat=_HONEST, compute=lambda *_: None, level="speed", group="speed",
    )  # fmt: skip


METRICS = (
    _metric(
        "encode_speed", "MB/s", "higher", "Megabytes of UTF-8 encoded in a second, of a text met before.",
        r"\frac{\mathrm{bytes}/10^6}{\mathrm{seconds}}",
        shown=("headline", "terminal"), order=25, heading="MB/s again",
    ),
    _metric(
        "encode_speed_cold", "MB/s", "higher",
        "Megabytes of UTF-8 encoded in a second, in one pass over text that the process has never seen.",
        r"\frac{\mathrm{bytes}/10^6}{\mathrm{seconds}}",
        shown=("headline", "terminal"), order=24, heading="MB/s first",  # most text is met once
    ),
    _metric(
        "decode_speed", "MB/s", "higher", "Megabytes of UTF-8 decoded in a second.",
        r"\frac{\mathrm{bytes}/10^6}{\mathrm{seconds}}",
    ),
    *(
        _metric(
            f"latency_p{percent}", "ms", "lower",
            f"Time to encode one document that {percent} % of documents do not exceed.",
            rf"Q_{{0.{percent}}}(\mathrm{{seconds}}(d))",
        )
        for percent in (50, 95, 99)
    ),
    _metric("load_time", "s", "lower", "Time to load the tokenizer in a fresh process.", r"\mathrm{seconds}"),
    _metric(
        "first_call_time", "s", "lower", "Time of the first call in a fresh process, after loading.",
        r"\mathrm{seconds}",
    ),
    _metric("train_time", "s", "lower", "Time to train the tokenizer.", r"\mathrm{seconds}"),
    _metric(
        "train_memory", "MiB", "lower", "Most memory that a fresh process holds while it trains.",
        r"\max_t \mathrm{RSS}(t)",
    ),
    _metric(
        "peak_memory", "MiB", "lower", "Most memory that a fresh process holds while it loads and encodes.",
        r"\max_t \mathrm{RSS}(t)",
    ),
)  # fmt: skip
