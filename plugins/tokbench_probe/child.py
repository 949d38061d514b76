"""The process that trains and reads: `python -m tokbench_probe.child FOLDER SHAPE COURSE SEEDS`.

Of FOLDER it reads ``train.npy`` and ``read.npy``, streams of symbols, and writes ``nats.npy`` to it: float64,
``(seeds, symbols read)``. SHAPE, COURSE and SEEDS are lists as JSON. A line on standard output is a share done.
Nothing comes on standard input: it ends when whoever started the process is gone, and the process with it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path


def end_with_parent() -> None:
    """From now on, leave as soon as standard input ends, whatever else is being done."""

    def wait() -> None:
        while os.read(0, 1):  # not of `sys.stdin`, whose lock Python needs when it ends
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def main(folder: str, *rest: str) -> None:
    """Train and read once for each seed."""
    end_with_parent()
    import numpy as np

    from tokbench_probe.learning import read, trained
    from tokbench_probe.shape import Course, Shape

    first, second, seeds = map(json.loads, rest)
    shape, course = Shape(*first), Course(*second)
    train, text = (np.load(Path(folder, f"{name}.npy")) for name in ("train", "read"))
    found = []
    for number, seed in enumerate(seeds):

        def told(step: int, number: int = number) -> None:
            if step == 1 or step % 10 == 0:
                print((number + step / course.steps) / len(seeds), flush=True)

        parameters = trained(train, shape, course, seed, told)
        found.append(read(parameters, text, shape.context, course.batch))
    np.save(Path(folder, "nats.npy"), np.stack(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
