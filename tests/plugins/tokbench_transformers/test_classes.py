"""Folders that a class of transformers opens: its ids and places, and what is said where it cannot."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tokbench_transformers.family import TRANSFORMERS

import tokbench
from tests.plugins.tokbench_transformers.loading import load, loaded
from tokbench import LoadContext, Spec, SpecError, TokenizerError


def test_classes_of_transformers_serve_where_there_is_no_json(test_data):
    folder = test_data / "vocabs" / "bert-base-multilingual-cased"
    tokenizer = loaded(f"transformers:{folder},tokenizer_class=BertTokenizer")
    assert tokenizer.facts()["class"] == "BertTokenizer"
    texts = ["Hello Welt", "", "[SEP] 你好"]
    batch = [ids.tolist() for ids in tokenizer.encode_batch(texts)]
    assert batch == [list(tokenizer.encode(text)) for text in texts]
    assert 102 not in batch[2]
    assert tokenizer.decode(batch[0]).lower() == "hello welt"
    spec = Spec.parse(f"transformers:{folder},tokenizer_class=BertTokenizer")
    names = {file.name for file in TRANSFORMERS.files(spec, LoadContext(Path("unused"), True))}
    assert "vocab.txt" in names


def test_a_class_tells_places_and_what_its_unknown_token_stands_for(tmp_path):
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n##b\n##a\nక\n")
    folder = f"transformers:{tmp_path},tokenizer_class=BertTokenizer"
    ours, theirs = tokbench.load(f"wordpiece:{tmp_path}/vocab.txt"), load(folder)
    texts = ["", "Àb  కా తెలుగు, ab", "తా a ab"]
    tokens, spans = theirs.encode_with_offsets(texts)
    assert tokens.to_lists() == theirs.encode_batch(texts).to_lists() == ours.encode_batch(texts).to_lists()
    assert spans.tolist() == ours.offsets_batch(texts)[0].tolist()
    assert theirs.offsets(texts[2]).tolist() == [[0, 1], [3, 4], [5, 6], [6, 7]]
    (tmp_path / "text.txt").write_text("\n".join(texts))
    specs = (f"wordpiece:{tmp_path}/vocab.txt", folder)
    run = tokbench.run(specs, f"text:{tmp_path}/text.txt", output=tmp_path / "run", speed=False)
    rates = run.frame.query("metric == 'unk_rate' and language == 'all'")["value"].tolist()
    assert len(rates) == 2
    assert rates[0] == rates[1] > 0


def test_a_class_that_is_all_python_tells_no_places(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "ByT5Tokenizer"}')
    assert not hasattr(load(f"transformers:{tmp_path}"), "offsets")


def test_the_backend_can_be_asked_for(test_data, hard_texts):
    folder = test_data / "vocabs" / "gpt2" / "hf"
    slow, fast = loaded(f"transformers:{folder},backend=transformers"), loaded(f"transformers:{folder}")
    assert type(slow) is not type(fast)
    assert [ids.tolist() for ids in slow.encode_batch(hard_texts)] == [
        ids.tolist() for ids in fast.encode_batch(hard_texts)
    ]


def test_unknown_classes_and_bare_folders(tmp_path, test_data):
    with pytest.raises(SpecError, match="NoTokenizer"):
        load(f"transformers:{tmp_path},tokenizer_class=NoTokenizer")
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(TokenizerError, match=r"from one of: \(1\) .*[.] \(the folder holds notes\.txt"):
        load(f"transformers:{tmp_path}")


@pytest.mark.parametrize("name", ["Bert", "GPT2", "Roberta", "T5", "Llama", "XLMRoberta"])
def test_a_folder_without_the_vocabulary_of_its_class_is_refused(tmp_path, test_data, name):
    """`transformers` takes it for one of the class's special tokens alone."""
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": f"{name}Tokenizer"}))
    (tmp_path / "words.txt").write_text("[UNK]\na\n")
    with pytest.raises(TokenizerError, match=rf"no vocabulary for {name}Tokenizer, which is .*tokens alone"):
        load(f"transformers:{tmp_path}")


def test_an_empty_vocabulary_is_none(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    (tmp_path / "vocab.txt").touch()
    with pytest.raises(TokenizerError, match="no vocabulary for BertTokenizer"):
        load(f"transformers:{tmp_path}")


def test_a_vocabulary_may_have_a_name_that_any_class_looks_for(tmp_path, test_data):
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "AlbertTokenizer"}')
    model = (test_data / "vocabs/albert-base-v1/spiece.model").read_bytes()
    (tmp_path / "tokenizer.model.v1").write_bytes(model)
    with pytest.raises(TokenizerError, match="no vocabulary for AlbertTokenizer"):
        load(f"transformers:{tmp_path}")
    (tmp_path / "tokenizer.model").write_bytes(model)
    assert load(f"transformers:{tmp_path}").vocab_size == 30000


def test_a_class_without_files_needs_none(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "ByT5Tokenizer"}')
    assert load(f"transformers:{tmp_path}").encode("ab") == [100, 101]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("tokenizer_config.json", '{"a":', r"not JSON \(line 1, column 6: .*damaged or not whole"),
        ("special_tokens_map.json", "{'a': 1}", r"not JSON \(line 1, column 2"),
        ("added_tokens.json", b'{"\xff', r"not JSON \(byte 2 is not UTF-8\)"),
        ("config.json", "[]", "JSON, but no object"),
    ],
)
def test_a_file_of_a_folder_that_cannot_be_read_is_named(
    name: str, content: str | bytes, said: str, tmp_path: Path
) -> None:
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n")
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(TokenizerError, match=rf": {tmp_path}/{re.escape(name)} is {said}"):
        load(f"transformers:{tmp_path}")


def test_a_folder_without_files_is_told_to_be_empty(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"\(the folder is empty; a missing class"):
        load(f"transformers:{tmp_path}")


def test_code_of_a_repository_never_runs_unasked(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "mine"}))
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "Mine", "auto_map": {"AutoTokenizer": ["mine.Mine", None]}})
    )
    (tmp_path / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nclass Mine: pass\n")
    with pytest.raises(TokenizerError, match="allow-remote-code"):
        load(f"transformers:{tmp_path}")
    assert not (tmp_path / "ran").exists()
