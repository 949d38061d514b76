"""More that users meet: gigatoken, mistral-common, Morfessor and the RWKV vocabulary.

The first three are optional: the families are listed always, and one whose library is absent says what to
install when it is used. Looked at and left out, as of their versions on the package index in November 2026:
wordchipper 0.9 loads its encodings by name only, through a download of its own that cannot be pointed at a
file, and panics where that fails; quicktok 0.2 reads no vocabulary anybody else writes.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokbench import TokenizerFamily, hookimpl

_MISTRAL = {
    "mistral-v1": "mistral:v1",
    "mistral-v3": "mistral:v3",
    "mistral-tekken": "mistral:tekken_240911",
}


@hookimpl
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:
    """gigatoken, mistral, morfessor, rwkv."""
    from tokbench_extras.gigatoken_bpe import GIGATOKEN
    from tokbench_extras.mistral import MISTRAL
    from tokbench_extras.morphs import MORFESSOR
    from tokbench_extras.rwkv import RWKV

    return [GIGATOKEN, MISTRAL, MORFESSOR, RWKV]


@hookimpl
def tokbench_aliases() -> Iterable[tuple[str, str]]:
    """The vocabularies that mistral-common brings along."""
    return _MISTRAL.items()


@hookimpl
def tokbench_resolve_alias(name: str) -> str | None:
    """The listed names."""
    return _MISTRAL.get(name)
