"""How each `tokenizer.ggml.pre` name that llama.cpp knows for byte-level BPE cuts text into pre-tokens.

llama.cpp's regular expressions have neither case folding nor nested classes, so some differ in form from those
in the vocabulary's own tokenizer.json. In that case this table has the vocabulary's own. Not included: `afmoe`,
which counts digits from the right by a special rule, and names of BPE over characters.
Source: https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tokbench_subword.pipeline.patterns import LOWER, NAMED, SUFFIXES, UPPER


@dataclass(frozen=True, slots=True)
class GgufCuts:
    """Pattern names or regular expressions; each cuts the output of the one before it, and drops nothing.

    `whole`: a pre-token that is itself a token becomes that token, without merging.
    """

    patterns: tuple[str, ...]
    whole: bool = False


_DIGIT, _DIGITS, _THREE = r"\p{N}", r"\p{N}+", "[0-9][0-9][0-9]"
_BY_THREES = r"\p{N}{1,3}"
_LINE_END = r"[\r\n]"
_CHINESE = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
_WIDE = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
_LETTERS = (  # of the alphabets that have cases, as DeepSeek lists them
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373"
    "\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f"
    "\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77"
    "\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d"
    "\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4"
    "\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139"
    "\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d"
    "\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a"
    "\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2"
    "\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943"
)
_DEEPSEEK_LLM = (
    _LINE_END,
    rf"\s?[{_LETTERS}]+",
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
    r"\s+$",
    _WIDE,
    _DIGITS,
)
_MARKED = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+"""
)
_DEEPSEEK_3 = (_BY_THREES, _CHINESE, _MARKED + r"[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
_SPARK = (_BY_THREES, _CHINESE, _MARKED + r"|[\r\n]|\s+(?!\S)|\s+", _DIGIT)
_SYMBOLS = r"[\p{P}\$\+<=>\^~\|"  # a class that some close with a grave accent
_SENTENCES = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
_QWEN2, _O200K = NAMED["qwen2"], NAMED["o200k"]
_QWEN35 = _QWEN2.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")
_TEKKEN = _O200K.replace(SUFFIXES + "?", "").replace("{1,3}", "")
_YOUTU = (
    "[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f"
    "\ufe30-\ufe4f]+|[\u3105-\u312f]+|" + _CHINESE,
    _O200K.replace("{1,3}", ""),
)
_KIMI = r"[\p{Han}]+|" + (
    _O200K.replace(UPPER, UPPER[:-1] + r"&&[^\p{Han}]]").replace(LOWER, LOWER[:-1] + r"&&[^\p{Han}]]")
).replace(r"[\r\n/]*", r"[\r\n]*")
_BAILING = _QWEN2.replace(SUFFIXES, "'(?i:[sdmt]|ll|ve|re)").replace(r"\s*[\r\n]+", r"\s*[\r\n]")
_SEED = _QWEN2.replace(r"[^\s\p{L}\p{N}]+[\r\n]*", r"[^\s\p{L}\p{N}\r\n]+")
_EXAONE_MOE = (
    SUFFIXES
    + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]"
    r"|\s+(?!\S)|\s+"
)
_JAIS_2 = NAMED["llama3"].replace(
    r"\s+(?!\S)|\s+", "".join(rf"\s{{{1 << size}}}(?!\S)|" for size in range(9, 1, -1)) + r"\s{1,2}(?!\S)|\s{1}"
)
_CHAMELEON = (
    "<sentinel:[0-9]+>",
    "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
    r"([\t\n]|    |  )",
    _DIGIT,
    r"[\p{P}!-/:-@\[-`{-~]",
    "gpt2",
)

_NAMES: Mapping[str, GgufCuts] = {
    "gpt-2 phi-2 roberta-bpe jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code gigachat mpt olmo "
    "jais exaone4 a.x-4.0 mellum modern-bert trillion granite-docling": GgufCuts(("gpt2",)),
    "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2": GgufCuts((_DIGIT, "gpt2")),
    "default": GgufCuts((_SYMBOLS + "]+", "gpt2", _DIGITS, _THREE)),
    "falcon": GgufCuts((_SYMBOLS + "`]+", "gpt2", _THREE)),
    "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano glm4 glm5": GgufCuts(
        ("llama3",), whole=True
    ),
    "dbrx smaug-bpe chatglm-bpe": GgufCuts(("llama3",)),
    "jais-2": GgufCuts((_JAIS_2,)),
    "qwen2 deepseek-r1-qwen stablelm2 megrez hunyuan kormo f2llmv2 solar-open grok-2": GgufCuts(("qwen2",)),
    "qwen35": GgufCuts((_QWEN35,)),
    "ufakzeka": GgufCuts((_QWEN2.removeprefix(SUFFIXES + "|"),)),
    "seed-coder": GgufCuts((_SEED,)),
    "bailingmoe bailingmoe2 llada-moe": GgufCuts((_BAILING,)),
    "exaone-moe": GgufCuts((_EXAONE_MOE,)),
    "laguna": GgufCuts((r"[^\n]+|[\n]+", "qwen2")),
    "minicpm5": GgufCuts((_BY_THREES, _QWEN2.replace(r"|\p{N}|", r"|\p{N}+|")), whole=True),
    "gpt-4o llama4 kanana2 talkie minimax-m2": GgufCuts(("o200k",)),
    "granite-embed-multi-97m": GgufCuts(("o200k",), whole=True),
    "tiny_aya cohere2moe": GgufCuts((r"\d{1,3}(?=(?:\d{3})*\b)", "o200k")),
    "tekken": GgufCuts((_TEKKEN,), whole=True),
    "kimi-k2": GgufCuts((_KIMI,)),
    "youtu": GgufCuts(_YOUTU, whole=True),
    "deepseek-llm": GgufCuts(_DEEPSEEK_LLM),
    "deepseek-coder": GgufCuts((_LINE_END, r"\s?\p{L}+", r"\s?\p{P}+", _WIDE, _DIGIT)),
    "deepseek-v3 hunyuan-dense joyai-llm hy_v4": GgufCuts(_DEEPSEEK_3),
    "spark2_5": GgufCuts(_SPARK),
    "bloom poro-chat gpt3-finnish": GgufCuts((_SENTENCES,)),
    "viking": GgufCuts((_SENTENCES, _DIGIT)),
    "superbpe": GgufCuts((_DIGITS, r"(?=(\d{3})+(?!\d))")),
    "chameleon": GgufCuts(_CHAMELEON),
}
CUTS: Mapping[str, GgufCuts] = MappingProxyType(
    {name: cuts for names, cuts in _NAMES.items() for name in names.split()}
)
"""Cuts by name. If several names have the same cuts, the first is written."""
