"""Numbers in a `tokenizer.json` mean what `tokenizers` takes them for, to the last bit."""

from __future__ import annotations

import json
import random

import pytest
from tokbench_subword.files.json_numbers import as_read
from tokbench_subword.files.tokenizer_json import parse
from tokenizers import Tokenizer


def document(literals):
    pieces = ",".join(f'["{index}",{literal}]' for index, literal in enumerate(literals))
    model = f'{{"type":"Unigram","unk_id":0,"byte_fallback":false,"vocab":[{pieces}]}}'
    return f'{{"added_tokens":[],"model":{model}}}'


def theirs(literals):
    read = json.loads(Tokenizer.from_str(document(literals)).to_str())
    return [score for _, score in read["model"]["vocab"]]


def ours(literals):
    return [as_read(score) for _, score in parse(document(literals), "test")["model"]["vocab"]]


def _digits(chosen, most):
    return chosen.randrange(10 ** chosen.randrange(1, most))


def test_random_numbers_as_anyone_writes_them():
    chosen = random.Random(1)
    values = [-chosen.random() * 10.0 ** chosen.randrange(-8, 9) for _ in range(4000)]
    for write in (repr, "{:.17g}".format, "{:.20f}".format, "{:.19e}".format):
        literals = [write(value) for value in values]
        assert ours(literals) == theirs(literals)
    literals = [
        f"-{_digits(chosen, 25)}.{_digits(chosen, 25)}e{chosen.randrange(-330, 200)}" for _ in range(4000)
    ]
    assert ours(literals) == theirs(literals)
    assert sum(float(literal) != found for literal, found in zip(literals, ours(literals), strict=True)) > 400


@pytest.mark.parametrize(
    "literal",
    [
        *("0", "-0.0", "0e999", "-5", "1E+5", "1e-05", "-12345678901234567890123", "18446744073709551615"),
        *("18446744073709551616.5", "0.00000000000000000000000001234567890123456789", "-9007199254740993.0"),
        *("4.9e-324", "-1.5e-320", "1e-400", "2.2250738585072014e-308", "1.7976931348623157e308", "1e308"),
    ],
)
def test_extreme_numbers(literal):
    assert str(ours([literal])) == str(theirs([literal]))


def test_what_is_no_number_of_json_stays_what_it_is():
    assert as_read(float("-inf")) == float("-inf")
