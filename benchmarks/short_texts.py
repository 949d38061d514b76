"""Speed of calls for short texts, which cost as much as the encoding and decoding itself: microseconds a call.

    python benchmarks/short_texts.py --vocabulary cl100k_base corpus.txt
    TOKBENCH_TEST_DATA=… python benchmarks/short_texts.py          an English novel found there
    python benchmarks/short_texts.py --only single decode          without lists of texts

One text of 10 to 10,000 characters a call, lists of 10, 100 and 1,000 texts of 80, and the decoding of one;
ids as the library's own arrays, then as Python lists. In-house BPE, tiktoken, tokenizers, gigatoken and
quicktok use one vocabulary; ids and texts are checked first. Texts differ from call to call and have been met
before. Figures are medians of interleaved rounds, CPU time of one thread; in parentheses how many times as
fast as tiktoken. What is not installed, gives anything else or has no such form is left out.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIZES = (10, 20, 40, 80, 160, 1000, 10_000)
LISTS = (10, 100, 1000)
SHORT = 80
"""Characters of the texts in lists."""
DIFFERENT, CHARACTERS = 100, 200_000
"""Texts of one size, each called once a timing at the least; so many characters in all at the most."""
Form = Callable[[Any], Any]


@dataclass(frozen=True)
class Libraries:
    """One vocabulary in each library; None where that is not installed."""

    tiktoken: Any
    tokbench: Any
    tokenizers: Any
    gigatoken: Any


def libraries(name: str) -> Libraries:
    """The vocabulary of a tiktoken encoding in all libraries; names those that are not installed."""
    import tiktoken
    from tokbench_subword.bpe.ranks import model_of_ranks, ranks_of
    from tokbench_subword.bpe.tokenizer import BpeTokenizer
    from tokbench_subword.pipeline.patterns import Pattern

    from tokbench.vocabulary_files import write_ranks

    theirs = tiktoken.get_encoding(name)
    pattern = Pattern.of(theirs._pat_str, dialect="rust", keep_gaps=False)
    model = model_of_ranks(theirs._mergeable_ranks, pattern=pattern)
    ours = BpeTokenizer.of_model(model)
    hf = giga = None
    with tempfile.TemporaryDirectory() as folder:
        try:
            import tokenizers
        except ImportError:
            print("tokenizers is not installed: left out")
        else:
            document = Path(folder) / "tokenizer.json"
            ours.save(document)
            hf = tokenizers.Tokenizer.from_file(str(document))
        try:
            import gigatoken
        except ImportError:
            print("gigatoken is not installed: left out")
        else:
            ranks = Path(folder) / "ranks.tiktoken"
            write_ranks(ranks_of(model), ranks)
            giga = gigatoken.Tokenizer.from_tiktoken(ranks, pattern.name)
    return Libraries(theirs, ours, hf, giga)


def encoding_of_quicktok(name: str) -> Any:
    """The encoding that quicktok brings along, or None."""
    try:
        import quicktok

        return quicktok.get_encoding(name)
    except (ImportError, RuntimeError) as error:
        print(f"quicktok has no {name}: left out ({error})")
        return None


def single_calls(every: Libraries, quicktok: Any) -> dict[str, dict[str, Form]]:
    """Ways to encode one text, by what comes out and library."""
    arrays: dict[str, Form] = {
        "tiktoken": lambda text: every.tiktoken.encode_to_numpy(text, disallowed_special=()),
        "tokbench": every.tokbench.encode,
    }
    lists: dict[str, Form] = {
        "tiktoken": every.tiktoken.encode_ordinary,
        "tokbench": every.tokbench,
    }
    if every.tokenizers is not None:
        lists["tokenizers"] = lambda text: every.tokenizers.encode(text, add_special_tokens=False).ids
    if every.gigatoken is not None:
        arrays["gigatoken"] = every.gigatoken.encode
        lists["gigatoken"] = lambda text: every.gigatoken.encode(text).tolist()
    if quicktok is not None:
        lists["quicktok"] = quicktok.encode_ordinary
    return {"array": arrays, "list": lists}


def decode_calls(every: Libraries, quicktok: Any) -> dict[str, Form]:
    """Ways to decode a list of ids, by library."""
    forms: dict[str, Form] = {"tiktoken": every.tiktoken.decode, "tokbench": every.tokbench.decode}
    if every.tokenizers is not None:
        forms["tokenizers"] = lambda ids: every.tokenizers.decode(ids, skip_special_tokens=False)
    if every.gigatoken is not None:
        forms["gigatoken"] = lambda ids: every.gigatoken.decode(ids).decode("utf-8", "replace")
    if quicktok is not None:
        forms["quicktok"] = quicktok.decode
    return forms


def list_calls(every: Libraries) -> dict[str, dict[str, Form]]:
    """Ways to encode a list of texts, by what comes out and library."""
    arrays: dict[str, Form] = {
        "tiktoken": lambda texts: [
            every.tiktoken.encode_to_numpy(text, disallowed_special=()) for text in texts
        ],
        "tokbench": every.tokbench.encode_batch,
    }
    lists: dict[str, Form] = {
        "tiktoken": lambda texts: [every.tiktoken.encode_ordinary(text) for text in texts],
        "tokbench": lambda texts: every.tokbench.encode_batch(texts).to_lists(),
    }
    if every.tokenizers is not None:
        lists["tokenizers"] = lambda texts: [
            one.ids for one in every.tokenizers.encode_batch(texts, add_special_tokens=False)
        ]
    if every.gigatoken is not None:
        arrays["gigatoken"] = lambda texts: every.gigatoken.encode_batch(texts, parallel=False)
        lists["gigatoken"] = lambda texts: every.gigatoken.encode_batch_list(texts, parallel=False)
    return {"array": arrays, "list": lists}


def plain(result: Any) -> Any:
    """Ids as lists, of one text or of many; a text as it is."""
    if isinstance(result, str):
        return result
    return [plain(one) for one in result] if hasattr(result, "__len__") else int(result)


def microseconds(forms: dict[str, Form], inputs: Sequence[Any], rounds: int) -> dict[str, float]:
    """The median time of a call by library; each timing goes through all inputs, two milliseconds at least."""
    want = [plain(forms["tiktoken"](one)) for one in inputs]
    for label in list(forms):
        if [plain(forms[label](one)) for one in inputs] != want:
            if label == "tokbench":
                raise SystemExit("what tokbench gives differs from tiktoken's; nothing is timed")
            print(f"what {label} gives differs from tiktoken's; it is left out")
            del forms[label]
    times: dict[str, list[float]] = {label: [] for label in forms}
    for _ in range(rounds):
        for label, form in forms.items():
            calls, begun = 0, time.process_time()
            while (taken := time.process_time() - begun) < 2e-3:
                for one in inputs:
                    form(one)
                calls += len(inputs)
            times[label].append(taken / calls * 1e6)
    return {label: statistics.median(taken) for label, taken in times.items()}


def row(label: str, found: dict[str, float]) -> str:
    """One line of figures, in-house first."""
    order = ["tokbench", *(name for name in found if name != "tokbench")]
    return f"{label}: " + ", ".join(
        f"{name} {found[name]:.2f} us (x{found['tiktoken'] / found[name]:.1f})" for name in order
    )


def main() -> None:
    """Measure what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="a text; without it, one of TOKBENCH_TEST_DATA")
    parser.add_argument(
        "--vocabulary", default="cl100k_base", help="a tiktoken encoding (default: %(default)s)"
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", nargs="+", choices=("single", "lists", "decode"), metavar="WHAT")
    given = parser.parse_args()
    named = os.environ.get("TOKBENCH_TEST_DATA")
    if named:
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(Path(named) / "vocabs/tiktoken-cache"))
    if not given.file and not named:
        parser.error("name a text, or set TOKBENCH_TEST_DATA")
    file = given.file or Path(named or "") / "corpora/novels/eng_Latn.txt"
    text = " ".join(file.read_text("utf-8").split())
    every, quicktok = libraries(given.vocabulary), encoding_of_quicktok(given.vocabulary)
    every.tokbench.decode(
        every.tokbench.encode("x").tolist()
    )  # from the first call on, methods are other functions
    wanted = given.only or ("single", "lists", "decode")
    gc.disable()

    def measure(label: str, forms: dict[str, Form], inputs: Sequence[Any]) -> None:
        print(row(f"{given.vocabulary}, {label}", microseconds(forms, inputs, given.rounds)), flush=True)

    samples = {size: some_texts(text, size) for size in SIZES}
    for kind in ("array", "list"):
        for size, texts in samples.items() if "single" in wanted else ():
            measure(f"{kind}, a text of {size}", single_calls(every, quicktok)[kind], texts)
        for count in LISTS if "lists" in wanted else ():
            texts = [text[i * SHORT : (i + 1) * SHORT] for i in range(count)]
            measure(f"{kind}, {count} texts of {SHORT}", list_calls(every)[kind], [texts])
    for size, texts in samples.items() if "decode" in wanted else ():
        ids = [every.tiktoken.encode_ordinary(one) for one in texts]
        measure(f"decoding, a text of {size}", decode_calls(every, quicktok), ids)


def some_texts(text: str, size: int) -> list[str]:
    """Different texts of one size."""
    return [text[i * size : (i + 1) * size] for i in range(min(DIFFERENT, CHARACTERS // size))]


if __name__ == "__main__":
    main()
