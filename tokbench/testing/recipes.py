"""Checks that a spec gives the same tokenizer when it is loaded again, here and in a new process."""

from __future__ import annotations

from contextlib import closing

from tokbench.batch import TokenBatch
from tokbench.errors import described
from tokbench.manager import PATIENCE, within
from tokbench.registry import Registry, registry_of
from tokbench.spec import LoadContext
from tokbench.testing.check import Failure, begin
from tokbench.testing.texts import EDGE_CASES
from tokbench.tokenizer import Tokenizer
from tokbench.workers.calls import Emit, Limits
from tokbench.workers.parent import Worker

REMEDY = "ids must depend on nothing but the text, the spec, its files and the context."


def recipe_failures(registry: Registry, spec: str, loaded: Tokenizer) -> list[Failure]:
    """Failures of loading `spec` again, here and in a new process."""
    begin("recipe")
    try:
        with within(PATIENCE):
            expected = _encodings(loaded)
    except (Exception, SystemExit):
        return []  # the checks of encoding tell of it, with the smallest text
    try:
        with within(PATIENCE):
            again = _encodings(registry.load(spec), backwards=True)
    except (Exception, SystemExit) as error:
        return [Failure("recipe", f"loaded a second time: {described(error)}", None, REMEDY)]
    if again != expected:
        found = "loaded a second time and asked in another order, it gives other ids"
        return [Failure("recipe", found, None, REMEDY)]
    try:
        with closing(Worker()) as worker:
            elsewhere = worker.call(_encodings_of, registry.context, spec, limits=Limits(seconds=300))
    except Exception as error:
        return [Failure("recipe", f"in a new process: {described(error)}", None, REMEDY)]
    if elsewhere != expected:
        return [Failure("recipe", "loaded in a new process, it gives other ids", None, REMEDY)]
    return []


def _encodings(tokenizer: Tokenizer, *, backwards: bool = False) -> list[list[int]]:
    """Ids of the edge cases; `backwards` encodes the last first, which must make no difference."""
    texts = EDGE_CASES[::-1] if backwards else EDGE_CASES
    found = TokenBatch.of(tokenizer.encode(text) for text in texts).to_lists()
    return found[::-1] if backwards else found


def _encodings_of(emit: Emit, context: LoadContext, spec: str) -> list[list[int]]:
    return _encodings(registry_of(context).load(spec))
