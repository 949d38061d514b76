"""The tokenizer that a worker holds: the one it was last asked for, and no other."""

from __future__ import annotations

from tokbench.errors import TokbenchError
from tokbench.runner.recipe import Recipe
from tokbench.tokenizer import Tokenizer
from tokbench.workers.memory import give_back

_held: dict[str, Tokenizer | TokbenchError] = {}


def loaded(recipe: Recipe) -> Tokenizer:
    """The tokenizer of a recipe. The last one stays loaded, or the error that it raised is kept."""
    name = recipe.key + recipe.fingerprint
    if name not in _held:
        let_go()  # one at a time: some vocabularies take 100 MB
        try:
            _held[name] = recipe.load()
            recipe.check_files()
        except TokbenchError as error:
            _held[name] = error
    found = _held[name]
    if isinstance(found, TokbenchError):
        raise found
    return found


def let_go() -> None:
    """Forget the tokenizer that is loaded, and hand its memory back: what follows needs none, or another."""
    if _held:
        _held.clear()
        give_back()
