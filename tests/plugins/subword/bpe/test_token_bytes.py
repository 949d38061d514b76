"""The bytes of tokens: many at once against asking for each, and those that look like bytes."""

from __future__ import annotations

import base64
import copy
import json
from pathlib import Path

import pytest
from tokbench_subword.bpe.family import BPE
from tokbench_subword.bpe.tokenizer import BpeTokenizer

import tokbench
from tests.plugins.conftest import train_on

TEXTS = ["low lower lowest, new newer newest", "été 漢字 low new"]


@pytest.mark.parametrize("options", [{}, {"end_of_word": "</w>"}])
def test_many_are_each(options: dict[str, str]) -> None:
    tokenizer = train_on(BPE, TEXTS, vocab_size=300, **options)
    tokenizer.add_tokens("lowest of all")
    tokenizer.add_tokens("<end>", special=True)
    ids = range(tokenizer.vocab_size)
    together = tokenizer.token_bytes_batch(ids)
    assert together == [tokenizer.token_bytes(token) for token in ids]
    assert together[-2:] == [b"lowest of all", b""]


def test_special_tokens_beside_ranks_are_decoded_as_they_are_written(tmp_path: Path) -> None:
    import tiktoken

    ranks = {bytes([byte]): byte for byte in range(256)}
    lines = [base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items()]
    (tmp_path / "bytes.tiktoken").write_bytes(b"".join(lines))
    special = {"<français>": 256, "é": 257, "Ġ": 258}
    (tmp_path / "special.json").write_text(json.dumps(special), encoding="utf-8")
    options = f"pattern=gpt2,match_special=true,special_tokens={tmp_path}/special.json"
    ours = tokbench.load(f"bpe:{tmp_path}/bytes.tiktoken,{options}")
    library = tiktoken.Encoding("own", pat_str=".", mergeable_ranks=ranks, special_tokens=special)
    for tokenizer in (ours, copy.copy(ours)):
        assert [tokenizer.decode([index]) for index in special.values()] == list(special)
        assert [library.decode([index]) for index in special.values()] == list(special)


@pytest.mark.parametrize(("token", "text"), [("<0xGG>", "<0xGG>"), ("<0x+A>", "\n"), ("<0xe9>", "\ufffd")])
def test_what_looks_like_a_byte_is_read_as_tokenizers_reads_it(token: str, text: str) -> None:
    import tokenizers

    library = tokenizers.Tokenizer(tokenizers.models.BPE({token: 0, "a": 1}, [], byte_fallback=True))
    library.decoder = tokenizers.decoders.ByteFallback()
    ours = BpeTokenizer.from_dict(json.loads(library.to_str()))
    assert ours.decode([0]) == library.decode([0]) == text
    assert ours.token_bytes(0).decode("utf-8", "replace") == text


@pytest.mark.parametrize("blank", ["▁▁", "▁new"])
def test_an_added_token_stands_for_what_it_decodes_to(blank: str) -> None:
    """Runs of blanks are added tokens of Gemma, and tokens that its merges give as well."""
    import tokenizers

    marks = tokenizers.normalizers.Replace(" ", "▁"), tokenizers.decoders.Replace("▁", " ")
    merges = [("▁", "▁")] if blank == "▁▁" else []
    vocabulary = {"▁": 0, "a": 1} | ({"▁▁": 2} if merges else {})
    library = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges))
    library.normalizer, library.decoder = marks
    library.add_tokens([tokenizers.AddedToken(blank, normalized=False)])
    ours = BpeTokenizer.from_dict(json.loads(library.to_str()))
    text = f"a  a{blank}a"
    ids = list(ours(text))
    assert ids == library.encode(text).ids
    assert 2 in ids
    assert b"".join(ours.token_bytes_batch(ids)).decode() == ours.decode(ids) == library.decode(ids)
