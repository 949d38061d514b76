"""The adapter of tokenizers and transformers: the libraries' ids, nothing padded or cut, clear remedies."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from huggingface_hub import errors
from tokbench_transformers.description import byte_alphabet, describe, piece_decoder
from tokbench_transformers.family import TRANSFORMERS
from tokbench_transformers.fast import CHARACTERS_A_CALL, _parts

from tokbench import LoadContext, Spec, SpecError, TokenizerError, TrainingCorpus
from tokbench.spec import validate, with_defaults

MODELS = ["gpt2", "bert-base-uncased", "t5-base", "albert-base-v1", "llama-2", "qwen2"]


def load(text: str, *, offline: bool = True, allow_remote_code: bool = False):
    spec = validate(Spec.parse(text), TRANSFORMERS.options)
    return TRANSFORMERS.load(spec, LoadContext(Path("unused"), offline, allow_remote_code))


def hostile(test_data: Path) -> list[str]:
    text = (test_data / "corpora" / "naughty-strings" / "blns.txt").read_text(encoding="utf-8")
    return [*text.split("\n"), "<s> </s> [SEP] <|endoftext|> x", "  a  b ▁ ", "漢龘龘x ﬁ", ""]


@pytest.mark.parametrize("model", MODELS)
def test_ids_equal_the_library_called_directly(model, test_data):
    path = test_data / "vocabs" / model / "hf" / "tokenizer.json"
    tokenizer, library = load(f"transformers:{path}"), tokenizers.Tokenizer.from_file(str(path))
    library.no_padding()
    library.no_truncation()
    library.encode_special_tokens = True
    texts = hostile(test_data)
    expected = [library.encode(text, add_special_tokens=False).ids for text in texts]
    assert [list(tokenizer.encode(text)) for text in texts] == expected
    assert [ids.tolist() for ids in tokenizer.encode_batch(texts)] == expected
    single = [tokenizer.offsets(text).tolist() for text in texts]
    assert list(map(len, single)) == list(map(len, expected))
    spans, limits = tokenizer.offsets_batch(texts)
    assert [spans[a:b].tolist() for a, b in pairwise(limits.tolist())] == single
    assert [len(each) for each in tokenizer.offsets_batch([])] == [0, 1]
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
    tokenizer = load(f"transformers:{test_data}/vocabs/qwen2/hf")

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
    assert load(f"transformers:{folder}").encode(text) == load(f"transformers:{folder}/tokenizer.json").encode(
        text
    )
    spec, context = Spec("transformers", str(folder)), LoadContext(Path("unused"), True)
    assert TRANSFORMERS.files(spec, context) == [folder / "tokenizer.json"]


def test_byte_level_models_lose_nothing_and_spell_their_bytes(test_data):
    tokenizer = load(f"transformers:{test_data}/vocabs/gpt2/hf")
    assert tokenizer.lossless is True
    for text in hostile(test_data):
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
    tokenizer = load(f"transformers:{test_data}/vocabs/{model}/hf")
    assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text))) == spelled


@pytest.mark.parametrize(
    ("model", "reason"),
    [("qwen2", "NFC"), ("bert-base-uncased", "white space"), ("t5-base", "UNK"), ("llama-2", "U\\+2581")],
)
def test_why_a_tokenizer_is_not_lossless(model, reason, test_data):
    tokenizer = load(f"transformers:{test_data}/vocabs/{model}/hf")
    assert tokenizer.lossless is False
    assert reason.replace("\\", "") in tokenizer.facts()["why_not_lossless"]


def test_unknown_and_special_ids(test_data):
    bert = load(f"transformers:{test_data}/vocabs/bert-base-uncased/hf")
    assert bert.unk_id == 100
    assert {100, 101, 102} <= bert.special_ids
    assert load(f"transformers:{test_data}/vocabs/t5-base/hf").unk_id == 2
    assert load(f"transformers:{test_data}/vocabs/gpt2/hf").unk_id is None
    assert bert.token_bytes(101) == b""


def test_special_token_text_follows_the_policy(test_data):
    folder, text = test_data / "vocabs" / "gpt2" / "hf", "a<|endoftext|>"
    assert 50256 not in load(f"transformers:{folder}").encode(text)
    assert load(f"transformers:{folder},special=match").encode(text)[-1] == 50256
    t5 = load(f"transformers:{test_data}/vocabs/t5-base/hf")
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


def test_threads_may_share_it(test_data):
    tokenizer, texts = load(f"transformers:{test_data}/vocabs/qwen2/hf"), hostile(test_data)
    expected = [list(tokenizer.encode(text)) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            batches = pool.map(lambda _: tokenizer.encode_batch(texts), range(4))
            assert list(pool.map(tokenizer.encode, texts)) == expected
            assert all([ids.tolist() for ids in batch] == expected for batch in batches)


def test_large_batches_go_in_parts():
    texts = ["x" * (CHARACTERS_A_CALL // 2)] * 5
    assert [len(part) for part in _parts(texts)] == [2, 2, 1]


def test_lone_surrogates_are_named(test_data):
    tokenizer = load(f"transformers:{test_data}/vocabs/gpt2/hf")
    for call in (lambda: tokenizer.encode("ab\ud800"), lambda: tokenizer.encode_batch(["x", "ab\ud800"])):
        with pytest.raises(TokenizerError, match="lone surrogate at character 2"):
            call()


# --- transformers' own classes ---------------------------------------------------------------------------


def test_classes_of_transformers_serve_where_there_is_no_json(test_data):
    folder = test_data / "vocabs" / "bert-base-multilingual-cased"
    tokenizer = load(f"transformers:{folder},tokenizer_class=BertTokenizer")
    assert tokenizer.facts()["class"] == "BertTokenizer"
    texts = ["Hello Welt", "", "[SEP] 你好"]
    batch = [ids.tolist() for ids in tokenizer.encode_batch(texts)]
    assert batch == [list(tokenizer.encode(text)) for text in texts]
    assert 102 not in batch[2]
    assert tokenizer.decode(batch[0]).lower() == "hello welt"
    spec = Spec.parse(f"transformers:{folder},tokenizer_class=BertTokenizer")
    names = {file.name for file in TRANSFORMERS.files(spec, LoadContext(Path("unused"), True))}
    assert "vocab.txt" in names


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


def test_the_backend_can_be_asked_for(test_data):
    folder = test_data / "vocabs" / "gpt2" / "hf"
    slow, fast = load(f"transformers:{folder},backend=transformers"), load(f"transformers:{folder}")
    assert type(slow) is not type(fast)
    texts = hostile(test_data)
    assert [ids.tolist() for ids in slow.encode_batch(texts)] == [
        ids.tolist() for ids in fast.encode_batch(texts)
    ]


def test_unknown_classes_and_bare_folders(tmp_path, test_data):
    with pytest.raises(SpecError, match="NoTokenizer"):
        load(f"transformers:{tmp_path},tokenizer_class=NoTokenizer")
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(TokenizerError, match=r"notes\.txt"):
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


# --- what cannot be had ------------------------------------------------------------------------------------


def test_offline_hub_names_give_the_remedy(monkeypatch, tmp_path):
    with pytest.raises(TokenizerError, match="offline") as caught:
        load("transformers:someone/nothing-cached")
    assert "\n" not in str(caught.value)


class Response:
    """As much of an HTTP response as the hub's errors look at."""

    headers: dict[str, str] = {}  # noqa: RUF012
    status_code = 404
    request = None


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("GatedRepoError", "gated.*hf auth login"),
        ("RevisionNotFoundError", "no revision 'v9'"),
        ("RepositoryNotFoundError", "no repository 'a/b'"),
        ("HfHubHTTPError", "could not be fetched"),
        ("OfflineModeIsEnabled", "offline"),
        ("LocalEntryNotFoundError", "cannot be reached"),
        ("HFValidationError", "owner/name"),
    ],
)
def test_every_answer_of_the_hub_has_a_line(kind, words, monkeypatch):
    import huggingface_hub

    error_type = getattr(errors, kind)
    plain = not issubclass(error_type, errors.HfHubHTTPError) or kind == "LocalEntryNotFoundError"
    error = error_type("no") if plain else error_type("no", response=Response())

    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", refuse)
    with pytest.raises(TokenizerError, match=words) as caught:
        load("transformers:a/b,revision=v9", offline=False)
    assert "\n" not in str(caught.value)


def test_wrong_files_are_named(tmp_path, test_data):
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "spiece.model").write_bytes(b"x")
    cases = {
        f"transformers:{tmp_path}": "not a tokenizer.json",
        f"transformers:{tmp_path}/spiece.model": "sentencepiece:FILE",
        f"transformers:{tmp_path}/absent.json": "no file or folder",
        "transformers": "transformers:NAME",
    }
    for spec, words in cases.items():
        with pytest.raises((TokenizerError, SpecError), match=words):
            TRANSFORMERS.load(Spec.parse(spec), LoadContext(tmp_path, True))


# --- pieces and bytes ----------------------------------------------------------------------------------------


def test_the_byte_alphabet_is_that_of_the_library():
    assert set(byte_alphabet()) == set(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    assert sorted(byte_alphabet().values()) == list(range(256))


@pytest.mark.parametrize(
    ("decoder", "piece", "expected"),
    [
        ({"type": "BPEDecoder", "suffix": "</w>"}, "low</w>", b"low "),
        ({"type": "WordPiece", "prefix": "##"}, "##ing", b"ing"),
        ({"type": "Metaspace", "replacement": "_"}, "_a", b" a"),
        ({"type": "Sequence", "decoders": [{"type": "ByteFallback"}]}, "<0xE9>", b"\xe9"),
        (None, "plain", b"plain"),
    ],
)
def test_decoders_spell_pieces(decoder, piece, expected):
    assert piece_decoder(decoder)(piece) == expected


# --- training ------------------------------------------------------------------------------------------------

NOUNS, VERBS = ("dog", "cat", "ox", "ewe"), ("jump", "leap", "walk")
CORPUS = [f"the {noun} {verb}s over the lazy {noun}, and walked" for noun in NOUNS for verb in VERBS]


def trained(**given):
    options = with_defaults(TRANSFORMERS.options, given)
    return TRANSFORMERS.train(TrainingCorpus.of_texts(CORPUS), options, lambda done, word: None)


@pytest.mark.parametrize(
    ("kind", "size"), [("bpe", 300), ("wordpiece", 60), ("unigram", 40), ("wordlevel", 15)]
)
def test_training_saves_and_loads(kind, size, tmp_path):
    tokenizer = trained(model_type=kind, vocab_size=size)
    assert tokenizer.facts()["algorithm"].lower() == kind
    assert 10 <= tokenizer.vocab_size <= size
    path = tmp_path / f"saved{TRANSFORMERS.trained_suffix}"
    tokenizer.save(path)
    loaded = load(f"transformers:{path}")
    assert [list(loaded.encode(text)) for text in CORPUS] == [list(tokenizer.encode(text)) for text in CORPUS]
    if kind in ("bpe", "wordlevel"):  # the library's other trainers differ from run to run
        assert trained(model_type=kind, vocab_size=size).tokenizer.to_str() == tokenizer.tokenizer.to_str()


def test_trained_bpe_loses_nothing():
    tokenizer = trained(vocab_size=300)
    assert tokenizer.lossless is True
    assert tokenizer.decode(tokenizer.encode("Ünïcödé  \n never seen")) == "Ünïcödé  \n never seen"


def test_options_reach_the_trainers():
    assert trained(vocab_size=300, special_tokens="<a> <b>").special_ids == {0, 1}
    assert "x+" in trained(vocab_size=300, pattern="x+").facts()["pre_tokenizer"]
    assert trained(model_type="wordpiece", vocab_size=60, lowercase=True).encode("THE")[0] != 0
    with pytest.raises(TokenizerError, match="pattern"):
        trained(vocab_size=300, pattern="(unclosed")
