from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from tokbench.corpora import FAMILIES
from tokbench.corpus import Dataset, Shard
from tokbench.registry import build_registry
from tokbench.spec import Spec, validate


def test_the_families():
    names = [family.name for family in FAMILIES]
    assert names == [
        "bundled", "text", "jsonl", "csv", "parquet", "parallel", "flores", "conllu", "hub", "counts", "stdlib",
    ]  # fmt: skip
    for family in FAMILIES:
        assert family.summary
        assert all(option.help for option in family.options)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_examples_are_valid_specs(family):
    assert family.examples
    for example in family.examples:
        spec = Spec.parse(example)
        assert spec.family == family.name
        assert str(validate(spec, family.options)) == str(validate(Spec.parse(str(spec)), family.options))


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("rows.jsonl", "jsonl"), ("rows.JSONL.gz", "jsonl"), ("rows.ndjson.zst", "jsonl"), ("t.csv", "csv"),
        ("t.tsv.xz", "csv"), ("p.parquet", "parquet"), ("en.conllu", "conllu"), ("a.txt", "text"),
        ("a.gz", "text"), ("jsonl", "text"), ("prose.md", "text"), ("folder", "text"),
    ],
)  # fmt: skip
def test_a_bare_path_is_read_as_its_ending_says(name, family, tmp_path):
    path = tmp_path / name
    path.mkdir() if name == "folder" else path.write_bytes(b"")
    registry = build_registry()
    assert str(registry.dataset_spec(str(path))) == f"{family}:{path}"
    assert str(registry.dataset_spec(f"text:{path}")) == f"text:{path}"


def test_documents_of_a_bare_path_are_its_rows(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "one"}\n{"text": "two"}\n')
    dataset = build_registry().dataset(str(path))
    assert [doc.text for shard in dataset.shards("und") for doc in dataset.read(shard)] == ["one", "two"]


@pytest.mark.parametrize("spec", ["bundled:parallel", "bundled:code", "bundled:tricky", "stdlib:docs"])
def test_datasets_keep_the_contract(load, spec):
    dataset = load(spec)
    assert isinstance(dataset, Dataset)
    assert dataset.name == spec
    for language in dataset.languages:
        for shard in dataset.shards(language):
            assert Shard(**json.loads(json.dumps(asdict(shard)))) == shard
            assert len(dataset.digest(shard)) == 64
    json.dumps(dataset.facts())


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_page_on_datasets_has_every_family_and_option(family):
    page = (Path(__file__).parents[3] / "docs" / "datasets.md").read_text("utf-8")
    sections = dict(part.split("\n", 1) for part in page.split("\n## ")[1:])
    own = sections[family.name]
    if family.name in {"csv", "parquet"}:
        own += sections["jsonl"]
    assert [option.name for option in family.options if f"`{option.name}`" not in own] == []


def test_importing_the_families_imports_nothing_heavy():
    code = (
        "import sys, tokbench.corpora; "
        "print(*[m for m in ('pyarrow', 'fsspec', 'numpy', 'pandas', 'datasets') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == []
