"""Is the ranking of a speed table the same in every run? Give it the folders of some runs of one suite.

Each tokenizer's rank is a range where intervals meet (see `tokbench.reports.speeds`). Two runs contradict each
other where two tokenizers are apart in both, the other way round; the exit status is then 1. Last, how many of
the ratios between two tokenizers lie in the interval that the other run gives them.

    for i in 1 2 3; do tokbench run speed -o run-$i; done; python benchmarks/ranking.py run-1 run-2 run-3
"""

from __future__ import annotations

import argparse
import sys
from itertools import combinations, permutations

from tokbench.reports.speeds import rank_ranges
from tokbench.results import Run
from tokbench.runner.speed.rows import speed_summary
from tokbench.runner.speed.timings import SpeedResult

Intervals = dict[str, tuple[float, float]]
Speeds = dict[str, tuple[float, float, float]]


def speeds_of(run: Run, dataset: str, state: str) -> Speeds:
    """MB/s of batches on one thread and its two ends, by tokenizer, from every round that was timed."""
    raw = SpeedResult(run.speed.to_dict("records"), clock=run.manifest["speed"]["clock"])
    return {
        row["tokenizer"]: tuple(row["n_bytes"] / 1e6 / row[end] for end in ("value", "high", "low"))
        for row in speed_summary(raw)
        if (row["dataset"], row["form"], row["state"], row["threads"]) == (dataset, "batch", state, 1)
        and row["n"] > 1
    }


def contradictions(one: Intervals, other: Intervals) -> list[tuple[str, str]]:
    """Who is faster than whom in one run, and slower in the other."""
    both = [name for name in one if name in other]
    return [
        (first, second)
        for first, second in permutations(both, 2)
        if one[first][0] > one[second][1] and other[second][0] > other[first][1]
    ]


def ratios_held(one: Speeds, other: Speeds) -> list[bool]:
    """Of each two tokenizers, whether the interval of their ratio in a run holds that of the other run."""
    pairs = permutations((name for name in one if name in other), 2)
    return [one[a][1] / one[b][2] <= other[a][0] / other[b][0] <= one[a][2] / one[b][1] for a, b in pairs]


def main() -> int:
    """Print the ranks side by side, then what contradicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    runs = [Run.open(path) for path in parser.parse_args().runs]
    found, held = 0, {"warm": list[bool](), "cold": list[bool]()}
    for dataset in dict.fromkeys(row["dataset"] for row in runs[0].manifest["speed"]["summary"]):
        for state in ("warm", "cold"):
            figures = [speeds_of(run, dataset, state) for run in runs]
            held[state] += [each for one, other in permutations(figures, 2) for each in ratios_held(one, other)]
            speeds: list[Intervals] = [{name: ends for name, (_, *ends) in each.items()} for each in figures]
            ranks = [rank_ranges(each) for each in speeds]
            print(f"{dataset}, {state}:")
            for name in sorted(ranks[0], key=lambda name: sum(ranks[0][name])):
                shown = ("-".join(map(str, dict.fromkeys(each[name]))) for each in ranks if name in each)
                print(f"  {name:55}" + "".join(f"{rank:>8}" for rank in shown))
            for one, other in combinations(speeds, 2):
                for first, second in contradictions(one, other):
                    found += 1
                    print(f"  contradiction: {first} and {second}")
    print(f"{found} contradictions in {len(runs)} runs")
    for state, each in held.items():
        if each:
            print(f"{state}: {sum(each) / len(each):.0%} of ratios are in the interval of another run")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
