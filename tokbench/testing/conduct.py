"""Checks of a tokenizer's behaviour in a process: threads, output, memory, time."""

from __future__ import annotations

import contextlib
import io
import math
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tokbench.errors import described
from tokbench.testing.check import ConformanceCheck, Problem, ids_of
from tokbench.testing.texts import EDGE_CASES
from tokbench.tokenizer import Tokenizer

MEMORY_GROWTH_LIMIT = 64 << 20
LONGEST_ROUNDS = 10.0
"""Seconds after which encoding again ends, since a slow tokenizer is no leaking one."""


@ConformanceCheck.of("threads", "keep no state in encode, or guard it with a lock.")
def _threads(tokenizer: Tokenizer) -> Problem:
    work = [text * 20 for text in EDGE_CASES] * 4
    expected = [ids_of(tokenizer, text) for text in work]
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda text: ids_of(tokenizer, text), work))
    except (Exception, SystemExit) as error:
        return f"with four threads, encode raised {described(error)}"
    return None if found == expected else "with four threads, encode gave other ids than alone"


@ConformanceCheck.of("silent", "print nothing and leave the working directory alone.")
def _silent(tokenizer: Tokenizer) -> Problem:
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(out):
        for text in EDGE_CASES:
            tokenizer.decode(ids_of(tokenizer, text))
        moved = not Path.cwd().samefile(folder)
    if out.getvalue():
        return f"encode or decode printed {out.getvalue()[:60]!r}"
    return "encode or decode changed the working directory" if moved else None


@ConformanceCheck.of("memory", "bound the caches that encode fills.")
def _memory(tokenizer: Tokenizer) -> Problem:
    import psutil

    process = psutil.Process()
    work = [text * 3 for text in EDGE_CASES]

    def rounds(count: int) -> int:
        end = time.monotonic() + LONGEST_ROUNDS
        for text in work * count:
            tokenizer.encode(text)
            if time.monotonic() > end:
                break
        return int(process.memory_info().rss)

    start = rounds(50)
    grown = rounds(200) - start
    said = f"memory grew by {grown >> 20} MiB over repeated encoding of the same texts"
    return said if grown > MEMORY_GROWTH_LIMIT else None


@ConformanceCheck.of("speed", "encode in time linear in the length of the text.")
def _speed(tokenizer: Tokenizer) -> Problem:
    """Growth of time with length: linear is 1, quadratic is 2; measured at 4 kB and 64 kB."""
    unit = "The quick brown fox, 1234 naïve cafés and 漢字. "
    short, long = unit * 100, unit * 1600
    tokenizer.encode(short)
    times = [min(_seconds(tokenizer, text) for _ in range(3)) for text in (short, long)]
    exponent = math.log(times[1] / times[0]) / math.log(16)
    slow = exponent > 1.7 and times[1] > 0.2
    return f"time grows as length to the power {exponent:.1f} ({times[1]:.2f} s for 80 kB)" if slow else None


def _seconds(tokenizer: Tokenizer, text: str) -> float:
    start = time.process_time()
    tokenizer.encode(text)
    return max(time.process_time() - start, 1e-6)


CONDUCT = (_threads, _silent, _memory, _speed)
