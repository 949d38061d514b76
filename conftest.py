"""What is not collected: modules whose library, an extra, is not there. And what makes collecting quick."""

import gc
import importlib.util
import os
import sys

collect_ignore = (
    []
    if importlib.util.find_spec("jax")
    else [f"plugins/tokbench_probe/{name}.py" for name in ("learning", "transformer")]
)

# Asked not to write bytecode, pytest would rewrite the asserts of every test in every process of every run, and
# every process that a test starts would compile all of tokbench.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Thousands of tests and the libraries that they import stay until the end: they need not be gone through again
# and again by the collector of what is unreachable.
gc.set_threshold(20_000, 20, 20)


def pytest_collection_finish() -> None:
    """Leave all that has been collected to itself."""
    gc.collect()
    gc.freeze()
