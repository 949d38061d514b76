"""Parity-aware BPE against `tokenizers`' trainer, and against the algorithm written plainly."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.family import BPE
from tokbench_subword.bpe.parity import Fairness, learn_fairly
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.training.alphabet import byte_order
from tokbench_subword.training.spelling import spelled
from tokbench_subword.training.ties import HF

from tests.plugins.subword.bpe.references import written
from tests.plugins.subword.training.plain_merges import merged
from tokbench.counts import WordCounts
from tokbench.errors import TokbenchError
from tokbench.registry import build_registry
from tokbench.runner.training.train import training_corpus
from tokbench.spec import Spec, with_defaults

PARALLEL = Path(__file__).parents[4] / "datasets" / "parallel"
LANGUAGES = ["eng_Latn", "tha_Thai", "swh_Latn"]


def lines(language: str) -> list[str]:
    return (PARALLEL / f"{language}.txt").read_text(encoding="utf-8").splitlines()


def theirs(texts: list[list[str]], development: list[list[str]] | None, **options: object) -> list[list[str]]:
    """The merges of `ParityBpeTrainer`."""
    trainers = pytest.importorskip("tokenizers.trainers")
    if not hasattr(trainers, "ParityBpeTrainer"):
        pytest.skip("this version of tokenizers has no ParityBpeTrainer")
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    ratio = options.pop("ratio", None)
    trainer = trainers.ParityBpeTrainer(
        show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **options
    )
    dev = None if development is None else [iter(each) for each in development]
    trainer.train_from_iterator(tokenizer, [iter(each) for each in texts], dev_iterators=dev, ratio=ratio)
    return [list(merge) for merge in json.loads(tokenizer.to_str())["model"]["merges"]]


def ours(folder: Path, **options: object):  # type: ignore[no-untyped-def]
    registry = build_registry()
    corpus = training_corpus(registry, f"parallel:{folder},languages={'+'.join(LANGUAGES)}")
    given = with_defaults(BPE.options, {"parity": "base", **options})  # type: ignore[dict-item]
    assert BPE.train is not None
    return BPE.train(corpus, given, lambda fraction, what: None)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Training text, of each language another amount, and development text."""
    train, development = (tmp_path_factory.mktemp(name) for name in ("train", "development"))
    for number, language in enumerate(LANGUAGES):
        text = lines(language)
        (train / f"{language}.txt").write_text("\n".join(text[20 : 160 - 40 * number]) + "\n", encoding="utf-8")
        (development / f"{language}.txt").write_text("\n".join(text[:20]) + "\n", encoding="utf-8")
    return train, development


@pytest.mark.long
@pytest.mark.parametrize(
    ("mine", "other", "dev"),
    [
        ({}, {}, True),
        ({}, {}, False),
        (
            {"parity": "window", "parity_window": 20, "parity_alpha": 1.2},
            {"variant": "window", "window_size": 20, "alpha": 1.2},
            True,
        ),
        ({"global_merges": 60}, {"global_merges": 60}, True),
        ({"ratios": "eng_Latn=1+tha_Thai=2.6+swh_Latn=1.1"}, {"ratio": [1.0, 2.6, 1.1]}, False),
        ({"min_frequency": 4, "parity": "window"}, {"min_frequency": 4, "variant": "window"}, True),
    ],
)  # fmt: skip
def test_merges_are_those_of_tokenizers(
    folders: tuple[Path, Path], mine: dict[str, object], other: dict[str, object], dev: bool
) -> None:
    train, development = folders
    if dev:
        mine = {**mine, "development": str(development)}
    merges, _ = written(ours(train, vocab_size=900, **mine).model)
    texts, tested = ([(f / f"{name}.txt").read_text().splitlines() for name in LANGUAGES] for f in folders)
    assert merges == theirs(texts, tested if dev else None, num_merges=len(merges), **other)
    assert len(merges) > 300


def plainly(words: list[dict[str, int]], n_wanted: int) -> list[bytes]:
    """The variant *base* without development text: everything counted anew for each merge."""
    order = byte_order(HF)
    rank = {byte: index for index, byte in enumerate(order)}
    tokens = [bytes([byte]) for byte in order]
    texts = [[([rank[byte] for byte in word.encode()], count) for word, count in own.items()] for own in words]
    exhausted: set[int] = set()
    while len(tokens) < n_wanted and len(exhausted) < len(texts):
        lengths = [sum(len(ids) * count for ids, count in own) for own in texts]
        worst = max((i for i in range(len(texts)) if i not in exhausted), key=lambda i: (lengths[i], -i))
        counts: Counter[tuple[int, int]] = Counter()
        for ids, count in texts[worst]:
            for pair in pairwise(ids):
                counts[pair] += count
        if not counts:
            exhausted.add(worst)
            continue
        left, right = max(
            counts, key=lambda pair: (counts[pair], *([rank[byte] for byte in tokens[part]] for part in pair))
        )
        token = tokens[left] + tokens[right]
        if token not in tokens:
            tokens.append(token)
        for ids, _ in (word for own in texts for word in own):
            ids[:] = merged(ids, (left, right), tokens.index(token))
    return tokens


_words = st.dictionaries(st.text("abcd", min_size=1, max_size=12), st.integers(1, 9), min_size=1, max_size=6)


@settings(max_examples=30, deadline=None)
@given(st.lists(_words, min_size=1, max_size=3), st.integers(256, 280))
def test_base_is_as_written_plainly(words: list[dict[str, int]], n_wanted: int) -> None:
    languages = {str(index): WordCounts.of(own) for index, own in enumerate(words)}
    tokens, merges = learn_fairly(languages, n_wanted=n_wanted, how=Fairness())
    assert spelled(tokens, merges) == plainly(words, n_wanted)


def test_models_are_kept_by_the_content_of_the_development_text(folders: tuple[Path, Path]) -> None:
    assert BPE.training_files is not None
    named = BPE.training_files(Spec("bpe", None, {"parity": "base", "development": str(folders[1])}))
    assert [path.stem for path in named] == sorted(LANGUAGES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 200}, "at least 256"),
        ({"ratios": "eng_Latn=1"}, "one ratio each"),
        ({"ratios": "eng_Latn=1+tha_Thai=0+swh_Latn=1"}, "ratios must be above 0; one is 0.0"),
        ({"parity": "window", "parity_window": 0}, "at least 1"),
        ({"parity_alpha": 0.0}, "above 0"),
        ({"transition": 300}, "transition= does not work with parity=base"),
        ({"development": "nowhere"}, "no development text of eng_Latn"),
    ],
)
def test_what_cannot_be_is_said(folders: tuple[Path, Path], options: dict[str, object], message: str) -> None:
    with pytest.raises(TokbenchError, match=message):
        ours(folders[0], **{"vocab_size": 400, **options})


def test_a_size_far_beyond_the_text_is_as_one_just_beyond_it(folders: tuple[Path, Path]) -> None:
    enough, huge = (ours(folders[1], vocab_size=size).model for size in (1 << 16, 2**31 - 1))
    assert len(enough.vocabulary) < 1 << 16
    assert huge.vocabulary == enough.vocabulary


@pytest.mark.parametrize("kind", ["base", "window"])
def test_no_merge_spells_a_special_token(folders: tuple[Path, Path], kind: str, tmp_path: Path) -> None:
    """It was spelled, had two ids, and the file could not be opened."""
    found = ours(folders[0], parity=kind, vocab_size=500, special_tokens="in \u0120the <s>", global_merges=20)
    assert not {b"in", b" the"} & {*found.model.vocabulary}
    assert found.vocab_size == 500
    found.save(tmp_path / "tokenizer.json")
    again, text = BpeTokenizer.from_file(tmp_path / "tokenizer.json"), "in the inside of the thing"
    assert again.encode(text).tolist() == found.encode(text).tolist()
    with pytest.raises(TokbenchError, match="the special token 'a' is one of the bytes"):
        ours(folders[0], vocab_size=500, special_tokens="a")
