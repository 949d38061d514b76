"""How long a figure of the live page is behind the key that changed the text."""

from __future__ import annotations

from typing import Any

import pytest

from tokbench.live.opening import open_bench
from tokbench.registry import build_registry

from .conftest import served

KEYSTROKE = """async (number) => {
  const box = document.getElementById('text');
  const text = 'The quick brown fox — 東京 Übergrößenträger 123 '.repeat(60).slice(0, 1999);
  delete document.body.dataset.updated;
  const begun = performance.now();
  box.value = text + number;
  box.dispatchEvent(new Event('input'));
  while (!document.body.dataset.updated) await new Promise((go) => setTimeout(go, 1));
  await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  return performance.now() - begun;
}"""


@pytest.mark.browser
@pytest.mark.slow
def test_two_thousand_characters_and_eight_tokenizers_within_100_ms(browser: Any, test_data: Any) -> None:
    vocabs = test_data / "vocabs"
    specs = [
        "tiktoken:o200k_base", "tiktoken:cl100k_base", "tiktoken:gpt2", "bytes", "chars",
        f"transformers:{vocabs}/qwen2/hf/tokenizer.json", f"sentencepiece:{vocabs}/t5-base/spiece.model",
        f"sentencepiece:{vocabs}/llama-2/tokenizer.model",
    ]  # fmt: skip
    bench = open_bench(build_registry(), specs)
    assert len(bench.seats) == 8
    with served(bench) as address:
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        times = [page.evaluate(KEYSTROKE, number) for number in range(8)]
        page.close()
    # The best of several: other work on the machine only ever adds.
    assert min(times[1:]) < 100, times
