"""The kit in a process of its own: what ends that, as native code may, fails the check that was being tried."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from tokbench.errors import TokbenchError
from tokbench.registry import Registry, registry_of
from tokbench.spec import LoadContext
from tokbench.testing.check import Failure, hearing
from tokbench.workers.calls import Emit, Given, WorkerLost
from tokbench.workers.parent import Worker

REMEDY = "raise an exception instead: the process is not a plugin's to end, and native code must not crash."


def failures_apart(
    find: Callable[[Registry, *Given], list[Failure]], registry: Registry, *given: *Given
) -> tuple[list[Failure], str]:
    """What ``find(registry, *given)`` gives in a new process, and the end of what was printed there.

    `find`, a function of a module, makes checks of the kit. Where one of them ends the process, that is the
    only failure. Raises the `TokbenchError` that `find` raises, and `CallFailed` for other exceptions.
    """
    check, text = "load", None

    def hear(step: object) -> None:
        nonlocal check, text
        check, text = step  # type: ignore[misc]

    with closing(Worker(environment={})) as worker:  # its threads and memory are those of any process
        try:
            found = worker.call(_found, registry.context, find, given, on_event=hear)
        except WorkerLost as lost:
            if lost.kind == "interrupted":
                raise
            return [Failure(check, str(lost), text, REMEDY)], lost.output
        if isinstance(found, TokbenchError):
            raise found
        return found, worker.printed()


def _found(
    emit: Emit, context: LoadContext, find: Callable[[Registry, *Given], list[Failure]], given: tuple[*Given]
) -> list[Failure] | TokbenchError:
    registry = registry_of(context)
    hearing.set(emit)
    try:
        return find(registry, *given)
    except TokbenchError as error:
        return error
    except Exception as error:
        if fault := registry.host.at_fault(error):
            return fault
        raise
