"""The names of `tokenizer.ggml.pre`: each cuts as the vocabularies that go by it do."""

from __future__ import annotations

import pytest
import tokenizers
from tokbench_subword.files.gguf_cuts import CUTS
from tokbench_subword.pipeline.patterns import Pattern

import tokbench
from tests.plugins.subword.files.gguf_files import written
from tokbench import TokenizerError

LETTERS = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
CUT = "I'M 12345x ÜBer 世界の12中\n\n नमस्ते  ==«a_b»`!\n  z 가，"
CUT_BY = (
    (
        "gpt-2 phi-2 roberta-bpe jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code "
        "gigachat mpt olmo jais exaone4 a.x-4.0 mellum modern-bert trillion granite-docling",
        "I|'|M| 12345|x| ÜBer| 世界の|12|中|\n\n| नमस|्|त|े| | ==«|a|_|b|»`!|\n | z| 가|，",
    ),
    (
        "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2",
        "I|'|M| |1|2|3|4|5|x| ÜBer| 世界の|1|2|中|\n\n| नमस|्|त|े| | ==«|a|_|b|»`!|\n | z| 가|，",
    ),
    (
        "default",
        "I|'|M| |123|45|x| ÜBer| 世界の|12|中|\n\n| नमस|्|त|े|  |==«|a|_|b|»|`|!|\n | z| 가|，",
    ),
    (
        "falcon",
        "I|'|M| |123|45|x| ÜBer| 世界の|12|中|\n\n| नमस|्|त|े|  |==«|a|_|b|»`!|\n | z| 가|，",
    ),
    (
        "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano glm4 glm5 "
        "dbrx smaug-bpe chatglm-bpe jais-2 minicpm5",
        "I|'M| |123|45|x| ÜBer| 世界の|12|中|\n\n| नमस|्त|े| | ==«|a|_b|»`!\n| | z| 가|，",
    ),
    (
        "qwen2 deepseek-r1-qwen stablelm2 megrez hunyuan kormo f2llmv2 solar-open grok-2 ufakzeka "
        "bailingmoe bailingmoe2 llada-moe",
        "I|'M| |1|2|3|4|5|x| ÜBer| 世界の|1|2|中|\n\n| नमस|्त|े| | ==«|a|_b|»`!\n| | z| 가|，",
    ),
    (
        "qwen35 tekken",
        "I|'M| |1|2|3|4|5|x| ÜBer| 世界の|1|2|中|\n\n| नमस्ते| | ==«|a|_b|»`!\n| | z| 가|，",
    ),
    (
        "seed-coder laguna",
        "I|'M| |1|2|3|4|5|x| ÜBer| 世界の|1|2|中|\n\n| नमस|्त|े| | ==«|a|_b|»`!|\n| | z| 가|，",
    ),
    (
        "exaone-moe",
        "I|'M| |1|2|3|4|5|x ÜBer 世界の|1|2|中|\n\n| नमस्ते| | ==«|a|_b|»`!\n| | z 가|，",
    ),
    (
        "gpt-4o llama4 kanana2 talkie minimax-m2 granite-embed-multi-97m tiny_aya cohere2moe",
        "I'M| |123|45|x| ÜBer| 世界の|12|中|\n\n| नमस्ते| | ==«|a|_b|»`!\n| | z| 가|，",
    ),
    (
        "kimi-k2",
        "I'M| |123|45|x| ÜBer| |世界|の|12|中|\n\n| नमस्ते| | ==«|a|_b|»`!\n| | z| 가|，",
    ),
    (
        "youtu",
        "I'M| |1|2|3|4|5|x| ÜBer| |世界の|1|2|中|\n\n| नमस्ते| | ==«|a|_b|»`!\n| | z| |가|，",
    ),
    (
        "deepseek-llm",
        "I|'|M| |12345|x| Ü|Ber| |世界の|12|中|\n|\n| |नमस्ते| | ==|«|a|_|b|»|`!|\n| | z| |가|，",
    ),
    (
        "deepseek-coder",
        "I|'|M| |1|2|3|4|5|x| ÜBer| |世界の|1|2|中|\n|\n| |नमस|्|त|े|  ==|«|a|_|b|»|`|!|\n| | z| |가|，",
    ),
    (
        "deepseek-v3 hunyuan-dense joyai-llm hy_v4",
        "I|'M| |123|45|x| ÜBer| |世界の|12|中|\n\n| नमस्ते| | ==«|a|_b|»`!\n| | z| 가|，",
    ),
    (
        "spark2_5",
        "I|'M| |1|2|3|4|5|x| ÜBer| |世界の|1|2|中|\n|\n| नमस्ते| | ==«|a|_b|»`!|\n| | z| 가|，",
    ),
    (
        "bloom poro-chat gpt3-finnish",
        "I'M| 12345x| ÜBer| 世界の12中|\n\n| नमस्ते| | ==«a_b»`|!\n | z| 가|，",
    ),
    (
        "viking",
        "I'M| |1|2|3|4|5|x| ÜBer| 世界の|1|2|中|\n\n| नमस्ते| | ==«a_b»`|!\n | z| 가|，",
    ),
    (
        "superbpe",
        "I'M |12|345|x ÜBer 世界の|12|中\n\n नमस्ते  ==«a_b»`!\n  z 가，",
    ),
    (
        "chameleon",
        "I|'|M| |1|2|3|4|5|x| ÜBer| 世界の|1|2|中|\n|\n| नमस|्|त|े|  |=|=|«|a|_|b|»|`|!|\n|  |z| 가|，",
    ),
)


@pytest.mark.parametrize(("names", "cuts"), CUT_BY)
def test_gguf_names_its_cuts(names, cuts, tmp_path):
    """Qwen2's vocabulary under each name gave llama.cpp's ids, but for what docs/formats.md says."""
    for name in names.split():
        content = {"tokenizer_model": "gpt2", "tokenizer_pre": name, "token_list": LETTERS, "token_merges": []}
        tokenizer = tokbench.load(f"bpe:{written(tmp_path / name, content)}")
        assert "|".join(tokenizer.pre_tokenize(CUT)) == cuts, name


TELLING = (
    "x" + " " * 300,
    "'sab",
    "a'S12",
    "b \n\nc",
    "d\r\n",
    "1234567",
    "-\r\nx",
    "e  f",
    "中文ab，",
    "ǅa Ⅻ",
)
MORE = ("=`=", "g!\n\n", "aBc", "ab\u0301c .\u0301")


def test_gguf_names_of_different_cuts_cut_differently():
    """Each list of expressions shows in some text, so that none can stand under another's names."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name, cuts in CUTS.items():
        texts = [*TELLING, *MORE]
        for pattern in map(Pattern.of, cuts.patterns):
            texts = [piece for text in texts for piece in pattern.pieces(text)]
        if all(CUTS[other].patterns != cuts.patterns for other in found.get(tuple(texts), [])):
            found.setdefault(tuple(texts), []).append(name)
    alike = [names for names in found.values() if len(names) > 1]
    assert alike == [["llama-bpe", "minicpm5"], ["qwen2", "bailingmoe"]]  # which are two spellings of one cut


def test_an_unknown_name_of_cuts_is_refused_with_those_near_it(tmp_path):
    content = {"tokenizer_model": "gpt2", "tokenizer_pre": "qwen3", "token_list": LETTERS, "token_merges": []}
    path = written(tmp_path / "w.gguf", content)
    with pytest.raises(
        TokenizerError, match=r"'qwen3' is not among .* as 'qwen35' or .* is; open the tokenizer.json"
    ):
        tokbench.load(f"bpe:{path}")


@pytest.mark.parametrize(
    ("pre", "whole"), [("tekken", True), ("glm4", True), ("qwen2", False), ("gpt-4o", False)]
)
def test_gguf_names_say_whether_tokens_are_looked_up_whole(pre, whole, tmp_path):
    tokens = [*LETTERS, "abc"]
    content = {"tokenizer_model": "gpt2", "tokenizer_pre": pre, "token_list": tokens, "token_merges": []}
    ids = tokbench.load(f"bpe:{written(tmp_path / 'w.gguf', content)}").encode("abc").tolist()
    assert ids == ([len(LETTERS)] if whole else [LETTERS.index(letter) for letter in "abc"])
