"""Trains ``bpe:parity=…``: checks its options, counts each language's words, reads the development text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokbench import TrainingCorpus
from tokbench.counts import WordCounts
from tokbench.errors import CorpusError, TokenizerError
from tokbench.family import Progress
from tokbench.kernels.threads import threads_of
from tokbench.vocabulary_files import names_to_train
from tokbench_subword.bpe.options import cut_by, pattern_of
from tokbench_subword.bpe.parity import Fairness, learn_fairly
from tokbench_subword.bpe.trainer import Learned
from tokbench_subword.training.counting import count_pretokens
from tokbench_subword.training.sizes import check_room
from tokbench_subword.training.special import first_ids, never_spelled
from tokbench_subword.training.stages import stage

_NOT_WITH = ("end_of_word", "initial_alphabet", "max_token_length", "base", "transition")
_COUNTING_SHARE = 0.5


def learned_fairly(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Learned:
    """The result of parity-aware training on the languages of a corpus of text or counts."""
    for name in _NOT_WITH:
        if options[name] is not None:
            raise TokenizerError(f"bpe: {name}= does not work with parity={options['parity']}; leave it out")
    if options["level"] == "char" or options["ties"] != "hf":
        raise TokenizerError("bpe: parity= works only with level=byte and ties=hf (as tokenizers breaks ties)")
    special = first_ids(names_to_train(options["special_tokens"] or "", where="bpe"))
    forbidden = never_spelled(special, [bytes([byte]) for byte in range(256)], "byte")
    check_room(options["vocab_size"], len(special), 256, "byte")
    names = list(dict.fromkeys(shard.language for shard in corpus.shards()))
    if len(names) < 2:
        raise CorpusError(
            f"{corpus.dataset.name}: parity= balances languages, but the text has only one ({names[0]}); "
            "train on several, or leave parity out"
        )
    how = Fairness(
        window=options["parity_window"] if options["parity"] == "window" else 0,
        alpha=options["parity_alpha"],
        global_merges=options["global_merges"],
        ratios=_ratios(options["ratios"], names),
    )
    if options["parity"] == "window" and how.window < 1:
        raise TokenizerError(f"bpe: parity_window must be at least 1; it is {how.window}")
    how.check(len(names))
    tested = _development(Path(options["development"]).expanduser(), names) if options["development"] else None
    workers, pattern = threads_of(options), pattern_of(options)
    words: dict[str, WordCounts] = {}
    for language, source in corpus.by_language(cut_by(pattern)):
        progress(_COUNTING_SHARE * len(words) / len(names), f"counting {language}")
        words[language] = count_pretokens(source, pattern, workers=workers)
        if not len(words[language]):
            raise CorpusError(f"{corpus.dataset.name}: no text of the language {language}, which parity needs")
    development = None
    if tested is not None:
        development = {name: count_pretokens(tested[name], pattern, workers=workers) for name in names}
    tokens, merges = learn_fairly(
        words,
        n_wanted=options["vocab_size"] - len(special),
        how=how,
        development=development,
        minimum=options["min_frequency"] * max(each.unit for each in words.values()),
        forbidden=forbidden,
        progress=stage(progress, "merging", _COUNTING_SHARE, 1.0),
    )
    return Learned(tokens, merges, special, pattern, "byte", "")


def _ratios(given: str | None, languages: list[str]) -> list[float]:
    """The ratio of each language, from ``eng_Latn=1+hin_Deva=2.6``."""
    if not given:
        return []
    found: dict[str, float] = {}
    for entry in given.split("+"):
        language, _, number = entry.partition("=")
        try:
            found[language] = float(number)
        except ValueError:
            raise TokenizerError(f"bpe: ratios takes LANGUAGE=NUMBER+LANGUAGE=NUMBER, not {entry!r}") from None
    if sorted(found) != sorted(languages):
        named, there = (", ".join(sorted(each)) for each in (found, languages))
        raise TokenizerError(f"bpe: ratios names {named}, but the text is in {there}; give one ratio each")
    return [found[language] for language in languages]


def _development(folder: Path, languages: list[str]) -> dict[str, list[str]]:
    """The lines of ``FOLDER/LANGUAGE.txt``; raises `CorpusError` for a language without text."""
    found = {}
    for language in languages:
        try:
            found[language] = (folder / f"{language}.txt").read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise CorpusError(f"{folder}: no development text of {language}: {error}") from error
        if not any(found[language]):
            raise CorpusError(f"{folder / language}.txt: no text, so parity cannot measure {language}")
    return found
