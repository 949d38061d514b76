"""The definitions of what the speed pass measures; see docs/speed.md for how it measures them."""

from __future__ import annotations

from functools import partial

from tokbench.metrics.metric import catalogued

_HONEST = (
    "Holds for one machine, one number of threads and one form of call, all stated in the manifest: compare "
    "within a run, not between machines."
)

_timed = partial(catalogued, compute=lambda *_: None, level="speed", group="speed", caveat=_HONEST)
"""A metric whose rows the speed pass gives: there is nothing to compute from a tally."""

METRICS = (
    _timed(
        "encode_speed", "MB/s", "higher",
        "Megabytes of UTF-8 encoded per second, in text that was encoded before.",
        r"\frac{\mathrm{bytes}/10^6}{\mathrm{seconds}}",
        shown=("headline", "terminal"), order=25, heading="MB/s again",
    ),
    _timed(
        "encode_speed_cold", "MB/s", "higher",
        "Megabytes of UTF-8 encoded per second, in one pass over text new to the process.",
        r"\frac{\mathrm{bytes}/10^6}{\mathrm{seconds}}",
        shown=("headline", "terminal"), order=24, heading="MB/s first",  # most text is met once
    ),
    _timed(
        "decode_speed", "MB/s", "higher", "Megabytes of UTF-8 decoded per second.",
        r"\frac{\mathrm{bytes}/10^6}{\mathrm{seconds}}", heading="decode MB/s",
    ),
    *(
        _timed(
            f"latency_p{percent}", "ms", "lower",
            f"Time to encode one document, which {percent} % of the documents do not exceed.",
            rf"Q_{{0.{percent}}}(\mathrm{{seconds}}(d))", heading=f"latency p{percent} ms",
        )
        for percent in (50, 95, 99)
    ),
    _timed(
        "load_time", "s", "lower", "Time to load the tokenizer in a fresh process.", r"\mathrm{seconds}",
        heading="load time s",
    ),
    _timed(
        "first_call_time", "s", "lower", "Time of the first call in a fresh process, after loading.",
        r"\mathrm{seconds}", heading="first call s",
    ),
    _timed(
        "train_time", "s", "lower", "Time to train the tokenizer.", r"\mathrm{seconds}", heading="train time s"
    ),
    _timed(
        "train_memory", "MiB", "lower", "Peak memory of a fresh process that trains the tokenizer.",
        r"\max_t \mathrm{RSS}(t)", heading="train memory MiB",
    ),
    _timed(
        "peak_memory", "MiB", "lower", "Peak memory of a fresh process that loads the tokenizer and encodes.",
        r"\max_t \mathrm{RSS}(t)", heading="peak memory MiB",
    ),
)  # fmt: skip
