"""What a process can say and do about its own memory."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(256 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
"""Variables that have glibc keep freed memory for the arrays of the next batch: giving pages back to the system
and asking for them again takes a tenth of the counting. Not for processes that are timed."""


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
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


def give_back() -> None:
    """Hand memory that was freed back to the system, where the C library can (glibc).

    It keeps what lies between pieces in use otherwise: a worker that had held 25 vocabularies, one after
    another, was a third larger.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
