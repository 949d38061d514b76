r"""sentencepiece's normaliser: the precompiled character map and the rules for spaces, as a kernel.

The map is a double-array trie (darts-clone's 32-bit units) from source strings to positions in a table of
NUL-terminated targets. At each position the longest source wins; where none matches, the character is copied.
Then: leading, trailing and repeated spaces go (`remove_extra_whitespaces`), a space is put before the text or
behind it (`add_dummy_prefix`, `treat_whitespace_as_suffix`), and spaces become U+2581 (`escape_whitespaces`).

Kernels see U+2581 as the single byte 0x20 wherever spaces are escaped: after escaping no other space is left,
and one byte in place of three makes everything behind it faster. `to_internal` and `to_text` convert.

Most characters have no rule, or only in front of a few others ("e" before a combining accent). `classes` says
so per code point, so that the trie is walked only where it matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench_subword.kernels.compiling import inline, kernel
from tokbench_subword.kernels.pointers import pointer
from tokbench_subword.kernels.utf8 import code_point
from tokbench_subword.pipeline.precompiled import split_map
from tokbench_subword.unigram.model_file import NormalizerSpec
from tokbench_subword.unigram.trie import BASE_MASK, BASE_SHIFT, LABEL_MASK, VALUE_SHIFT, build_trie

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

SPACE_SYMBOL = "\u2581"
ESCAPE, REMOVE_EXTRA, DUMMY, SUFFIX = 1, 2, 4, 8
"""The flags of a normaliser."""
COPIED, MAPPED, JOINED, CHECKED = 0, 1, 2, 3
"""Classes of characters: without rules; with one of its own; only in front of certain others; needing a closer
look (it may begin a user-defined symbol, or is U+2581)."""
FOLLOWER = 4
"""Set besides the class of a character that some rule has behind its first one."""
READY = 8
"""The class of a character that is replaced by up to three bytes, no more than it has, whatever follows it:
they are kept beside the class.
"""
CHARACTER_CLASS = 3 | READY
"""Mask of the class; 0 means that no rule begins with the character."""
_TARGET_SHIFT = 8
_N_CODE_POINTS = 0x110000
_MAX_RULES = 32  # sentencepiece looks at no more matches than these


@dataclass(frozen=True, slots=True, eq=False)
class Normalizer:
    """A compiled normaliser: the arrays that `normalize_into` reads.

    `units` uint32 is the map's trie (empty: no map); `targets` uint8 the NUL-terminated results; `classes`
    uint32 of ``(0x110000,)``, the target of READY characters above their class; `plain` uint8 of ``(256,)``,
    ASCII bytes that are copied whenever ASCII follows; `symbols` uint64 the trie of user-defined symbols, which
    pass through untouched; `symbol_starts` uint8 of ``(256,)`` their first bytes.
    """

    flags: int
    units: NDArray[np.uint32]
    targets: NDArray[np.uint8]
    classes: NDArray[np.uint32]
    plain: NDArray[np.uint8]
    symbols: NDArray[np.uint64]
    symbol_starts: NDArray[np.uint8]

    def __call__(self, text: str) -> str:
        """`text` normalised, as sentencepiece's own `normalize` returns it.

        Example:
            >>> compile_normalizer(NormalizerSpec())(" a  b ")
            '▁a▁b'
        """
        from tokbench_subword.kernels.utf8 import encodable

        data = encodable(text)
        normalized, _ = self.with_origins(data)
        return to_text(normalized, bool(self.flags & ESCAPE))

    def with_origins(self, data: bytes) -> tuple[bytes, NDArray[np.int64]]:
        """UTF-8 `data` normalised (internal form), and the byte that each of its bytes came from."""
        source = np.frombuffer(data + b"\0" * 16, np.uint8)
        capacity = 2 * len(data) + 64
        while True:
            out, origins = np.empty(capacity, np.uint8), np.empty(capacity + 1, np.int64)
            size = normalize(source, len(data), *self.arrays(), out, origins)
            if size >= 0:
                return out[:size].tobytes(), origins[: size + 1]
            capacity *= 2

    def arrays(self) -> tuple[Any, ...]:
        """The arguments that describe this normaliser to a kernel, in order."""
        return (
            self.flags,
            self.units,
            self.targets,
            self.classes,
            self.plain,
            self.symbols,
            self.symbol_starts,
        )


def to_internal(text: str, escaped: bool) -> bytes:
    """The form in which kernels see a piece: UTF-8, U+2581 as a space where spaces are escaped."""
    return (text.replace(SPACE_SYMBOL, " ") if escaped else text).encode()


def to_text(data: bytes, escaped: bool) -> str:
    """The inverse of `to_internal`."""
    text = data.decode()
    return text.replace(" ", SPACE_SYMBOL) if escaped else text


def compile_normalizer(
    spec: NormalizerSpec, *, suffix: bool = False, symbols: Iterable[str] = (), where: str = "model"
) -> Normalizer:
    """The compiled form of `spec`; raises `TokenizerError` for a damaged character map.

    `suffix` puts the dummy space behind the text; `symbols` are user-defined symbols, left as they are.
    """
    flags = (
        (ESCAPE if spec.escape_whitespaces else 0)
        | (REMOVE_EXTRA if spec.remove_extra_whitespaces else 0)
        | (DUMMY if spec.add_dummy_prefix else 0)
        | (SUFFIX if suffix else 0)
    )
    units, targets, classes, plain = _compile_map(spec.charsmap, where)
    keys = {symbol.encode(): index for index, symbol in enumerate(symbols)}
    starts = np.zeros(256, np.uint8)
    starts[[key[0] for key in keys]] = 1
    if keys:
        plain = np.where(starts, 0, plain).astype(np.uint8)
        classes = _checked(classes, {key.decode()[0] for key in keys})
    trie = build_trie(keys) if keys else np.zeros(0, np.uint64)
    return Normalizer(flags, units, targets, classes, plain, trie, starts)


@lru_cache(maxsize=8)
def _compile_map(charsmap: bytes, where: str) -> tuple[Any, ...]:
    classes, plain = np.zeros(_N_CODE_POINTS, np.uint32), np.zeros(256, np.uint8)
    plain[0x20:0x7F] = 1
    if not charsmap:
        plain[:0x80] = 1
        return np.zeros(0, np.uint32), np.zeros(0, np.uint8), _checked(classes, [SPACE_SYMBOL]), plain
    units, targets = split_map(charsmap, where)
    _classify(units, targets, classes, plain)
    return units, targets, _checked(classes, [SPACE_SYMBOL]), plain


def _checked(classes: NDArray[np.uint32], characters: Iterable[str]) -> NDArray[np.uint32]:
    """`classes` with `characters` CHECKED, but for those that are replaced: these are MAPPED."""
    classes = classes.copy()
    for character in map(ord, characters):
        replaced = classes[character] & CHARACTER_CLASS in (MAPPED, READY)
        classes[character] = classes[character] & FOLLOWER | (MAPPED if replaced else CHECKED)
    return classes


# --- kernels -----------------------------------------------------------------------------------------


@inline
def _offset(unit):  # type: ignore[no-untyped-def]
    """Where a unit's children are, relative to it (darts-clone)."""
    return np.int64((unit >> np.uint32(10)) << ((unit & np.uint32(1 << 9)) >> np.uint32(6)))


@inline
def trie_root(units):  # type: ignore[no-untyped-def]
    """The place of the children of the root."""
    return _offset(units[0])


@inline
def rule_step(units, n_units, node, byte):  # type: ignore[no-untyped-def]
    """From the children's place `node`, the place of the children behind `byte`, and whether a rule ends there.

    -1 where the trie has no such path.
    """
    node ^= byte
    if node >= n_units:
        return np.int64(-1), False
    unit = units[node]
    if np.int64(unit & np.uint32(0x800000FF)) != byte:
        return np.int64(-1), False
    return node ^ _offset(unit), ((unit >> np.uint32(8)) & np.uint32(1)) == np.uint32(1)


@inline
def _longest_rule(data, index, stop, units, n_units):  # type: ignore[no-untyped-def]
    """The longest rule for the text from `index` on: (bytes it takes, where its target begins), or (0, 0)."""
    node = _offset(units[0])
    length, target, found = np.int64(0), np.int64(0), 0
    position = index
    while position < stop:
        node, ends = rule_step(units, n_units, node, np.int64(data[position]))
        if node < 0:
            break
        position += 1
        if ends and node < n_units and found < _MAX_RULES:
            length, target = position - index, np.int64(units[node] & np.uint32(0x7FFFFFFF))
            found += 1
    return length, target


@kernel
def _classify(units_array, targets, classes, plain):  # type: ignore[no-untyped-def]
    """Fill the classes of all characters, and take the ASCII bytes that ASCII can change out of `plain`."""
    units, n_units = pointer(units_array), len(units_array)
    root = _offset(units[0])
    encoded = np.zeros(4, np.uint8)
    for character in range(1, len(classes)):
        if character < 0x80:
            encoded[0], size = character, 1
        elif character < 0x800:
            encoded[0], encoded[1], size = 0xC0 | character >> 6, 0x80 | character & 0x3F, 2
        elif character < 0x10000:
            encoded[0], encoded[1], size = 0xE0 | character >> 12, 0x80 | character >> 6 & 0x3F, 3
            encoded[2] = 0x80 | character & 0x3F
        else:
            encoded[0], encoded[1], size = 0xF0 | character >> 18, 0x80 | character >> 12 & 0x3F, 4
            encoded[2], encoded[3] = 0x80 | character >> 6 & 0x3F, 0x80 | character & 0x3F
        node, ends = root, False
        for position in range(size):
            node, ends = rule_step(units, n_units, node, np.int64(encoded[position]))
            if node < 0:
                break
        if node < 0:
            continue
        any_follows, ascii_follows = _mark_followers(units, n_units, node, classes)
        target = np.int64(0)
        if ends and not any_follows and node < n_units:
            target = _short_target(targets, np.int64(units[node] & np.uint32(0x7FFFFFFF)), size)
        if target > 0:
            classes[character] |= READY | target << _TARGET_SHIFT
        else:
            classes[character] |= MAPPED if ends else JOINED
        if character < 0x80 and (ends or ascii_follows):
            plain[character] = 0


@inline
def _mark_followers(units, n_units, node, classes):  # type: ignore[no-untyped-def]
    """Mark each character that the trie has behind `node` a FOLLOWER: whether there is any, and any ASCII."""
    any_follows = ascii_follows = False
    for first in range(1, 0xF5):
        after, _ = rule_step(units, n_units, node, np.int64(first))
        if after < 0:
            continue
        any_follows = True
        if first < 0x80:
            classes[first] |= FOLLOWER
            ascii_follows = True
            continue
        # Depth first over continuation bytes: `nodes` and `points` of the path, `following` the next to try.
        left = 1 if first < 0xE0 else 2 if first < 0xF0 else 3
        nodes, points = np.zeros(4, np.int64), np.zeros(4, np.int64)
        following = np.full(4, 0x80, np.int64)
        nodes[0], points[0] = after, first & (0x3F >> left)
        depth = 0
        while depth >= 0:
            byte = following[depth]
            if byte == 0xC0:
                depth -= 1
                continue
            following[depth] += 1
            after, _ = rule_step(units, n_units, nodes[depth], byte)
            if after < 0:
                continue
            point = points[depth] << 6 | byte & 0x3F
            if depth + 1 == left:
                if point < len(classes):
                    classes[point] |= FOLLOWER
            else:
                depth += 1
                nodes[depth], points[depth], following[depth] = after, point, 0x80
    return any_follows, ascii_follows


@inline
def _short_target(targets, begin, width):  # type: ignore[no-untyped-def]
    """A target of at most three bytes, and `width`, as a number; 0 for others, and where spaces are in it."""
    value, size = np.int64(0), 0
    while begin + size < len(targets) and targets[begin + size] != 0:
        byte = np.int64(targets[begin + size])
        if size == min(3, width) or byte == 0x20:
            return np.int64(0)
        value |= byte << (8 * size)
        size += 1
    return np.int64(0) if value == 0x8196E2 else value  # U+2581 itself


@inline
def _special(kind, following):  # type: ignore[no-untyped-def]
    """Whether a character may not be copied as it is, from its class and that of the character behind it.

    In bits, since no branch could predict which letters are JOINED; MAPPED and CHECKED are odd, READY is not.
    """
    return (kind | (kind >> np.uint32(1)) & (following >> np.uint32(2))) & np.uint32(1) != np.uint32(0)


@inline
def normalize_into(  # type: ignore[no-untyped-def]
    data, start, stop, flags, units, n_units, targets, n_targets, classes, plain,
    symbols, n_symbols, symbol_starts, out, capacity, origins, tracked,
):  # fmt: skip
    """Normalise ``data[start:stop]`` into `out`; returns the number of bytes, or -1 if `capacity` is too small.

    `origins`, filled where `tracked`, says for each byte of `out` (and its end) which byte after `start` it is
    of.
    """
    escape = (flags & ESCAPE) != 0
    remove_extra = (flags & REMOVE_EXTRA) != 0
    size, index = np.int64(0), start
    after_space = remove_extra
    pending = (flags & DUMMY) != 0 and (flags & SUFFIX) == 0
    leading = remove_extra
    # Held throughout: `out` has room for what is left, byte for byte, so that only expansions need a check.
    if size + (stop - start) + 16 > capacity:
        return np.int64(-1)
    while index < stop:
        byte = np.int64(data[index])
        if not leading and not pending:
            # The common cases, in place. A space behind a space is written and then overwritten: no branch.
            while plain[byte] and (index + 1 >= stop or data[index + 1] < 0x80):
                out[size] = byte
                if tracked:
                    origins[size] = index - start
                size += 0 if byte == 0x20 and after_space else 1
                after_space = byte == 0x20 and remove_extra
                index += 1
                if index >= stop:
                    break
                byte = np.int64(data[index])
            if index >= stop:
                break
            character, width = code_point(data, index)
            kind, special = classes[character], False
            while True:
                following, following_width, following_kind = np.int64(0), 0, np.uint32(0)
                behind = index + width
                if behind < stop:
                    following, following_width = code_point(data, behind)
                    following_kind = classes[following]
                special = _special(kind, following_kind)
                if special:
                    break
                if kind & np.uint32(READY):
                    target = kind >> np.uint32(_TARGET_SHIFT)
                    while target != np.uint32(0):
                        out[size] = target & np.uint32(0xFF)
                        if tracked:
                            origins[size] = index - start
                        target >>= np.uint32(8)
                        size += 1
                    after_space = False
                    character, width, kind, index = following, following_width, following_kind, behind
                    if index >= stop or (character < 0x80 and character != 0x20):
                        break
                    continue
                out[size] = data[index]
                if width > 1:
                    out[size + 1] = data[index + 1]
                if width > 2:
                    out[size + 2] = data[index + 2]
                if width > 3:
                    out[size + 3] = data[index + 3]
                if tracked:
                    for part in range(width):
                        origins[size + part] = index - start
                size += 0 if character == 0x20 and after_space else width
                after_space = character == 0x20 and remove_extra
                character, width, kind, index = following, following_width, following_kind, behind
                if index >= stop or (character < 0x80 and character != 0x20):
                    break
            if index >= stop:
                break
            if not special:  # back to where ASCII is fast
                continue
            byte = np.int64(data[index])
        # What stands for the text at `index`: bytes [begin, end) of `source`, for `taken` bytes of text.
        taken, begin, end, mapped = np.int64(0), np.int64(0), np.int64(0), False
        if symbol_starts[byte]:
            taken = _longest_symbol(data, index, stop, symbols)
        if taken == 0:
            character, width = code_point(data, index)
            if n_units > 0 and classes[character] & CHARACTER_CLASS != COPIED:
                taken, begin = _longest_rule(data, index, stop, units, n_units)
                mapped = taken > 0 and begin < n_targets
            if not mapped:
                taken = width
        if mapped:
            end = begin
            while targets[end] != 0:
                end += 1
        else:
            begin, end = index, index + taken
        if leading:
            # Only what is exactly one space is leading space; anything else ends the lead.
            if end - begin == 1 and (targets[begin] if mapped else data[begin]) == 0x20:
                index += taken
                continue
            leading = False
        if pending:
            out[size] = 0x20
            if tracked:
                origins[size] = index - start
            size, pending = size + 1, False
        if size + (end - begin) + (stop - index) + 16 > capacity:
            return np.int64(-1)
        while after_space and begin < end and (targets[begin] if mapped else data[begin]) == 0x20:
            begin += 1
        if begin < end:
            position = begin
            while position < end:
                value = targets[position] if mapped else data[position]
                if escape and value == 0xE2 and end - position >= 3:
                    second = targets[position + 1] if mapped else data[position + 1]
                    third = targets[position + 2] if mapped else data[position + 2]
                    if second == 0x96 and third == 0x81:
                        value = np.uint8(0x20)
                        position += 2
                out[size] = value
                if tracked:
                    origins[size] = index - start
                size, position = size + 1, position + 1
            last = targets[end - 1] if mapped else data[end - 1]
            after_space = last == 0x20
        index += taken
        if not remove_extra:
            after_space = False
    consumed = index - start
    if leading:
        return np.int64(0)  # nothing but space
    if remove_extra:
        while size > 0 and out[size - 1] == 0x20:
            size -= 1
            if tracked:
                consumed = origins[size]
    if (flags & DUMMY) != 0 and (flags & SUFFIX) != 0 and start < stop:
        out[size] = 0x20
        if tracked:
            origins[size] = consumed
        size += 1
    if tracked:
        origins[size] = consumed
    return size


@inline
def _longest_symbol(data, index, stop, symbols):  # type: ignore[no-untyped-def]
    """The length in bytes of the longest user-defined symbol at `index`, 0 for none."""
    unit, position, length = symbols[0], index, np.int64(0)
    while position < stop:
        base = np.int64(unit >> np.uint64(BASE_SHIFT)) & BASE_MASK
        byte = np.int64(data[position])
        unit = symbols[base + byte]
        if base == 0 or np.int64(unit & np.uint64(LABEL_MASK)) != byte:
            break
        position += 1
        if unit >> np.uint64(VALUE_SHIFT):
            length = position - index
    return length


@kernel
def normalize(  # type: ignore[no-untyped-def]
    source, n_bytes, flags, units, targets, classes, plain, symbols, symbol_starts, out, origins
):
    """`normalize_into` for a call from Python, with origins."""
    if n_bytes == 0:
        origins[0] = 0
        return np.int64(0)
    return normalize_into(
        pointer(source), np.int64(0), np.int64(n_bytes), flags, pointer(units), np.int64(len(units)),
        pointer(targets), np.int64(len(targets)), pointer(classes), pointer(plain),
        pointer(symbols), np.int64(len(symbols)), pointer(symbol_starts), pointer(out), np.int64(len(out)),
        pointer(origins), True,
    )  # fmt: skip
