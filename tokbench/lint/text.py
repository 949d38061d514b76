"""Checks of how text is encoded: losses, spaces, line ends, digits, normal forms, cost. Codes TB3xx."""

from __future__ import annotations

import unicodedata
from collections import Counter
from itertools import chain

from tokbench.lint.check import SHOWN, Bounds, Check, Finding, Outcome
from tokbench.lint.samples import PRINTABLE, ROUND_TRIPS, SENTENCES
from tokbench.lint.subject import Subject, shown, shown_changed
from tokbench.metrics.needs import HIDDEN
from tokbench.tally.loss_kinds import kinds_of_loss
from tokbench.tokenizer import token_bytes, unk_id
from tokbench.wording import every

_NUMBERS = ("1234567", "12345678", "9876543210", "20240115", "31415926535")
_ACCENTED = ("café", "naïve", "Å", "é", "Tất cả", "한글", "がぎぐ", "ñandú")


@Check.of("TB301", "round-trip")
def round_trip(subject: Subject, bounds: Bounds) -> Finding:
    """Texts that decoding does not give back, by cause; a failure if the tokenizer is declared lossless.

    A model cannot write what its tokenizer cannot spell: without line ends no code, without capitals no names.
    """
    texts = [*ROUND_TRIPS, *(subject.sample() if subject.texts else ())]
    unknown = unk_id(subject.tokenizer)
    causes: Counter[str] = Counter()
    examples: dict[str, str] = {}
    lost = 0
    for text, ids in zip(texts, subject.ids(texts), strict=True):
        back = subject.tokenizer.decode(ids)
        if back == text:
            continue
        lost += 1
        for cause in kinds_of_loss(text, back, unknown=unknown is not None and unknown in ids):
            causes[cause] += 1
            examples.setdefault(cause, f"{cause}: {shown_changed(text, back)}")
    if not lost:
        return Finding.passed(every(len(texts), "text", "comes back", "come back"))
    listed = ", ".join(f"{cause} {count}" for cause, count in causes.most_common())
    promised = getattr(subject.tokenizer, "lossless", None) is True  # declared, so any loss is a fault
    outcome = Outcome.FAIL if promised or causes["replacement character"] else Outcome.WARN
    said = f"texts of {len(texts):,} that do not come back: {lost:,} ({listed})"
    return Finding(outcome, said, lost, tuple(examples.values())[:SHOWN])


@Check.of("TB302", "unknown-characters", warn=0)
def unknown_characters(subject: Subject, bounds: Bounds) -> Finding:
    """Characters that become the unknown token or vanish; a failure if any of them is in ASCII.

    All such characters are the same token to a model: it can neither tell them apart nor write them.
    """
    unknown = unk_id(subject.tokenizer)
    every = sorted({one for text in (PRINTABLE, *ROUND_TRIPS, *subject.sample()) for one in text})
    characters = [one for one in every if not one.isspace() and unicodedata.category(one)[0] != "C"]
    texts = [f"a {one} b" for one in characters]
    without = subject.ids(["a b", "a  b"])
    lacking = [
        one
        for one, ids in zip(characters, subject.ids(texts), strict=True)
        if (unknown is not None and unknown in ids) or ids in without
    ]
    plain = [one for one in lacking if one in PRINTABLE]
    if plain:
        said = f"printable characters of ASCII without a token: {len(plain)}"
        return Finding(Outcome.FAIL, said, len(plain), tuple(map(shown, plain[:SHOWN])))
    said = f"characters of {len(characters):,} tried that become unknown or vanish"
    return Finding.judged(lacking, bounds, of=said, total=len(characters), shown=shown)


@Check.of("TB303", "leading-space")
def leading_space(subject: Subject, bounds: Bounds) -> Finding:
    """Whether a space at the start of a text is kept, and none is added there.

    A text cut in two gets other ids than the whole, and a port of the tokenizer that adds the space once too
    often, or not at all, gives other ids without any error.
    """
    plain, spaced, double = subject.ids(["the cat", " the cat", "  the cat"])
    if plain == spaced:
        return Finding(
            Outcome.WARN, "a space at the start of a text makes no difference: it is lost, or always added"
        )
    if spaced == double:
        return Finding(Outcome.WARN, "two spaces at the start of a text are encoded as one")
    first = token_bytes(subject.tokenizer, plain[0]) if plain else b""
    if first[:1] == b" " or subject.tokenizer.decode(plain[:1])[:1] == " ":
        return Finding(Outcome.WARN, "a space is added to a text that starts without one")
    return Finding.passed("a space at the start of a text is kept, and none is added")


@Check.of("TB304", "line-ends")
def newlines(subject: Subject, bounds: Bounds) -> Finding:
    """Whether line ends, empty lines and tabs are told apart.

    If a line end is encoded as a space, a model can learn neither Python nor poems.
    """
    texts = ("a b", "a\nb", "a\n\nb", "a\r\nb", "a\tb", "ab")
    space, one, two, carriage, tab, none = subject.ids(texts)
    alike = {
        "a line end is encoded as a space": one == space,
        "a line end is dropped": one == none,
        "an empty line is lost": one == two,
        "CR LF is encoded as LF": one == carriage,
        "a tab is encoded as a space": tab == space,
    }
    wrong = [what for what, so in alike.items() if so]
    if not wrong:
        return Finding.passed("line ends and tabs are kept apart")
    return Finding(Outcome.WARN, "; ".join(wrong), len(wrong))


@Check.of("TB305", "digits")
def digits(subject: Subject, bounds: Bounds) -> Finding:
    """Whether numbers are cut into single digits, in groups from the right or the left, or irregularly.

    Groups from the left put digits of the same place value into different tokens; models were better at
    arithmetic with groups from the right (Singh and Strouse 2024).
    """
    cuts = []
    for number, ids in zip(_NUMBERS, subject.ids(list(_NUMBERS)), strict=True):
        parts = [token_bytes(subject.tokenizer, index).strip() for index in ids]
        lengths = [len(part) for part in parts if part]
        if sum(lengths) != len(number):
            return Finding.unchecked(f"the tokens of {number} do not add up to it")
        cuts.append((number, lengths))
    examples = tuple(f"{number} is cut {' + '.join(map(str, lengths))}" for number, lengths in cuts)
    most = max(max(lengths) for _, lengths in cuts)
    if most == 1:
        return Finding.passed("each digit is a token")
    if all(set(lengths[1:]) <= {most} and lengths[0] <= most for _, lengths in cuts):
        return Finding.passed(f"digits are grouped by {most} from the right")
    if all(set(lengths[:-1]) <= {most} and lengths[-1] <= most for _, lengths in cuts):
        said = f"digits are grouped by {most} from the left: the same place value falls into different tokens"
        return Finding(Outcome.WARN, said, len(cuts), examples)
    return Finding(Outcome.WARN, "numbers are cut irregularly", len(cuts), examples)


@Check.of("TB306", "normal-forms", warn=0)
def normal_forms(subject: Subject, bounds: Bounds) -> Finding:
    """Whether NFC and NFD of the same text have the same ids.

    Text from some systems arrives decomposed (NFD): to the model the same word is then another, and costs more.
    """
    composed = subject.ids([unicodedata.normalize("NFC", text) for text in _ACCENTED])
    apart = subject.ids([unicodedata.normalize("NFD", text) for text in _ACCENTED])
    wrong = [text for text, one, other in zip(_ACCENTED, composed, apart, strict=True) if one != other]
    said = f"words of {len(_ACCENTED)} whose ids differ between NFC and NFD"
    return Finding.judged(wrong, bounds, of=said, shown=shown)


@Check.of("TB307", "cost-of-languages", times=5)
def cost(subject: Subject, bounds: Bounds) -> Finding:
    """Languages that cost more tokens for the same text than the cheapest language times a bound.

    Speakers of some languages pay many times as much for the same sentence, and a context holds as much less of
    their text (Petrov et al. 2023).
    """
    given = {language: list(texts) for language, texts in subject.texts.items()}
    texts = given if len(given) > 1 else {language: [text] for language, text in SENTENCES.items()}
    source = "the given text" if len(given) > 1 else "one built-in sentence, an indication only"
    spent: dict[str, int] = {}
    known: list[int] = []
    unknown = unk_id(subject.tokenizer)
    for language, parts in texts.items():
        ids = [*chain.from_iterable(subject.ids(parts))]
        spent[language] = len(ids)
        # a language that becomes unknown tokens is cheap for nothing, as in the premium
        if sum(one == unknown for one in ids) <= HIDDEN * len(ids):
            known.append(len(ids))
    if len(given) > 1 and len({len(parts) for parts in given.values()}) > 1:
        return Finding.unchecked("the languages have different numbers of documents; parallel ones are needed")
    least = max(1, min(known or spent.values()))
    ratios = sorted(((count / least, name) for name, count in spent.items()), reverse=True)
    dear = [f"{name} {ratio:.1f}" for ratio, name in ratios if ratio > bounds["times"]]
    times = f"{bounds['times']:g} times the cheapest ({source})"
    said = f"languages of {len(spent)} that cost more than {times}: {len(dear)}"
    return Finding(Outcome.WARN if dear else Outcome.PASS, said, len(dear), tuple(dear[:SHOWN]))


CHECKS = (round_trip, unknown_characters, leading_space, newlines, digits, normal_forms, cost)
