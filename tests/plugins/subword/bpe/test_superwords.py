"""SuperBPE against its two stages written plainly, and its files against `tokenizers`."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.family import BPE
from tokbench_subword.training.alphabet import byte_order
from tokbench_subword.training.ties import BYTES

from tests.plugins.conftest import train_on
from tests.plugins.subword.strings import ENGLISH, GPT2, hard_strings
from tests.plugins.subword.training.plain_merges import merged, plain_merges
from tokbench import TrainingCorpus
from tokbench.errors import TokenizerError
from tokbench.spec import with_defaults

STAGE_TWO = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"


trained = partial(train_on, BPE, threads=1)


def stretches(text: str) -> list[str]:
    """What is between the matches of stage two's expression, and the matches."""
    found, last = [], 0
    for match in regex.finditer(STAGE_TWO, text):
        found += [text[last : match.start()], match[0]]
        last = match.end()
    return [piece for piece in [*found, text[last:]] if piece]


def allowed(token: bytes) -> bool:
    """The authors' two rules: at most four words, and no colon before a space."""
    return b": " not in token and sum(map(bool, token.split(b" "))) <= 4


def two_stages(texts: list[str], transition: int, vocab_size: int) -> list[bytes]:
    """The vocabulary: subwords by BPE over words, then pairs of neighbours in whole stretches."""
    tokens = [bytes([byte]) for byte in byte_order(BYTES)]
    number = {token[0]: index for index, token in enumerate(tokens)}
    words = Counter(word for text in texts for word in regex.findall(GPT2, text))
    cut = [([number[byte] for byte in word.encode()], count) for word, count in words.items()]
    merges, tokens = plain_merges(cut, tokens, n_wanted=transition, rule=BYTES)
    ranks = {(left, right): (rank, new) for rank, (left, right, new) in enumerate(merges)}
    whole = []
    for stretch, count in Counter(stretch for text in texts for stretch in stretches(text)).items():
        ids = [number[byte] for byte in stretch.encode()]
        while len(ids) > 1:  # the merge of the lowest rank, the leftmost
            at = min(range(len(ids) - 1), key=lambda i: ranks.get((ids[i], ids[i + 1]), (1 << 60, 0))[0])
            if (ids[at], ids[at + 1]) not in ranks:
                break
            ids[at : at + 2] = [ranks[ids[at], ids[at + 1]][1]]
        whole.append((ids, count))
    while len(tokens) < vocab_size:
        counts: Counter[tuple[int, int]] = Counter()
        for ids, count in whole:
            for pair in pairwise(ids):
                counts[pair] += count
        pairs = [pair for pair in counts if allowed(tokens[pair[0]] + tokens[pair[1]])]
        if not pairs:
            break
        left, right = min(pairs, key=lambda pair: (-counts[pair], pair))
        token = tokens[left] + tokens[right]
        if token not in tokens:
            tokens.append(token)
        for ids, _ in whole:
            ids[:] = merged(ids, (left, right), tokens.index(token))
    return tokens


_texts = st.lists(st.text("ab :.1", min_size=1, max_size=30), min_size=1, max_size=6)


@settings(max_examples=25, deadline=None)
@given(_texts, st.integers(256, 262), st.integers(0, 14))
def test_both_stages_are_as_written_plainly(texts: list[str], transition: int, more: int) -> None:
    size = transition + more
    tokenizer = trained(texts, vocab_size=size, transition=transition, ties="bytes")
    assert list(tokenizer.model.vocabulary) == two_stages(texts, transition, size)


@pytest.mark.long
@pytest.mark.parametrize("threads", [1, 2])
def test_real_text(threads: int) -> None:
    texts = [f"{line} {line[:40]}: {line[40:60]}" for line in ENGLISH[:40]]
    tokenizer = trained(texts, vocab_size=520, transition=400, threads=threads, ties="bytes")
    assert list(tokenizer.model.vocabulary) == two_stages(texts, 400, 520)
    assert any(b" " in token.strip() for token in tokenizer.model.vocabulary)


def test_the_file_has_the_ids_of_tokenizers(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    tokenizer = trained(ENGLISH, vocab_size=1500, transition=1000)
    plain = trained(ENGLISH, vocab_size=1500)
    tokenizer.save(tmp_path / "tokenizer.json")
    theirs = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    texts = [*ENGLISH, "\n".join(ENGLISH), *hard_strings(300)]
    for text in texts:
        assert theirs.encode(text, add_special_tokens=False).ids == tokenizer.encode(text).tolist(), text
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert sum(map(len, map(tokenizer.encode, ENGLISH))) < sum(map(len, map(plain.encode, ENGLISH)))
    assert BPE.train_sizes is not None
    options = with_defaults(BPE.options, {"threads": 1, "transition": 300, "vocab_size": 400})
    nested = BPE.train_sizes(TrainingCorpus.of_texts(ENGLISH[:20]), options, [290, 350, 400], lambda *_: None)
    alone = trained(ENGLISH[:20], vocab_size=350, transition=300)
    assert [*nested] == [350, 400]
    assert nested[350].model.merges.tolist() == alone.model.merges.tolist()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 300, "transition": 301}, "transition=301 is above vocab_size=300"),
        ({"vocab_size": 300, "transition": 200}, "at least 256"),
        ({"vocab_size": 300, "transition": 280, "level": "char"}, "level=byte"),
        ({"vocab_size": 300, "transition": 280, "ties": "first_seen"}, "ties=hf or bytes"),
    ],
)
def test_what_cannot_be_is_said(options: dict[str, object], message: str) -> None:
    assert BPE.check is not None
    with pytest.raises(TokenizerError, match=message):
        BPE.check(with_defaults(BPE.options, options))  # type: ignore[arg-type]
