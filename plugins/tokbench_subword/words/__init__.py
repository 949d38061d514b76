"""One cache of words to ids, for every model: see `slots` for how kernels use it, `cache` for its size."""
