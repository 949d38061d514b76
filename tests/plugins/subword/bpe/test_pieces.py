"""Vocabularies with pieces and without against the merges themselves, and the word cache."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe import layout, merging_pieces
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.pieces import Pieces
from tokbench_subword.bpe.plain import segment
from tokbench_subword.bpe.ranks import every_split, model_of_ranks
from tokbench_subword.bpe.tables import PairTable, TokenBytes, merges_at
from tokbench_subword.pipeline.patterns import Pattern

from tests.plugins.subword.bpe.small_models import BYTES, model_of
from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import PADDING, pointer


def _pieces(model: BpeModel) -> Pieces | None:
    byte_ids = np.array([model.ids[byte] for byte in BYTES], np.uint32)
    return Pieces.of(TokenBytes.of(model.vocabulary), model.merges, model.merge_ranks, byte_ids)


def _plain(model: BpeModel, text: str) -> list[int]:
    return [symbol.id for symbol in segment(model, text.encode())]


def _random_merges(seed: int, count: int) -> list[tuple[bytes, bytes]]:
    """Merges of tokens that are there already, some to one token in two ways, over a small alphabet."""
    chosen = np.random.default_rng(seed)
    tokens = [b"a", b"b", b"c"]
    merges: list[tuple[bytes, bytes]] = []
    while len(merges) < count:
        left, right = (tokens[int(chosen.integers(len(tokens)))] for _ in range(2))
        if (left, right) not in merges and len(left + right) < 20:
            merges.append((left, right))
            if left + right not in tokens:
                tokens.append(left + right)
    return merges


_WIDE = "a é一丁七万กข😀"


def _wide_text(chosen: np.random.Generator, length: int) -> str:
    return "".join(chosen.choice(list(_WIDE), length))


def _merges_of_wide_text(seed: int, count: int) -> list[tuple[bytes, bytes]]:
    """Merges of neighbours in a text, any of them next: of whole characters, and across their boundaries."""
    chosen, merges = np.random.default_rng(seed), []
    symbols = [bytes([byte]) for byte in _wide_text(chosen, 200).encode()]
    while len(merges) < count:
        k = int(chosen.integers(len(symbols) - 1))
        merge, rest = (symbols[k], symbols[k + 1]), symbols[::-1]
        if merge[0] + merge[1] in {left + right for left, right in merges}:
            continue
        merges.append(merge)
        symbols = []
        while rest:
            both = len(rest) > 1 and (rest[-1], rest[-2]) == merge
            symbols.append(rest.pop() + (rest.pop() if both else b""))
    return merges


@pytest.mark.parametrize("seed", range(10))
def test_characters_that_are_made_first_are_what_merging_gives(seed):
    model, chosen = model_of(_merges_of_wide_text(seed, 12 + 4 * seed)), np.random.default_rng(seed)
    encoder = BpeEncoder(model, cache=0)
    for text in (_wide_text(chosen, length) for length in [*range(1, 12), 40, 43, 200] * 3):
        assert encoder.encode(text).tolist() == _plain(model, text), text


def test_from_which_piece_on_ids_go_on_as_numbers_do():
    """All of them, those behind a gap, the last alone; there may be none."""
    sides, table = np.zeros((5, 2), np.uint32), PairTable.empty(0)
    for ids, expected in (
        ([0, 1, 2, 3, 4], (0, 0)),
        ([1, 0, 3, 7, 8], (3, 4)),
        ([9, 7, 5, 4, 3], (4, -1)),
        ([], (0, 0)),
    ):
        pieces = Pieces(np.array(ids, np.uint32), sides[: len(ids)], table)
        assert pieces.onward() == expected


@pytest.mark.parametrize("moved", [0, 3, -1])
def test_ids_are_those_of_the_vocabulary_in_whatever_order(moved):
    """Ids in the order of the merges, shuffled, and in reverse: as plain merging gives them."""
    merges = _random_merges(1, 40)
    model = model_of(merges)
    assert _pieces(model) is not None
    order = np.arange(len(model.vocabulary))
    if moved:
        order = np.random.default_rng(moved).permutation(len(order)) if moved > 0 else order[::-1]
    vocabulary = [b""] * len(order)
    for token, index in zip(model.vocabulary, order.tolist(), strict=True):
        vocabulary[index] = token
    other = BpeModel(
        vocabulary=tuple(vocabulary), merges=order[model.merges].astype(np.int32), pattern=Pattern("none")
    )
    text = "".join(np.random.default_rng(2).choice(list("abcd"), 300))
    for length in (1, 30, 300):
        assert BpeEncoder(other).encode(text[:length]).tolist() == _plain(other, text[:length])


def test_most_random_vocabularies_have_pieces():
    assert sum(_pieces(model_of(_random_merges(seed, 40))) is not None for seed in range(8)) >= 4


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_ids_are_what_merging_gives_with_pieces_and_without(seed):
    model = model_of(_random_merges(seed, 40))
    encoder = BpeEncoder(model)
    chosen = np.random.default_rng(seed)
    for length in (1, 2, 15, 16, 31, 32, 64, 65, 66, 130, 700):
        text = "".join(chosen.choice(list("aab" if seed % 2 else "abc"), length))
        assert encoder.encode(text).tolist() == _plain(model, text), length


@cache
def _small(seed):
    model = model_of(_random_merges(seed, 25))
    return model, BpeEncoder(model)


@settings(max_examples=100, deadline=None)
@given(which=st.integers(0, 5), text=st.text(alphabet="abc", min_size=65, max_size=200))
def test_hypothesis_strings(which, text):
    model, encoder = _small(which)
    assert encoder.encode(text).tolist() == _plain(model, text)


@settings(max_examples=300, deadline=None)
@given(which=st.integers(0, 5), text=st.text(alphabet="abc", min_size=1, max_size=64))
def test_merges_that_are_made_first_on_hypothesis_strings(which, text):
    model, encoder = _small(which)
    assert encoder.encode(text).tolist() == _plain(model, text)


@pytest.mark.parametrize(
    "merges",
    [
        [(b"ab", b"c"), (b"a", b"b")],
        [(b"b", b"c"), (b"abc", b"d"), (b"a", b"bc")],
        [(b"a", b"a"), (b"aaa", b"a"), (b"aa", b"a"), (b"aa", b"aa")],
    ],
)
def test_merges_out_of_order_are_merged_as_they_say(merges):
    tokens = {*BYTES, *(left + right for left, right in merges)}
    vocabulary = sorted(tokens, key=lambda token: (len(token), token))
    ids = {token: index for index, token in enumerate(vocabulary)}
    rows = np.array([[ids[left], ids[right], ids[left + right]] for left, right in merges], np.int32)
    model = BpeModel(vocabulary=tuple(vocabulary), merges=rows, pattern=Pattern("none"))
    encoder = BpeEncoder(model)
    for text in ("abc", "abcd", "aaaa", "aaaaaaa", "abcabc" * 30, "a" * 333, "abcdabc" * 40):
        assert encoder.encode(text).tolist() == _plain(model, text), text


def test_a_vocabulary_has_no_pieces_where_a_late_merge_happens_early():
    assert _pieces(model_of([(b"a", b"b"), (b"ab", b"c")])) is not None
    vocabulary = [*BYTES, b"ab", b"abc"]
    rows = np.array([[256, 99, 257], [97, 98, 256]], np.int32)  # abc before ab: it happens once ab is there
    assert _pieces(BpeModel(vocabulary=tuple(vocabulary), merges=rows, pattern=Pattern("none"))) is None


def test_a_token_that_no_merge_reaches_is_no_piece():
    ranks = {byte: index for index, byte in enumerate(BYTES)}
    ranks |= {b"bc": 256, b"abcd": 257, b"ab": 258, b"cd": 259}  # bc comes first: ab and cd never meet
    model = model_of_ranks(ranks, pattern=Pattern("none"))
    assert len(every_split(list(model.vocabulary))) == 4
    pieces = _pieces(model)
    assert pieces is not None
    assert 257 not in pieces.ids.tolist()
    assert BpeEncoder(model).encode("abcd").tolist() == [257]
    assert BpeEncoder(model).encode("abcdabcd" * 20).tolist() == _plain(model, "abcdabcd" * 20)


@pytest.mark.long
def test_the_cache_grows_and_forgets_without_a_wrong_id():
    merges = [(b"e", b"r"), (b"t", b"h"), (b"th", b"er"), (b" ", b"w"), (b"a", b"n"), (b"an", b"d")]
    model = model_of(merges)
    model = BpeModel(vocabulary=model.vocabulary, merges=model.merges, pattern=Pattern("gpt2"))
    chosen = np.random.default_rng(1)
    letters = np.array(list("therandwio"))
    words = ["".join(word) for word in chosen.choice(letters, (50_000, 12))]
    words += ["".join(word) for word in chosen.choice(letters, (20_000, 20))]
    texts = [" ".join(words[i : i + 500]) for i in range(0, len(words), 500)]
    encoder = BpeEncoder(model)
    first, again = encoder.encode_batch(texts), encoder.encode_batch(texts)
    assert np.array_equal(first.ids, again.ids)
    assert np.array_equal(first.offsets, again.offsets)
    for text, ids in list(zip(texts, first, strict=True))[::40]:
        assert BpeEncoder(model).encode(text).tolist() == ids.tolist()
        assert b"".join(model.vocabulary[i] for i in ids.tolist()) == text.encode()


def test_a_merge_of_an_empty_token_is_refused() -> None:
    with pytest.raises(TokenizerError, match=r"merge 1 has the ids \[0, 2, 3\], and one .* is empty"):
        BpeModel(vocabulary=(b"a", b"b", b"", b"ac", b"ab"), merges=np.array([[0, 1, 4], [0, 2, 3]]))


def test_a_token_that_is_there_twice_is_refused() -> None:
    with pytest.raises(TokenizerError, match="the token b'a' is in the vocabulary twice"):
        BpeModel(vocabulary=(b"", b"a", b"", b"a"), merges=np.zeros((0, 3)))


def test_merges_of_one_rank_give_one_token() -> None:
    tokens = (*(bytes([byte]) for byte in range(256)), b"ab", b"bc")
    merges = np.array([[97, 98, 256], [98, 99, 257]], np.int32)
    model = BpeModel(vocabulary=tokens, merges=merges, ranks=np.zeros(2, np.int32))
    with pytest.raises(TokenizerError, match="of the same rank must give the same token"):
        BpeEncoder(model)


@kernel
def _windows(arrays, text, size, kept):
    block = pointer(arrays)
    merges = merges_at(block, layout.PAIRS)
    return merging_pieces._merge_windows(block, merges, pointer(text), np.int64(0), size, pointer(kept))


def _by_windows(encoder: BpeEncoder, text: bytes) -> list[int] | None:
    """The numbers of the pieces of a long word, None where it has to be merged at once."""
    data = np.frombuffer(bytearray(text + bytes(PADDING)), np.uint8)
    kept, work = np.empty(len(text) + 1, np.uint32), encoder._borrow()
    count = _windows(work.block, data, len(text), kept)
    encoder._idle.append(work)
    return None if count < 0 else kept[:count].tolist()


@pytest.mark.parametrize("seed", range(12))
def test_long_words_are_merged_window_by_window(seed):
    model = model_of(_random_merges(seed, 4 + 8 * seed))
    encoder, pieces, chosen = BpeEncoder(model), _pieces(model), np.random.default_rng(seed)
    for letters in ("aab", "abc", "aaaaaaaab"):
        for text in ("".join(chosen.choice(list(letters), 500)), letters * 90):
            expected = _plain(model, text)
            assert encoder.encode(text).tolist() == expected
            if pieces is not None:
                assert [int(pieces.ids[number]) for number in _by_windows(encoder, text.encode())] == expected


def test_words_of_tokens_as_long_as_a_window_are_merged_at_once():
    doubled = [b"a" * 2**k for k in range(8)]
    model = model_of([(one, one) for one in doubled[:-1]])
    encoder, text = BpeEncoder(model), "a" * 1000
    assert _by_windows(encoder, text.encode()) is None
    assert encoder.encode(text).tolist() == _plain(model, text)
    shorter = BpeEncoder(model_of([(one, one) for one in doubled[:6]]))
    assert _by_windows(shorter, text.encode()) is not None


def _from_the_right(letters: bytes) -> BpeModel:
    """A model that merges neighbours in the alphabet, the last ones first: what follows decides."""
    tokens = [bytes([byte]) for byte in letters]
    return model_of(list(pairwise(tokens))[::-1])


def test_a_window_begins_earlier_where_its_pieces_do_not_fit_those_kept():
    letters = bytes(range(ord("A"), ord("A") + 45))
    model, text = _from_the_right(letters), letters * 21
    pieces = _pieces(model)
    found = _by_windows(BpeEncoder(model), text)
    assert [int(pieces.ids[number]) for number in found] == _plain(model, text.decode())


def test_a_word_that_only_its_end_decides_is_merged_at_once():
    letters = bytes(range(1, 160))
    model = _from_the_right(letters)
    assert _by_windows(BpeEncoder(model), letters) is None
    ascii_letters = bytes(range(1, 128)) + bytes(range(1, 100))
    assert BpeEncoder(model).encode(ascii_letters.decode()).tolist() == _plain(model, ascii_letters.decode())
