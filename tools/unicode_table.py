"""Write `tokbench/kernels/unicode_16.py`: the general category of every code point.

Run it where the installed tiktoken has the Unicode version that is wanted: the categories are those by which
its regular expressions match, found by asking them, one category at a time, over all code points.

    python tools/unicode_table.py 16.0 > tokbench/kernels/unicode_16.py
"""

from __future__ import annotations

import base64
import itertools
import sys
import zlib

NAMES = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co"
CATEGORIES = NAMES.split()


def categories() -> list[int]:
    """The index into CATEGORIES of every code point; surrogates count as unassigned."""
    import tiktoken

    found = [0] * 0x110000
    text = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
    for index, name in enumerate(CATEGORIES):
        encoding = tiktoken.Encoding(
            "probe",
            pat_str=rf"\p{{{name}}}",
            mergeable_ranks={bytes([b]): b for b in range(256)},
            special_tokens={},
        )
        for character in encoding.decode(encoding.encode_ordinary(text)):
            found[ord(character)] = index
    return found


def packed(values: list[int]) -> str:
    """Runs of (value, length in seven-bit groups), deflated, in base 85."""
    runs = bytearray()
    for value, group in itertools.groupby(values):
        runs.append(value)
        length = sum(1 for _ in group)
        while length > 127:
            runs.append(length & 127 | 128)
            length >>= 7
        runs.append(length)
    return base64.b85encode(zlib.compress(bytes(runs), 9)).decode()


def main() -> None:
    """Print the module."""
    version = sys.argv[1]
    print(
        f'"""General categories of Unicode {version}, written by tools/unicode_table.py; not to be edited."""\n'
    )
    print(f'VERSION = "{version}"\n')
    print(f'NAMES = "{NAMES}"\n')
    print("# Runs of (category index, length as a little-endian base-128 number), deflated, in base 85.")
    print("PACKED = (")
    text = packed(categories())
    for start in range(0, len(text), 100):
        print(f'    "{text[start : start + 100]}"')
    print(")")


if __name__ == "__main__":
    main()
