"""Models: published parameter counts to the digit, work and memory by hand, wrong shapes refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokbench.errors import SpecError, UnknownNameError
from tokbench.metrics.model import PRESETS, Model, estimated_vocabulary, model_of
from tokbench.runner.planning.suite import load_suite

PUBLISHED = {
    ("gpt2", 50257): 124_439_808,
    ("gpt2-medium", 50257): 354_823_168,
    ("gpt2-large", 50257): 774_030_080,
    ("gpt2-xl", 50257): 1_557_611_200,
    ("llama-2-7b", 32000): 6_738_415_616,
    ("llama-3-8b", 128256): 8_030_261_248,
    ("llama-3.2-1b", 128256): 1_235_814_400,
    ("qwen2-7b", 152064): 7_615_616_512,
}
BASE = {"tokenizers": ["bytes"], "datasets": ["bundled:prose"]}


@pytest.mark.parametrize(("name", "vocabulary"), PUBLISHED)
def test_published_parameter_counts(name: str, vocabulary: int) -> None:
    assert PRESETS[name].parameters(vocabulary) == PUBLISHED[name, vocabulary]


def test_work_and_memory_of_known_models() -> None:
    llama = PRESETS["llama-2-7b"]
    assert llama.kv_bytes == 2 * 32 * 4096 * 2  # half a megabyte a token
    assert PRESETS["llama-3-8b"].kv_bytes == llama.kv_bytes / 4
    assert PRESETS["gpt2"].embedding(50257) == 50257 * 768
    # 2 N per token and 6 N in training, N the matrices and the head, when nothing is attended
    short = model_of({"preset": "llama-2-7b", "context": 1})
    matrices = 6_738_415_616 - 32_000 * 4096 - 65 * 4096
    assert short.serve_flops(32_000) == 2 * matrices + 4 * 32 * 4096
    assert short.train_flops(32_000) == 3 * short.serve_flops(32_000)


def test_the_estimate_of_tao_et_al() -> None:
    """Their script gives 62,280 and 67,450 for 7 billion parameters beside the vocabulary at a width of
    4096."""

    class Of7B(Model):
        body = 7_000_000_000

    model = Of7B(layers=32, width=4096, heads=32, kv_heads=32, ffn=11008, context=4096)
    low, high = estimated_vocabulary(model)
    assert low == pytest.approx(62_280, abs=1)
    assert high == pytest.approx(67_450, abs=1)


def test_suites_describe_a_model(tmp_path: Path) -> None:
    assert load_suite(None, {**BASE, "model": "gpt2"}).shape == PRESETS["gpt2"]
    (tmp_path / "s.toml").write_text(
        'tokenizers = ["bytes"]\ndatasets = ["bundled:prose"]\n'
        "[model]\nlayers = 2\nwidth = 8\nheads = 2\ncontext = 16\n"
    )
    shape = load_suite(tmp_path / "s.toml").shape
    assert shape == Model(layers=2, width=8, heads=2, kv_heads=2, ffn=32, context=16)
    assert load_suite(None, BASE).shape is None


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("gpt3", "gpt2"),
        ({"layers": 2}, "width, heads, context missing"),
        ({"preset": "gpt2", "heads": 7}, "not a multiple of 7 heads"),
        ({"preset": "gpt2", "kv_heads": 5}, "not a multiple of 5 kv_heads"),
        ({"preset": "gpt2", "precision": "bf16"}, "bfloat16"),
        ({"preset": "gpt2", "layer": 3}, "layers"),
        ({"preset": "gpt2", "layers": 0}, "greater than or equal to 1"),
    ],
)
def test_wrong_models_are_refused(model: object, message: str) -> None:
    with pytest.raises((SpecError, UnknownNameError), match=message):
        load_suite(None, {**BASE, "model": model})
