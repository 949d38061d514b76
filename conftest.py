"""What is not collected: modules whose library, an extra, is not there."""

import importlib.util

collect_ignore = (
    []
    if importlib.util.find_spec("jax")
    else [f"plugins/tokbench_probe/{name}.py" for name in ("learning", "transformer")]
)
