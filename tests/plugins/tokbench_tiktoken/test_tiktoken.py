"""The adapter of tiktoken: the same ids as the library, and clear words where there are none."""

from __future__ import annotations

import base64
import hashlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from tiktoken.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING
from tokbench_tiktoken.adapter import TiktokenTokenizer
from tokbench_tiktoken.aliases import ALIASES, dated
from tokbench_tiktoken.family import TIKTOKEN
from tokbench_tiktoken.ranks import pattern_text
from tokbench_tiktoken.sources import blueprint, encoding_name

import tokbench
from tokbench import LoadContext, Spec, SpecError, TokenizerError, UnknownNameError
from tokbench.spec import validate

HOSTILE = "a <|endoftext|> b\n\n  naïve 👩‍👩‍👧 12345\t\r\n ﬁ 你好 " + "x" * 300
ENCODINGS = tiktoken.list_encoding_names()


def context(*, offline: bool = True, threads: int = 1) -> LoadContext:
    return LoadContext(Path("unused"), offline=offline, threads=threads)


def load(text: str, **options):
    return TIKTOKEN.load(validate(Spec.parse(text), TIKTOKEN.options), context(**options))


@pytest.fixture
def cache(test_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private copy of the cache that may be damaged."""
    folder = tmp_path / "cache"
    folder.mkdir()
    for file in (test_data / "vocabs" / "tiktoken-cache").iterdir():
        (folder / file.name).symlink_to(file)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    return folder


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_registered_encoding_gives_the_librarys_ids(encoding, test_data):
    tokenizer, library = load(f"tiktoken:{encoding}"), tiktoken.get_encoding(encoding)
    text = (test_data / "corpora" / "naughty-strings" / "blns.txt").read_text(encoding="utf-8") + HOSTILE
    lines = text.split("\n")
    expected = [library.encode_ordinary(line) for line in lines]
    assert tokenizer.encode(text) == library.encode_ordinary(text)
    assert [ids.tolist() for ids in tokenizer.encode_batch(lines)] == expected
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.vocab_size == library.n_vocab
    assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text))) == text.encode()


def test_threads_give_the_same_batch(test_data):
    text = (test_data / "corpora" / "novels" / "deu_Latn.txt").read_text(encoding="utf-8")[:200_000]
    texts = [text[start : start + 2000] for start in range(0, len(text), 2000)]
    one, two = load("tiktoken:cl100k_base"), load("tiktoken:cl100k_base", threads=2)
    expected = one.encode_batch(texts)
    assert np.array_equal(two.encode_batch(texts).ids, expected.ids)
    with ThreadPoolExecutor(4) as pool:
        shared = list(pool.map(one.encode, texts))
    assert [list(ids) for ids in expected] == shared


@pytest.mark.parametrize("special", ["text", "match"])
@pytest.mark.parametrize("threads", [1, 2])
def test_long_texts_travel_as_arrays_and_give_the_same_ids(special, threads, test_data):
    tokenizer = load(f"tiktoken:cl100k_base,special={special}", threads=threads)
    texts = [f"{HOSTILE} {number} " * 10 for number in range(9)] + ["", "lone \ud800 surrogate " * 50]
    batch = tokenizer.encode_batch(texts)
    assert [ids.tolist() for ids in batch] == [tokenizer.encode(text) for text in texts]
    assert (100257 in batch.ids) == (special == "match")
    assert len(tokenizer.encode_batch([])) == 0


def test_special_tokens_are_refused_in_long_texts_too(test_data):
    with pytest.raises(TokenizerError, match="special=error"):
        load("tiktoken:cl100k_base,special=error").encode_batch([HOSTILE * 10])


def test_numpy_ids_decode(test_data):
    tokenizer = load("tiktoken:gpt2")
    assert tokenizer.decode(np.array(tokenizer.encode("hi there"), np.int32)) == "hi there"


def test_special_token_text_follows_the_policy(test_data):
    text = "a<|endoftext|>b"
    assert 100257 not in load("tiktoken:cl100k_base").encode(text)
    assert load("tiktoken:cl100k_base,special=match").encode(text)[1] == 100257
    with pytest.raises(TokenizerError, match="special=error"):
        load("tiktoken:cl100k_base,special=error").encode(text)


def test_special_tokens_and_gaps_have_no_bytes(test_data):
    tokenizer = load("tiktoken:cl100k_base")
    assert tokenizer.token_bytes(100257) == tokenizer.token_bytes(100265) == b""
    assert tokenizer.facts()["unassigned_ids"] == 16
    with pytest.raises(TokenizerError, match=r"cl100k_base: no token has the id 100265$"):
        tokenizer.decode([100257, 9, 100265, 100266])


def test_lone_surrogates_are_replaced_as_the_library_does(test_data):
    tokenizer = load("tiktoken:gpt2")
    assert tokenizer.decode(tokenizer.encode("a\ud800b")) == "a\ufffdb"
    assert tokenizer.encode_batch(["a\ud800b"])[0].tolist() == tokenizer.encode("a\ud800b")


# --- names -----------------------------------------------------------------------------------------------


def test_aliases_agree_with_the_librarys_table():
    assert not any(map(dated, ALIASES))  # tokbench looks up itself what is listed
    for name, spec in ALIASES.items():
        if name not in ("gpt-3", "gpt-4.5", "gpt-oss"):  # known to the library with a date, or not at all
            assert spec == f"tiktoken:{MODEL_TO_ENCODING[name]}"
    for beginning, encoding in MODEL_PREFIX_TO_ENCODING.items():
        if beginning.startswith("gpt-") and not beginning.startswith("gpt-35"):
            assert dated(beginning.rstrip("-") + "-2024-01-01") == f"tiktoken:{encoding}"


@pytest.mark.parametrize("name", ["gpt-4-o", "gpt-4-o-mini"])
def test_a_model_name_with_a_hyphen_too_many_is_answered_with_the_nearest(name):
    assert dated(name) is None
    with pytest.raises(UnknownNameError, match="did you mean 'gpt-4o'"):
        tokbench.load(name)


def test_every_model_name_loads_its_encoding(test_data):
    assert encoding_name("gpt-4o-mini-2024-07-18") == "o200k_base"
    assert load("tiktoken:gpt-4").encode("hi") == load("tiktoken:cl100k_base").encode("hi")
    assert load("tiktoken:gpt-4").name == "tiktoken:gpt-4"


def test_unknown_names_get_the_nearest(test_data):
    with pytest.raises(UnknownNameError, match="o200k_base") as caught:
        load("tiktoken:o200k")
    assert tiktoken.__version__ in str(caught.value)


def test_no_name_at_all():
    with pytest.raises(SpecError, match="tiktoken:NAME"):
        load("tiktoken")


# --- the cache -------------------------------------------------------------------------------------------


def test_blueprints_need_no_files(monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    blueprint.cache_clear()
    sizes = {name: len(blueprint(name).sources) for name in ENCODINGS}
    assert sizes["gpt2"] == 2
    assert {*sizes.values()} == {1, 2}
    assert "{1,3}" in (blueprint("cl100k_base").pattern or "")


def test_offline_without_a_cache_names_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(TokenizerError, match="TIKTOKEN_CACHE_DIR") as caught:
        load("tiktoken:p50k_base")
    message = str(caught.value)
    assert "\n" not in message
    assert "p50k_base.tiktoken" in message
    assert "offline" in message
    assert list(tmp_path.iterdir()) == []


def test_a_failed_download_names_the_remedy(monkeypatch, tmp_path):
    import requests

    def refuse(url):
        raise requests.ConnectionError("x" * 500)

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(requests, "get", refuse)
    tiktoken.registry.ENCODINGS.pop("p50k_edit", None)
    with pytest.raises(TokenizerError, match=r"could not be downloaded \(ConnectionError\)\. Save https"):
        load("tiktoken:p50k_edit", offline=False)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_cache_is_reported_and_left_alone(cache):
    (source,) = blueprint("cl100k_base").sources
    source.path.unlink()
    source.path.write_bytes(b"IQ== 0\n")
    for offline in (True, False):
        with pytest.raises(TokenizerError, match="damaged"):
            load("tiktoken:cl100k_base", offline=offline)
    assert source.path.read_bytes() == b"IQ== 0\n"


def test_files_are_those_read(cache):
    (path,) = TIKTOKEN.files(Spec.parse("tiktoken:gpt-4o"), context())
    assert hashlib.sha256(path.read_bytes()).hexdigest() == blueprint("o200k_base").sources[0].sha256


# --- files -----------------------------------------------------------------------------------------------


@pytest.fixture
def ranks(test_data: Path, tmp_path: Path) -> Path:
    shutil.copy(blueprint("cl100k_base").sources[0].path, tmp_path / "mine.tiktoken")
    return tmp_path / "mine.tiktoken"


def test_a_published_file_needs_no_pattern(ranks):
    tokenizer = load(f"tiktoken:{ranks}")
    assert tokenizer.encode(HOSTILE) == tiktoken.get_encoding("cl100k_base").encode_ordinary(HOSTILE)
    assert 100257 in tokenizer.special_ids


def test_pattern_and_special_tokens_come_from_the_spec(ranks, tmp_path):
    text = "it's 12345 <|x|>"
    tokenizer = load(f"tiktoken:{ranks},pattern=gpt2,special_tokens=<|x|>=200000,special=match")
    assert tokenizer.encode(text)[-1] == 200000
    assert tokenizer.encode("a.\n\n") != tiktoken.get_encoding("cl100k_base").encode_ordinary("a.\n\n")
    (tmp_path / "special.json").write_text('{"<|x|>": 200000}')
    other = load(f"tiktoken:{ranks},pattern=gpt2,special_tokens={tmp_path}/special.json,special=match")
    assert other.encode(text) == tokenizer.encode(text)
    assert len(TIKTOKEN.files(Spec.parse(other.name), context())) == 2


def test_what_ranks_leave_unsaid_is_what_a_spec_states_or_the_encoding_has(ranks):
    def unsaid(text):
        return TIKTOKEN.unsaid(Spec.parse(text), context())

    special = load("tiktoken:cl100k_base").encoding._special_tokens
    found = unsaid("tiktoken:gpt-4")
    assert unsaid(f"tiktoken:{ranks}") == found
    stated = " ".join(f"{text}={index}" for text, index in special.items())
    assert found == {"pattern": "cl100k_base", "special_tokens": stated}
    assert unsaid(f"tiktoken:{ranks},pattern=gpt2,special_tokens=<|x|>") == {
        "pattern": "gpt2",
        "special_tokens": "<|x|>",
    }
    assert unsaid("tiktoken:o200k_harmony") == {}  # it has a thousand


def write(path: Path, tokens: list[bytes]) -> Path:
    path.write_text("".join(f"{base64.b64encode(token).decode()} {i}\n" for i, token in enumerate(tokens)))
    return path


def test_what_is_wrong_with_a_file_is_said(tmp_path):
    every = [bytes([byte]) for byte in range(256)]
    good = write(tmp_path / "good.tiktoken", [*every, b"ab"])
    assert load(f"tiktoken:{good},pattern=gpt2").encode("abc") == [256, 99]
    assert pattern_text("o200k") == pattern_text("o200k_base")
    cases = {
        f"tiktoken:{good}": "add pattern=",
        f'tiktoken:{good},pattern="(unclosed"': "unclosed|parenthesis|regex|Parsing",
        f"tiktoken:{good},pattern=qwen2": "unknown pattern 'qwen2'",
        f"tiktoken:{good},pattern=": "unknown pattern ''",
        f"tiktoken:{good},pattern=gpt2,special_tokens=<|x|>=3": "takes the id",
        f"tiktoken:{good},pattern=gpt2,special_tokens=a=300 a=301": "twice",
        f"tiktoken:{write(tmp_path / 'few.tiktoken', every[:200])},pattern=gpt2": "lacks 56",
        f"tiktoken:{tmp_path}/absent.tiktoken,pattern=gpt2": "cannot be read",
        f"tiktoken:{write(tmp_path / 'twice.tiktoken', [*every, b'a'])},pattern=gpt2": "line 257.*given twice",
        "tiktoken:gpt2,pattern=gpt2": "has its own",
    }
    (tmp_path / "odd.tiktoken").write_text("IQ== 0\n{json}\n")
    cases[f"tiktoken:{tmp_path}/odd.tiktoken,pattern=gpt2"] = "line 2"
    for spec, message in cases.items():
        with pytest.raises((SpecError, TokenizerError), match=message):
            load(spec)


@pytest.mark.parametrize(
    ("special", "told"),
    [
        ("text", r"gave up \(a panic in Rust: .*BacktrackLimit"),
        ("match", r"backtracking .*\(special=match\)"),
        ("error", r"backtracking .*\(special=error\)"),
    ],
)
def test_what_the_library_gives_up_on_is_an_error_that_names_the_tokenizer(special, told, tmp_path):
    path = write(tmp_path / "bytes.tiktoken", [bytes([byte]) for byte in range(256)])
    tokenizer = load(f'tiktoken:{path},pattern="(?:(?=a)a+)+(?=b)",special={special}')
    for call, given in ((tokenizer.encode, "a" * 40), (tokenizer.encode_batch, ["a" * 40])):
        with pytest.raises(TokenizerError, match=f"tiktoken:.*{told}"):
            call(given)


def test_a_panic_in_a_batch_is_such_an_error_too():
    library = tiktoken.Encoding("few", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})
    tokenizer = TiktokenTokenizer(library, name="tiktoken:few")
    assert tokenizer.encode_batch(["a"]).to_lists() == [[0]]
    with pytest.raises(TokenizerError, match=r"tiktoken:few: tiktoken gave up \(a panic in Rust: no entry"):
        tokenizer.encode_batch(["a", "b"])
