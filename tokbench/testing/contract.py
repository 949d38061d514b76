"""Checks of what every tokenizer has: `encode` and `decode` on texts, then attributes, unknown ids, copies."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Mapping

from tokbench.batch import TokenBatch
from tokbench.capabilities import Describable, TokenByter
from tokbench.errors import TokbenchError, TokenizerError, described
from tokbench.testing.check import ConformanceCheck, Problem, ids_of
from tokbench.testing.texts import EDGE_CASES, LONE_SURROGATE, SPECIAL_TEXTS
from tokbench.tokenizer import Tokenizer, check_facts, special_ids, unk_id


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


@ConformanceCheck.of("protocol", "offer name: str, vocab_size: int, encode(text) and decode(ids).")
def _protocol(tokenizer: Tokenizer) -> Problem:
    missing = [name for name in ("name", "vocab_size", "encode", "decode") if not hasattr(tokenizer, name)]
    if missing:
        return f"it lacks {', '.join(missing)}"
    if not isinstance(tokenizer.name, str) or not tokenizer.name:
        return f"name is {tokenizer.name!r}, not a text"
    try:
        check_facts(tokenizer, computed=True)
    except TokenizerError as error:
        return str(error)
    return None if tokenizer.vocab_size > 0 else f"vocab_size is {tokenizer.vocab_size}"


@ConformanceCheck.of("empty", "encode('') must be [] and decode([]) must be ''.")
def _empty(tokenizer: Tokenizer) -> Problem:
    ids = ids_of(tokenizer, "")
    if ids:
        return (
            f"encode('') gave {ids[:5]}; an empty text must have no ids, since encoding adds no special tokens"
        )
    decoded = tokenizer.decode([])
    return None if decoded == "" else f"decode([]) gave {decoded!r}"


@ConformanceCheck.of("surrogates", "raise TokenizerError or ValueError for text that is not valid Unicode.")
def _surrogate(tokenizer: Tokenizer) -> Problem:
    try:
        ids_of(tokenizer, LONE_SURROGATE)
    except (TokbenchError, ValueError):
        return None
    except (Exception, SystemExit) as error:
        return f"a lone surrogate raised {described(error)}"
    return None


@ConformanceCheck.of("special_ids", "special_ids must lie within the vocabulary.")
def _special_attributes(tokenizer: Tokenizer) -> Problem:
    outside = [token for token in special_ids(tokenizer) if not 0 <= token < tokenizer.vocab_size]
    return f"special_ids {outside[:5]} are outside the vocabulary" if outside else None


@ConformanceCheck.of("facts", "facts must return a mapping that is ready for JSON, or be left out.")
def _facts(tokenizer: Tokenizer) -> Problem:
    if not isinstance(tokenizer, Describable):
        return None
    found = tokenizer.facts()
    if not isinstance(found, Mapping):
        return f"facts returned {type(found).__name__}, not a mapping"
    json.dumps(dict(found))
    return None


@ConformanceCheck.of("special_text", "the text of a special token is ordinary text unless an option says so.")
def _special_text(tokenizer: Tokenizer) -> Problem:
    for text in SPECIAL_TEXTS:
        found = set(ids_of(tokenizer, text)) & special_ids(tokenizer) - {unk_id(tokenizer)}
        if found:
            return f"the text {text!r} was encoded as special id {sorted(found)[0]}"
    return None


@ConformanceCheck.of(
    "unknown_ids", "raise TokenizerError for ids that do not exist: tokbench.arguments.known_ids."
)
def _unknown_ids(tokenizer: Tokenizer) -> Problem:
    size = tokenizer.vocab_size
    for wrong in (-1, -size, -size - 1, -2 * size - 1, size, 2**31):
        try:
            text = tokenizer.decode([wrong])
        except Exception:
            continue
        return f"decode([{wrong}]) gave {text[:20]!r}; there is no such id"
    return None


def _pickled(tokenizer: Tokenizer) -> Tokenizer:
    other: Tokenizer = pickle.loads(pickle.dumps(tokenizer))
    return other


@ConformanceCheck.of("copies", "give the same ids as a copy or a pickle, or refuse to be one with TypeError.")
def _copies(tokenizer: Tokenizer) -> Problem:
    texts = [*EDGE_CASES, *SPECIAL_TEXTS]
    expected = [ids_of(tokenizer, text) for text in texts]
    for how, copied in (("deepcopy", copy.deepcopy), ("pickle", _pickled)):
        try:
            other = copied(tokenizer)
        except Exception:  # that it cannot be copied is said; other processes load it by its spec
            continue
        if [ids_of(other, text) for text in texts] != expected:
            return f"a copy by {how} gives other ids"
        if any(other.decode(ids) != tokenizer.decode(ids) for ids in expected):
            return f"a copy by {how} decodes to other text"
    return None


@ConformanceCheck.of(
    "every_id",
    "token_bytes must give bytes for every id below vocab_size, and none for others (tokbench.arguments).",
)
def _every_id(tokenizer: Tokenizer) -> Problem:
    if not isinstance(tokenizer, TokenByter):
        return None
    size = tokenizer.vocab_size
    for token in sorted({*range(min(size, 300)), *range(0, size, max(1, size // 500)), size - 1}):
        found = tokenizer.token_bytes(token)
        if not isinstance(found, bytes):
            return f"token_bytes({token}) gave {type(found).__name__}, not bytes"
    for wrong in (-1, size):
        try:
            found = tokenizer.token_bytes(wrong)
        except Exception:
            continue
        if found:
            return f"token_bytes({wrong}) gave {found[:20]!r}; there is no such id"
    return None


CONTRACT = (_every_id, _unknown_ids, _copies, _empty, _surrogate, _special_attributes, _special_text, _facts)
PROTOCOL = _protocol
ENCODING = (_encodes, _in_vocabulary, _deterministic, _decodes, _round_trips, _content_only)
ENCODES = _encodes
