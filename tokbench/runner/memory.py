"""The memory of this process."""

from __future__ import annotations

import sys
from pathlib import Path


def peak_memory() -> int:
    """The most memory this process has held, in bytes; 0 where the system does not tell.

    On Linux from ``/proc``: `getrusage` there begins with what the parent held when it started us.
    """
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return _by_getrusage()


def _by_getrusage() -> int:
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
