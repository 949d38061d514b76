"""mistral-common gives the library's own ids, and text back."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokbench_extras.mistral import MISTRAL

from tests.plugins.tokbench_extras.loading import check, load
from tokbench import LoadContext, Spec, TokenizerError, UnknownNameError
from tokbench.registry import build_registry


@pytest.mark.parametrize("variant", ["tekken_240911", "v3"])
def test_mistral_gives_the_librarys_ids(variant, hard_texts):
    pytest.importorskip("mistral_common", reason="needs the extra mistral")
    tokenizer = load(f"mistral:{variant}")
    expected = [tokenizer.tokenizer.encode(text, bos=False, eos=False) for text in hard_texts]
    check(tokenizer, hard_texts, expected)
    assert not {*tokenizer.special_ids} & {index for ids in expected for index in ids} - {tokenizer.unk_id}
    (path,) = MISTRAL.files(Spec.parse(f"mistral:{variant}"), LoadContext(Path("unused")))
    assert path.is_file()


def test_tekken_loses_nothing(hard_texts):
    pytest.importorskip("mistral_common", reason="needs the extra mistral")
    tokenizer = load("mistral:tekken_240911")
    for text in hard_texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text))) == text.encode()


def test_mistrals_sentencepiece_gives_text_back(hard_texts):
    pytest.importorskip("mistral_common", reason="needs the extra mistral")
    tokenizer = load("mistral:v3")
    for text in hard_texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text.replace("▁", " ")
    assert tokenizer.unk_id in tokenizer.special_ids
    assert tokenizer.token_bytes(tokenizer.unk_id) == b""


def test_mistral_names_what_there_is(tmp_path):
    pytest.importorskip("mistral_common", reason="needs the extra mistral")
    with pytest.raises(UnknownNameError, match="tekken_240911"):
        load("mistral:tekken_24")
    (tmp_path / "tekken.json").write_text("{}")
    with pytest.raises(TokenizerError, match="cannot load"):
        load(f"mistral:{tmp_path}/tekken.json")
    assert build_registry().tokenizer_spec("mistral-tekken").variant == "tekken_240911"
