"""What every family that trains here must do at the limits: a clear error or a correct result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tokbench_subword.bpe import continuing
from tokbench_subword.bpe.family import BPE
from tokbench_subword.optimal.families import GREEDTOK, PATHPIECE, PICKYBPE
from tokbench_subword.sentencepiece import trainer as unigram_trainer
from tokbench_subword.sentencepiece.family import UNIGRAM
from tokbench_subword.training import counting
from tokbench_subword.wordpiece import trainer as wordpiece_trainer
from tokbench_subword.wordpiece.family import WORDPIECE

import tokbench
from tests.command import invoke
from tests.plugins.conftest import train_on
from tokbench import TokenizerFamily
from tokbench.errors import TokbenchError, TokenizerError

TEXTS = Path(__file__).read_text(encoding="utf-8").splitlines()
COUNTING = (counting, continuing, unigram_trainer, wordpiece_trainer)
FAMILIES = pytest.mark.parametrize("family", [BPE, WORDPIECE, UNIGRAM], ids=lambda family: family.name)


def trained(family: TokenizerFamily, texts: list[str] = TEXTS, **options: Any) -> Any:
    return train_on(family, texts, **options)


@FAMILIES
@pytest.mark.parametrize("size", [0, -5])
def test_no_vocabulary_at_all_is_refused(family: TokenizerFamily, size: int) -> None:
    with pytest.raises(TokenizerError, match=r"vocab_size must (be at least 1|lie in 1\.\.)"):
        trained(family, vocab_size=size)


@FAMILIES
def test_less_than_the_alphabet_says_how_much_is_needed(family: TokenizerFamily) -> None:
    with pytest.raises(TokenizerError, match=r"at least (\d+)") as raised:
        trained(family, vocab_size=20)
    needed = int(str(raised.value).partition("at least ")[2].split(",")[0].split()[0])
    assert trained(family, vocab_size=needed).vocab_size == needed
    with pytest.raises(TokenizerError, match=f"at least {needed}"):
        trained(family, vocab_size=needed - 1)


@FAMILIES
def test_more_than_the_corpus_supports_gives_what_there_is(family: TokenizerFamily, tmp_path: Path) -> None:
    options = {"min_frequency": 1} if family is WORDPIECE else {}
    tokenizer = trained(family, ["abc abc abd"] * 3, vocab_size=1 << 20, **options)
    size = {"bpe": 256 + 5, "wordpiece": 5 + 4 + 3 + 3, "unigram": 3 + 5 + 2}[family.name]
    assert tokenizer.vocab_size == size
    path = tmp_path / f"small{family.trained_suffix}"
    tokenizer.save(path)
    assert tokbench.load(f"{family.name}:{path}").vocab_size == size


@pytest.mark.parametrize(
    ("family", "option", "huge"),
    [
        *((family, "vocab_size", 2**31 - 1) for family in (BPE, WORDPIECE, PATHPIECE, GREEDTOK, PICKYBPE)),
        *((family, "max_token_length", 10**30) for family in (BPE, PATHPIECE, GREEDTOK)),
        *((family, "min_frequency", 10**30) for family in (BPE, WORDPIECE, PICKYBPE)),
        (PATHPIECE, "initial_size", 10**30),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_bound_far_beyond_the_text_is_as_one_just_beyond_it(
    family: TokenizerFamily, option: str, huge: int, tmp_path: Path
) -> None:
    files = []
    for number in (1000, huge):
        path = tmp_path / f"{number}{family.trained_suffix}"
        trained(family, ["abc abc abd"] * 3, **{"vocab_size": 300, option: number}).save(path)
        files.append(path.read_bytes())
    assert files[0] == files[1]


@FAMILIES
def test_any_number_of_threads_trains_the_same(
    family: TokenizerFamily, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting.blocks, "__defaults__", (300,))
    monkeypatch.setattr(counting, "BLOCKS_AT_ONCE", 3)
    files = []
    for threads in (1, 2, 5, None):
        trained(family, vocab_size=320, threads=threads).save(tmp_path / f"{threads}{family.trained_suffix}")
        files.append((tmp_path / f"{threads}{family.trained_suffix}").read_bytes())
    assert files == [files[0]] * 4


@FAMILIES
def test_threads_are_for_training_only(family: TokenizerFamily, tmp_path: Path) -> None:
    path = tmp_path / f"t{family.trained_suffix}"
    trained(family, vocab_size=320).save(path)
    assert tokbench.load(f"{family.name}:{path}").vocab_size == 320
    with pytest.raises(TokenizerError, match="threads is for training"):
        tokbench.load(f"{family.name}:{path},threads=2")


def test_rare_pairs_and_long_tokens_are_left_out() -> None:
    texts = ["low lower lowest " * 5 + "rare"]
    frequent = trained(BPE, texts, vocab_size=400, min_frequency=5)
    assert any(frequent.token_bytes(index) == b" lower" for index in range(frequent.vocab_size))
    assert not any(frequent.token_bytes(index) == b"are" for index in range(frequent.vocab_size))
    short = trained(BPE, texts, vocab_size=400, max_token_length=4)
    assert max(len(short.token_bytes(index)) for index in range(short.vocab_size)) == 3
    pieces = trained(WORDPIECE, texts, vocab_size=400, min_frequency=5)
    assert "lower" in pieces.model.vocabulary
    assert "rare" not in pieces.model.vocabulary
    words = trained(UNIGRAM, TEXTS, vocab_size=320, max_piece_length=3)
    assert max(len(words.token_bytes(index).decode()) for index in range(3, 320)) == 3


PARITY = "bpe --vocab-size 300 --option parity="


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with parallel text, text in half of its languages, and two files to go on from."""
    folder = tmp_path_factory.mktemp("given")
    for name, text in (("corpus/deu_Latn", "tief"), ("corpus/eng_Latn", "low"), ("half/eng_Latn", "low")):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / f"{name}.txt").write_text(f"{text}\n", encoding="utf-8")
    (folder / "half/deu_Latn.txt").touch()
    trained(BPE, vocab_size=270).save(folder / "base.json")
    trained(BPE, vocab_size=200, level="char").save(folder / "characters.json")
    return folder


NEVER_TO_BE = [
    ("bpe --vocab-size 200", "vocab_size=200 .*at least 256"),
    ("greedtok --vocab-size 100", "vocab_size=100 .*at least 256"),
    ("bpe --vocab-size 500 --option transition=600", "transition=600 is above vocab_size=500"),
    ("bpe --option base=characters.json", "base=characters.json is at character level; only byte-level"),
    (PARITY + "base --option development=half", "half/deu_Latn.txt: no text"),
]
NOR_THESE = [
    ("bpe --vocab-size 256 --option special_tokens=<s>", "vocab_size=256 .*at least 257"),
    ("wordpiece --vocab-size 3", "vocab_size=3 .*at least 6"),
    ("wordpiece --vocab-size 6 --option unk_token=<u>", "vocab_size=6 .*6 special tokens .*at least 7"),
    ("wordpiece --option max_input_chars_per_word=0", "max_input_chars_per_word must be at least 1; it is 0"),
    ("wordpiece --option limit_alphabet=0", "limit_alphabet must be at least 1; it is 0"),
    ("wordpiece --option min_frequency=-1", "min_frequency must be at least 0; it is -1"),
    ("unigram --vocab-size 3", "vocab_size=3 .*at least 4"),
    ("pickybpe --vocab-size 100", "vocab_size=100 .*at least 256"),
    ("pathpiece --vocab-size 100", "vocab_size=100 .*at least 256"),
    ("pathpiece --vocab-size 500 --option initial_size=300", "initial_size must be at least 500; it is 3"),
    ("pathpiece --vocab-size 500 --option initial_size=0", "initial_size must be at least 500; it is 0"),
    *((f"{name} --option special_tokens=a", "'a' is one of the bytes") for name in ("pathpiece", "greedtok")),
    ("pickybpe --option special_tokens=\u0120", "'\u0120' is one of the bytes"),
    ("pathpiece --option max_token_length=1", "max_token_length must be at least 2; it is 1"),
    ("greedtok --option max_token_length=1", "max_token_length must be at least 2; it is 1"),
    ("pickybpe --option ios=1.5", "ios must be above 0 and at most 1; it is 1.5"),
    ("pickybpe --option ios=nan", "ios must be above 0 and at most 1; it is nan"),
    ("pickybpe --option min_frequency=-1", "min_frequency must be at least 0; it is -1"),
    ("bpe --option min_frequency=-1", "min_frequency must not be negative; it is -1"),
    ("bpe --vocab-size 500 --option transition=200", "transition=200 .*at least 256"),
    ("bpe --option base=corpus/eng_Latn.txt", "eng_Latn.txt: is text.*expected a tokenizer.json"),
    ("bpe --option base=absent.json", "there is no file absent.json"),
    ("bpe --vocab-size 260 --option base=base.json", "must be above the 270 tokens of base=base.json"),
    ("bpe --option base=base.json --option transition=300", "already determines transition"),
    ("bpe --language fra_Latn", "unknown language .*'fra_Latn'.* There are: deu_Latn, eng_Latn"),
    (PARITY + "base --vocab-size 200", "vocab_size=200 .*at least 256"),
    (PARITY + "base --language eng_Latn", "the text has only one .eng_Latn"),
    (PARITY + "window --option parity_window=0", "parity_window must be at least 1; it is 0"),
    (PARITY + "window --option parity_alpha=0", "parity_alpha must be above 0; it is 0.0"),
    (PARITY + "base --option global_merges=-1", "global_merges must not be negative; it is -1"),
    (PARITY + "base --option ratios=eng_Latn=0+deu_Latn=1", "ratios must be above 0; one is 0.0"),
    (PARITY + "base --option ratios=eng_Latn=1", "ratios names eng_Latn, but the text is in deu_Latn, eng"),
]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("bpe:min_frequency=-1", "min_frequency must not be negative"),
        ("bpe:max_token_length=0", "max_token_length must be at least 1"),
        ("wordpiece:max_input_chars_per_word=-5", "max_input_chars_per_word must be at least 1; it is -5"),
        ("bpe:vocab_size=500,transition=600", "transition=600 is above vocab_size=500"),
    ],
)
def test_a_run_refuses_before_it_begins(spec: str, said: str, given: Path, tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=said):
        tokbench.run([spec], [f"text:{given}/corpus/eng_Latn.txt"], output=tmp_path / "run", speed=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("asked", "said"), [*NEVER_TO_BE, *(pytest.param(*case, marks=pytest.mark.long) for case in NOR_THESE)]
)
def test_what_cannot_be_is_told_with_its_bound_before_text_is_counted(
    asked: str, said: str, given: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count(*_: object, **__: object) -> None:
        raise AssertionError("text was counted")

    monkeypatch.chdir(given)
    for module in COUNTING:  # imported before: one that is first imported now would keep what stands here
        monkeypatch.setattr(module, "count_blocks", count)
    family, *options = asked.split()
    target = f"trained.{family if family in ('greedtok', 'pickybpe') else 'json'}"
    done = invoke("train", family, "-d", "parallel:corpus", *options, "-o", target)
    assert isinstance(done.exception, TokbenchError), done.exception
    assert re.search(said, str(done.exception)), done.exception
    assert not Path(target).exists()
