"""More tokenizers: gigatoken, snaptokens, kitoken, quicktok, wordchipper, mistral-common, Morfessor, RWKV.

All but the last need optional libraries. The families are always listed; using one whose library is missing
raises an error that says what to install. docs/tokenizers.md lists what else was considered and left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokbench import TokenizerFamily, hookimpl

_MISTRAL = {"mistral-v1": "mistral:v1", "mistral-v3": "mistral:v3", "mistral-tekken": "mistral:tekken_240911"}


@hookimpl
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:
    """gigatoken, snaptokens, kitoken, quicktok, wordchipper, mistral, morfessor, rwkv."""
    from tokbench_extras.gigatoken_bpe import GIGATOKEN
    from tokbench_extras.json_libraries import KITOKEN, SNAPTOKENS
    from tokbench_extras.mistral import MISTRAL
    from tokbench_extras.morphs import MORFESSOR
    from tokbench_extras.quicktok_bpe import QUICKTOK
    from tokbench_extras.rwkv import RWKV
    from tokbench_extras.wordchipper_bpe import WORDCHIPPER

    return [GIGATOKEN, SNAPTOKENS, KITOKEN, QUICKTOK, WORDCHIPPER, MISTRAL, MORFESSOR, RWKV]


@hookimpl
def tokbench_aliases() -> Iterable[tuple[str, str]]:
    """The vocabularies bundled with mistral-common."""
    return _MISTRAL.items()
