"""What the first call of an in-house tokenizer costs: compiling once per machine, then from the compiled cache.

    python benchmarks/first_call.py bpe:tokenizer.json wordpiece:vocab.txt unigram:spiece.model

Each spec is loaded and called in a new process, twice: with an empty folder for compiled code, and again. Wall
time in seconds; the folder is one for each spec, so that none compiles for another. The last row of several is
all specs in one process. Memory is what the second process takes beyond an interpreter with numpy, in MiB: its
own (`own`), and with the pages of libraries that it shares with other processes (`all`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

ONE = """
import sys, time
import numpy, psutil
held = psutil.Process().memory_full_info()
begun = time.perf_counter()
import tokbench
for spec in sys.argv[1:]:
    try:
        tokenizer = tokbench.load(spec)
    except tokbench.TokbenchError as error:
        sys.exit(str(error))
    tokenizer.encode("Hello world, this is a test.")
first = time.perf_counter() - begun
begun = time.perf_counter()
tokenizer.encode("Another text, and a second call.")
print(first, time.perf_counter() - begun)
now = psutil.Process().memory_full_info()
print((now.uss - held.uss) / 2**20, (now.rss - held.rss) / 2**20)
"""


def measure(specs: list[str], folder: str) -> list[float]:
    """Seconds to import, load and encode once in a new process, and for a second call; memory, own and all."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else every process compiles every module
    command = [sys.executable, "-P", "-c", ONE, *specs]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:  # it has said why
        sys.exit(done.returncode)
    return [float(figure) for figure in done.stdout.split()]


def main(specs: list[str]) -> int:
    """Print a row for each spec."""
    if not specs:
        print(__doc__)
        return 2
    print(f"{'compiling':>10} {'cached':>8} {'2nd call':>10} {'own':>6} {'all':>6}  spec")
    for together in [*([spec] for spec in specs), *([specs] if len(specs) > 1 else [])]:
        with tempfile.TemporaryDirectory() as folder:
            compiling, *_ = measure(together, folder)
            cached, second, own, all_ = measure(together, folder)
        shown = together[0] if len(together) == 1 else "all of them"
        print(f"{compiling:9.1f}s {cached:7.2f}s {second * 1e6:8.0f}us {own:6.0f} {all_:6.0f}  {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
