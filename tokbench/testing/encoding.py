"""Checks of `encode` and `decode`, which every tokenizer has, on texts."""

from __future__ import annotations

from tokbench.batch import TokenBatch
from tokbench.errors import described
from tokbench.testing.check import ConformanceCheck, Problem, ids_of
from tokbench.tokenizer import Tokenizer, special_ids, unk_id


@ConformanceCheck.of("encodes", "encode must return ids for every str; replace what it lacks by unk_id.")
def _encodes(tokenizer: Tokenizer, text: str) -> Problem:
    try:
        TokenBatch.of([tokenizer.encode(text)])
    except (Exception, SystemExit) as error:
        return f"encode raised {described(error)}"
    return None


@ConformanceCheck.of("vocab_size", "vocab_size must count every id that encode can return.")
def _in_vocabulary(tokenizer: Tokenizer, text: str) -> Problem:
    wrong = [token for token in ids_of(tokenizer, text) if not 0 <= token < tokenizer.vocab_size]
    return f"ids {wrong[:5]} are outside 0 … vocab_size - 1 = {tokenizer.vocab_size - 1}" if wrong else None


@ConformanceCheck.of("deterministic", "encode must not draw at random or keep state; offer `sample` for that.")
def _deterministic(tokenizer: Tokenizer, text: str) -> Problem:
    first, second = ids_of(tokenizer, text), ids_of(tokenizer, text)
    return f"two calls gave {first[:8]} and {second[:8]}" if first != second else None


@ConformanceCheck.of("decodes", "decode must return a str for any ids that encode returns.")
def _decodes(tokenizer: Tokenizer, text: str) -> Problem:
    try:
        decoded = tokenizer.decode(ids_of(tokenizer, text))
    except (Exception, SystemExit) as error:
        return f"decode(encode(text)) raised {described(error)}"
    return None if isinstance(decoded, str) else f"decode returned {type(decoded).__name__}, not str"


@ConformanceCheck.of("lossless", "mend decode, or declare `lossless = False`.")
def _round_trips(tokenizer: Tokenizer, text: str) -> Problem:
    if not getattr(tokenizer, "lossless", False):
        return None
    decoded = tokenizer.decode(ids_of(tokenizer, text))
    return f"declared lossless, but it came back as {decoded[:60]!r}" if decoded != text else None


@ConformanceCheck.of("content_only", "add no BOS, EOS or template; treat special tokens' text as text.")
def _content_only(tokenizer: Tokenizer, text: str) -> Problem:
    found = special_ids(tokenizer) & set(ids_of(tokenizer, text)) - {unk_id(tokenizer)}
    return f"special ids {sorted(found)[:5]} in the encoding of ordinary text" if found else None


ENCODING = (_encodes, _in_vocabulary, _deterministic, _decodes, _round_trips, _content_only)
ENCODES = _encodes
