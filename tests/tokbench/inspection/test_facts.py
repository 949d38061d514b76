"""Facts: the same keys for every tokenizer, files with their checksums, versions of the libraries."""

from __future__ import annotations

import hashlib
import json
from typing import Protocol

import pytest

from tokbench import capabilities
from tokbench.inspection.facts import CAPABILITIES, ORDER, facts
from tokbench.registry import build_registry


def facts_of(text: str):
    registry = build_registry()
    spec = registry.tokenizer_spec(text)
    return facts(registry.load(spec), registry.tokenizers[spec.family], spec, registry.context)


@pytest.mark.parametrize(
    "spec",
    [
        *("bytes", "tiktoken:gpt2", "sentencepiece:{}/t5-base/spiece.model", "transformers:{}/qwen2/hf"),
        *("bpe:{}/qwen2/hf", "wordpiece:{}/bert-base-uncased/vocab.txt", "unigram:{}/t5-base/spiece.model"),
    ],
)
def test_every_tokenizer_has_the_same_first_keys(spec, test_data):
    found = facts_of(spec.format(test_data / "vocabs"))
    assert tuple(found)[: len(ORDER)] == ORDER
    assert json.loads(json.dumps(found)) == found
    for file in found["files"]:
        with open(file["path"], "rb") as opened:  # noqa: PTH123
            assert hashlib.sha256(opened.read()).hexdigest() == file["sha256"]


def test_a_tokenizer_that_states_nothing_still_has_facts(tmp_path):
    plugin = tmp_path / "plain_plugin.py"
    plugin.write_text(
        "from tokbench import TokenizerFamily, hookimpl\n"
        "class Plain:\n"
        "    name, vocab_size = 'plain', 1\n"
        "    def encode(self, text): return [0] * len(text)\n"
        "    def decode(self, ids): return ' ' * len(ids)\n"
        "@hookimpl\n"
        "def tokbench_tokenizers():\n"
        "    return [TokenizerFamily(name='plain', summary='', load=lambda *_: Plain(),\n"
        "        libraries=('nothing-x',))]\n"
    )
    registry = build_registry(plugin_files=[str(plugin)])
    spec = registry.tokenizer_spec("plain")
    found = facts(registry.load(spec), registry.tokenizers["plain"], spec, registry.context)
    assert (found["algorithm"], found["lossless"], found["capabilities"]) == (None, None, [])
    assert found["libraries"] == {"nothing-x": "absent"}


def test_every_optional_protocol_is_a_capability():
    protocols = {kind for kind in vars(capabilities).values() if getattr(kind, "_is_protocol", False)}
    assert protocols - {Protocol} == set(CAPABILITIES.values())
