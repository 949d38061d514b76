"""What a `JsonUnigramTokenizer` can do besides equal ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer

from tokbench.errors import TokenizerError
from tokbench.testing import check_tokenizer

from .conftest import UNIGRAM_MODELS
from .small_models import Pair


def test_saved_json_of_t5_keeps_ids(pair: Pair, test_data: Path, tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    ours, _ = pair(UNIGRAM_MODELS[0])
    ours.save(tmp_path / "t5.json")
    hf = Tokenizer.from_file(str(tmp_path / "t5.json"))
    for language in ("eng_Latn", "deu_Latn", "jpn_Jpan"):
        for line in (test_data / f"corpora/pud/{language}.txt").read_text(encoding="utf-8").split("\n")[:200]:
            assert hf.encode(line, add_special_tokens=False).ids == ours(line)


def test_tokenizer_json_errors_name_the_component() -> None:
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}
    for part, said in (
        ({"normalizer": {"type": "Surprise"}}, "Surprise"),
        ({"pre_tokenizer": {"type": "Surprise"}}, "Surprise"),
        ({"decoder": {"type": "Surprise"}}, "Surprise"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "!!"}}, "base 64"),
        ({"model": {"type": "BPE", "vocab": {}, "merges": []}}, "not Unigram"),
        ({"model": {**model, "unk_id": 7}}, "unk_id"),
        ({"model": {**model, "vocab": [["a"]]}}, "entry 0"),
        ({"model": {**model, "vocab": [["<unk>", 0.0], ["a\0", -1.0]]}}, "piece 1 .* NUL .*transformers:"),
        ({"model": {**model, "vocab": [["a", "b"]]}}, "score"),
        ({"model": {**model, "vocab": []}}, "unk_id|empty"),
    ):
        with pytest.raises(TokenizerError, match=said):
            JsonUnigramTokenizer.from_dict({"model": model, **part})


def test_tokenizer_json_added_tokens_and_sampling() -> None:
    content = {
        "model": {
            "type": "Unigram",
            "unk_id": 0,
            "vocab": [["<unk>", 0.0], ["a", -1.0], ["b", -1.0], ["ab", -2.5]],
        },
        "added_tokens": [{"id": 4, "content": "<x>"}, {"id": 5, "content": "<y>", "special": True}],
    }
    tokenizer = JsonUnigramTokenizer.from_dict(content)
    assert tokenizer("a<x>b<y>") == [1, 4, 2, 0]
    assert tokenizer.offsets("a<x>b").tolist() == [[0, 1], [1, 4], [4, 5]]
    assert tokenizer.add_tokens("new") == [6]
    assert tokenizer("anewb") == [1, 6, 2]
    drawn = {tuple(tokenizer.sample("ab", np.random.default_rng(seed), 0.1)) for seed in range(50)}
    assert drawn == {(1, 2), (3,)}
    assert list(tokenizer.trace("ab"))[-1].tokens == (b"a", b"b")
    assert JsonUnigramTokenizer.from_dict(tokenizer.to_dict())("anewb") == [1, 6, 2]


@pytest.mark.long
@pytest.mark.parametrize(
    ("decoder", "joins"),
    [
        ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}, True),
        ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}, False),
        ({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, True),
        (None, False),
    ],
)
def test_decoding_joins_bytes_where_it_says_so(decoder: Any, joins: bool) -> None:
    content = {
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁", -2.0], ["a", -1.0]]},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"},
        "decoder": decoder,
        "added_tokens": [{"id": 0, "content": "<unk>", "special": True}],
    }
    tokenizer = JsonUnigramTokenizer.from_dict(content)
    assert tokenizer.decode_joins_bytes == joins
    check_tokenizer(tokenizer)
    assert (tokenizer.decode([1, 2, 2]) == " aa") == joins
