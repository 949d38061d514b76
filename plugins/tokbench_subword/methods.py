"""Building blocks for new methods: train, continue training, cut, encode and save with the in-house algorithms.

A method that chooses merges or stages differently takes about a page of code with these functions. They return
complete tokenizers with the in-house encoder's speed; `save` writes a `tokenizer.json` for other libraries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tokbench.arguments import kind_of
from tokbench.errors import TokenizerError
from tokbench.kernels.threads import usable_cores

if TYPE_CHECKING:
    from tokbench_subword.bpe.model import BpeModel
    from tokbench_subword.bpe.tokenizer import BpeTokenizer
    from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
    from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer


def cut(text: str, pattern: str = "gpt2") -> list[str]:
    """The pre-tokens of a text: `pattern` is gpt2, cl100k, llama3, qwen2, o200k, whitespace, none, or a regex.

    Example:
        >>> cut("The cat sat, naïvely.")
        ['The', ' cat', ' sat', ',', ' naïvely', '.']
    """
    from tokbench_subword.pipeline.patterns import Pattern

    return Pattern.of(pattern).pieces(text)


def train_bpe(
    texts: Iterable[str],
    vocab_size: int,
    *,
    pattern: str = "gpt2",
    initial: BpeTokenizer | None = None,
    special_tokens: Sequence[str] = (),
    min_frequency: int = 0,
    max_token_length: int | None = None,
    name: str = "",
) -> BpeTokenizer:
    """Train byte-level BPE of `vocab_size` tokens on texts, which are read once.

    With `initial`, the new tokens and merges follow those of `initial`, and `pattern` may differ from its
    pattern: SuperBPE, for example, continues over whole lines after a first stage within words. The result cuts
    text by `pattern`. Raises `TokenizerError` if `vocab_size` leaves no room.

    Example:
        >>> words = train_bpe(["low lower lowest"] * 9, 262)
        >>> lines = train_bpe(["low lower lowest"] * 9, 265, pattern="none", initial=words)
        >>> len(words.encode("low lower")), len(lines.encode("low lower")), lines.vocab_size
        (2, 1, 265)
    """
    from tokbench_subword.bpe.tokenizer import BpeTokenizer
    from tokbench_subword.bpe.trainer import train_bpe as train

    texts = _several(texts)
    if initial is None:
        model = train(
            texts,
            vocab_size=vocab_size,
            pattern=pattern,
            special_tokens=special_tokens,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            workers=usable_cores(),
        )
    else:
        if not isinstance(initial, BpeTokenizer):
            raise TokenizerError(f"initial: must be an in-house BPE of `train_bpe`, not {kind_of(initial)}")
        if special_tokens:
            raise TokenizerError("special_tokens: leave them out with `initial`, whose special tokens stay")
        model = _continued(initial.model, texts, vocab_size, pattern, min_frequency, max_token_length)
    return BpeTokenizer.of_model(model, name=name or f"bpe:vocab_size={len(model)}")


def bpe_of_merges(
    merges: Iterable[tuple[bytes, bytes]], *, pattern: str = "gpt2", name: str = "bpe"
) -> BpeTokenizer:
    """The tokenizer with the given merges: its ids are the 256 bytes, then the result of each merge, in order.

    Example:
        >>> tokenizer = bpe_of_merges([(b"a", b"b"), (b"ab", b"c")])
        >>> tokenizer.encode("abcab").tolist()
        [257, 256]
    """
    import numpy as np

    from tokbench_subword.bpe.model import BpeModel
    from tokbench_subword.bpe.tokenizer import BpeTokenizer
    from tokbench_subword.pipeline.patterns import Pattern

    ids = {bytes([byte]): byte for byte in range(256)}
    rows = []
    for number, (left, right) in enumerate(merges):
        for side in (left, right):
            if side not in ids:
                raise TokenizerError(f"merge {number}: {side!r} is neither a byte nor made by an earlier merge")
        rows.append((ids[left], ids[right], ids.setdefault(left + right, len(ids))))
    made = np.array(rows, np.int32).reshape(-1, 3)
    return BpeTokenizer.of_model(
        BpeModel(vocabulary=tuple(ids), merges=made, pattern=Pattern.of(pattern)), name=name
    )


def train_wordpiece(texts: Iterable[str], vocab_size: int, *, name: str = "wordpiece") -> WordPieceTokenizer:
    """Train WordPiece by BERT's rules on texts, which are read once."""
    from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer
    from tokbench_subword.wordpiece.trainer import train_wordpiece as train

    return WordPieceTokenizer(name, train(_several(texts), vocab_size=vocab_size, workers=usable_cores()))


def train_unigram(texts: Iterable[str], vocab_size: int, *, name: str = "unigram") -> SpmTokenizer:
    """Train a Unigram model by sentencepiece's rules on texts, which are read once."""
    from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
    from tokbench_subword.sentencepiece.trainer import TrainingOptions
    from tokbench_subword.sentencepiece.trainer import train_unigram as train

    options = TrainingOptions(vocab_size=vocab_size, threads=usable_cores())
    return SpmTokenizer(name, train(_several(texts), options))


def _several(texts: Iterable[str]) -> Iterable[str]:
    """The texts; raises `TokenizerError` for a single string, whose characters would each count as a text."""
    if isinstance(texts, str):
        raise TokenizerError("training takes several texts, as a list or an iterator; for one, give [text]")
    return texts


def _continued(
    model: BpeModel,
    texts: Iterable[str],
    vocab_size: int,
    pattern: str,
    min_frequency: int,
    max_token_length: int | None,
) -> BpeModel:
    """The model extended by merges of its tokens, learned on the pre-tokens of `pattern`."""
    from tokbench.kernels.threads import kept_threads
    from tokbench_subword.bpe.continuing import extended, learn_more
    from tokbench_subword.pipeline.patterns import Pattern
    from tokbench_subword.training.counting import count_pretokens
    from tokbench_subword.training.ties import HF

    n_special = len(model.special_tokens)
    known = model.vocabulary
    if model.level != "byte" or not all(known[n_special:]) or model.ranks is not None or any(known[:n_special]):
        raise TokenizerError("initial: must be byte-level BPE of `train_bpe`, with special tokens first")
    if vocab_size < len(model):
        raise TokenizerError(f"vocab_size={vocab_size}: the initial tokenizer has {len(model)} tokens already")
    wider, workers = Pattern.of(pattern), usable_cores()
    with kept_threads(workers):
        learned = learn_more(
            model,
            count_pretokens(texts, wider, workers=workers),
            vocab_size=vocab_size,
            rule=HF,
            minimum=min_frequency,
            longest=max_token_length,
            forbidden=[text.encode() for text in model.special_tokens],
            workers=workers,
        )
    return replace(extended(model, learned), pattern=wider)
