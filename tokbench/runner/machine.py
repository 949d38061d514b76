"""The machine a run was made on, as far as its figures may depend on it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tokbench.runner.plan import available_cores
from tokbench.runner.recipe import versions

CORE_LIBRARIES = ("tokbench", "numpy", "pandas", "pyarrow", "numba", "regex")
_TELLING = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMBA_DISABLE_JIT", "PYTHONMALLOC")


def machine() -> dict[str, Any]:
    """Processor, cores, memory, system and interpreter; never the host's or the user's name."""
    import psutil

    frequency = psutil.cpu_freq() if hasattr(psutil, "cpu_freq") else None
    return {
        "processor": _processor(),
        "cores": psutil.cpu_count(logical=False) or os.cpu_count(),
        "threads": os.cpu_count(),
        "available": available_cores(),
        "megahertz": round(frequency.current) if frequency else None,
        "memory_bytes": psutil.virtual_memory().total,
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "architecture": platform.machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "environment": {name: os.environ[name] for name in _TELLING if name in os.environ},
    }


def library_versions(more: Iterable[str]) -> dict[str, str]:
    """Versions of what every run uses, and of `more`."""
    return {"python": sys.version.split()[0], **versions(dict.fromkeys([*CORE_LIBRARIES, *more]))}


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
