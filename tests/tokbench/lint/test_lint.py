"""`tokbench lint`: every fault is told by its code, a sound vocabulary by none, and outputs hold together."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tokbench
from tests.tokbench.lint.broken import FAULTS, broken, sound, write
from tokbench.errors import SpecError
from tokbench.lint.catalogue import CATALOGUE
from tokbench.lint.chat import overhead
from tokbench.lint.check import Outcome
from tokbench.lint.injection import CHAT, MATCHING, injections
from tokbench.lint.running import CheckedRow, lint, subject_of
from tokbench.lint.samples import SENTENCES
from tokbench.lint.settings import Settings, read_settings
from tokbench.lint.specials import chat
from tokbench.lint.subject import Subject
from tokbench.lint.text import cost
from tokbench.registry import Registry, build_registry

TEXTS = {"eng_Latn": ["the cat in the hat, an end\n"] * 4000}


@pytest.fixture(scope="module")
def registry() -> Registry:
    return build_registry()


def run(
    registry: Registry, spec: str, *only: str, settings: Settings | None = None, texts=None
) -> list[CheckedRow]:
    settings = settings or Settings()
    checks = settings.chosen(registry.checks.values(), only)
    return lint(spec, lambda: subject_of(registry, spec, texts or {}), checks, settings)


def told(rows: list[CheckedRow]) -> set[str]:
    return {row.code for row in rows if row.outcome in (Outcome.WARN, Outcome.FAIL)}


@pytest.fixture(scope="module")
def sound_rows(registry, tmp_path_factory) -> list[CheckedRow]:
    folder = write(tmp_path_factory.mktemp("lint") / "sound", sound())
    return run(registry, f"bpe:{folder}", settings=Settings(bounds={"TB307": {"times": 20}}))


@pytest.mark.parametrize(
    ("encode", "says"),
    [("raise KeyError('q')", "KeyError: 'q'"), ("return None", "flat sequence"), ("return [7]", "outside")],
)
def test_one_that_does_not_encode_fails_and_nothing_else_is_asked(encode: str, says: str) -> None:
    class Poor:
        name, vocab_size = "poor", 5

        def encode(self, text: str) -> Any:
            exec(f"def answer():\n    {encode}", found := {})
            return found["answer"]()

        def decode(self, ids: Any) -> str:
            return ""

    (row,) = lint("poor", lambda: Subject("poor", Poor()), CATALOGUE)
    assert (row.code, row.outcome) == ("TB001", Outcome.FAIL)
    assert says in row.finding.message


def test_a_sound_vocabulary_passes_but_for_what_is_true_of_all(sound_rows):
    # NFC loses decomposed text, and a chat template is open to control strings in what users write
    assert told(sound_rows) == {"TB301", "TB505"}
    unchecked = {row.code for row in sound_rows if row.outcome is Outcome.NOT_CHECKED}
    assert unchecked == {"TB105", "TB205"}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_told_by_its_code(registry, tmp_path, name, sound_rows):
    code, _ = FAULTS[name]
    spec = f"bpe:{write(tmp_path / name, broken(name))}"
    settings = Settings(bounds={"TB307": {"times": 3 if code == "TB307" else 20}})
    if name == "control_string_is_text":
        spec += ",match_special=true"
    texts = TEXTS if code == "TB205" else {}
    rows = run(registry, spec, *(["TB2"] if code == "TB205" else [code]), settings=settings, texts=texts)
    assert code in told(rows), [(row.code, row.finding) for row in rows]
    if code not in ("TB301", "TB505"):
        assert code not in told(sound_rows)
    found = next(row.finding for row in rows if row.code == code)
    assert not found.message.startswith(("1 ", "0 "))  # counts stand last, as "1 tokens" is no English


@pytest.mark.parametrize("name", ["regex_as_string", "merge_twice", "too_few_rows", "another_end"])
def test_a_fault_is_told_by_no_other_code(registry, tmp_path, name, sound_rows):
    folder = write(tmp_path / name, broken(name))
    rows = run(registry, f"bpe:{folder}", settings=Settings(bounds={"TB307": {"times": 20}}))
    others = told(rows) - told(sound_rows) - {FAULTS[name][0]}
    # merges that cross every boundary are reachable, so only what a pattern does to text may follow
    assert others <= ({"TB305"} if name == "regex_as_string" else set())


def test_two_tokens_that_begin_a_text_are_no_fault(registry, tmp_path):
    files = broken("begun_twice")
    files["tokenizer_config.json"]["bos_token"] = "<|start|>"  # the template's; the encoder puts another there
    rows = run(registry, f"bpe:{write(tmp_path / 'two', files)}", "TB403")
    assert {row.outcome for row in rows if row.code == "TB403"} == {Outcome.PASS}


def test_a_check_that_fails_is_not_a_pass_and_takes_no_other_with_it(registry, tmp_path):
    files = sound()
    files["config.json"] = "[1]"
    rows = run(registry, f"bpe:{write(tmp_path / 'v', files)}", "TB209", "TB104")
    outcomes = {row.code: row.outcome for row in rows}
    assert outcomes["TB209"] is Outcome.NOT_CHECKED
    assert outcomes["TB104"] is Outcome.PASS


class _Latin:
    name, vocab_size, unk_id, lossless = "latin", 300, 0, False

    def encode(self, text):
        return [1] * len(text.split()) if text.isascii() else [0] if "人" in text else [1] * len(text)

    def decode(self, ids):
        return ""


def test_a_language_that_is_unknown_is_not_the_cheapest():
    words = len(SENTENCES["English"].split())
    found = cost.look(Subject("latin", _Latin()), {"times": 5})
    assert not any(each.startswith("Arabic") for each in found.examples)  # 4.3 times English
    assert found.examples[0] == f"Tamil {len(SENTENCES['Tamil']) / words:.1f}"


def test_injection_counts_each_entry(registry, tmp_path):
    folder = write(tmp_path / "v", broken("filter_undone"))
    found = injections(subject_of(registry, f"bpe:{folder}", {}))
    became = {(one.control, one.variant, one.entry) for one in found if one.became}
    assert ("<|stop|>", "split by ZERO WIDTH SPACE", MATCHING) in became
    assert ("<|stop|>", "exact", CHAT) in became
    assert not [one for one in found if one.entry == "encode" and one.became]
    assert ("<|stop|>", "split by a space", MATCHING) not in became


@pytest.mark.long
def test_a_run_reports_what_control_strings_become_where_it_is_asked_to(tmp_path):
    folder = write(tmp_path / "v", broken("filter_undone"))
    (tmp_path / "text.txt").write_text("low lower lowest\n" * 20)
    specs = [f"bpe:{folder}", "bytes"]
    done = tokbench.run(
        specs, [f"text:{tmp_path}/text.txt"], output=str(tmp_path / "run"), speed=False, injection=True
    )
    rows = {row["entry"]: row for row in done.injections[specs[0]]}
    assert rows["encode"]["exact"] == rows["encode"]["altered"] == []
    assert "<|stop|>" in rows[CHAT]["exact"]
    assert "<|stop|>" in rows[MATCHING]["altered"]
    assert done.injections["bytes"] == []
    report = done.report(tmp_path / "report.md").read_text()
    assert "## Control strings in plain text" in report
    assert "Without control strings: bytes." in report
    plain = tokbench.run(specs, [f"text:{tmp_path}/text.txt"], output=str(tmp_path / "plain"), speed=False)
    assert plain.injections == {}
    assert "Control strings" not in plain.report(tmp_path / "plain.md").read_text()


def test_settings_change_levels_and_bounds(registry, tmp_path):
    file = tmp_path / "lint.toml"
    file.write_text('ignore = ["TB205"]\n[TB505]\nlevel = "fail"\n[TB209]\nmultiple = 7\n', "utf-8-sig")
    settings = read_settings(file, registry.checks.values())
    folder = write(tmp_path / "v", sound())
    outcomes = {row.code: row.outcome for row in run(registry, f"bpe:{folder}", settings=settings)}
    assert "TB205" not in outcomes
    assert (outcomes["TB505"], outcomes["TB209"]) == (Outcome.FAIL, Outcome.WARN)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("[TB999]\n", r"unknown check in .*\.toml: 'TB999'"),
        ("[TB208]\nbyte = 3\n", "did you mean 'bytes'"),
        ('[TB208]\nlevel = "off"\n', "must be warn or fail"),
        ("[TB208]\nbytes = true\n", "must be a number"),
        ("ignore = 3\n", "list of codes"),
        ("TB208 = 3\n", "must be a table"),
        ("[", "not TOML"),
    ],
)
def test_settings_that_are_wrong_are_refused(registry, tmp_path, content, match):
    file = tmp_path / "lint.toml"
    file.write_text(content)
    with pytest.raises(SpecError, match=match):
        read_settings(file, registry.checks.values())


def test_the_page_is_current():
    root = Path(__file__).parents[3]
    page = runpy.run_path(str(root / "tools" / "lint_page.py"))["page"]()
    assert (root / "docs" / "lint.md").read_text(encoding="utf-8") == page, "run: python tools/lint_page.py"


@pytest.mark.parametrize(("model", "name"), [("gpt2", "gpt-2"), ("qwen2", "qwen2")])
def test_llama_cpps_hash_of_published_vocabularies_has_its_published_name(registry, test_data, model, name):
    rows = run(registry, f"transformers:{test_data}/vocabs/{model}/hf", "TB105")
    assert rows[-1].outcome is Outcome.PASS
    assert f"as '{name}'" in rows[-1].finding.message


def test_what_a_conversation_costs_beyond_its_text_is_counted(registry, tmp_path):
    folder = write(tmp_path / "v", sound())
    subject = subject_of(registry, f"bpe:{folder}", {})
    matching = subject.matching
    user, assistant = (
        len(matching.encode(f"<|start|>{role}\n")) + len(matching.encode("<|stop|>\n"))
        for role in ("user", "assistant")
    )
    cost = overhead(subject)
    assert cost == (user, user + assistant, len(matching.encode("<|start|>assistant\n")))
    assert f"tokens beyond its text: {cost.first} for the first message" in chat.look(subject, {}).message


@pytest.mark.parametrize(
    "template",
    [
        "{% for m in messages %}{% if m.role == 'user' %}<|start|> {{ m.content }} <|stop|>{% else %}"
        " {{ m.content }}<|end|>{% endif %}{% endfor %}",
        "{% for m in messages %}{% if m.role == 'user' %}<|start|>user\n{{ m.content }}<|stop|>\n"
        "<|start|>assistant\n{% else %}{{ m.content }}<|stop|>\n{% endif %}{% endfor %}",
    ],
    ids=["answers without a beginning", "answers begun unasked"],
)
def test_a_template_may_do_without_a_generation_prompt(registry, tmp_path, template):
    folder = write(tmp_path / "v", sound() | {"chat_template.jinja": template})
    found = chat.look(subject_of(registry, f"bpe:{folder}", {}), {})
    assert found.outcome is Outcome.PASS
    assert "for the first message" in found.message


@pytest.mark.parametrize(
    ("pieces", "said"), [(1, "1 other part of"), (2, "2 other parts of"), (0, "0 other parts of")]
)
def test_parts_of_characters_are_counted_apart_from_impossible_bytes(pieces: int, said: str) -> None:
    tokens = [b"a", b"\xe3A", *[b"\xe3"] * pieces]
    undecodable = next(check for check in CATALOGUE if check.code == "TB202")
    audit = SimpleNamespace(tokens=tokens, ids=lambda status: [*range(1, len(tokens))], text=lambda index: None)
    found = undecodable.look(SimpleNamespace(audit=audit), undecodable.bounds)
    assert found.message == f"tokens that occur in no valid UTF-8 (and {said} characters, in order): 1"
