r"""Patterns of other libraries rewritten for `regex`.

`tokenizers` hands patterns to Oniguruma (Ruby syntax), tiktoken to Rust's fancy-regex, and we to `regex`. Most
of what vocabularies use is written and means the same in all three. What differs is translated:

| written | Oniguruma | Rust | here |
|---|---|---|---|
| ``a{1,3}+`` | repeated ``a{1,3}`` | possessive | ``(?:a{1,3})+`` or possessive |
| ``$`` | end of any line | end of text | ``(?=\n\|\Z)`` or ``\Z`` |
| ``^`` | beginning of any line, but not the end | beginning of text | ``(?<=\n)(?!\Z)\|\A`` or ``\A`` |
| ``\Z``, ``\z`` | end or last newline, end | –, end | ``(?=\n?\Z)``, ``\Z`` |
| ``\h`` | hexadecimal digit | the same | ``[0-9a-fA-F]`` |
| ``\N`` | not the end of a line | the same | ``[^\n]`` |
| ``\pL`` | the letters ``pL`` | a property | ``pL`` or ``\p{L}`` |
| ``[[:punct:]]`` | such characters | – | ``[[\p{P}\p{S}]]`` |
| ``[a--b]`` | all of these characters | one set without another | by dialect |
| ``\<``, ``\>`` | these characters | beginning and end of a word | by dialect |
| ``a(?i)b\|c`` | ``a(?i:b\|c)`` | ``a(?i:b)\|(?i:c)`` | by dialect |
| ``\w`` | letters, marks, ``\p{Nd}``, connectors and ² ³ ¹ ¼ ½ ¾ | those and the two joiners | by dialect |

and what cannot be is refused by name rather than guessed.

What ignores case is spelled out (`ignoring_case`). Rust adds other cases to each set before it is inverted or
put into another. Oniguruma adds them to a set as a whole, and leaves ``\p{Lu}`` outside of brackets as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from tokbench.errors import TokenizerError
from tokbench.kernels.unicode_classes import exact_class
from tokbench_subword.pipeline.class_names import POSIX_CLASSES, is_untold, property_members, word_members

Dialect = Literal["oniguruma", "rust", "regex"]

_REFUSED = {"g": "subexpression call", "K": "keep", "R": "line break", "X": "grapheme"}
_BRACED = re.compile(r"\\p\{[^}]*\}")
_IN_BRACES = r"\\[xu]\{([0-9A-Fa-f]+)\}"
_FOUR_OR_EIGHT = r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})"
_HEXADECIMAL = {
    "oniguruma": re.compile(rf"{_IN_BRACES}|\\x([0-9A-Fa-f]{{1,2}})|{_FOUR_OR_EIGHT}"),  # U: our own ranges
    "rust": re.compile(rf"{_IN_BRACES}|\\x([0-9A-Fa-f]{{2}})|{_FOUR_OR_EIGHT}"),
    "regex": re.compile(_IN_BRACES),
}
"""Characters written by their numbers."""
_NO_PROPERTY = re.compile(r"\\([pP])(?!\{)")
_POSIX = re.compile(r"\[:(\^?)(\w+):\]")


def quoted(text: str) -> str:
    r"""An expression of any dialect that matches `text` and nothing else.

    Example:
        >>> print(quoted("a.b"))
        a\.b
    """
    return "".join(f"\\{one}" if one in r"\.^$*+?{}[]|()-#&~" else one for one in text)


class Translator:
    """One pass over a pattern: atoms are copied, what means something else in `regex` is rewritten."""

    def __init__(self, source: str, dialect: Dialect, exact: bool) -> None:
        self.source = source
        self.exact = exact
        self.dialect = dialect
        self.at = 0
        self.out: list[str] = []
        self.open: list[tuple[int, bool]] = []  # where in `out` each open group begins; `fold` around it
        self.unclosed = [0]  # how many groups, opened by flags, end with the pattern, and with each of those
        self.fold = False  # whether case is ignored
        self.letters = ""  # those at hand that are to be spelled in all cases
        self.before = ""  # the letter that ends what was spelled before, if but the edge of a group is between

    def run(self) -> str:
        """The pattern rewritten; raises `TokenizerError` for what cannot be."""
        rules: dict[str, Callable[[], str]] = {
            "\\": lambda: self._escape(in_class=False),
            "[": self._class,
            "^": lambda: self._plain(r"(?:(?<=\n)(?!\Z)|\A)" if self.dialect == "oniguruma" else r"\A"),
            "$": lambda: self._plain(r"(?=\n|\Z)" if self.dialect == "oniguruma" else r"\Z"),
            "{": lambda: self._plain("{" if self.dialect == "regex" else r"\{"),
        }
        while self.at < len(self.source):
            here = self.source[self.at]
            if self.fold and (letter := self._letter()):
                if re.match(r"\{1\}(?![?+*{])", self.source[self.at :]):  # once is no repetition
                    self.at += 3
                if self._repeats():
                    self._spell()
                    self.out.append(self._quantified(self._in_all_cases(letter)))
                    self.before = ""
                else:
                    self.letters += letter
                continue
            self._spell()
            if here == "(":
                self._group()
                continue
            if here == ")":
                self.at += 1
                if not self.open:
                    raise TokenizerError(f"the pattern {self.source[:200]!r} closes a group it did not open")
                start, self.fold = self.open.pop()
                atom = "".join(self.out[start:]) + ")" * (1 + self.unclosed.pop())
                del self.out[start:]
            elif here == "|":
                self.at += 1
                self.out.append("|")
                self.before = ""
                continue
            else:
                self.before = ""
                atom = rules.get(here, lambda: self._plain(self.source[self.at]))()
            if self._repeats():
                self.before = ""
            self.out.append(self._quantified(atom))
        self._spell()
        return "".join(self.out) + ")" * self.unclosed[0]

    def _plain(self, text: str) -> str:
        self.at += 1
        return text

    def _group(self) -> None:
        """Copy what opens a group; flags mean different things in Ruby's syntax."""
        head = "("
        self.at += 1
        if self.source.startswith("?", self.at):
            end = self.at + 1
            while end < len(self.source) and self.source[end] not in ":=!>)<(":
                end += 1
            if self.source.startswith("<", end) and self.source[end + 1 : end + 2] in ("=", "!"):
                end += 1
            elif self.source.startswith("<", end) or self.source.startswith("?#", self.at):
                raise self._refused("a named group or a comment")
            head += self.source[self.at : end + 1]
            self.at = end + 1
            if head[-1] in ":)" and self.dialect != "regex":
                return self._flags(*head[2:-1].partition("-")[::2], head[-1])
            if head.endswith(")"):  # "(?i)": flags for the rest
                self.out.append(head)
                return
        self._open(head, self.fold)

    def _open(self, head: str, fold: bool) -> None:
        self.open.append((len(self.out), self.fold))
        self.unclosed.append(0)
        self.out.append(head)
        self.fold = fold
        if head != "(?:":
            self.before = ""

    def _flags(self, on: str, off: str, ended: str) -> None:
        """Open a group with flags, or set them for the rest of the one at hand; that of case is spelled out."""
        wrong = "".join(sorted(set(on + off) - set(self.flags)))
        if wrong:
            raise self._refused(f"the flags {wrong!r}" if wrong.isalpha() else f"a group (?{on}")
        around = any(self.out[start] in ("(?=", "(?!", "(?<=", "(?<!") for start, _ in self.open)
        if around and ended == ")" and self.dialect == "rust":  # fancy-regex has them go on behind that
            raise self._refused("flags for the rest of a lookaround")
        fold = "i" in on or (self.fold and "i" not in off)
        others = on.replace("i", "") + "-" * (off not in ("", "i")) + off.replace("i", "")
        if ended == ":":
            self._open(f"(?{others}:", fold)
            return
        self.fold = fold
        if others:
            self.out.append(f"(?{others})")
        if self.dialect == "oniguruma":  # all alternatives that follow are one group
            self.unclosed[-1] += 1
            self.out.append("(?:")

    @property
    def flags(self) -> str:
        """The flags that groups may have."""
        return "i" if self.dialect == "oniguruma" else "is"

    def _letter(self) -> str:
        """The character at hand, however it is written, if it has cases, stepped over; nothing for others."""
        from tokbench_subword.pipeline.ignoring_case import has_cases

        letter, end = self._numbered() or (self.source[self.at], self.at + 1)
        if self.dialect == "oniguruma" and (name := _NO_PROPERTY.match(self.source, self.at)):
            letter, end = name[1], name.end()
        if letter in "\\[](){}*+?|^$." or not has_cases(letter):
            return ""
        self.at = end
        return letter

    def _numbered(self) -> tuple[str, int] | None:
        """The character that is written at hand by its number, and where that ends; None where none is."""
        number = _HEXADECIMAL[self.dialect].match(self.source, self.at)
        if number is None:
            return None
        point = int(number[number.lastindex or 0], 16)
        if point > 0x10FFFF:
            raise self._refused(f"{number[0]}, which is no character")
        return chr(point), number.end()

    def _spell(self) -> None:
        """Write the letters at hand in all cases.

        Oniguruma takes letters for one also across the edge of a group: such are refused.
        """
        from tokbench_subword.pipeline.ignoring_case import may_be_one

        if not self.letters:
            return
        first = self.letters[0]
        if self.dialect == "oniguruma" and self.before and may_be_one(self.before + first):
            raise self._refused(f"{self.before!r} and {first!r}, ignoring case, in different groups")
        self.out.append(self._in_all_cases(self.letters))
        self.letters, self.before = "", self.letters[-1]

    def _in_all_cases(self, letters: str) -> str:
        from tokbench_subword.pipeline.ignoring_case import in_all_cases

        return self._not_behind(in_all_cases(letters, rows=self.dialect == "oniguruma"))

    def _not_behind(self, expression: str) -> str:
        """An expression that only Oniguruma's look-behind reads otherwise, where it has alternatives."""
        if "|" in expression and any(self.out[start] in ("(?<=", "(?<!") for start, _ in self.open):
            raise self._refused("letters in a look-behind that are one in another case")
        return expression

    def _set_in_all_cases(self, text: str) -> str:
        """A bracket expression with all characters that are of it but for their case."""
        from tokbench_subword.pipeline.ignoring_case import rows_of_set, set_in_all_cases
        from tokbench_subword.pipeline.pattern_tree import NotExpressible

        head = "[^" if text.startswith("[^") else "["
        inside, rows = f"[{text[len(head) :]}", ""
        try:
            found = head + set_in_all_cases(inside).removeprefix("[")
            if self.dialect == "oniguruma" and head == "[":
                repeated = re.match(r"[*+]|\{[01]?,\}", self.source[self.at :]) is not None
                rows = rows_of_set(inside, repeated=repeated)
        except NotExpressible as reason:
            raise self._refused(f"a set that ignores case, with {reason}") from reason
        return self._not_behind(f"(?:{found}{rows})") if rows else found

    def _class(self, *, nested: bool = False) -> str:
        """Copy a bracket expression, translating the escapes and POSIX names in it."""
        self.at += 1
        head, parts = "[", [""]  # parts: what stands between operators, as Rust has them
        if self.source.startswith("^", self.at):
            head += self._plain("^")
        if self.source.startswith("]", self.at):
            parts[-1] += self._plain(r"\]")
        while not self.source.startswith("]", self.at):
            if self.at >= len(self.source):
                raise TokenizerError(f"the pattern {self.source[:200]!r} has an unclosed bracket")
            here = self.source[self.at]
            twice = self.source.startswith(here * 2, self.at)
            if self.source.startswith("[:", self.at):
                parts[-1] += self._posix()
            elif here == "\\":
                parts[-1] += self._escape(in_class=True)
            elif here == "[":
                parts[-1] += self._class(nested=True)
            elif twice and here in self.operators:
                self.at += 2
                parts += [here * 2, ""]
            elif here == "^" or (twice and here in "-~|"):  # not operators, as two of them are for `regex`
                parts[-1] += "\\" + self._plain(here)
            else:
                parts[-1] += self._plain(here)
        self.at += 1
        if len(parts) > 1 and "" in parts:
            raise self._refused("a set with nothing on one side of an operator")
        if len(parts) > 1 and self.fold and self.dialect == "rust":
            parts[::2] = [self._set_in_all_cases(f"[{part}]") for part in parts[::2]]
        text = self._set_text(head, parts)
        folds = self.fold and not (nested and self.dialect == "oniguruma")
        return self._set_in_all_cases(text) if folds else text

    def _set_text(self, head: str, parts: list[str]) -> str:
        """The brackets around sets with operators between them."""
        return f"{head}{''.join(parts)}]"

    @property
    def operators(self) -> str:
        """Characters two of which are an operator between sets."""
        return {"oniguruma": "&", "rust": "-&~", "regex": ""}[self.dialect]

    def _posix(self) -> str:
        name = _POSIX.match(self.source, self.at)
        if name is None or name[2] not in POSIX_CLASSES or self.dialect != "oniguruma":
            raise self._refused("a POSIX class")
        self.at = name.end()
        return f"[{name[1]}{self._exactly(POSIX_CLASSES[name[2]])}]"

    def _exactly(self, members: str) -> str:
        """The inside of a bracket expression, with properties as they are in Unicode 16.0."""
        return _BRACED.sub(lambda found: exact_class(found[0]), members) if self.exact else members

    def _property(self, *, in_class: bool) -> str:
        """What a property in braces stands for."""
        end = self.source.find("}", self.at)
        text = self.source[self.at : end + 1]
        self.at = end + 1
        if self.dialect == "regex":
            return exact_class(text) if self.exact else text
        name = text[3:-1].removeprefix("^")
        if is_untold(name, self.dialect):
            raise self._refused(f"the property {name!r}, whose characters in Unicode 16.0 are not known here")
        members = property_members(name, self.dialect, in_class=in_class)
        folds = self.fold and self.dialect == "rust"
        if not folds and members is None:
            return exact_class(text) if self.exact else text
        inverted = (text[1] == "P") != text.startswith("^", 3)
        members = members or f"\\p{{{name}}}"
        found = f"[{'^' * inverted}{self._exactly(members)}]"
        return self._set_in_all_cases(found) if folds else found

    def _escape(self, *, in_class: bool) -> str:
        letter = self.source[self.at + 1 : self.at + 2]
        if letter in ("p", "P") and self.source.startswith("{", self.at + 2):
            return self._property(in_class=in_class)
        if letter in ("p", "P") and self.dialect == "rust":  # the name is the next letter
            name = self.at + 2
            self.source = f"{self.source[:name]}{{{self.source[name : name + 1]}}}{self.source[name + 1 :]}"
            return self._property(in_class=in_class)
        if numbered := self._numbered():
            character, self.at = numbered
            return f"\\U{ord(character):08X}"
        if letter and letter in "xuU" and self.dialect != "regex":
            raise self._refused(f"\\{letter} without a number behind it")
        if (letter in _REFUSED and self.dialect != "regex") or letter.isdigit():
            raise self._refused(f"\\{letter} ({_REFUSED.get(letter, 'back-reference')})")
        if letter in "bB" and not in_class:
            if self.dialect == "rust" and self.source.startswith("{", self.at + 2):
                raise self._refused(f"\\{letter}{{…}}")
            return self._boundary(letter)
        if letter in ("<", ">") and self.dialect == "rust" and not in_class:
            return self._boundary(letter)
        self.at += 2
        if letter == "N" and self.dialect != "regex" and not in_class:
            return r"[^\n]"
        if letter in "pPN" and self.dialect == "oniguruma":
            return letter
        if letter in "dD" and self.exact:
            return exact_class("\\p{Nd}" if letter == "d" else "\\P{Nd}")
        if letter in "wW":
            members = self._exactly(word_members(self.dialect, in_class=in_class))
            if letter == "W":
                return f"[^{members}]"
            return members if in_class else f"[{members}]"
        if letter in "hH" and self.dialect != "regex":
            return "[0-9a-fA-F]" if letter == "h" else "[^0-9a-fA-F]"
        if letter == "Z" and self.dialect == "oniguruma":
            return r"(?=\n?\Z)"
        if letter == "z":
            return r"\Z"
        if letter == "X" and self.dialect == "regex":
            return r"\X"
        return "\\" + letter

    def _boundary(self, letter: str) -> str:
        self.at += 2
        word = f"[{self._exactly(word_members(self.dialect, in_class=False))}]"
        ends, begins = f"(?<={word})(?!{word})", f"(?<!{word})(?={word})"
        if letter in "<>":
            return begins if letter == "<" else ends
        return f"(?:{ends}|{begins})" if letter == "b" else f"(?!(?:{ends}|{begins}))"

    def _repeats(self) -> bool:
        """Whether a quantifier is at hand."""
        return self.source[self.at : self.at + 1] in tuple("*+?") or (
            self.source.startswith("{", self.at) and self._interval() > 0
        )

    def _quantified(self, atom: str) -> str:
        """`atom` with the quantifiers that follow it."""
        first = True
        while self.at < len(self.source):
            here = self.source[self.at]
            if here in "*+?":
                mark = self._plain(here)
            elif here == "{" and (end := self._interval()) > 0:
                mark, self.at = self.source[self.at : end].replace("{,}", "*"), end
                if first and self.dialect == "oniguruma" and self.source.startswith("+", self.at):
                    atom, first = f"(?:{atom}{mark})", True  # the + repeats the interval
                    continue
            else:
                break
            if self.source[self.at : self.at + 1] in ("?", "+"):
                mark += self._plain(self.source[self.at])
            atom, first = atom + mark, False
        return atom

    def _interval(self) -> int:
        """The end of ``{n}``, ``{n,}``, ``{,m}`` or ``{n,m}`` from here, or 0 where it is a brace."""
        end = self.source.find("}", self.at)
        body = self.source[self.at + 1 : end].split(",") if end > 0 else []
        fits = 1 <= len(body) <= 2 and all(not part or part.isdigit() for part in body)
        fits &= any(body) or (len(body) == 2 and self.dialect == "rust")
        return end + 1 if fits else 0

    def _refused(self, what: str) -> TokenizerError:
        other = "tiktoken" if self.dialect == "rust" else "transformers"
        return TokenizerError(
            f"the pattern {self.source[:200]!r} uses {what}, which this plugin does not translate; "
            f"load the tokenizer with the `{other}` family instead"
        )
