"""The adapter of tokenizers and transformers: the libraries' ids, nothing padded or cut."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from tokbench_transformers.description import describe
from tokbench_transformers.family import TRANSFORMERS
from tokbench_transformers.fast import CHARACTERS_ALONE

from tests.plugins.conftest import check_forms
from tests.plugins.tokbench_transformers.loading import load, loaded
from tokbench import LoadContext, Spec, SpecError, TokenizerError

MODELS = ["gpt2", "bert-base-uncased", "t5-base", "albert-base-v1", "llama-2", "qwen2"]


@pytest.mark.parametrize("model", MODELS)
def test_ids_equal_the_library_called_directly(model, test_data, hard_texts):
    path = test_data / "vocabs" / model / "hf" / "tokenizer.json"
    tokenizer, library = loaded(f"transformers:{path}"), tokenizers.Tokenizer.from_file(str(path))
    library.no_padding()
    library.no_truncation()
    library.encode_special_tokens = True
    expected = [library.encode(text, add_special_tokens=False).ids for text in hard_texts]
    check_forms(tokenizer, hard_texts, expected)
    for ids in expected:
        assert tokenizer.decode(np.array(ids, np.int32)) == library.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize("model", MODELS)
def test_the_description_is_the_file_without_its_vocabulary(model, test_data):
    library = tokenizers.Tokenizer.from_file(str(test_data / "vocabs" / model / "hf" / "tokenizer.json"))
    found, whole = describe(library), json.loads(library.to_str())
    for bulk in ("vocab", "merges"):
        whole["model"].pop(bulk, None)
    assert found == {part: whole[part] for part in ("normalizer", "pre_tokenizer", "decoder", "model")}


def test_what_a_run_asks_of_it_reads_no_vocabulary(test_data, monkeypatch):
    tokenizer = loaded(f"transformers:{test_data}/vocabs/qwen2/hf")

    class NoWholeFile:
        def __init__(self, library):
            self.library = library

        def __getattr__(self, name):
            assert name != "to_str", "writing the whole file takes as long as loading it"
            return getattr(self.library, name)

    monkeypatch.setattr(tokenizer, "tokenizer", NoWholeFile(tokenizer.tokenizer))
    assert (tokenizer.unk_id, tokenizer.lossless, tokenizer.decode_joins_bytes) == (None, False, True)
    assert tokenizer.facts()["special_tokens"]["<|im_end|>"] == 151645


def test_a_folder_is_its_tokenizer_json(test_data):
    folder = test_data / "vocabs" / "gpt2" / "hf"
    text = "a  folder, or its file"
    of_folder, of_file = (loaded(f"transformers:{path}") for path in (folder, folder / "tokenizer.json"))
    assert of_folder.encode(text) == of_file.encode(text)
    spec, context = Spec("transformers", str(folder)), LoadContext(Path("unused"), True)
    assert TRANSFORMERS.files(spec, context) == [folder / "tokenizer.json"]


def test_byte_level_models_lose_nothing_and_spell_their_bytes(test_data, hard_texts):
    tokenizer = loaded(f"transformers:{test_data}/vocabs/gpt2/hf")
    assert tokenizer.lossless is True
    for text in hard_texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text))) == text.encode()


@pytest.mark.parametrize(
    ("model", "text", "spelled"),
    [
        ("bert-base-uncased", "tokenizing", b"tokenizing"),
        ("llama-2", "a 龘", " a 龘".encode()),
        ("t5-base", "a b", b" a b"),
    ],
)
def test_pieces_give_their_bytes(model, text, spelled, test_data):
    tokenizer = loaded(f"transformers:{test_data}/vocabs/{model}/hf")
    assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text))) == spelled


@pytest.mark.parametrize(
    ("model", "reason"),
    [("qwen2", "NFC"), ("bert-base-uncased", "white space"), ("t5-base", "UNK"), ("llama-2", "U\\+2581")],
)
def test_why_a_tokenizer_is_not_lossless(model, reason, test_data):
    tokenizer = loaded(f"transformers:{test_data}/vocabs/{model}/hf")
    assert tokenizer.lossless is False
    assert reason.replace("\\", "") in tokenizer.facts()["why_not_lossless"]


def test_unknown_and_special_ids(test_data):
    bert = loaded(f"transformers:{test_data}/vocabs/bert-base-uncased/hf")
    assert bert.unk_id == 100
    assert {100, 101, 102} <= bert.special_ids
    assert loaded(f"transformers:{test_data}/vocabs/t5-base/hf").unk_id == 2
    assert loaded(f"transformers:{test_data}/vocabs/gpt2/hf").unk_id is None
    assert bert.token_bytes(101) == b""


def test_special_token_text_follows_the_policy(test_data):
    folder, text = test_data / "vocabs" / "gpt2" / "hf", "a<|endoftext|>"
    assert 50256 not in loaded(f"transformers:{folder}").encode(text)
    assert loaded(f"transformers:{folder},special=match").encode(text)[-1] == 50256
    t5 = loaded(f"transformers:{test_data}/vocabs/t5-base/hf")
    assert "</s>" in t5.facts()["special_tokens_the_model_itself_matches"]


def test_padding_and_truncation_in_the_file_are_switched_off(test_data, tmp_path):
    library = tokenizers.Tokenizer.from_file(
        str(test_data / "vocabs" / "bert-base-uncased" / "hf" / "tokenizer.json")
    )
    library.enable_padding(length=8)
    library.enable_truncation(4)
    library.save(str(tmp_path / "tokenizer.json"))
    tokenizer = load(f"transformers:{tmp_path}")
    batch = tokenizer.encode_batch(["a", "one two three four five six seven"])
    assert batch.lengths().tolist() == [1, 7]


def test_threads_may_share_it(test_data, hard_texts):
    tokenizer = loaded(f"transformers:{test_data}/vocabs/qwen2/hf")
    expected = [list(tokenizer.encode(text)) for text in hard_texts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            batches = pool.map(lambda _: tokenizer.encode_batch(hard_texts), range(4))
            assert list(pool.map(tokenizer.encode, hard_texts)) == expected
            assert all([ids.tolist() for ids in batch] == expected for batch in batches)


@pytest.mark.parametrize("parallel", ["true", "false"])
def test_parts_change_nothing(parallel, test_data, monkeypatch):
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", parallel)
    tokenizer = loaded(f"transformers:{test_data}/vocabs/gpt2/hf")
    texts = ["x y" * (CHARACTERS_ALONE // 7), "", "z", "né" * CHARACTERS_ALONE] * 3
    assert tokenizer.encode_batch(texts).to_lists() == [list(tokenizer.encode(text)) for text in texts]


def test_lone_surrogates_are_named(test_data):
    tokenizer = loaded(f"transformers:{test_data}/vocabs/gpt2/hf")
    for call in (lambda: tokenizer.encode("ab\ud800"), lambda: tokenizer.encode_batch(["x", "ab\ud800"])):
        with pytest.raises(TokenizerError, match="lone surrogate at character 2"):
            call()


def test_a_models_weights_are_not_read_for_checksums(tmp_path, monkeypatch):
    commit = tmp_path / "models--a--b" / "snapshots" / ("0" * 40)
    (tmp_path / "models--a--b" / "refs").mkdir(parents=True)
    (tmp_path / "models--a--b" / "refs" / "main").write_text(commit.name)
    commit.mkdir(parents=True)
    for name in ("config.json", "vocab.txt", "model.safetensors", "pytorch_model.bin"):
        (commit / name).write_text("{}")
    context = LoadContext(Path("unused"), True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for variant in ("a/b", str(commit)):  # a repository without a tokenizer.json, cached, and a folder
        found = TRANSFORMERS.files(Spec("transformers", variant), context)
        assert [path.name for path in found] == ["config.json", "vocab.txt"]


def test_revisions_are_for_the_hub(test_data):
    with pytest.raises(SpecError, match="revision is for names on the hub"):
        load(f"transformers:{test_data}/vocabs/gpt2/hf,revision=main")


def test_a_damaged_file_in_the_hubs_cache_says_how_to_mend_it(tmp_path, monkeypatch):
    import huggingface_hub

    (tmp_path / "tokenizer.json").write_text('{"version": "1.0", "model": {"type"')
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda *_, **__: tmp_path / "tokenizer.json")
    with pytest.raises(
        TokenizerError, match=r"tokenizer\.json is not .* Delete it from the hub's cache"
    ) as caught:
        load("transformers:a/b", offline=False)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "it is not JSON (line 1, column 2: "),
        ("", "it is not JSON (line 1, column 1: "),
        ('{"a": 1}\n}', "it is not JSON (line 2, column 1: "),
        ("\udcff", "it is not JSON (byte 0 is not UTF-8)"),
        ("[]", "it is JSON, but no object"),
        ('{"a": 1}', """it is JSON, but lacks "model", which holds the vocabulary; it has 'a'"""),
        ("{}", 'it is JSON, but lacks "model", which holds the vocabulary; it has nothing'),
        ('{"model": {"type": "BPE"}}', 'its "model" lacks "vocab"'),
        ('{"model": null}', 'its "model" is no object'),
    ],
)
def test_what_is_wrong_with_a_file_is_said_of_the_file(content, says, tmp_path):
    path = tmp_path / "mine.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(TokenizerError) as caught:
        load(f"transformers:{path}")
    assert f"{path} is not a tokenizer.json: {says}" in str(caught.value)
    assert str(caught.value).endswith(". Name another file, or get this one anew")


@pytest.mark.parametrize(
    ("head", "opens"),
    [
        (b'{"version": "1.0", "truncation": null', True),
        (b'\n{ "model": {"type": "BPE"', True),
        (b'{"model": 5, "version": 6}', False),  # a vocab.json
        (b'{"config": {"pattern"', False),  # Tekken's
        (b'{"schema": 3, "suite": {"model": {}}}', False),  # a run's
        (b"[1]", False),
    ],
)
def test_json_is_told_by_how_it_begins(head, opens):
    assert TRANSFORMERS.recognises(Path("some.json"), head) is opens


def test_a_panic_of_the_library_is_an_error_that_names_the_tokenizer(tmp_path):
    library = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0}, []))
    library.pre_tokenizer = tokenizers.pre_tokenizers.FixedLength(length=0)  # taken, and then divided by
    library.save(str(tmp_path / "tokenizer.json"))
    tokenizer = load(f"transformers:{tmp_path}")
    alone = (tokenizer.encode, tokenizer.offsets)
    for call in (*alone, tokenizer.encode_batch, tokenizer.encode_with_offsets):
        with pytest.raises(TokenizerError, match=r"transformers:.*panic in Rust: chunk size must be non-zero"):
            call("a" if call in alone else ["a", "a"])


@pytest.mark.parametrize(
    ("model", "match"),
    [
        ({"continuing_subword_prefix": "longer", "merges": [["a", "b"]]}, "can read: range end"),
        ({"unk_token": "none"}, "Unk token `none` not found"),
    ],
)
def test_what_the_library_fails_with_on_a_strange_file_is_an_error(model, match, tmp_path):
    path = tmp_path / "tokenizer.json"
    content = {
        "version": "1.0",
        "added_tokens": [],
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []},
    }
    path.write_text(json.dumps(content | {"model": content["model"] | model}))
    with pytest.raises(TokenizerError, match=match):
        load(f"transformers:{path}").encode("c")


def test_a_lone_surrogate_is_refused_by_single_calls_in_the_same_words(tmp_path):
    tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0}, [])).save(str(tmp_path / "tokenizer.json"))
    tokenizer = load(f"transformers:{tmp_path}")
    for call in (tokenizer.encode, tokenizer.offsets):
        with pytest.raises(TokenizerError, match="a text holds a lone surrogate at character 1"):
            call("a\ud800")
