#!/usr/bin/env python3
# Condense a web server's log: requests per route and hour, slowest routes, suspicious clients.
import collections
import gzip
import re
import statistics
import sys

LINE = re.compile(
    r'(?P<client>\S+) \[(?P<day>[^:\]]+):(?P<hour>\d\d)[^\]]*\] '
    r'"(?P<verb>[A-Z]+) (?P<path>[^" ]*)[^"]*" (?P<status>\d{3}) (?P<micros>\d+)'
)
ID = re.compile(r"/\d+(?=/|$)")


def open_log(name):
    if name == "-":
        return sys.stdin
    return gzip.open(name, "rt", errors="replace") if name.endswith(".gz") else open(name, errors="replace")


def read(names):
    bad = 0
    for name in names:
        with open_log(name) as lines:
            for line in lines:
                match = LINE.match(line)
                if match is None:
                    bad += 1
                    continue
                yield match.groupdict()
    if bad:
        print(f"{bad} line(s) not understood", file=sys.stderr)


def digest(entries):
    routes = collections.defaultdict(list)
    hours = collections.Counter()
    failures = collections.Counter()
    for entry in entries:
        route = ID.sub("/:id", entry["path"].partition("?")[0])
        routes[entry["verb"], route].append(int(entry["micros"]) / 1000)
        hours[int(entry["hour"])] += 1
        if entry["status"] in ("401", "403", "404"):
            failures[entry["client"]] += 1
    return routes, hours, failures


def main(names):
    routes, hours, failures = digest(read(names or ["-"]))
    for (verb, route), times in sorted(routes.items(), key=lambda item: -sum(item[1]))[:20]:
        p95 = statistics.quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
        print(f"{verb:<6} {route:<40} n={len(times):>6}  median={statistics.median(times):8.1f} ms  p95={p95:8.1f} ms")
    peak = max(hours.values(), default=1)
    for hour in range(24):
        print(f"{hour:02d}h {'█' * round(40 * hours[hour] / peak)} {hours[hour]}")
    for client, count in failures.most_common(5):
        if count >= 100:
            print(f"!! {client}: {count} refused requests")


if __name__ == "__main__":
    main(sys.argv[1:])
