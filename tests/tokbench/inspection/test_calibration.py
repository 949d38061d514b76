"""Closed tokenizers estimated: a fit finds what made the counts, and says how far off it is."""

from __future__ import annotations

import csv
import json
import random
import re
from functools import partial

import pytest

import tokbench
from tests.command import invoke, output
from tests.runs import tokenizer_plugin
from tokbench.cli.headline import print_headline
from tokbench.errors import CorpusError, SpecError, TokbenchError, TokenizerError
from tokbench.inspection.calibration import SHARED, Observed, calibrate, read_observed
from tokbench.registry import adopt, build_registry
from tokbench.runner.fingerprint import fingerprint, forget_digests

WORDS = ["猫", "マット", "東京", "the", "sat", "on", "a", "and", "saw", "one", "more", "dog"]

run = partial(output, "calibrate")


def texts(n: int) -> list[str]:
    drawn = random.Random(0)  # some have many long characters, some none
    return [" ".join(drawn.choices(WORDS if i % 3 else WORDS[-5:], k=5 + i % 40)) for i in range(n)]


def counts(path, n=80, kind=lambda i: "prose" if i % 2 else "code"):
    """Counts of an imagined API: 6 tokens a request, half a token a byte of prose and 0.8 of code."""
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["text", "tokens", "kind"])
        for i, text in enumerate(texts(n)):
            share = 0.5 if kind(i) == "prose" else 0.8
            rows.writerow([text, round(6 + share * len(text.encode())), kind(i)])
    return path


def test_the_tokenizer_that_made_the_counts_is_found(tmp_path):
    path = counts(tmp_path / "counts.csv")
    kept = tmp_path / "fit.json"
    found = json.loads(run("chars", "bytes", "bytes", "--observed", str(path), "--json", "-o", str(kept)))
    assert [one["spec"] for one in found] == ["bytes", "chars"]
    best = found[0]
    assert best["estimated"] is True
    assert best["overhead"] == pytest.approx(6, abs=0.5)
    assert best["factors"]["prose"] == pytest.approx(0.5, abs=0.01)
    assert best["factors"]["code"] == pytest.approx(0.8, abs=0.01)
    assert best["held_out_error"] < 0.02 < found[1]["held_out_error"]
    assert "estimated from 80 reported counts" in run("bytes", "--observed", str(path))
    (tmp_path / "two.txt").write_text("one line\nanother line\n")
    (row,) = json.loads(run("--fit", str(kept), "-d", f"text:{tmp_path}/two.txt", "--kind", "prose", "--json"))
    assert (row["estimated_from"], row["kind"]) == ("bytes", "prose")
    assert row["tokens"] == pytest.approx(12 + 0.5 * len("one lineanother line"), abs=1.5)
    least, most = row["tokens_interval"]
    assert least <= row["tokens"] <= most
    asked = ("--fit", str(kept), "-d", f"text:{tmp_path}/two.txt", "--kind", "prose", "--price", "1e6")
    (row,) = json.loads(run(*asked, "--json"))
    assert row["cost"] == pytest.approx(row["tokens"], abs=0.51)
    assert row["cost_interval"] == pytest.approx(row["tokens_interval"], abs=0.51)
    shown = run(*asked, columns=200).splitlines()  # the path of the dataset is long
    assert shown[0] == "estimated from bytes, kind of text: prose"
    assert shown[1].split() == ["dataset", "language", "requests", "tokens", "95", "%", "cost", "95", "%"]
    assert f"{row['tokens']:,}" in "".join(shown)


def test_the_only_kind_observed_need_not_be_named(tmp_path):
    kept = tmp_path / "fit.json"
    counts(tmp_path / "counts.csv", kind=lambda i: "prose")
    run("bytes", "--observed", str(tmp_path / "counts.csv"), "-o", str(kept))
    asked = ("--fit", str(kept), "-d", f"text:{counts(tmp_path / 'some.txt')}", "--json")
    assert run(*asked) == run(*asked, "--kind", "prose")


def test_rare_kinds_share_a_factor_and_overhead_is_never_negative():
    rows = [Observed("x", max(1, 3 * n - 2), "rare" if n < 4 else "text") for n in range(1, 40)]
    fit = calibrate("chars", list(range(1, 40)), rows)
    assert fit.overhead == 0.0
    assert set(fit.factors) == {"text", SHARED}
    assert fit.estimate(10, "rare") == pytest.approx(fit.factors[SHARED] * 10)
    assert fit.low <= 1.0 <= fit.high


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("a,b\n1,2\n", "needs a first line that names the columns"),
        ('{"text": "x", "tokens": 3}\n', "is read as CSV"),
        ("text,tokens\nx,many\n", "line 2"),
        ("text,tokens\nx,0\n", "above 0"),
        ("text,tokens\nx,3\n", "1 row; at least 10"),
        ("text,tokens\n" + "  ,3\n" * 12, "every text is blank"),
        ("text,tokens,kind\n" + "word,4,a\n" * 12 + "  ,3,b\n" * 6, "every text of kind 'b' is blank"),
        ("text,tokens\n" + "a,7\nlonger,7\n" * 6, "all 12 rows report 7 tokens, .* texts of different lengths"),
        ("file,tokens\nnone.txt,3\n", "line 2"),
    ],
)
def test_wrong_counts_are_refused_with_the_line(tmp_path, content, match):
    path = tmp_path / "counts.csv"
    path.write_text(content)
    with pytest.raises(CorpusError, match=match):
        read_observed(path)


def test_a_tokenizer_whose_counts_never_vary_is_not_fitted(tmp_path):
    path = tmp_path / "counts.csv"
    rows = [(("abc", "defg")[i % 2], 7 + i % 3, ("code", "text")[i % 2]) for i in range(20)]
    path.write_text("text,tokens,kind\n" + "".join(f"{text},{n},{kind}\n" for text, n, kind in rows))
    with pytest.raises(SpecError, match=r"bytes: gives all texts of a kind the same number .*leave"):
        run("bytes", "--observed", str(path))
    alike = [Observed(text, n, "text") for text, n, _ in rows]
    with pytest.raises(SpecError, match="x: gives all texts the same number"):
        calibrate("x", [5] * 20, alike)
    assert calibrate("x", [3, 4] * 10, alike).rows == 20


def test_a_kind_that_has_no_tokens_or_fewer_for_more_text_is_not_fitted():
    rows = [Observed("x" * n, 7 + 2 * n, "ab"[n % 2]) for n in range(1, 31)]
    with pytest.raises(SpecError, match="x: by it no text of kind 'a' has a token"):
        calibrate("x", [n % 2 * n for n in range(1, 31)], rows)
    falling = [Observed("x" * n, 200 - 3 * n, "text") for n in range(1, 31)]
    with pytest.raises(SpecError, match="x: the more tokens a text of kind 'text' has by it, the fewer were"):
        calibrate("x", [*range(1, 31)], falling)


def test_what_exists_is_overwritten_only_by_force(tmp_path):
    path, kept = str(counts(tmp_path / "counts.csv")), tmp_path / "tokenizer.json"
    kept.write_text("of another command")
    with pytest.raises(SpecError, match=r"tokenizer.json exists; name another file, or overwrite it"):
        run("bytes", "--observed", path, "-o", str(kept))
    assert kept.read_text() == "of another command"
    run("bytes", "--observed", path, "-o", str(kept), "--force")
    assert json.loads(kept.read_text())["spec"] == "bytes"


def test_a_byte_order_mark_is_no_part_of_a_column(tmp_path):
    path = counts(tmp_path / "counts.csv")
    path.write_text(path.read_text(), encoding="utf-8-sig")
    assert len(read_observed(path)) == 80


def test_a_request_that_asks_for_nothing_is_refused(tmp_path):
    with pytest.raises(SpecError, match="name reported counts"):
        run("bytes")
    path, kept = str(counts(tmp_path / "counts.csv")), tmp_path / "fit.json"
    asked = ("bytes", "--observed", path, "-o", str(kept))
    with pytest.raises(
        SpecError, match=r"-d, --price: one call either fits or estimates.*--fit FILE.json -d DATASET"
    ):
        run(*asked, "--price", "3", "-d", f"text:{path}")
    with pytest.raises(SpecError, match="--kind: one call either fits or estimates"):
        run(*asked, "--kind", "prose")
    assert not kept.exists()
    with pytest.raises(SpecError, match=r"keeps a fit, and --fit .* makes none"):
        run("--fit", str(kept), "-d", f"text:{path}", "-o", "estimates.json")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(SpecError, match="is no calibration"):
        run("--fit", str(tmp_path / "other.json"), "-d", "text:none.txt")

    whole = calibrate("chars", list(range(1, 31)), [Observed("x", 7 + n, "text") for n in range(30)]).to_json()
    for change in ({"factors": None}, {"factors": {"text": 1.0}}, {"interval_95": [1]}, {"rows": None}):
        (tmp_path / "fit.json").write_text(json.dumps(whole | change))
        with pytest.raises(SpecError, match=r"fit.json: is a calibration that is damaged"):
            run("--fit", str(tmp_path / "fit.json"), "-d", "text:none.txt")


@pytest.fixture(scope="module")
def fit(tmp_path_factory):
    """A fit of the imagined API, kept."""
    folder = tmp_path_factory.mktemp("fit")
    kept = folder / "fit.json"
    run("bytes", "chars", "--observed", str(counts(folder / "counts.csv")), "-o", str(kept))
    return kept


def test_a_fit_is_a_tokenizer_that_counts_and_does_not_encode(fit):
    tokenizer = tokbench.load(f"calibrated:{fit},kind=prose")
    lengths = [len(text.encode()) for text in texts(60)]
    found = tokenizer.count_tokens(texts(60))
    assert found.sum() == pytest.approx(0.5 * sum(lengths), rel=0.02)  # content alone: no request's overhead
    assert found.tolist() == [int(tokenizer.count_tokens([text])[0]) for text in texts(60)]
    assert max(abs(n - 0.5 * size) for n, size in zip(found, lengths, strict=True)) < 0.02 * max(lengths) + 1
    with pytest.raises(TokenizerError, match="only how many"):
        tokenizer.encode("one")
    with pytest.raises(SpecError, match=r"no text of kind 'text' was observed.*code, prose"):
        tokbench.load(str(fit))  # a bare path is known by what is in it


def test_what_is_shown_of_a_fit_says_that_it_is_estimated_and_no_size_of_a_vocabulary(fit):
    shown = output("show", f"calibrated:{fit},kind=prose")
    assert "vocab size" not in shown
    assert re.search(r"estimated +estimated from \w+ .*; reported / estimated \d\.\d{3}–\d\.\d{3}", shown)


@pytest.mark.parametrize("price", ["inf", "nan"])
def test_a_price_is_a_finite_number(fit, price):
    asked = ("--fit", fit, "-d", "text:none.txt", "--kind", "prose", "--price", price)
    done = invoke("calibrate", *asked, "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Invalid value for '--price'" in done.stderr


def test_what_was_fitted_to_an_estimate_is_refused(fit, tmp_path):
    again = tmp_path / "again.json"
    spec = f"calibrated:{again},kind=code"
    for made_with in (fit, again):
        content = {**json.loads(fit.read_text()), "spec": f"calibrated:{made_with},kind=code"}
        again.write_text(json.dumps(content))
        registry = build_registry()
        asked, family = registry.tokenizer_spec(spec), registry.tokenizers["calibrated"]
        for reads in (family.load, family.files_of):
            with pytest.raises(SpecError, match=r"again\.json.*, an estimate itself"):
                reads(asked, registry.context)


def test_a_fit_may_name_a_tokenizer_of_a_plugin_file(tmp_path):
    plugin, fit = tmp_path / "halves.py", tmp_path / "fit.json"
    tokenizer_plugin(
        plugin,
        "vocab_size = 0x110000\n"
        "def encode(self, text): return [ord(c) for c in text[::2]]\n"
        "def decode(self, ids): return ''.join(map(chr, ids))",
    )
    run("halves", "--plugin", str(plugin), "--observed", str(counts(tmp_path / "counts.csv")), "-o", str(fit))
    spec = f"calibrated:{fit},kind=prose"
    assert tokbench.load(spec, plugins=[str(plugin)]).count_tokens(texts(60)).sum() > 0
    with pytest.raises(TokbenchError, match="halves"):
        tokbench.load(spec)

    def kept_under() -> str:
        registry = build_registry(plugin_files=[str(plugin)])
        adopt(registry)
        forget_digests()
        return fingerprint(registry, registry.tokenizer_spec(spec), [])

    before = kept_under()
    assert kept_under() == before
    plugin.write_text(plugin.read_text().replace("[::2]", "[::3]"))
    assert kept_under() != before, "what was counted by the plugin's earlier code is stale"


@pytest.mark.long
def test_a_run_counts_by_a_fit_and_marks_it_as_estimated_everywhere(fit, tmp_path):
    text = tmp_path / "words.txt"
    text.write_text("\n\n".join(texts(200)))
    (tmp_path / "prices.toml").write_text("[prices]\ncalibrated = 2.0\nbytes = 1.0\nchars = 1.0\n")
    closed, ours = f"calibrated:{fit},kind=prose", "bytes"
    done = tokbench.run(
        [closed, ours, "chars"], [f"text:{text}"], output=str(tmp_path / "run"), speed=False,
        prices=str(tmp_path / "prices.toml"), exclude_lossy=True,
    )  # fmt: skip
    rows = done.frame[done.frame["language"] == "all"].set_index(["tokenizer", "metric"])
    ratio = rows.loc[closed, "compression_ratio"]
    assert ratio["value"] == pytest.approx(2.0, rel=0.02)
    assert ratio["estimated"]
    assert not rows.loc[ours, "compression_ratio"]["estimated"]
    low, high = tokbench.load(closed).bounds
    assert ratio["ci_high"] / ratio["ci_low"] > high / low - 0.01  # the error of the fit is in it
    assert rows.loc[closed, "cost"]["value"] == pytest.approx(rows.loc[ours, "cost"]["value"], rel=0.02)
    cost = rows.loc[closed, "cost"]
    assert cost["ci_high"] / cost["ci_low"] == pytest.approx(high / low, rel=0.3)
    assert cost["ci_low"] < cost["value"] < cost["ci_high"]
    assert rows.loc[ours, "cost"]["ci_low"] != rows.loc[ours, "cost"]["ci_low"]
    for metric in ("round_trip", "vocab_utilization", "fertility", "shannon_entropy", "unk_rate"):
        assert rows.loc[closed, metric]["value"] != rows.loc[closed, metric]["value"]
        assert "known" in rows.loc[closed, metric]["status"]
    assert not done.failures
    assert "calibrated" not in (tmp_path / "run" / "audits.json").read_text()

    from tokbench.plots.labels import run_labels
    from tokbench.plots.losses import comparable

    assert run_labels(done)[closed].endswith(" ≈")
    assert comparable(done) == [ours, "chars"]
    report = done.report(tmp_path / "report.md").read_text()
    assert "≈ estimated: token counts predicted from those of another tokenizer" in report
    assert "because they are estimated: calibrated fit prose ≈" in report
    assert "True" in (tmp_path / "run" / "measurements.csv").read_text()


def test_a_run_of_estimates_alone_shows_the_tokens_where_nothing_asked_for_is_known(fit, tmp_path, capsys):
    (tmp_path / "words.txt").write_text("some words\n" * 30)
    spec, text = f"calibrated:{fit},kind=prose", f"text:{tmp_path / 'words.txt'}"
    done = tokbench.run(spec, text, output=tmp_path / "out", metrics=["fertility"], speed=False, jobs=1)
    print_headline(done)
    _, heads, figures, *_ = capsys.readouterr().out.splitlines()
    counted = done.frame.query("metric == 'tokens' and language == 'all'")["value"].iloc[0]
    assert (heads.split()[-1], figures.split()[-1]) == ("tokens", f"{counted:.0f}")


def test_the_live_page_says_what_is_estimated(fit):
    from tokbench.live.opening import open_bench
    from tokbench.registry import build_registry

    bench = open_bench(build_registry(), [f"calibrated:{fit},kind=prose"])
    ((name, _),) = bench.seats.items()
    (shown,) = bench.encode("one more dog " * 20, [name])["results"]
    assert shown["error"].startswith("≈ 1")
    assert "estimated from bytes" in shown["error"]
