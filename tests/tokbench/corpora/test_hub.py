"""The hub family against a stand-in for `datasets`: the tests never go to the network."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from tests.tokbench.corpora.reading import texts
from tokbench.errors import CorpusError


class Table:
    """What `load_dataset` returns, as far as it is used: rows, parts, iteration."""

    num_shards = 3

    def __init__(self, rows):
        self.rows = rows

    def shard(self, *, num_shards, index):
        return Table(self.rows[index::num_shards])

    def __iter__(self):
        return iter(self.rows)


@pytest.fixture
def hub(monkeypatch):
    calls = SimpleNamespace(arguments=[], failure=None, commit="c0ffee")

    def load_dataset(name, config, **options):
        calls.arguments.append((name, config, options))
        if calls.failure:
            raise calls.failure
        return Table([{"text": f"row {number}"} for number in range(10)])

    library = ModuleType("datasets")
    library.load_dataset = load_dataset
    client = ModuleType("huggingface_hub")
    info = SimpleNamespace(dataset_info=lambda *a, **k: SimpleNamespace(sha=calls.commit))
    client.HfApi = lambda: info
    monkeypatch.setitem(sys.modules, "datasets", library)
    monkeypatch.setitem(sys.modules, "huggingface_hub", client)
    return calls


def test_a_split_in_the_parts_the_hub_has(hub, load, read):
    dataset = load("hub:org/set,config=sw,split=validation,revision=v1,language=swh_Latn")
    assert not hub.arguments
    assert dataset.languages == ["swh_Latn"]
    assert len(dataset.shards("swh_Latn")) == 3
    assert sorted(texts(read(dataset))) == sorted(f"row {number}" for number in range(10))
    assert hub.arguments == [
        ("org/set", "sw", {"split": "validation", "revision": "v1", "streaming": True}),
    ]
    assert dataset.facts()["revision"] == "c0ffee"


def test_the_first_rows(hub, load, read):
    assert texts(read(load("hub:org/set,rows=4"))) == ["row 0", "row 1", "row 2", "row 3"]


def test_the_first_rows_of_what_is_not_there_are_told_before_any_is_read(hub, load):
    hub.failure = ValueError("it doesn't exist on the Hub")
    with pytest.raises(CorpusError, match="doesn't exist on the Hub"):
        load("hub:org/set,rows=4").shards("und")


def test_a_digest_goes_by_the_commit(hub, load):
    first = load("hub:org/set")
    digests = {first.digest(shard) for shard in first.shards("und")}
    assert len(digests) == 3
    assert digests == {load("hub:org/set").digest(shard) for shard in first.shards("und")}
    hub.commit = "decade"
    assert digests.isdisjoint(load("hub:org/set").digest(s) for s in load("hub:org/set").shards("und"))


def test_where_the_hub_tells_no_commit_the_revision_has_to_do(hub, load):
    hub.commit = None
    assert load("hub:org/set").facts()["revision"] == "main"
    assert load("hub:org/set,revision=v1").facts()["revision"] == "v1"


def test_a_commit_that_moves_during_the_run_is_noticed(hub, load):
    (shard, *_) = load("hub:org/set").shards("und")
    hub.commit = "decade"
    with pytest.raises(CorpusError, match=r"revision changed.*revision=COMMIT"):
        next(load("hub:org/set").read(shard))


def test_offline_is_said_with_the_remedy(hub, load):
    hub.failure = ConnectionError("no route to host")
    with pytest.raises(CorpusError, match=r"ConnectionError: no route.*HF_HUB_OFFLINE.*streaming=false"):
        load("hub:org/set").shards("und")


def test_another_failure_is_not_blamed_on_the_network(hub, load):
    hub.failure = ValueError("Bad split: tst")
    with pytest.raises(CorpusError, match=r"hub:org/set,split=tst: ValueError: Bad split: tst\Z"):
        load("hub:org/set,split=tst").shards("und")


def test_without_the_library(monkeypatch, load):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(CorpusError, match=r"pip install datasets"):
        load("hub:org/set")
    monkeypatch.setitem(sys.modules, "datasets", ModuleType("datasets"))
    with pytest.raises(CorpusError, match=r"what Python found instead"):
        load("hub:org/set")
