"""How tokens cut numbers, number by number, and whether operators stand alone: counted where a run asks for it.

The definitions are those of TokEval 1.0. A number is a run of decimal digits; its cuts are the places within it
where another token begins. Numbers and operators that are not covered by tokens throughout are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise, product

from tokbench.capabilities import OffsetEncoder
from tokbench.errors import Undefined
from tokbench.metrics.counts import Counts
from tokbench.metrics.metric import catalogued
from tokbench.tokenizer import Tokenizer, checked_ids, offsets_batch, token_bytes
from tokbench.wording import counted

_TOKEVAL = "TokEval 1.0, after Singh and Strouse, Tokenization counts, 2024"
_NUMBER = re.compile(r"\d+")
_OPERATOR = re.compile(r"\*\*|//|<<|>>|<=|>=|=>|==|!=|&&|\|\||\?:|[-+*/=<>&|^~%]|!")
_NO_OPERATOR = "!"  # what TokEval finds, and counts in no category
LENGTHS = range(2, 7)
"""Numbers of so many digits are looked at for how they are cut: there are 2^(L − 1) ways."""
MAGNITUDES = range(1, 10)
"""Numbers of so many digits are looked at for tokens a digit."""
_BY_LENGTH = {
    **{f"numbers_{length}": f"numbers of {counted(length, 'digit')}" for length in MAGNITUDES},
    **{f"tokens_{length}": f"tokens of numbers of {counted(length, 'digit')}" for length in MAGNITUDES},
}
PATTERNS = {
    f"cut_{''.join(cuts)}": f"numbers of {length} digits cut before each but the first as {''.join(cuts)} says"
    for length in LENGTHS
    for cuts in product("01", repeat=length - 1)
}


def owners(texts: Sequence[str], tokenizer: Tokenizer) -> list[list[int]]:
    """Of each text, the number of the token that each character belongs to, -1 for none.

    Of tokens that share a character, the last owns it. Where a tokenizer does not tell places, they follow from
    the bytes of its tokens; where these are not the text's, or a place is not in it, no character has an owner.
    """
    if not isinstance(tokenizer, OffsetEncoder):
        return [_by_bytes(text, tokenizer) for text in texts]
    spans, limits = offsets_batch(tokenizer, texts)
    found = [[-1] * len(text) for text in texts]
    for owner, (first, last) in zip(found, pairwise(limits.tolist()), strict=True):
        told = spans[first:last].tolist()
        if any(not 0 <= start <= end <= len(owner) for start, end in told):
            continue
        for token, (start, end) in enumerate(told):
            owner[start:end] = [token] * (end - start)
    return found


def _by_bytes(text: str, tokenizer: Tokenizer) -> list[int]:
    pieces = [token_bytes(tokenizer, index) for index in checked_ids(tokenizer, text)]
    if b"".join(pieces) != text.encode("utf-8", "surrogatepass"):
        return [-1] * len(text)
    of_bytes = [token for token, piece in enumerate(pieces) for _ in piece]
    ends = accumulate(len(character.encode("utf-8", "surrogatepass")) for character in text)
    return [of_bytes[end - 1] for end in ends]


def cut_numbers(text: str, owner: Sequence[int]) -> Iterator[str]:
    """The cuts of each number, a character for each digit but the first: 1 where a token begins, else 0.

    Example:
        >>> list(cut_numbers("1234 and 56", [0, 0, 1, 1, 2, 2, 2, 2, 2, 3, 3]))
        ['010', '0']
    """
    for number in _NUMBER.finditer(text):
        own = owner[number.start() : number.end()]
        if -1 not in own:
            yield "".join("01"[one != other] for one, other in pairwise(own))


def _count(
    names: Iterable[str],
    seen: Callable[[str, Sequence[int]], Iterator[str]],
    texts: Sequence[str],
    tokenizer: Tokenizer,
) -> dict[str, list[int]]:
    """How often each of `names` is `seen` in each text, which is told the owners of the text's characters."""
    found = [Counter(seen(*each)) for each in zip(texts, owners(texts, tokenizer), strict=True)]
    return {name: [each[name] for each in found] for name in names}


def _cuts(text: str, owner: Sequence[int]) -> Iterator[str]:
    return (f"cut_{cuts}" for cuts in cut_numbers(text, owner))


def _magnitudes(text: str, owner: Sequence[int]) -> Iterator[str]:
    for cuts in cut_numbers(text, owner):
        length = len(cuts) + 1
        yield f"numbers_{length}"
        yield from [f"tokens_{length}"] * (1 + cuts.count("1"))


def _operators(text: str, owner: Sequence[int]) -> Iterator[str]:
    for operator in _OPERATOR.finditer(text):
        own = {*owner[operator.start() : operator.end()]} - {-1}
        if not own or operator[0] == _NO_OPERATOR:
            continue
        start, end = operator.start(), operator.end()
        while start > 0 and owner[start - 1] in own:
            start -= 1
        while end < len(text) and owner[end] in own:
            end += 1
        yield "found"
        if not (text[start : operator.start()] + text[operator.end() : end]).strip():
            yield "alone"


def split_variability(t: Counts) -> float:
    """Bits of uncertainty about how a number is cut, once its length is known: averaged over the numbers.

    Example:
        >>> from tokbench.metrics.counts import Counts
        >>> seen = {name: 0 for name in PATTERNS} | {"cut_0": 3, "cut_010": 1, "cut_100": 1, "cut_001": 2}
        >>> round(split_variability(Counts(**seen)), 4)  # (3 × 0 + 4 × 1.5) / 7
        0.8571
    """
    import numpy as np

    total = bits = 0.0
    for length in LENGTHS:
        counts = np.array(
            [getattr(t, name) for name in PATTERNS if len(name) == len("cut_") + length - 1], float
        )
        n = float(counts.sum())
        if n:
            shares = counts[counts > 0] / n
            bits -= n * float(shares @ np.log2(shares))
            total += n
    if not total:
        raise Undefined(f"no numbers of {LENGTHS[0]} to {LENGTHS[-1]} digits whose tokens' places are known")
    return bits / total


def magnitude_consistency(t: Counts) -> float:
    """The standard deviation of tokens a digit over the lengths of numbers, divided by their mean.

    Example:
        >>> from tokbench.metrics.counts import Counts
        >>> seen = {f"{what}_{n}": 0 for what in ("numbers", "tokens") for n in MAGNITUDES}
        >>> seen |= {"numbers_1": 2, "tokens_1": 2, "numbers_2": 4, "tokens_2": 4}  # 1 and 1/2 a digit
        >>> round(magnitude_consistency(Counts(**seen)), 4)  # 0.25 / 0.75
        0.3333
    """
    import numpy as np

    rates = [
        getattr(t, f"tokens_{length}") / getattr(t, f"numbers_{length}") / length
        for length in MAGNITUDES
        if getattr(t, f"numbers_{length}")
    ]
    if len(rates) < 2:
        raise Undefined("numbers of two lengths or more are needed, with tokens whose places are known")
    return float(np.std(rates) / np.mean(rates))


_on_request = partial(catalogued, group="structure", on_request=True)

METRICS = (
    _on_request(
        "digit_split_variability", "bits/number", "lower",
        "Entropy of where numbers of the same length are cut, averaged over numbers of 2 to 6 digits.",
        r"\sum_L \frac{n_L}{n} H(\text{cuts} \mid L)", split_variability,
        counters=PATTERNS, count=partial(_count, PATTERNS, _cuts), source=_TOKEVAL,
        no_interval=(
            "An entropy of few numbers is too low, which resampling does not show. Compare it only on the same "
            "text."
        ),
        caveat=(
            "0 if the length of a number determines how it is cut. A cut inside the bytes of a digit does not "
            "count: the digit belongs to the last of its tokens. The entropy of each length is that of "
            "TokEval, which pools the lengths in another way."
        ),
    ),
    _on_request(
        "magnitude_consistency", "standard deviation/mean", "lower",
        "Variation of tokens per digit between numbers of 1, 2, … 9 digits: standard deviation over mean.",
        r"\frac{\sigma(r_L)}{\mu(r_L)},\ r_L = \frac{|T_L|}{L\, n_L}", magnitude_consistency,
        counters=_BY_LENGTH, count=partial(_count, _BY_LENGTH, _magnitudes), source=_TOKEVAL,
        caveat=(
            "A digit that several tokens share belongs to the last of them. Numbers of ten and more digits are "
            "left out; TokEval treats them as one more length. If lengths differ little, or have few numbers, "
            "chance makes the figure larger, and the interval may lie above the truth."
        ),
    ),
    _on_request(
        "operator_isolation", "share of operators", "higher",
        "Share of operators (+, ==, <, …) whose tokens cover only the operator and white space.",
        r"\frac{|\{o : \text{tokens of } o \text{ cover } o \text{ and spaces}\}|}{|O|}",
        lambda t: t.alone / t.found,
        counters={"found": "operators with tokens", "alone": "those whose tokens cover nothing else"},
        count=partial(_count, ("found", "alone"), _operators), needs=("found",), source="TokEval 1.0",
        caveat="Hyphens, slashes and per cent signs in prose count, too: measure it on code or formulas.",
    ),
)  # fmt: skip
