"""A tokenizer whose files are not there."""

from __future__ import annotations

from collections.abc import Iterable

import tokbench


def load(spec: tokbench.Spec, context: tokbench.LoadContext) -> tokbench.Tokenizer:
    raise tokbench.TokenizerError("no vocabulary at hand; set FAULTY_HOME to the folder that has it")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [tokbench.TokenizerFamily(name="load_raises", summary="at fault", load=load)]
