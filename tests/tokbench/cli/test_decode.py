"""`tokbench decode`."""

from __future__ import annotations

import pytest

from tests.command import output
from tokbench.errors import SpecError


@pytest.mark.parametrize("text", ["naïve 漢字", "a  b\tc", ""])
def test_what_encode_prints_is_read_back(text: str) -> None:
    assert output("decode", "bytes", "-", text=output("encode", "bytes", text, "--ids")) == f"{text}\n"


def test_ids_as_people_paste_them() -> None:
    for ids in (["104", "105"], ["104 105"], ["[104, 105]"], ["104,105"]):
        assert output("decode", "bytes", *ids) == "hi\n"
    assert output("decode", "bytes", "-", text="104 105\n106\n") == "hi\nj\n"


def test_half_a_character_is_a_replacement() -> None:
    assert output("decode", "bytes", "104", "195") == "h\ufffd\n"


@pytest.mark.parametrize("ids", ["256", "12345678901234567890", "1.5", "x", "²"])
def test_what_is_no_id_is_refused(ids: str) -> None:
    with pytest.raises(SpecError, match="no id"):
        output("decode", "bytes", ids)
