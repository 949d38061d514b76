"""Predict high and low water from a handful of tidal constituents."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone


@dataclass(frozen=True)
class Constituent:
    """One harmonic of the tide: amplitude in metres, speed in degrees per hour."""

    name: str
    amplitude: float
    speed: float
    phase: float

    def height(self, hours: float) -> float:
        return self.amplitude * math.cos(math.radians(self.speed * hours - self.phase))


HARBOUR = (
    Constituent("M2", 1.42, 28.9841042, 312.5),
    Constituent("S2", 0.48, 30.0, 350.1),
    Constituent("N2", 0.29, 28.4397295, 291.0),
    Constituent("K1", 0.11, 15.0410686, 142.8),
)


def water_level(when: datetime, epoch: datetime, mean: float = 2.1) -> float:
    """Height above chart datum in metres."""
    hours = (when - epoch).total_seconds() / 3600
    return mean + sum(part.height(hours) for part in HARBOUR)


def turning_points(start: datetime, days: int, step_minutes: int = 6) -> Iterator[tuple[datetime, float, str]]:
    """Yield (time, height, "high" | "low") for every turn of the tide."""
    epoch = datetime(2025, 1, 1, tzinfo=timezone.utc)
    step = timedelta(minutes=step_minutes)
    before, here = water_level(start - step, epoch), water_level(start, epoch)
    for index in range(1, days * 24 * 60 // step_minutes):
        now = start + index * step
        after = water_level(now, epoch)
        if before < here >= after:
            yield now - step, here, "high"
        elif before > here <= after:
            yield now - step, here, "low"
        before, here = here, after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", default="2027-03-21", help="first day, ISO format")
    parser.add_argument("--days", type=int, default=2)
    options = parser.parse_args()
    start = datetime.fromisoformat(options.date).replace(tzinfo=timezone.utc)
    for when, height, kind in turning_points(start, options.days):
        print(f"{when:%a %d %b %H:%M}  {kind:>4}  {height:5.2f} m")


if __name__ == "__main__":
    main()
