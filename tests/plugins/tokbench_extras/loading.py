"""What the tests of the extras share: loading without a registry, ids held against others'."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tokbench_extras.gigatoken_bpe import GIGATOKEN
from tokbench_extras.json_libraries import KITOKEN, SNAPTOKENS
from tokbench_extras.mistral import MISTRAL
from tokbench_extras.morphs import MORFESSOR
from tokbench_extras.quicktok_bpe import QUICKTOK
from tokbench_extras.rwkv import RWKV
from tokbench_extras.wordchipper_bpe import WORDCHIPPER

from tokbench import LoadContext, Spec
from tokbench.spec import validate

_ALL = (GIGATOKEN, SNAPTOKENS, KITOKEN, QUICKTOK, WORDCHIPPER, MISTRAL, MORFESSOR, RWKV)
FAMILIES = {family.name: family for family in _ALL}


def load(text: str, threads: int = 1):
    spec = Spec.parse(text)
    family = FAMILIES[spec.family]
    return family.load(validate(spec, family.options), LoadContext(Path("unused"), True, False, threads))


def check(tokenizer, texts, expected):
    assert [list(tokenizer.encode(text)) for text in texts] == expected
    batch = tokenizer.encode_batch(texts)
    assert batch.ids.dtype == np.int32
    assert [ids.tolist() for ids in batch] == expected
