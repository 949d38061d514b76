"""Markdown, LaTeX and the dataset card: nothing in a run can break out of its cell."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.errors import SpecError, UnknownNameError
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.plots.labels import dataset_label
from tokbench.reports import card, latex, markdown
from tokbench.reports.html import page

HOSTILE = ["bpe:a|b.json", "bpe:<script>alert(1)</script>.json", r"bpe:$x_1&\input{/etc/passwd}%.json", "bytes"]


@given(st.text())
def test_markdown_cells_stay_cells(text: str) -> None:
    escaped = markdown.escape(text)
    assert "\n" not in escaped
    assert not re.search(r"(?<!\\)(?:\\\\)*[|<`]", escaped)


def test_markdown_holds_no_control_characters_of_a_message() -> None:
    """The report may go to a terminal (`report -o -`), where an escape of a plugin's message would draw."""
    escaped = markdown.escape("boom\x1b[31m and \x9b2J")
    assert escaped.isprintable()
    assert "boom\\\\x1b" in escaped


def test_reports_hold_no_control_characters_of_what_a_plugin_says_of_itself(made_up_run) -> None:
    """Nor does a page, which goes to a terminal too."""
    run, wild = made_up_run(2, 2), "boom\x1b[31m \x9b2J \x00 \u202e<b>"
    name = run.frame["metric"].iloc[0]
    said = dict.fromkeys(("summary", "unit", "formula", "source", "caveat", "heading"), wild)
    run.manifest["definitions"] = [{"name": name, "better": "lower", "level": "cell", **said}]
    for text in (page.render(run), markdown.document(run)):
        assert "boom" in text
        assert not {*text} & {"\x1b", "\x9b", "\x00", "\u202e"}


@given(st.text())
def test_latex_is_ascii_and_every_brace_is_matched(text: str) -> None:
    escaped = latex.escape(text)
    assert escaped.isascii()
    bare = re.sub(r"\\[{}]", "", escaped)
    assert bare.count("{") == bare.count("}")
    assert not re.search(r"(?<!\\)[%&#]", escaped)


def test_latex_sets_what_reports_and_captions_hold_beyond_ascii() -> None:
    """A minus of an interval, log₂ of a definition, the quotes and letters of a caption."""
    assert latex.escape("−2.10 to −1.88, log₂") == "$-$2.10 to $-$1.88, log$_2$"
    assert latex.escape("“Größe’s” œuvre") == (
        r"\textquotedblleft{}Gr\"{o}\ss{}e\textquoteright{}s\textquotedblright{} \oe{}uvre"
    )
    told = " ".join(f"{metric.summary} {metric.unit}" for metric in CATALOGUE)
    assert "U+" not in latex.escape(told)


def test_markdown_tables_have_as_many_cells_in_every_row(made_up_run) -> None:
    text = markdown.document(made_up_run(5, 4, specs=HOSTILE))
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1
    assert "<script>" not in text
    assert "# tokbench report: r1" in text


def test_markdown_renders_as_tables_and_nothing_else(made_up_run) -> None:
    parser = pytest.importorskip("markdown_it", reason="needs markdown-it-py").MarkdownIt("commonmark")
    text = markdown.document(made_up_run(5, 4, specs=HOSTILE))
    tokens = parser.enable("table").parse(text)
    kinds = [token.type for token in tokens]
    assert kinds.count("table_open") == len(re.findall(r"^\|[-:| ]+\|$", text, re.M)) > 4
    assert "html_block" not in kinds
    inline = [child for token in tokens for child in token.children or ()]
    formulas = {" ".join(metric.formula.split()) for metric in CATALOGUE}
    assert {child.content for child in inline if child.type == "code_inline"} <= formulas
    rest = {child.type for child in inline if child.type != "code_inline"}
    assert rest <= {"text", "strong_open", "strong_close", "em_open", "em_close"}
    shown = "".join(child.content for child in inline)
    assert "offline <b>bold</b>" in shown
    assert "bpe a|b" in shown


def test_latex_marks_the_best_in_bold(made_up_run) -> None:
    text = latex.document(made_up_run(5, 5))
    assert r"\bfseries" in text
    assert r"\toprule" in text
    assert "S[table-format=" in text


@pytest.mark.slow
@pytest.mark.parametrize(("languages", "tokenizers"), [(3, 4), (200, 15)])
def test_latex_compiles(made_up_run, tmp_path: Path, languages: int, tokenizers: int) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex with booktabs, siunitx and longtable")
    run = made_up_run(languages, tokenizers, specs=HOSTILE if tokenizers == 4 else None)
    preamble = (
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{textcomp}"
        r"\usepackage[margin=2cm]{geometry}\usepackage{booktabs,siunitx,longtable,graphicx}"
        r"\sisetup{detect-weight=true, mode=text, table-align-text-post=false}\begin{document}"
    )
    (tmp_path / "paper.tex").write_text(preamble + latex.document(run) + r"\end{document}", encoding="ascii")
    command = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]
    overfull = re.findall(rb"Overfull \\hbox \((\d+)", done.stdout)
    assert all(int(points) < 30 for points in overfull)


def test_the_card_begins_with_metadata(made_up_run) -> None:
    text = card.document(made_up_run(3, 2))
    head = text.split("---")[1]
    assert 'pretty_name: "tokbench r1"' in head
    assert '- "deu"' in head
    assert "python" not in head, "no tag of a language is so long"


def test_of_a_dataset_without_figures_there_is_no_headline(made_up_run) -> None:
    run = made_up_run(3, 2)
    first, other = run.datasets[:2]
    labels = [re.escape(markdown.escape(dataset_label(run, name))) for name in (first, other)]
    for document, level in ((markdown.document, "##"), (card.document, "###")):
        assert all(re.search(f"^{level} {label}$", document(run), re.M) for label in labels)
    run.frame = run.frame.assign(value=run.frame["value"].where(run.frame["dataset"] != other))
    for document, level in ((markdown.document, "##"), (card.document, "###")):
        found = [bool(re.search(f"^{level} {label}$", document(run), re.M)) for label in labels]
        assert found == [True, False]


def test_of_one_language_markdown_shows_by_language_what_is_usual_alone(made_up_run) -> None:
    run = made_up_run(1, 2)
    run.manifest["suite"]["metrics"] = ["compression_ratio", "token_length"]
    heads = re.findall(r"^## (\S+) ·", markdown.document(run), re.M)
    assert r"compression\_ratio" in heads
    assert r"token\_length" not in heads, "the headline has said it"


def test_formulas_are_mathematics_in_markdown(made_up_run) -> None:
    text = markdown.document(made_up_run(2, 2))
    assert r"| $`\frac{\sum_d \mathrm{bytes}(d)}{\sum_d \mathrm{tokens}(d)}`$ |" in text
    assert r"\\frac" not in text
    assert markdown.formula("a`b") == r"a\`b"


def test_latex_has_intervals_and_the_paired_tests(made_up_run) -> None:
    text = latex.document(made_up_run(3, 3))
    assert r"@{\,}l" in text
    assert re.search(r"\\bfseries [\d.]+ & \{\\tiny \[[\d.]+--[\d.]+\]\}", text)
    assert "p (corrected)" in text.replace("{", "").replace("}", "")
    assert "more than chance" in text


def test_latex_of_what_a_paper_needs(made_up_run) -> None:
    run = made_up_run(3, 3)
    first, _, third = run.tokenizers
    choice = latex.Choice(
        metrics=("fertility", "compression_ratio"),
        rows=(third, first),
        labels={first: "Ours", "fertility": "Tokens a word"},
        caption="What we found.",
    )
    text = latex.document(run, choice)
    assert text.count(r"\begin{table}") == 2  # one a dataset
    assert text.count(r"\caption{What we found.}") == 2
    table = text.partition(r"\begin{table}")[2].partition(r"\end{table}")[0]
    assert table.index("unigram 8k") < table.index("Ours")
    assert table.index("Tokens a word") < table.index("compression ratio")
    assert "o200k" not in table
    assert "Gini" not in table
    with pytest.raises(UnknownNameError, match="fertility"):
        latex.document(run, latex.Choice(metrics=("fertilty",)))
    with pytest.raises(SpecError, match=r"premium: not in a table over all languages: .* single languages"):
        latex.document(run, latex.Choice(metrics=("gini", "premium")))
    one = latex.document(run, replace(choice, datasets=(run.datasets[-1],)))
    assert one.count(r"\begin{table}") == 1
    assert one.partition(r"\begin{table}")[2] in text
    whole = latex.document(run, latex.Choice(datasets=(run.datasets[-1],)))
    assert 1 <= whole.count(r"\begin{table}") < latex.document(run).count(r"\begin{table}")
    with pytest.raises(UnknownNameError, match=r"bundled:poetry"):
        latex.document(run, latex.Choice(datasets=("bundled:poetry",)))
    there = run.frame["dataset"] == run.datasets[-1]
    run.frame.loc[there & (run.frame["metric"] == "gini"), "value"] = math.nan
    only_once = latex.document(run, latex.Choice(metrics=("gini",)))
    assert only_once.count(r"\begin{table}") == 1  # and none of names alone
    entries = {entry["spec"]: entry for entry in run.manifest["tokenizers"]}
    entries[first]["typed"], entries[third]["also"] = "gpt-4o", ["unigram:vocab_size=8k"]
    asked_for = latex.Choice(
        metrics=choice.metrics,
        rows=("unigram:vocab_size=8k", "gpt-4o"),
        labels={"gpt-4o": "Ours", "fertility": "Tokens a word"},
        caption=choice.caption,
    )
    assert latex.document(run, asked_for) == text
    assert latex.document(run, replace(asked_for, rows=("unigram 8k", "gpt-4o"))) == text  # as tables call it


def test_a_name_that_was_given_keeps_the_mark_of_what_loses_text(made_up_run) -> None:
    run = made_up_run(3, 3)
    first = run.tokenizers[0]
    changed = (run.frame["tokenizer"] == first) & run.frame["metric"].isin(["round_trip", "lost_text"])
    run.frame.loc[changed, "value"] = 0.5
    text = latex.document(run, latex.Choice(metrics=("compression_ratio",), labels={first: "Ours"}))
    assert r"Ours \textsuperscript{\textdagger} &" in text


def test_markdown_states_provenance(made_up_run) -> None:
    run = made_up_run(2, 2)
    run.manifest |= {"versions": {"tokbench": "9.9", "numpy": "2.0"}, "train_on": "stdlib:docs"}
    run.manifest["suite"] |= {"replicates": 1000, "seed": 7}
    run.manifest["tokenizers"][0] |= {"fingerprint": "ab" * 32, "libraries": {"numba": "0.68"}}
    text = markdown.document(run).partition("## Provenance")[2]
    for said in ("tokbench 9.9", "replicates 1000, seed 7", "stdlib:docs", "numba 0.68", "abababababababab…"):
        assert said in text, said


def test_one_tokenizer_alone_is_the_most_of_nothing(made_up_run) -> None:
    from tokbench.reports.findings import findings

    said = findings(made_up_run(1, 1))
    assert re.fullmatch(r".+ packs [\d.]+ bytes into a token on bundled parallel\.", said[0].gist)
    assert not any(word in each.sentence for each in said for word in ("most", "longest", "shortest"))
