"""The checks, one idea each. A check on texts returns what is wrong with one text, or None.

`TEXT_CHECKS` are tried on many texts and the smallest failing one is reported; `WHOLE_CHECKS` look at the
tokenizer as a whole. Each carries the remedy that its failure prints.
"""

from __future__ import annotations

import contextlib
import io
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from tokbench.errors import TokbenchError
from tokbench.testing.texts import EDGE_CASES, LONE_SURROGATE, SPECIAL_TEXTS
from tokbench.tokenizer import (
    BatchDecoder,
    BatchEncoder,
    OffsetEncoder,
    Sampler,
    TokenBatch,
    TokenByter,
    Tokenizer,
    Traceable,
    special_ids,
    unk_id,
)

Problem = str | None
MEMORY_GROWTH_LIMIT = 64 << 20
SUPERLINEAR_LIMIT = 4.0


class TextCheck(NamedTuple):
    """A check tried on many texts: `run(tokenizer, text)` says what is wrong, or None."""

    name: str
    remedy: str
    run: Callable[[Tokenizer, str], Problem]


class WholeCheck(NamedTuple):
    """A check of the tokenizer as a whole: `run(tokenizer)` says what is wrong, or None."""

    name: str
    remedy: str
    run: Callable[[Tokenizer], Problem]


def _ids(tokenizer: Tokenizer, text: str) -> list[int]:
    ids: list[int] = TokenBatch.of([tokenizer.encode(text)]).ids.tolist()
    return ids


# --- on texts ------------------------------------------------------------------------------------------


def _encodes(tokenizer: Tokenizer, text: str) -> Problem:
    try:
        TokenBatch.of([tokenizer.encode(text)])
    except Exception as error:
        return f"encode raised {type(error).__name__}: {error}"
    return None


def _in_vocabulary(tokenizer: Tokenizer, text: str) -> Problem:
    wrong = [token for token in _ids(tokenizer, text) if not 0 <= token < tokenizer.vocab_size]
    return f"ids {wrong[:5]} are outside 0 … vocab_size - 1 = {tokenizer.vocab_size - 1}" if wrong else None


def _deterministic(tokenizer: Tokenizer, text: str) -> Problem:
    first, second = _ids(tokenizer, text), _ids(tokenizer, text)
    return f"two calls gave {first[:8]} and {second[:8]}" if first != second else None


def _decodes(tokenizer: Tokenizer, text: str) -> Problem:
    try:
        decoded = tokenizer.decode(_ids(tokenizer, text))
    except Exception as error:
        return f"decode(encode(text)) raised {type(error).__name__}: {error}"
    return None if isinstance(decoded, str) else f"decode returned {type(decoded).__name__}, not str"


def _round_trips(tokenizer: Tokenizer, text: str) -> Problem:
    if not getattr(tokenizer, "lossless", False):
        return None
    decoded = tokenizer.decode(_ids(tokenizer, text))
    return f"declared lossless, but it came back as {decoded[:60]!r}" if decoded != text else None


def _batch_is_single(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, BatchEncoder):
        return None
    batch = tokenizer.encode_batch([text, "", text, "a"])
    if not isinstance(batch, TokenBatch):
        return f"encode_batch returned {type(batch).__name__}, not TokenBatch"
    if batch.ids.dtype != "int32" or batch.offsets.dtype != "int64":
        return f"the batch has dtypes {batch.ids.dtype} and {batch.offsets.dtype}, not int32 and int64"
    if len(batch) != 4 or batch.offsets[0] != 0 or batch.offsets[-1] != len(batch.ids):
        return f"offsets {batch.offsets.tolist()[:6]} do not cut {len(batch.ids)} ids into 4 documents"
    single = [_ids(tokenizer, part) for part in (text, "", text, "a")]
    together = [ids.tolist() for ids in batch]
    return f"in a batch {together[0][:8]}, alone {single[0][:8]}" if together != single else None


def _decode_batch_is_single(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, BatchDecoder):
        return None
    documents = [_ids(tokenizer, part) for part in (text, "", text, "a")]
    together = tokenizer.decode_batch(TokenBatch.of(documents))
    single = [tokenizer.decode(ids) for ids in documents]
    if len(together) != len(single):
        return f"decode_batch returned {len(together)} texts for {len(single)} documents"
    wrong = [pair for pair in zip(together, single, strict=True) if pair[0] != pair[1]]
    return f"in a batch {wrong[0][0][:60]!r}, alone {wrong[0][1][:60]!r}" if wrong else None


def _decode_joins(tokenizer: Tokenizer, text: str) -> Problem:
    if not getattr(tokenizer, "decode_joins_bytes", False):
        return None
    if not isinstance(tokenizer, TokenByter):
        return "declared, but there is no token_bytes"
    ids = [token for token in _ids(tokenizer, text) if token not in special_ids(tokenizer)]
    joined = b"".join(map(tokenizer.token_bytes, ids)).decode("utf-8", "replace")
    decoded = tokenizer.decode(ids)
    return (
        f"the bytes of the tokens make {joined[:60]!r}, decode {decoded[:60]!r}" if joined != decoded else None
    )


def _bytes_of_tokens(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, TokenByter):
        return None
    parts = [tokenizer.token_bytes(token) for token in _ids(tokenizer, text)]
    if not all(isinstance(part, bytes) for part in parts):
        return "token_bytes returned something that is not bytes"
    if getattr(tokenizer, "lossless", False) and b"".join(parts) != text.encode("utf-8"):
        return f"the bytes of the tokens make {b''.join(parts)[:60]!r}"
    return None


def _offsets(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, OffsetEncoder):
        return None
    spans, ids = tokenizer.offsets(text), _ids(tokenizer, text)
    if spans.shape != (len(ids), 2):
        return f"offsets has shape {spans.shape} for {len(ids)} tokens"
    if len(spans) and (spans.min() < 0 or spans.max() > len(text) or (spans[:, 0] > spans[:, 1]).any()):
        return f"offsets {spans.tolist()[:4]} do not lie within 0 … {len(text)}"
    if len(spans) and (spans[1:, 0] < spans[:-1, 0]).any():
        return f"offsets go backwards: {spans.tolist()[:8]}"
    return None


def _sample(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, Sampler):
        return None
    import numpy as np

    one, two = (list(tokenizer.sample(text, np.random.default_rng(7), 0.1)) for _ in range(2))
    if [int(token) for token in one] != [int(token) for token in two]:
        return "the same seed gave two segmentations"
    wrong = [token for token in one if not 0 <= token < tokenizer.vocab_size]
    return f"sample gave ids {wrong[:5]} outside the vocabulary" if wrong else None


def _trace(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, Traceable) or not text:
        return None
    steps = list(tokenizer.trace(text))
    count = len(_ids(tokenizer, text))
    if steps and len(steps[-1].tokens) != count:
        return f"trace ends with {len(steps[-1].tokens)} tokens, encode gives {count}"
    return None


def _content_only(tokenizer: Tokenizer, text: str) -> Problem:
    found = special_ids(tokenizer) & set(_ids(tokenizer, text)) - {unk_id(tokenizer)}
    return f"special ids {sorted(found)[:5]} in the encoding of ordinary text" if found else None


TEXT_CHECKS = (
    TextCheck("encodes", "encode must return ids for every str; replace what it lacks by unk_id.", _encodes),
    TextCheck("vocab_size", "vocab_size must count every id that encode can return.", _in_vocabulary),
    TextCheck(
        "deterministic",
        "encode must not draw at random or keep state; offer `sample` for that.",
        _deterministic,
    ),
    TextCheck("decodes", "decode must return a str for any ids that encode returns.", _decodes),
    TextCheck("lossless", "mend decode, or declare `lossless = False`.", _round_trips),
    TextCheck(
        "batch", "encode_batch must give what encode gives for each text, as int32 and int64.", _batch_is_single
    ),
    TextCheck(
        "decode_batch", "decode_batch must give what decode gives for each document.", _decode_batch_is_single
    ),
    TextCheck(
        "decode_joins_bytes",
        "decode must be the UTF-8 text of token_bytes joined, or leave `decode_joins_bytes` out.",
        _decode_joins,
    ),
    TextCheck(
        "token_bytes",
        "token_bytes must give the token's own bytes; joined they are the text.",
        _bytes_of_tokens,
    ),
    TextCheck("offsets", "offsets are (start, end) in code points of the text, one row a token.", _offsets),
    TextCheck("sample", "draw only from the generator that is handed in.", _sample),
    TextCheck("trace", "the last step's tokens must be those of encode.", _trace),
    TextCheck(
        "content_only", "add no BOS, EOS or template; treat special tokens' text as text.", _content_only
    ),
)


# --- on the whole --------------------------------------------------------------------------------------


def _protocol(tokenizer: Tokenizer) -> Problem:
    missing = [name for name in ("name", "vocab_size", "encode", "decode") if not hasattr(tokenizer, name)]
    if missing:
        return f"it lacks {', '.join(missing)}"
    if not isinstance(tokenizer.name, str) or not tokenizer.name:
        return f"name is {tokenizer.name!r}, not a text"
    if isinstance(tokenizer.vocab_size, bool) or not isinstance(tokenizer.vocab_size, int):
        return f"vocab_size is {tokenizer.vocab_size!r}, not a whole number"
    return None if tokenizer.vocab_size > 0 else f"vocab_size is {tokenizer.vocab_size}"


def _empty(tokenizer: Tokenizer) -> Problem:
    ids = _ids(tokenizer, "")
    if ids:
        return f"encode('') gave {ids[:5]}; content-only encoding of nothing is nothing"
    decoded = tokenizer.decode([])
    return None if decoded == "" else f"decode([]) gave {decoded!r}"


def _surrogate(tokenizer: Tokenizer) -> Problem:
    try:
        _ids(tokenizer, LONE_SURROGATE)
    except (TokbenchError, ValueError):
        return None
    except Exception as error:
        return f"a lone surrogate raised {type(error).__name__}: {error}"
    return None


def _special_attributes(tokenizer: Tokenizer) -> Problem:
    outside = [token for token in special_ids(tokenizer) if not 0 <= token < tokenizer.vocab_size]
    if outside:
        return f"special_ids {outside[:5]} are outside the vocabulary"
    unknown = unk_id(tokenizer)
    if unknown is not None and not 0 <= unknown < tokenizer.vocab_size:
        return f"unk_id {unknown} is outside the vocabulary"
    return None


def _special_text(tokenizer: Tokenizer) -> Problem:
    for text in SPECIAL_TEXTS:
        found = set(_ids(tokenizer, text)) & special_ids(tokenizer) - {unk_id(tokenizer)}
        if found:
            return f"the text {text!r} was encoded as special id {sorted(found)[0]}"
    return None


def _threads(tokenizer: Tokenizer) -> Problem:
    work = [text * 20 for text in EDGE_CASES] * 4
    expected = [_ids(tokenizer, text) for text in work]
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda text: _ids(tokenizer, text), work))
    except Exception as error:
        return f"with four threads, encode raised {type(error).__name__}: {error}"
    return None if found == expected else "with four threads, encode gave other ids than alone"


def _silent(tokenizer: Tokenizer) -> Problem:
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(out):
        for text in EDGE_CASES:
            tokenizer.decode(_ids(tokenizer, text))
        moved = not Path.cwd().samefile(folder)
    if out.getvalue():
        return f"encode or decode printed {out.getvalue()[:60]!r}"
    return "encode or decode changed the working directory" if moved else None


def _memory(tokenizer: Tokenizer) -> Problem:
    import psutil

    process = psutil.Process()
    work = [text * 3 for text in EDGE_CASES]

    def rounds(count: int) -> int:
        for _ in range(count):
            for text in work:
                tokenizer.encode(text)
        return int(process.memory_info().rss)

    start = rounds(50)
    grown = rounds(200) - start
    limit = MEMORY_GROWTH_LIMIT
    return (
        f"memory grew by {grown >> 20} MiB over repeated encoding of the same texts" if grown > limit else None
    )


def _speed(tokenizer: Tokenizer) -> Problem:
    """Growth of time with length: linear is 1, quadratic is 2; measured at 4 kB and 64 kB."""
    unit = "The quick brown fox, 1234 naïve cafés and 漢字. "
    short, long = unit * 100, unit * 1600
    tokenizer.encode(short)
    times = [min(_seconds(tokenizer, text) for _ in range(3)) for text in (short, long)]
    exponent = math.log(times[1] / times[0]) / math.log(16)
    slow = exponent > 1.7 and times[1] > 0.2
    return f"time grows as length to the power {exponent:.1f} ({times[1]:.2f} s for 80 kB)" if slow else None


def _seconds(tokenizer: Tokenizer, text: str) -> float:
    start = time.process_time()
    tokenizer.encode(text)
    return max(time.process_time() - start, 1e-6)


WHOLE_CHECKS = (
    WholeCheck("empty", "encode('') must be [] and decode([]) must be ''.", _empty),
    WholeCheck(
        "surrogates", "raise TokenizerError or ValueError for text that is not valid Unicode.", _surrogate
    ),
    WholeCheck("special_ids", "special_ids and unk_id must lie within the vocabulary.", _special_attributes),
    WholeCheck(
        "special_text", "the text of a special token is ordinary text unless an option says so.", _special_text
    ),
    WholeCheck("threads", "keep no state in encode, or guard it with a lock.", _threads),
    WholeCheck("silent", "print nothing and leave the working directory alone.", _silent),
    WholeCheck("memory", "bound the caches that encode fills.", _memory),
    WholeCheck("speed", "encode in time linear in the length of the text.", _speed),
)
PROTOCOL = WholeCheck("protocol", "offer name: str, vocab_size: int, encode(text) and decode(ids).", _protocol)


def run_text_check(check: TextCheck, tokenizer: Tokenizer, text: str) -> Problem:
    """`check` on one text; an exception in anything but encode is a problem too."""
    try:
        return check.run(tokenizer, text)
    except Exception as error:
        if check.name != "encodes" and _encodes(tokenizer, text):
            return None  # reported once, by the check of encode itself
        return f"raised {type(error).__name__}: {error}"


def run_whole_check(check: WholeCheck, tokenizer: Any) -> Problem:
    """`check` on the tokenizer; an exception is a problem."""
    try:
        return check.run(tokenizer)
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"


def first_failing(check: TextCheck, tokenizer: Tokenizer, candidates: Sequence[str]) -> str | None:
    """The first of the texts on which `check` fails."""
    return next((text for text in candidates if run_text_check(check, tokenizer, text)), None)
