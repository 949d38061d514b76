from __future__ import annotations

import gzip
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.tokbench.corpora.reading import texts
from tokbench.corpora.jsonl import JsonLines
from tokbench.corpora.records import Fields
from tokbench.errors import CorpusError, SpecError

ROWS = [
    {"text": "eins, zwei", "lang": "deu_Latn"},
    {"text": 'a "quoted"\nword', "lang": "eng_Latn"},
    {"text": "", "lang": "eng_Latn"},
    {"text": "三", "lang": "zho_Hans"},
    {"text": "two", "lang": "eng_Latn"},
]


def write_jsonl(path, rows=ROWS):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def write_csv(path, rows=ROWS):
    import csv

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(path, rows=ROWS, **options):
    pq.write_table(pa.Table.from_pylist(rows), path, **options)
    return path


TABLES = {"jsonl": write_jsonl, "csv": write_csv, "parquet": write_parquet}


@pytest.mark.parametrize("family", TABLES)
def test_rows_in_one_language(tmp_path, load, read, family):
    path = TABLES[family](tmp_path / f"x.{family}")
    dataset = load(f"{family}:{path},language=mul")
    assert dataset.languages == ["mul"]
    assert texts(read(dataset)) == [row["text"] for row in ROWS if row["text"]]
    assert load(f"{family}:{tmp_path}").languages == ["und"]


@pytest.mark.parametrize("family", TABLES)
def test_rows_that_say_their_language(tmp_path, load, read, family):
    path = TABLES[family](tmp_path / f"x.{family}")
    dataset = load(f"{family}:{path},language_field=lang")
    assert dataset.languages == ["deu_Latn", "eng_Latn", "zho_Hans"]
    assert texts(read(dataset, "eng_Latn")) == ['a "quoted"\nword', "two"]
    assert texts(read(dataset, "zho_Hans")) == ["三"]
    digests = {dataset.digest(dataset.shards(tag)[0]) for tag in dataset.languages}
    assert len(digests) == 3
    chosen = load(f"{family}:{path},language_field=lang,languages=zho_Hans+deu_Latn")
    assert chosen.languages == ["zho_Hans", "deu_Latn"]
    with pytest.raises(SpecError, match=r"no language 'zho_Hant'; did you mean zho_Hans"):
        _ = load(f"{family}:{path},language_field=lang,languages=zho_Hant").languages


@pytest.mark.parametrize("family", TABLES)
def test_small_files_of_mixed_languages_share_a_shard(tmp_path, load, read, family):
    for name in "abc":
        TABLES[family](tmp_path / f"{name}.{family}")
    dataset = load(f"{family}:{tmp_path},language_field=lang")
    assert [len(dataset.shards(tag)) for tag in dataset.languages] == [1, 1, 1]
    assert texts(read(dataset, "zho_Hans")) == ["三"] * 3


@pytest.mark.parametrize("family", TABLES)
def test_a_worker_reads_without_looking_for_languages(tmp_path, load, family):
    path = TABLES[family](tmp_path / f"x.{family}")
    spec = f"{family}:{path},language_field=lang"
    (shard,) = load(spec).shards("deu_Latn")
    fresh = load(spec)
    assert texts(fresh.read(shard)) == ["eins, zwei"]
    assert not fresh._plan


@pytest.mark.parametrize("family", TABLES)
def test_a_missing_field_names_those_there_are(tmp_path, load, read, family):
    path = TABLES[family](tmp_path / f"x.{family}")
    with pytest.raises(CorpusError, match=r"(?s)'txet'.*text, lang.*field=NAME"):
        read(load(f"{family}:{path},field=txet"))
    with pytest.raises(CorpusError, match="field=NAME"):  # where a run is planned, before any work
        load(f"{family}:{path},field=txet").shards("und")


@pytest.mark.parametrize("family", TABLES)
@pytest.mark.parametrize("option", ["language_field", "cluster"])
def test_a_misspelt_other_field_names_those_there_are(tmp_path, load, read, family, option):
    path = TABLES[family](tmp_path / f"x.{family}")
    dataset = load(f"{family}:{path},{option}=langg")
    with pytest.raises(CorpusError, match=r"(?s)'langg'.*text, lang"):
        read(dataset, dataset.languages[0])


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("language_field", None, "line 2, byte offset .*: field 'lang' is null, not a language tag"),
        ("language_field", 3, "field 'lang' is 3, not a language tag"),
        ("cluster", None, "field 'lang' is null, not a text or a number"),
        ("cluster", ["a"], r"field 'lang' is \['a'\], not a text"),
    ],
)
def test_what_is_no_language_or_cluster_is_said(tmp_path, load, read, option, value, said):
    path = tmp_path / "x.jsonl"
    rows = [{"text": "a", "lang": "eng_Latn"}, {"text": "b", "lang": value}, {"text": "c"}]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(CorpusError, match=said):
        read(load(f"jsonl:{path},{option}=lang"))
    path.write_text("\n".join(map(json.dumps, rows[::2])))
    with pytest.raises(CorpusError, match=f"no field 'lang'; the row has: text. Name another with {option}="):
        read(load(f"jsonl:{path},{option}=lang"))


def test_the_delimiter_that_a_header_has_is_named(tmp_path, load, read):
    path = tmp_path / "x.csv"
    path.write_text("id;text\n1;one\n")
    with pytest.raises(CorpusError, match=r"the header has: id;text\. Say delimiter=semicolon"):
        read(load(f"csv:{path}"))
    assert texts(read(load(f"csv:{path},delimiter=semicolon"))) == ["one"]
    path.write_text("text;id\none, two;1\n")
    with pytest.raises(CorpusError, match=r"2 values under 1 column\. Say delimiter=semicolon"):
        read(load(f'csv:{path},field="text;id"'))
    path.write_text('id,"Body, the",Body\n1,one,two\n')
    with pytest.raises(CorpusError, match=r"the header has: id, 'Body, the', Body\. Name one with field=NAME"):
        read(load(f"csv:{path}"))


@pytest.mark.parametrize("family", ["jsonl", "parquet"])
def test_null_is_an_error_or_passed_over(tmp_path, load, read, family):
    path = TABLES[family](tmp_path / f"x.{family}", [{"text": "a"}, {"text": None}, {"text": "b"}])
    with pytest.raises(CorpusError, match=r"field 'text' is null"):
        read(load(f"{family}:{path}"))
    assert texts(read(load(f"{family}:{path},missing=skip"))) == ["a", "b"]


def test_language_and_language_field_exclude_each_other(tmp_path, load):
    path = write_jsonl(tmp_path / "x.jsonl")
    with pytest.raises(SpecError, match=r"not both"):
        load(f"jsonl:{path},language=eng_Latn,language_field=lang")
    with pytest.raises(SpecError, match=r"name that field too"):
        load(f"jsonl:{path},languages=eng_Latn")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "a"', "line 2, byte offset 14: not a JSON object: column 13: Expecting"),
        (b'["a"]', "line 2, byte offset 14: a JSON list, where each line must be an object"),
        (b'{"text": 3}', "line 2, byte offset 14: field 'text' is int, not a text"),
        (b'{"other": "a"}', "line 2.*no field 'text'; the row has: other"),
        (b'{"text": "\\ud800"}', r"line 2, byte offset 14: field 'text' holds the lone surrogate U\+D800"),
        (b'{"text": "\xff"}', "line 2, byte offset 24: byte 0xff is not UTF-8"),
        (b"[" * 100_000, "line 2, byte offset 14: not a JSON object"),
    ],
)
def test_bad_lines_of_json_are_located(tmp_path, load, read, line, message):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"text": "a"}\n' + line + b"\n")
    with pytest.raises(CorpusError, match=message):
        read(load(f"jsonl:{path}"))


def test_surrogates_in_json(tmp_path, load, read):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"text": "\\ud83d\\ude00"}\n\n{"text": "a\\ud800b"}\n')
    assert texts(read(load(f"jsonl:{path},errors=replace"))) == ["😀", "a\ufffdb"]


def test_json_is_cut_at_lines(tmp_path, monkeypatch):
    from tokbench.corpora import blocks
    from tokbench.corpora.storage import stat

    path = write_jsonl(tmp_path / "x.jsonl", [{"text": f"é {number}"} for number in range(500)])
    form = JsonLines(Fields())
    monkeypatch.setattr(blocks.cut, "__kwdefaults__", {"target": 700})
    shards = form.shards(stat(str(path)), "und")
    assert len(shards) > 5
    found = [document.text for shard in shards for document in form.documents(shard)]
    assert found == [f"é {number}" for number in range(500)]


def test_csv_dialects(tmp_path, load, read):
    tsv = write_csv(tmp_path / "x.tsv")
    assert texts(read(load(f"csv:{tsv}")))[0] == "eins, zwei"
    semicolon = tmp_path / "s.csv"
    semicolon.write_bytes(b'\xef\xbb\xbftext;n\r\n"a;b\r\nc";1\r\n\r\nd;2\r\n')
    assert texts(read(load(f"csv:{semicolon},delimiter=semicolon"))) == ["a;b\r\nc", "d"]
    assert texts(read(load(f'csv:{semicolon},delimiter=";"'))) == ["a;b\r\nc", "d"]
    long = tmp_path / "long.csv"
    long.write_text("text\n" + "x" * 400_000 + "\n")
    assert len(read(load(f"csv:{long}"))[0].text) == 400_000
    packed = tmp_path / "p.csv.gz"
    packed.write_bytes(gzip.compress(b"text\nhello\n"))
    assert texts(read(load(f"csv:{packed}"))) == ["hello"]


def test_csv_errors(tmp_path, load, read):
    path = tmp_path / "x.csv"
    for content, said in (
        (b'text\nfine\n"open quote\n', r"x\.csv, line 3: a quotation mark is opened here"),
        (b'"text\nfine\n', r"x\.csv, line 1: a quotation mark is opened here"),
        (b'text\nfine\n"open quote\n' + b"and on\n" * 50, r"x\.csv, line 3: a quotation mark is opened here"),
        (b'n,text\n1,"two\nlines",\n2,an unquoted comma, here\n', r"x\.csv, line 4: 3 values under 2 columns"),
        (b"text,n,text\nfine,1,other\n", r"2 columns are named 'text'"),
        (b"text,n\nfine,1\nbad \xff,2\n", r"line 3, byte offset 18"),
    ):
        path.write_bytes(content)
        with pytest.raises(CorpusError, match=said):
            read(load(f"csv:{path}"))
    with pytest.raises(SpecError, match=r"delimiter is one character"):
        load(f"csv:{path},delimiter=||")


@pytest.mark.parametrize("family", TABLES)
@pytest.mark.parametrize("option", ["field", "cluster"])
def test_a_field_that_is_not_there_is_told_before_any_work(tmp_path, load, family, option):
    path = TABLES[family](tmp_path / f"x.{family}")
    with pytest.raises(CorpusError, match=rf"no (field|column) 'nowhere'.*{option}=NAME"):
        load(f"{family}:{path},{option}=nowhere").shards("und")


def test_parquet_is_read_by_row_groups(tmp_path, load, read, monkeypatch):
    from tokbench.corpora import parquet

    rows = [{"text": f"{number} " * 50, "other": number} for number in range(400)]
    path = write_parquet(tmp_path / "x.parquet", rows, row_group_size=40, use_dictionary=False)
    dataset = load(f"parquet:{path}")
    assert len(dataset.shards("und")) == 1
    monkeypatch.setattr(parquet, "TARGET", 20_000)
    shards = dataset.shards("und")
    assert len(shards) > 3
    assert shards[0].start == 0
    assert [shard.start for shard in shards[1:]] == [shard.stop for shard in shards[:-1]]
    assert shards[-1].stop == 10
    assert texts(read(dataset)) == [row["text"] for row in rows]
    assert len({dataset.digest(shard) for shard in shards}) == len(shards)


def test_parquet_columns_that_are_not_text(tmp_path, load, read):
    path = write_parquet(tmp_path / "x.parquet", [{"text": 1}])
    with pytest.raises(CorpusError, match=r"column 'text' is int64, not a text"):
        read(load(f"parquet:{path}"))
    encoded = pa.table({"text": pa.array(["a", "b", "a"]).dictionary_encode()})
    pq.write_table(encoded, tmp_path / "d.parquet")
    assert texts(read(load(f"parquet:{tmp_path / 'd.parquet'}"))) == ["a", "b", "a"]


def test_bytes_in_parquet_that_are_not_utf8(tmp_path, load, read):
    column = pa.array([b"fine", b"caf\xe9", None, b""], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": column}), tmp_path / "x.parquet")
    with pytest.raises(CorpusError, match=r"x\.parquet: .*UTF8.*errors=replace"):
        read(load(f"parquet:{tmp_path / 'x.parquet'},missing=skip"))
    replaced = read(load(f"parquet:{tmp_path / 'x.parquet'},missing=skip,errors=replace"))
    assert texts(replaced) == ["fine", "caf\ufffd"]


def test_a_damaged_parquet_file_is_an_error(tmp_path, load, read):
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1 nothing of the kind PAR1")
    with pytest.raises(CorpusError, match=r"x\.parquet: not a readable Parquet file"):
        read(load(f"parquet:{path}"))
    write_parquet(path, [{"text": os.urandom(500).hex()}] * 50, use_dictionary=False, compression="zstd")
    data = bytearray(path.read_bytes())
    data[20:400] = b"\xff" * 380
    path.write_bytes(data)
    with pytest.raises(CorpusError, match=r"x.parquet"):
        read(load(f"parquet:{path}"))


@pytest.mark.parametrize("family", TABLES)
def test_a_field_says_which_rows_belong_together(tmp_path, load, read, family):
    rows = [{"text": "one", "article": "a", "n": 1}, {"text": "two", "article": "a", "n": 2}]
    path = TABLES[family](tmp_path / f"x.{family}", rows)
    assert [document.cluster for document in read(load(f"{family}:{path},cluster=article"))] == ["a", "a"]
    assert [document.cluster for document in read(load(f"{family}:{path},cluster=n"))] == ["1", "2"]
    assert [document.cluster for document in read(load(f"{family}:{path}"))] == [None, None]
    with pytest.raises(CorpusError, match="chapter"):
        read(load(f"{family}:{path},cluster=chapter"))
