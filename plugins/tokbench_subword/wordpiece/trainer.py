"""`train_wordpiece`: a WordPiece vocabulary from text, by likelihood or by frequency."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import numpy as np

from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench.family import Progress
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.bert import BertRules
from tokbench_subword.pipeline.compiled_normalizers import compiled_normalizer_of
from tokbench_subword.pipeline.compiled_pre_tokenizers import cuts_of
from tokbench_subword.training.alphabet import character_symbols, characters_of
from tokbench_subword.training.counting import count_blocks, filler
from tokbench_subword.training.session import MergeSession
from tokbench_subword.training.special import first_ids, never_spelled
from tokbench_subword.training.spelling import spelled
from tokbench_subword.training.stages import COUNTING_SHARE, stage
from tokbench_subword.training.ties import BYTES
from tokbench_subword.training.word_table import chosen_words
from tokbench_subword.wordpiece.model import BERT_SPECIAL_TOKENS, WordPieceModel, bert_document, bert_steps
from tokbench_subword.wordpiece.train_likelihood import LikelihoodSession

Score = Literal["likelihood", "frequency"]


def train_wordpiece(
    texts: Iterable[str] | WordCounts,
    *,
    vocab_size: int,
    rules: BertRules | None = None,
    score: Score = "likelihood",
    unk_token: str = "[UNK]",
    prefix: str = "##",
    max_input_chars_per_word: int = 100,
    min_frequency: int = 2,
    special_tokens: Sequence[str] = tuple(BERT_SPECIAL_TOKENS.values()),
    limit_alphabet: int | None = 1000,
    workers: int = 1,
    n_bytes: int | None = None,
    progress: Progress = lambda fraction, what: None,
) -> WordPieceModel:
    """Train a WordPiece vocabulary of `vocab_size` tokens on `texts`, which are read once, or on words counted
    with `count_bert_pretokens` by the same rules.

    Texts are normalized and cut by `rules` (BERT's by default). Then the pair of neighbours with the highest
    score is merged into a token, repeatedly:

    - ``likelihood``: count(ab) / (count(a) · count(b)). It prefers parts that seldom occur alone, and so rare
      words; `min_frequency` excludes pairs that occur only once or twice.
    - ``frequency``: count(ab), as in BPE; `tokenizers` calls this WordPiece training.

    Among equal scores the more frequent pair goes first, then the smaller pair of ids. The result is the same
    for any number of `workers`. Pairs seen less than `min_frequency` times are not merged. Only the
    `limit_alphabet` most frequent characters are kept (of equals, the lower code points). Words with other
    characters, or with more than `max_input_chars_per_word`, would be unknown and are left out.

    The vocabulary lists special tokens first (`unk_token` is added if missing), then characters, characters
    that continue words, and merges. It has fewer than `vocab_size` tokens if nothing is left to merge. Raises
    `TokenizerError` if `vocab_size` leaves no room for the characters.

    Example:
        >>> model = train_wordpiece(["hug hug pug bugs"], vocab_size=16, min_frequency=1)
        >>> [model.tokens[index] for index in range(5, model.size)]
        ['b', 'g', 'h', 'p', 's', 'u', '##g', '##s', '##u', '##ug', 'hug']
    """
    if score not in ("likelihood", "frequency"):
        raise TokenizerError(f"score must be likelihood or frequency; it is {score!r}")
    for name, number in (("vocab_size", vocab_size), ("limit_alphabet", limit_alphabet)):
        if number is not None and number < 1:
            raise TokenizerError(f"{name} must be at least 1; it is {number}")
    rules = BertRules() if rules is None else rules
    unknown = () if unk_token in special_tokens else (unk_token,)
    special = first_ids((*unknown, *special_tokens))
    told = stage(progress, "counting", 0.0, COUNTING_SHARE, of=n_bytes)
    words = count_bert_pretokens(texts, rules, workers=workers, progress=told)
    kept = _kept(words, limit_alphabet, max_input_chars_per_word)
    symbols, starts, tokens = character_symbols(kept, frozenset(), prefix=prefix)
    if vocab_size < len(special) + len(tokens):
        names = f"{len(special)} special tokens and " if special else ""
        raise TokenizerError(
            f"vocab_size={vocab_size} is less than the {names}{len(tokens)} "
            f"characters, alone and continuing; ask for at least {len(special) + len(tokens)}, "
            "or limit the alphabet"
        )
    learning = LikelihoodSession if score == "likelihood" else MergeSession
    session = learning(
        symbols,
        starts,
        kept.counts,
        tokens=tokens,
        n_wanted=min(vocab_size - len(special), len(tokens) + len(symbols)),  # each merge leaves fewer
        rule=BYTES,
        minimum=min_frequency * words.unit,
        prefix=prefix.encode(),
        forbidden=never_spelled(special, tokens, "char"),
    )
    merges = session.run(stage(progress, "merging", COUNTING_SHARE, 1.0))
    vocabulary = [*special, *(token.decode() for token in spelled(tokens, merges, prefix.encode()))]
    added = (AddedToken(token, index, normalized=False, special=True) for token, index in special.items())
    return WordPieceModel(
        vocabulary={token: index for index, token in enumerate(vocabulary)},
        unk_token=unk_token,
        prefix=prefix,
        max_input_chars_per_word=max_input_chars_per_word,
        document=bert_document(rules, prefix=prefix, added_tokens=tuple(added)),
    )


def count_bert_pretokens(
    texts: Iterable[str] | WordCounts,
    rules: BertRules,
    *,
    workers: int = 1,
    progress: Callable[[int], None] = lambda n_bytes: None,
) -> WordCounts:
    """Normalize, cut and count `texts`; `progress` is told how many bytes are done.

    Example:
        >>> [(word.decode(), count) for word, count in count_bert_pretokens(["Hé, he!"], BertRules())]
        [('he', 2), (',', 1), ('!', 1)]
    """
    steps = bert_steps(rules)
    _, cutters = cuts_of([steps["pre_tokenizer"]])
    fill = filler(cutters, compiled_normalizer_of(steps["normalizer"]))
    return count_blocks(texts, fill, workers=workers, progress=progress)


def _kept(words: WordCounts, limit_alphabet: int | None, longest: int) -> WordCounts:
    """The words that the vocabulary will be able to build."""
    points, starts = characters_of(words)
    sizes = np.diff(starts)
    word_of = np.repeat(np.arange(len(words)), sizes)
    listed = sizes <= longest
    totals = np.bincount(points, weights=np.where(listed, words.counts, 0)[word_of])
    known = np.flatnonzero(totals)
    known = known[np.lexsort((known, -totals[known]))][:limit_alphabet]
    foreign = np.ones(len(totals), np.bool_)
    foreign[known] = False
    kept = listed & (np.bincount(word_of, weights=foreign[points], minlength=len(words)) == 0)
    return chosen_words(words, kept)
