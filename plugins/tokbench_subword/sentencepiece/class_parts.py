"""How classes of `transformers` convert a sentencepiece model: pieces, special tokens, text steps.

Each function takes the configuration beside the model; `classes` assigns the functions to classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tokbench.errors import TokenizerError
from tokbench_subword.files.beside import token_text
from tokbench_subword.pipeline.document import replaced
from tokbench_subword.sentencepiece import json_steps
from tokbench_subword.sentencepiece.json_steps import Steps

Config = Mapping[str, Any]
Pieces = list[tuple[str, float]]
"""Pieces with their scores; the index of a piece is its id."""

# --- the vocabulary, of the model's own pieces -------------------------------------------------------

LANGUAGES = (
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM "
    "ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN"
)
"""MBart's language codes."""
MORE_LANGUAGES = (
    "af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE "
    "sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI"
)
"""The further language codes of MBart50."""


def _named(config: Config, **usual: str) -> Pieces:
    """Pieces for the tokens that the settings name, else for the usual ones."""
    return [(str(token_text(config.get(setting, token))), 0.0) for setting, token in usual.items()]


def of_fairseq(pieces: Pieces, config: Config, further: Sequence[str], *, first: str = "bos_token") -> Pieces:
    """Fairseq's order: four tokens replace the first three pieces; further tokens come last."""
    front = _named(config, **{first: "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"})
    return [*front, *pieces[3:], *((token, 0.0) for token in further), *_named(config, mask_token="<mask>")]


def of_camembert(pieces: Pieces, config: Config, further: Sequence[str]) -> Pieces:
    """CamemBERT's order: pieces that occur in no text fill the ids of tokens that it does not use."""
    pad, unk, mask = _named(config, pad_token="<pad>", unk_token="<unk>", mask_token="<mask>")
    unused = ("<s>NOTUSED", 0.0), ("</s>NOTUSED", 0.0), ("<unk>NOTUSED", -100.0)
    return [unused[0], pad, unused[1], unk, unused[2], *pieces[1:], mask]


def of_nllb(pieces: Pieces, config: Config, further: Sequence[str]) -> Pieces:
    """Fairseq's four tokens first, and no tokens at the end."""
    front = of_fairseq([], config, further)[:-1]
    if len({*front}) < len(front):
        raise TokenizerError(f"tokenizer_config.json: one token has two places: {[text for text, _ in front]}")
    return list(dict(front + pieces).items())


def of_pegasus(pieces: Pieces, config: Config, further: Sequence[str]) -> Pieces:
    """Pegasus's order: its own tokens replace the first two pieces."""
    front = _named(
        config, pad_token="<pad>", eos_token="</s>", mask_token="<mask_1>", mask_token_sent="<mask_2>"
    )
    front = [piece for piece in dict.fromkeys(front) if piece[0] != "None"]  # which stands for null
    return [*front, *((token, -100.0) for token in numbered_unknown(config)), *pieces[2:]]


def of_t5(pieces: Pieces, config: Config, further: Sequence[str]) -> Pieces:
    """The model's pieces, then T5's sentinels, the last one first."""
    return [*pieces, *((token, 0.0) for token in reversed(further))]


# --- further special tokens --------------------------------------------------------------------------


def _count(config: Config, setting: str, usual: int) -> int:
    count = config.get(setting, usual)
    if type(count) is not int or count > _MOST:
        raise TokenizerError(f"tokenizer_config.json: {setting} is {count!r:.80}, not a number of tokens")
    return count


_MOST = 1_000_000


def extra_ids(config: Config) -> list[str]:
    """T5's sentinels."""
    return [f"<extra_id_{index}>" for index in range(_count(config, "extra_ids", 100))]


def numbered_unknown(config: Config) -> list[str]:
    """Pegasus's tokens from pretraining, one for each id below ``offset``."""
    return [f"<unk_{index}>" for index in range(2, _count(config, "offset", 103))]


# --- how text is normalized, around the model's own map ----------------------------------------------


def map_then_spaces(config: Config, charsmap: Steps) -> Steps:
    """The map, then runs of spaces are collapsed to one."""
    return [*charsmap, json_steps.ONE_SPACE]


def spaces_if_map(config: Config, charsmap: Steps) -> Steps:
    """As `map_then_spaces`, but no steps if the model has no map."""
    return map_then_spaces(config, charsmap) if charsmap else []


def spaces_or_lines(config: Config, charsmap: Steps) -> Steps:
    """As `map_then_spaces`; if the model has no map, line ends become spaces."""
    return map_then_spaces(config, charsmap or [replaced({"Regex": r"\n"}, " ")])


def of_albert_text(config: Config, charsmap: Steps, *, lower: bool = True) -> Steps:
    """Quotes, accents and case, then the map."""
    quotes = [replaced({"String": pair}, '"') for pair in ("``", "''")]
    accents: Steps = [{"type": "NFKD"}, {"type": "StripAccents"}]
    return [
        *quotes,
        *([] if config.get("keep_accents", False) else accents),
        *([{"type": "Lowercase"}] if config.get("do_lower_case", lower) else []),
        *charsmap,
    ]


def of_xlnet_text(config: Config, charsmap: Steps) -> Steps:
    """As `of_albert_text`, but accents are removed whatever the configuration says."""
    return of_albert_text({**config, "keep_accents": False}, charsmap, lower=False)


def of_deberta_text(config: Config, charsmap: Steps) -> Steps:
    """Case, white space and NFC."""
    return [
        *([{"type": "Lowercase"}] if config.get("do_lower_case", False) else []),
        replaced({"Regex": r"\s{2,}|[\n\r\t]"}, " "),
        {"type": "NFC"},
        {"type": "Strip", "strip_left": False, "strip_right": True},
    ]


# --- how it is cut, and put together again: pre-tokenizers, and decoders -----------------------------

Cut = Callable[[Config], tuple[Steps, Steps]]
"""The steps that cut text, and those that decode."""


def before_words(config: Config, *, without: str = "never") -> tuple[Steps, Steps]:
    """Cut words with the space before them; without a space before the text, by the scheme `without`."""
    step = json_steps.metaspace("always" if config.get("add_prefix_space", True) else without)
    return [step], [step]


def between_spaces(config: Config) -> tuple[Steps, Steps]:
    """As `before_words`, but all white space between words is removed."""
    cutting, decoding = before_words(config)
    return [{"type": "WhitespaceSplit"}, *cutting], decoding


def always(cut: Cut) -> Cut:
    """`cut` with a space before the text, whatever the configuration says."""
    return lambda config: cut({**config, "add_prefix_space": True})


def of_deberta_words(config: Config) -> tuple[Steps, Steps]:
    """Words, with punctuation separated if the configuration says so."""
    cutting, decoding = before_words(config, without="first")
    apart = {"type": "Punctuation", "behavior": "Isolated"}
    return [*([apart] if config.get("split_by_punct", False) else []), *cutting], decoding


def of_llama_words(config: Config) -> tuple[Steps, Steps]:
    """The whole text as one word."""
    stated = config.get("add_prefix_space")
    prefix = stated is None or bool(stated)
    scheme = "always" if config.get("legacy", False) else "first"
    decoding = [json_steps.SPACES_BACK, *json_steps.BYTES_JOINED, *([json_steps.FIRST_OFF] if prefix else [])]
    return [json_steps.metaspace(scheme if prefix else "never", split=False)], decoding


def of_gemma_words(config: Config) -> tuple[Steps, Steps]:
    """The whole text as one word: spaces, at which it would be cut, have been replaced before."""
    cutting = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    return [cutting], [json_steps.SPACES_BACK, *json_steps.BYTES_JOINED]
