"""The steps of WordPiece, match by match, for `tokbench trace`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tokbench import Step
from tokbench_subword.pipeline.preparation import Part
from tokbench_subword.wordpiece.model import WordPieceModel

_MOST_CANDIDATES = 12
"""Candidates listed for one match; longer words try more."""


def steps(words: Iterable[Part], model: WordPieceModel) -> Iterator[Step]:
    """One step with the words, then one for each match, then one for each word that failed.

    `detail` contains the word, the token and its id, and the candidates tried before it.
    """
    parts = list(words)
    waiting = [_bytes(part.stretch.text) for part in parts]
    done: list[bytes] = []
    yield Step("words", tuple(waiting), note="normalized and cut into words")
    for index, part in enumerate(parts):
        rest, word = waiting[index + 1 :], part.stretch.text
        if part.token is not None:
            done.append(_bytes(word))
            detail = {"word": word, "token": word, "id": part.token.id}
            yield Step("added", (*done, *rest), len(done) - 1, f"{word!r} is an added token", detail)
            continue
        before = len(done)
        start = 0
        while start < len(word):
            candidates, token, end = _tried(word, start, model)
            if token is None:
                break
            done.append(_bytes(token))  # with its prefix: ##york within a word is not york
            unmatched = [_bytes(word[end:])] if end < len(word) else []
            detail = {
                "word": word,
                "token": token,
                "id": model.vocabulary[token],
                "tried": len(candidates),
                "candidates": candidates[-_MOST_CANDIDATES:],
            }
            note = f"longest match at {start}: {token!r}"
            yield Step("match", (*done, *unmatched, *rest), len(done) - 1, note, detail)
            start = end
        if start < len(word):
            del done[before:]
            done.append(_bytes(word))
            too_long = len(word) > model.max_input_chars_per_word
            why = (
                f"more than {model.max_input_chars_per_word} characters"
                if too_long
                else f"nothing matches at {start}: {word[start:]!r}"
            )
            detail = {"word": word, "token": model.unk_token, "id": model.unk_id}
            yield Step("unknown", (*done, *rest), before, f"the whole word is {model.unk_token}: {why}", detail)


def _tried(word: str, start: int, model: WordPieceModel) -> tuple[list[str], str | None, int]:
    """The candidates tried at `start`, longest first; the token found, or None; and its end."""
    prefix, candidates = model.prefix if start else "", list[str]()
    longest = len(word) if len(word) <= model.max_input_chars_per_word else 0
    for end in range(longest, start, -1):
        candidate = prefix + word[start:end]
        if candidate in model.vocabulary:
            return candidates, candidate, end
        candidates.append(candidate)
    return candidates, None, start


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
