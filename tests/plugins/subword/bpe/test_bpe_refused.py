"""BPE as no file may ask for it: refused with the setting, and the file, that is wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokenizers import Tokenizer, models

from tests.plugins.subword.bpe.makes import PLAIN_BYTES
from tokbench.errors import TokenizerError


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"model": {"type": "Unigram", "vocab": []}},
            "BPE; open it with unigram: or transformers:$",
        ),
        ({"normalizer": {"type": "Unheard"}}, "normalizer 'Unheard'"),
        ({"pre_tokenizer": {"type": "Unheard"}}, "pre-tokenizer 'Unheard'"),
        ({"decoder": {"type": "Unheard"}, "pre_tokenizer": None}, "decoder 'Unheard'"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "b"]]}}, "merge 0 of 'a' and 'b'"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b c"]}}, "merge 0 is 'a b c'"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": -1}}, "merges is -1, not a list"),
        ({"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []}}, "share the id 0"),
        ({"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}, "whole number from 0 on"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": "u"}}, "'u' is not in"),
    ],
)
def test_what_is_wrong_or_unknown_is_named(change, message):
    content = {
        "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
    }
    with pytest.raises(TokenizerError, match=message):
        BpeTokenizer.from_dict({**content, **change})


@pytest.mark.parametrize("part", [{"end_of_word_suffix": "</w>"}, {"continuing_subword_prefix": "##"}, {}])
def test_byte_fallback_whose_bytes_are_not_those_of_the_text_is_refused(part):
    tokenizer = Tokenizer(models.BPE({"a": 0, "<0x62>": 1}, [], byte_fallback=True, **part))
    tokenizer.pre_tokenizer = PLAIN_BYTES if not part else None
    with pytest.raises(TokenizerError, match=r"from_dict: byte_fallback together with .*transformers:"):
        BpeTokenizer.from_dict(json.loads(tokenizer.to_str()))
    level = "char" if part else "byte"
    names = {"end_of_word_suffix": "end_of_word", "continuing_subword_prefix": "continuing_prefix"}
    affixes = {names[name]: affix for name, affix in part.items()}
    merges = np.zeros((0, 3), np.int32)
    with pytest.raises(TokenizerError, match="byte_fallback together with"):
        BpeModel(vocabulary=(b"a", b"<0x62>"), merges=merges, level=level, byte_fallback=True, **affixes)


def test_a_setting_out_of_range_names_the_file():
    content = json.loads(Tokenizer(models.BPE({"a": 0}, [])).to_str())
    content["model"]["dropout"] = 2.0
    with pytest.raises(TokenizerError, match="from_dict: dropout must lie between 0 and 1"):
        BpeTokenizer.from_dict(content)


def test_what_is_refused_names_the_file(tmp_path):
    content = json.loads(Tokenizer(models.BPE({"a": 0}, [])).to_str())
    (tmp_path / "t.json").write_text(json.dumps({**content, "pre_tokenizer": {"type": "Unheard"}}))
    with pytest.raises(TokenizerError, match=r"t\.json: the pre-tokenizer 'Unheard'.*transformers:"):
        BpeTokenizer.from_file(tmp_path / "t.json")
