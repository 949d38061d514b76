r"""What patterns mean to Oniguruma (`tokenizers`) and to Rust (tiktoken), above all where case is ignored.

Both forms are asked: the automaton, and `regex` by what is translated for it.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import compress

import pytest
import regex
import tiktoken
from tokbench_subword.pipeline.patterns.cutters import cutter_of
from tokbench_subword.pipeline.patterns.parsing import read
from tokbench_subword.pipeline.patterns.regexes import compile_regex
from tokenizers import Regex
from tokenizers import pre_tokenizers as P

from tokbench.errors import TokenizerError

TEXTS = [
    "it's 5 x banana aBcB",
    "helloWorld Foo abABab cx aCd",
    "ßss SS ẞ STRASSE straße",
    "ﬁ fi FI ﬀi fﬁ ﬃ ſt ﬆs sst",
    "İiIı K kſ Å å ǅ ŉ ʼn ᾳ αι",
    "ssx ßx i\u0307x ὒ ὒ ssss",
    "ƛ \ua7dc \u1c8a ss{1}",
    "xpLx pN\na+b $x_ [x] {,}",
    "a½ b\u200cc a٣b ʕ\u088f ＄",
    "ss{1} a+aa{2} +,-./ aab-a] \x1bb\n\n",
    "x b\n",
    "ʕ\u0558Ⓐ\u180b+ 1Ａ",
]
BOTH = [
    *(r"(?i)[^a]", r"(?i:[^a-z])", r"(?i)[^a]+|a", r"(?i)'s|[^a-z]+|[a-z]+", r"(?i)[^aeiou\s]+"),
    *(r"(?i)[^^a]+", r"(?i)\p{Lu}\p{Ll}*|\p{Ll}+|\s", r"(?i)\P{Lu}+", r"(?i)[\p{Lu}]", r"(?i)[^\p{Lu}]+"),
    *(r"(?i)[\P{Lu}]+", r"a(?i)b|c", r"x|a(?i)b|c", r"(?:a(?i)b|c)d", r"(?i)a(?-i)b|c", r"(?i)a(?-i:b)c"),
    *(r"(?i:a)b|(?i)x\b", r"(?i)i", r"(?i)İ", r"(?i)ı", r"(?i)[a-z]+", r"(?i)[^i]+", r"(?i)k"),
    *(r"(?i)[^k]+", r"(?i)å", r"(?i)ǆ", r"(?i)ss", r"(?i)straße|.", r"(?i)fi", r"(?i)ffi", r"(?i)fﬁ"),
    *(r"(?i)sst", r"(?i)s+", r"(?i)ß+", r"(?i)ŉ", r"(?i)[a-z&&[^b]]+", r"(?i)ƛ", r"(?i)[\p{Ll}]+"),
    *(r"(?i)s{1}s", r"\p{Other}", r"\p{Unassigned}+", r"\h+|\H", r"(?i)[[^a]]", r"(?i)[a[^b]]"),
    *(r"(?i)[^[^a]]", r"(?i)\x41{2}", r"(?i)[\x41-C]+", r"(?<word>a+)\s", r"(a)(?-i:b)", r"\e|\O{2}"),
    *(r"[^\d\D]|b", r"[&&a]|[^a&&]", r"a+?+b", r"(?:a*b?)*[cx]", r"(?:a|b?){2,3}[cx]", r"[a-c-e]+"),
    *(r"(?>a|ab)c", r"\pL", r"[\pL]+", r" ?\pL+|\s", r"\PN+", r"\N+", r"\p{Any}"),
    *(r"\p{Lowercase}+|\p{Cased}", r"\p{LC}+", r"\p{ll}|\p{cn}+", r"\p{LU}+", r"\p{IDC}+", r"\P{vs}"),
]
ONIGURUMA = [
    *(r"a{2}?b", r"a{2,2}?b", r"a{1,2}{2}", r"[+--]+", r"[--/]", r"b\Z", r"[]a]+|[^]a]", r"\p{posixpunct}"),
    *(r"[[:punct:]]", r"[[:alpha:]]+", r"[^[:space:]]+", r"[[:^alnum:]]+", r"(?i)[[:upper:]]+"),
    *(r"[[:xdigit:]]", r"\p{XDigit}+", r"\p{Word}+", r"[\p{Word}]+", r"\p{Lower}", r"a{,}|\{", r"(?i)ᾳ"),
    *(r"[[:lower:][:cntrl:]]", r"\w+|[^\w\s]+", r"\s?\p{L}+\b", r"\p{N}{1,3}+", r"[^\s\W]+$", r"^\w|\w\z"),
    *(r"(?i:ſ|s|k)+", r"[\p{L}&&[^a-z]]+", r"\h+|\S", r" ?[^(\s|[.,!?…。，、।۔،])]+"),
    *(r"[一-龥ʕ-ʯ]+|\p{Han}+|\p{P}",),
]
RUST = [
    *(r"(?i)(x(?:s(?-i)))a|(?=(?:s(?-i)))sx", r"(?i)(?>(?:s(?-i)))S"),
    *(r"\p{gc=LL}|\p{sc=Greek}+|\p{Script=Han}", r"a{2}?b", r"s{2}{1}|a+{2}", r"[+--]|[--a]+|[~~x]"),
    *(r"b\Z|\s\Z", r"[a-z--[b-x]~~[x]]+", r"(?s-i:A.)", r"(?P<a>b)", r"[\w--\d]+|\d", r"[\pL--\p{Lu}]+"),
    *(r"[a-z~~c-k]+", r"\<\w", r"\w\>", r"a{,}b", r"(?is)a.+", r"(?i)[\w--k]+"),
]


def both_forms(pattern: str, dialect: str, text: str) -> tuple[list[str], list[str]]:
    """The matches in a text, empty ones left out: by the cutter, and by `regex`."""
    data = text.encode()
    cut = [data[start:end].decode() for start, end in cutter_of(pattern, dialect, "Removed", True).spans(data)]
    return cut, [text[start:end] for start, end in compile_regex(pattern, dialect).spans(text) if end > start]


@pytest.mark.parametrize("pattern", BOTH + ONIGURUMA)
def test_as_oniguruma(pattern):
    split = P.Split(Regex(pattern), "removed", invert=True)
    for text in TEXTS:
        expected = [piece for piece, _ in split.pre_tokenize_str(text)]
        assert both_forms(pattern, "oniguruma", text) == (expected, expected)


@pytest.mark.parametrize("pattern", BOTH + RUST)
def test_as_rust(pattern):
    for text in TEXTS:
        data, bytes_ = text.encode(), [bytes([byte]) for byte in range(256)]
        parts = {data[begin:end] for begin in range(len(data)) for end in range(begin + 2, len(data) + 1)}
        ranks = {token: rank for rank, token in enumerate([*bytes_, *sorted(parts)])}  # what matches is a token
        theirs = tiktoken.Encoding(name="own", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        expected = [theirs.decode([token]) for token in theirs.encode_ordinary(text)]
        assert both_forms(pattern, "rust", text) == (expected, expected)


@pytest.mark.parametrize(
    ("dialect", "pattern", "what"),
    [
        ("oniguruma", r"\p{Extended_Pictographic}+", "the property 'Extended_Pictographic'"),
        ("rust", r"\p{scx=Latin}", "the property 'scx=Latin'"),
        ("rust", r"\p{Pattern_Syntax}", "the property 'Pattern_Syntax'"),
        ("oniguruma", r"\p{cwu}", "the property 'cwu'"),
        ("oniguruma", r"\p{^ Diacritic}", "the property ' Diacritic'"),
        ("oniguruma", r"(?i)(?<=ß)x", "letters in a look-behind that are one in another case"),
        ("oniguruma", r"(?i)(?:s)s", "'s' and 's', ignoring case, in different groups"),
        ("oniguruma", r"(?i)'(?:s)(?:t)", "'s' and 't', ignoring case, in different groups"),
        ("oniguruma", r"\x{zz}", "without a number"),
        ("rust", r"(?i)\x{110000}", "which is not a character"),
        ("oniguruma", r"\xE4\xB8\xAD", r"\\xE4, in Oniguruma a byte \(write \\x\{E4\} for the character\)"),
        ("oniguruma", r"(?i)[\x80-\xff]+", r"\\x80, in Oniguruma a byte"),
        ("oniguruma", r"[\w-a]", "is not a range"),
        ("oniguruma", r"[a-[b]]", "is not a range"),
        ("rust", r"[z-a]", r"z-a in brackets is not a range"),
        ("oniguruma", r"a{3,1}", "whose second number is smaller than the first"),
        ("rust", r"a**", "nothing for '\\*' to repeat"),
        ("oniguruma", r"a(?#b)", r"a group \(\?#b"),
        ("oniguruma", r"(?i:a", "a group is not closed"),
        ("oniguruma", r"\p{L", "the name of a property is not closed"),
        ("rust", "a\\", "it ends with a backslash"),
        ("rust", r"\G.", r"\\G \(where a search begins\)"),
        ("rust", r"[\A]", r"\\A in brackets"),
        ("oniguruma", r"(?~ab)", r"a group \(\?~ab"),
        ("rust", r"\p{Nonsense}", "not a regular expression"),
        ("rust", r"(?=(?i)a)b", "flags for the rest of such a group"),
        ("rust", r"(?i)(s(?-i))k", "flags for the rest of such a group"),
        ("oniguruma", r"[[:nothing:]]", "a POSIX class"),
        ("oniguruma", r"(?m)a.b", "the flags 'm'"),
        ("rust", r"(?m)^a", "the flags 'm'"),
        ("rust", r"[[:alpha:]]", "a POSIX class"),
        ("rust", r"\b{start}a", r"\\b\{…\}"),
        ("rust", r"\p{Graph}", "the property 'Graph'"),
        ("oniguruma", r"\p{L&}", "the property 'L&'"),
        ("oniguruma", r"(?:a?|ab){2,}?b", "a repetition of a part that tries an empty match before"),
        ("oniguruma", r"(?:b|(?<=b)a?){3}a", "a repetition of a part that tries an empty match before"),
        ("rust", "a{1,1000000000}", "more than 999,999,999 times"),
        ("oniguruma", "a{" + 5000 * "1" + "}", "more than 999,999,999 times"),
        ("rust", r"a(?:b*|a)*a", "a repetition of a part that tries an empty match before"),
        ("rust", r"(?:a|(?>b?))+b", "a repetition of a part that tries an empty match before"),
    ],
)
def test_what_is_not_known_to_mean_the_same_is_refused(dialect, pattern, what):
    with pytest.raises(TokenizerError, match=what):
        compile_regex(pattern, dialect)


POINTS = [*range(1, 0x700), *range(0x1C00, 0x2600), *range(0xA700, 0xAB70), 0x4E00, 0xAC00, 0x20000]
POINTS += [*range(0xFE00, 0xFFFF), *range(0x10D40, 0x10D90), *range(0x1E900, 0x1E960), 0x1F600, 0xE0100]
MEMBERS = "".join(map(chr, POINTS))


def names_of_properties() -> list[str]:
    """A fourth of what `regex` knows: binary properties, general categories and scripts, long and short."""
    known = regex._regex_core.PROPERTIES
    binary = [name for name, (_, values) in known.items() if "YES" in values]
    return [*binary, *known["GENERALCATEGORY"][1], *known["SCRIPT"][1]][::4]


def members_to_the_library(pattern: str, dialect: str) -> str | None:
    """The characters that match, of all of them; None where the library refuses the pattern."""
    try:
        if dialect == "oniguruma":
            split = P.Split(Regex(pattern), "removed", invert=True)
            return "".join(piece for piece, _ in split.pre_tokenize_str(MEMBERS))
        ranks = {bytes([byte]): byte for byte in range(256)}
        rust = tiktoken.Encoding(name="own", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        return rust.decode(rust.encode_ordinary(MEMBERS))
    except Exception:  # what `tokenizers` raises
        return None


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["oniguruma", "rust"])
def test_properties_have_the_characters_that_the_library_has_of_them(dialect):
    equal = 0
    for name in names_of_properties():
        pattern = rf"\p{{{name}}}+"
        theirs = members_to_the_library(pattern, dialect)
        with suppress(TokenizerError):
            ours = read(pattern, dialect).part.points.holds(POINTS)
            assert theirs in (None, "".join(compress(MEMBERS, ours))), name
            equal += theirs is not None
    assert equal > 120
