"""The memory of this process."""

from __future__ import annotations

import sys


def peak_memory() -> int:
    """The most memory this process has held, in bytes; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
