"""What the first call of an in-house tokenizer costs: compiling once per machine, then from the compiled cache.

    python benchmarks/first_call.py bpe:tokenizer.json wordpiece:vocab.txt unigram:spiece.model

Each spec is loaded and called in a new process, twice: with an empty folder for compiled code, and again. Wall
time in seconds; the folder is one for each spec, so that none compiles for another.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

ONE = """
import sys, time
begun = time.perf_counter()
import tokbench
tokenizer = tokbench.load(sys.argv[1])
tokenizer.encode("Hello world, this is a test.")
first = time.perf_counter() - begun
begun = time.perf_counter()
tokenizer.encode("Another text, and a second call.")
print(first, time.perf_counter() - begun)
"""


def measure(spec: str, folder: str) -> tuple[float, float]:
    """Seconds to import, load and encode once in a new process, and for a second call."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    command = [sys.executable, "-P", "-c", ONE, spec]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    first, second = done.stdout.split()
    return float(first), float(second)


def main(specs: list[str]) -> int:
    """Print a row for each spec."""
    if not specs:
        print(__doc__)
        return 2
    print(f"{'compiling':>10} {'cached':>8} {'2nd call':>10}  spec")
    for spec in specs:
        with tempfile.TemporaryDirectory() as folder:
            compiling, _ = measure(spec, folder)
            cached, second = measure(spec, folder)
        print(f"{compiling:9.1f}s {cached:7.2f}s {second * 1e6:8.0f}us  {spec}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
