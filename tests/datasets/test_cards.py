"""The bundled corpora are what their cards say, and what the documentation promises."""

from __future__ import annotations

import json
import re
import runpy
import sqlite3
import tomllib
import unicodedata
from pathlib import Path

import pytest

from tokbench.corpora.bundled import CARD, bundled_names, datasets_folder, read_card
from tokbench.corpora.naming import FLORES_TAG

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "corpus_cards.py"))
count_files, refresh = TOOL["count_files"], TOOL["refresh"]
ADVICE = "after an edit run: python tools/corpus_cards.py"


@pytest.mark.parametrize("name", bundled_names())
def test_counts_and_checksums(name):
    card = read_card(name)
    assert count_files(card.folder, card.reader, card.kind) == list(card.files), ADVICE


def test_refresh_changes_nothing_but_the_table_of_files(tmp_path):
    card = tmp_path / CARD
    card.write_text('title = "T"\nreader = "paragraphs"\nkind = "text"\n', "utf-8")
    (tmp_path / "eng_Latn.txt").write_text("a\n\nb\n", "utf-8")
    refresh(tmp_path)
    first = card.read_text("utf-8")
    assert first.startswith('title = "T"\nreader = "paragraphs"\nkind = "text"\n\n[files]\n"eng_Latn.txt" = {')
    assert "documents = 2, bytes = 5" in first
    refresh(tmp_path)
    assert card.read_text("utf-8") == first


@pytest.mark.parametrize("name", bundled_names())
def test_cards_state_licence_and_origin(name):
    card = read_card(name)
    assert card.licence == "Apache-2.0"
    assert "for tokbench" in card.made
    assert card.summary
    assert card.files


@pytest.mark.parametrize("name", bundled_names())
def test_files_are_utf8_without_accidents(name):
    for file in read_card(name).files:
        text = (datasets_folder() / name / file.path).read_bytes().decode("utf-8")
        assert not text.startswith("\ufeff")
        assert "\r" not in text
        assert "\ufffd" not in text or name == "tricky"
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


def lines(language):
    path = datasets_folder() / "parallel" / f"{language}.txt"
    return path.read_text("utf-8").removesuffix("\n").split("\n")


NUMBERS = {19: "nineteen", 20: "twenty", 21: "twenty-one"}
PARALLEL = [file.language for file in read_card("parallel").files]


def test_the_parallel_corpus_is_wide():
    assert all(FLORES_TAG.match(tag) for tag in PARALLEL)
    assert len(PARALLEL) >= 30
    scripts = {tag[4:] for tag in PARALLEL}
    assert len(scripts) >= 14
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text("utf-8")
    assert f"64 short texts in each of {len(PARALLEL)} languages and {len(scripts)} scripts" in page
    assert f"in {NUMBERS[len(CODE)]} languages" in page


@pytest.mark.parametrize("language", PARALLEL)
def test_parallel_lines_are_whole(language):
    own, english = lines(language), lines("eng_Latn")
    assert len(own) == len(english) == 64
    assert all(line == line.strip() and line for line in own)
    assert len(set(own)) == 64
    assert all(unicodedata.is_normalized("NFC", line) for line in own) or language in {"ben_Beng", "hin_Deva"}
    for number in (39,):  # addresses stay as they are in every language
        assert "info@example.org" in own[number]
        assert "555-0142" in own[number]


SCRIPT_NAMES = {
    "Arab": "ARABIC", "Armn": "ARMENIAN", "Beng": "BENGALI", "Cyrl": "CYRILLIC", "Deva": "DEVANAGARI",
    "Ethi": "ETHIOPIC", "Geor": "GEORGIAN", "Grek": "GREEK", "Hang": "HANGUL", "Hans": "CJK", "Hant": "CJK",
    "Hebr": "HEBREW", "Khmr": "KHMER", "Latn": "LATIN", "Mymr": "MYANMAR", "Taml": "TAMIL", "Telu": "TELUGU",
    "Thai": "THAI", "Mlym": "MALAYALAM",
}  # fmt: skip


@pytest.mark.parametrize("language", [tag for tag in PARALLEL if tag != "jpn_Jpan"])
def test_letters_are_of_the_language_s_script(language):
    """A letter of another script inside a translation is a slip of the pen."""
    script = SCRIPT_NAMES[language[4:]]
    for number, line in enumerate(lines(language), 1):
        cleaned = line.replace("info@example.org", "")
        for char in cleaned:
            if unicodedata.category(char) in {"Lo", "Lu", "Ll"} and not unicodedata.name(char).startswith(
                script
            ):
                assert char in "gCª° 零一二三四五六七八九十百千", (
                    f"{language}, line {number}: {char!r} in {line!r}"
                )


@pytest.mark.parametrize("language", PARALLEL)
def test_translations_are_of_a_plausible_length(language):
    """A line that is far too short or long for its language was cut off or doubled."""
    own, english = lines(language), lines("eng_Latn")
    ratio = sum(map(len, own)) / sum(map(len, english))
    for number, (line, model) in enumerate(zip(own, english, strict=True), 1):
        expected = ratio * len(model)
        assert 0.35 * expected - 6 <= len(line) <= 2.2 * expected + 12, f"{language}, line {number}: {line!r}"


# 25 dkg; a year of another era; numbers written out in words
FREE_WITH_NUMBERS = {("hun_Latn", 12), ("tha_Thai", 2), ("jpn_Jpan", 2), ("zho_Hant", 9)}


@pytest.mark.parametrize("language", PARALLEL)
def test_numbers_are_translated_whole(language):
    for number, (line, model) in enumerate(zip(lines(language), lines("eng_Latn"), strict=True), 1):
        if (language, number) not in FREE_WITH_NUMBERS:
            long = {digits for digits in numbers_in(model) if len(digits) > 2 and digits != "1030"}
            assert long <= set(numbers_in(line)), f"{language}, line {number}: {line!r}"


def numbers_in(text):
    """The numbers of a text in ASCII digits, without separators."""
    ascii_digits = "".join(str(unicodedata.digit(char)) if char.isdecimal() else char for char in text)
    return re.findall(r"\d+", re.sub(r"(?<=\d)[\s\u00a0\u202f.,:٬٫-](?=\d)", "", ascii_digits))


CODE = {file.language for file in read_card("code").files}


def test_the_code_corpus_is_wide():
    formats = {"json", "yaml", "toml", "css", "html", "sql", "shell"}
    assert formats <= CODE
    assert len(CODE - formats) >= 10


@pytest.mark.parametrize("file", read_card("code").files, ids=lambda file: file.path)
def test_code_is_what_its_name_says(file):
    source = (datasets_folder() / "code" / file.path).read_text("utf-8")
    assert file.path.split("/")[0] == file.language
    assert 15 <= source.count("\n") <= 110
    if file.language == "python":
        compile(source, file.path, "exec", dont_inherit=True)
    elif file.language == "json":
        json.loads(source)
    elif file.language == "toml":
        tomllib.loads(source)
    elif file.language == "sql":
        sqlite3.connect(":memory:").executescript(source)


def tricky():
    text = (datasets_folder() / "tricky" / "tricky.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


def test_tricky_rows_are_complete():
    rows = tricky()
    assert all(set(row) == {"id", "category", "text", "why"} for row in rows)
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({row["category"] for row in rows}) >= 20
    assert {"NewYork", "New York", " NewYork", "NEW YORK"} <= {row["text"] for row in rows}
    for row in rows:
        row["text"].encode("utf-8")


def test_prose_is_long():
    files = read_card("prose").files
    assert sum(file.bytes for file in files) >= 100_000
    assert sum(file.bytes for file in files if file.language == "eng_Latn") >= 70_000


def test_japanese_has_its_own_punctuation():
    text = "\n".join(lines("jpn_Jpan"))
    assert not re.search(r"[?!()]|(?<!\d)[:,.](?!\d)", text.replace("info@example.org", ""))


def test_german_is_no_longer_than_people_write_it():
    """Compounds are where the language has them, not for the sake of length."""
    assert max(len(word) for word in re.findall(r"\w+", lines("deu_Latn")[21] + lines("deu_Latn")[27])) <= 25


def test_the_parallel_corpus_says_how_far_to_trust_its_premiums():
    caveat = read_card("parallel").about(["eng_Latn"])["caveat"]
    assert "FLORES-200" in caveat
    assert "9 to 16 % lower" in caveat
