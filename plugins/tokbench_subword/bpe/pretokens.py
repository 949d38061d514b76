r"""Pre-tokens: the spans that a pattern cuts text into, before any merge.

Three patterns, in five variants, are state machines over UTF-8 bytes and a code-point class table. They are the
ones behind most byte-level vocabularies in use:

| machine | whose | letters | digits | spaces at the end of a text |
|---|---|---|---|---|
| `GPT2` | GPT-2, r50k, p50k, RoBERTa, BLOOM-like | ``" ?\p{L}+"`` | any run | |
| `CL100K` | tiktoken's cl100k_base | ``[^\r\n\p{L}\p{N}]?\p{L}+`` | 1 to 3 | one pre-token |
| `LLAMA3` | the same as written for `tokenizers` (Llama 3) | as above | 1 to 3 | cut after the last newline |
| `QWEN2` | Qwen2 | as above | 1 | as Llama 3 |
| `O200K` | tiktoken's o200k_base | by case | 1 to 3 | cut after the last newline |

`next_pretoken` is compiled into the kernels that need it; `Pattern` is its face in Python and takes any other
regular expression as well, by way of `regex` (slower, and the oracle in the tests). What ``\p{L}`` means is
`unicode_classes`' affair.
"""

from __future__ import annotations

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import pointer
from tokbench.kernels.unicode_classes import (
    KIND,
    LETTER,
    LOWERISH,
    NEWLINE,
    NUMBER,
    SPACE,
    UPPERISH,
)
from tokbench.kernels.utf8 import code_point

GPT2, CL100K, LLAMA3, QWEN2, O200K, WHOLE = range(6)
"""Numbers of the machines; `WHOLE` takes all of the text as one pre-token."""

_APOSTROPHE, _BLANK, _SLASH = 0x27, 0x20, 0x2F


@inline
def _run(text, i, end, classes, kind):  # type: ignore[no-untyped-def]
    """The end of the run of code points of one `kind` that begins at `i` (which may be empty)."""
    while i < end:
        byte = text[i]
        if byte < 0x80:
            if (classes[byte] & KIND) != kind:
                return i
            i += 1
        else:
            point, length = code_point(text, i)
            if (classes[point] & KIND) != kind:
                return i
            i += length
    return i


@inline
def _flagged(text, i, end, classes, flag):  # type: ignore[no-untyped-def]
    """The end of the run of code points that carry `flag`."""
    while i < end:
        byte = text[i]
        if byte < 0x80:
            if not classes[byte] & flag:
                return i
            i += 1
        else:
            point, length = code_point(text, i)
            if not classes[point] & flag:
                return i
            i += length
    return i


@inline
def _contraction(text, i, end, fold):  # type: ignore[no-untyped-def]
    """The end of 's 't 'd 'm 'll 've 're beginning at `i`, or `i`; `fold` is 32 to ignore case, else 0.

    Ignoring case, U+017F (long s) is an s: that is Unicode's simple case folding.
    """
    if i + 1 >= end or text[i] != _APOSTROPHE:
        return i
    one = text[i + 1] | fold
    if one == 0x73 or one == 0x74 or one == 0x64 or one == 0x6D:
        return i + 2
    if i + 2 < end:
        two = text[i + 2] | fold
        if (one == 0x6C and two == 0x6C) or ((one == 0x76 or one == 0x72) and two == 0x65):
            return i + 3
        if fold and text[i + 1] == 0xC5 and text[i + 2] == 0xBF:
            return i + 3
    return i


@inline
def _digits(text, i, end, classes, most):  # type: ignore[no-untyped-def]
    """The end of at most `most` numbers from `i` on."""
    count = 0
    while i < end and count < most:
        point, length = code_point(text, i)
        if (classes[point] & KIND) != NUMBER:
            break
        i += length
        count += 1
    return i


@inline
def _spaces(text, i, end, classes, cut_newlines):  # type: ignore[no-untyped-def]
    r"""The end of the pre-token of white space at `i`: ``\s*[\r\n]+ | \s+(?!\S) | \s+``.

    With `cut_newlines` 0, ``\s+$`` comes before the newlines (tiktoken's cl100k); with 1 after them; with 2
    newlines are spaces like any other (GPT-2).
    """
    start, last, after_newline = i, i, i
    while i < end:
        point, length = code_point(text, i)
        flags = classes[point]
        if not flags & SPACE:
            break
        last = i
        i += length
        if flags & NEWLINE:
            after_newline = i
    if i == end and cut_newlines != 1:
        return i
    if after_newline > start and cut_newlines != 2:
        return after_newline
    if i == end or last == start:
        return i
    return last  # the last space goes with what follows it


@inline
def _next_gpt2(text, i, end, classes):  # type: ignore[no-untyped-def]
    after = _contraction(text, i, end, 0)
    if after > i:
        return after
    start = i
    if text[i] == _BLANK and i + 1 < end:
        start = i + 1
    point, length = code_point(text, start)
    kind = classes[point] & KIND
    if kind != SPACE:
        return _run(text, start + length, end, classes, kind)
    return _spaces(text, i, end, classes, 2)


@inline
def _next_cl100k(text, i, end, classes, most_digits, cut_newlines):  # type: ignore[no-untyped-def]
    after = _contraction(text, i, end, 32)
    if after > i:
        return after
    point, length = code_point(text, i)
    flags = classes[point]
    kind = flags & KIND
    j = i + length
    if kind == LETTER:
        return _run(text, j, end, classes, LETTER)
    if kind == NUMBER:
        return _digits(text, i, end, classes, most_digits)
    if j < end and not flags & NEWLINE:
        following, following_length = code_point(text, j)
        following_kind = classes[following] & KIND
        if following_kind == LETTER:
            return _run(text, j + following_length, end, classes, LETTER)
        if point == _BLANK and following_kind == 0:
            kind = following_kind
    if kind == 0:
        j = _run(text, j, end, classes, 0)
        while j < end and (text[j] == 0x0A or text[j] == 0x0D):
            j += 1
        return j
    return _spaces(text, i, end, classes, cut_newlines)


@inline
def _cased_word(text, i, end, classes):  # type: ignore[no-untyped-def]
    r"""The end of o200k's word at `i` (or `i`), and whether it is of the first kind: ``U*W+`` or else ``U+W*``.

    U is Lu, Lt, Lm, Lo, M and W is Ll, Lm, Lo, M. The overlap (Lm, Lo, M) makes a greedy ``U*`` give characters
    back until ``W+`` finds one. So after the run of U: go on through W if one follows; else end after the last
    character of the run that is also W; else the run has no W at all and is a ``U+``.
    """
    after_both = i
    j = i
    while j < end:
        point, length = code_point(text, j)
        flags = classes[point]
        if not flags & UPPERISH:
            break
        j += length
        if flags & LOWERISH:
            after_both = j
    after_upper = j
    j = _flagged(text, after_upper, end, classes, LOWERISH)
    if j > after_upper:
        return _contraction(text, j, end, 32), True
    if after_both > i:
        return _contraction(text, after_both, end, 32), True
    if j > i:
        return _contraction(text, j, end, 32), False
    return i, False


@inline
def _next_o200k(text, i, end, classes):  # type: ignore[no-untyped-def]
    point, length = code_point(text, i)
    flags = classes[point]
    kind = flags & KIND
    j = i + length
    wordlike = flags & (UPPERISH | LOWERISH)
    if kind == 0 or (kind == SPACE and not flags & NEWLINE):  # a character that may stand before a word
        after, first_kind = _cased_word(text, j, end, classes)
        # A mark may also begin a word itself, and the first kind of word without a character before it comes
        # before the second kind with one.
        if after > j and (first_kind or not wordlike):
            return after
    if wordlike:
        after, first_kind = _cased_word(text, i, end, classes)
        return after
    if kind == NUMBER:
        return _digits(text, i, end, classes, 3)
    if point == _BLANK and j < end:
        following, _ = code_point(text, j)
        if (classes[following] & KIND) == 0:
            kind = classes[following] & KIND
    if kind == 0:
        j = _run(text, j, end, classes, 0)
        while j < end and (text[j] == 0x0A or text[j] == 0x0D or text[j] == _SLASH):
            j += 1
        return j
    return _spaces(text, i, end, classes, 1)


@inline
def next_pretoken(machine, text, i, end, classes):  # type: ignore[no-untyped-def]
    """The end of the pre-token of `machine` that begins at byte `i` of a text that ends at byte `end`.

    `text` is a uint8 pointer to valid UTF-8, `classes` a uint8 pointer to `unicode_classes.class_table()`;
    ``i < end``; nothing at or past `end` is read. The result is in ``i + 1 .. end``.
    """
    if machine == GPT2:
        return _next_gpt2(text, i, end, classes)
    if machine == O200K:
        return _next_o200k(text, i, end, classes)
    if machine == CL100K:
        return _next_cl100k(text, i, end, classes, 3, 0)
    if machine == LLAMA3:
        return _next_cl100k(text, i, end, classes, 3, 1)
    if machine == QWEN2:
        return _next_cl100k(text, i, end, classes, 1, 1)
    return end


@kernel
def pretoken_ends(machine, text, length, classes, ends):  # type: ignore[no-untyped-def]
    """Write the end of each pre-token of ``text[:length]`` into `ends` (int64, `length` long); return how many.

    The kernel behind `Pattern.spans`: `text` and `classes` are uint8 arrays.
    """
    text_pointer, class_pointer = pointer(text), pointer(classes)
    i, count = 0, 0
    while i < length:
        i = next_pretoken(machine, text_pointer, i, length, class_pointer)
        ends[count] = i
        count += 1
    return count
