"""Classes of `transformers` for a sentencepiece `.model`, and how each converts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tokbench_subword.files.beside import BACKEND, special_tokens
from tokbench_subword.pipeline.document import replaced
from tokbench_subword.sentencepiece import class_parts as parts
from tokbench_subword.sentencepiece.charsmap import SPACE_SYMBOL
from tokbench_subword.sentencepiece.class_parts import Config, Cut, Pieces
from tokbench_subword.sentencepiece.json_steps import SPACES_MARKED, Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelClass:
    """How a class converts a model, if no configuration says otherwise.

    `special` contains the special tokens by the settings that name them; `further` returns those listed in
    addition. For Unigram, `unk_id` is the id of the unknown token, None for the model's own; with
    `unk_by_name`, the piece that the setting names is used instead if its score is 0. BPE has an unknown token
    only with `unk_by_name`. If `bpe` is None, the model says whether it is BPE. A `generic` class follows the
    rules in the model, and uses only the special tokens of this description.
    """

    special: Mapping[str, str | Mapping[str, Any]]
    further: Callable[[Config], list[str]] = lambda config: []
    symbols_special: bool = False
    bpe: bool | None = False
    generic: bool = False
    byte_fallback: bool = False
    unk_id: int | None = None
    unk_by_name: bool = False
    pieces: Callable[[Pieces, Config, Sequence[str]], Pieces] = lambda pieces, config, further: pieces
    text: Callable[[Config, Steps], Steps] = lambda config, charsmap: charsmap
    cut: Cut = parts.before_words


_ENDS = special_tokens(bos="<s>", eos="</s>", unk="<unk>")
_OF_T5 = special_tokens(eos="</s>", unk="<unk>", pad="<pad>")
_OF_ROBERTA = {**_ENDS, **special_tokens(sep="</s>", pad="<pad>", cls="<s>")}
_OF_BERT = special_tokens(
    bos="[CLS]", eos="[SEP]", unk="<unk>", sep="[SEP]", pad="<pad>", cls="[CLS]", mask="[MASK]"
)
_MASK = {"content": "<mask>", "lstrip": True}

CLASSES: Mapping[str, ModelClass] = {
    "XLMRoberta": ModelClass(
        special={**_OF_ROBERTA, "mask_token": "<mask>"},
        pieces=parts.of_fairseq,
        unk_id=3,
        cut=parts.between_spaces,
    ),
    "Camembert": ModelClass(
        special={**_OF_ROBERTA, "mask_token": _MASK},
        pieces=parts.of_camembert,
        unk_id=3,
        unk_by_name=True,
        cut=parts.between_spaces,
    ),
    "MBart": ModelClass(
        special={**_OF_ROBERTA, "mask_token": _MASK},
        further=lambda config: parts.LANGUAGES.split(),
        pieces=parts.of_fairseq,
        unk_id=3,
        text=lambda config, charsmap: [],
        cut=parts.always(parts.between_spaces),
    ),
    "MBart50": ModelClass(
        special={**_OF_T5, "sep_token": "</s>", "cls_token": "<s>", "mask_token": _MASK},
        further=lambda config: [*parts.LANGUAGES.split(), *parts.MORE_LANGUAGES.split()],
        pieces=partial(parts.of_fairseq, first="cls_token"),
        unk_id=3,
        text=parts.map_then_spaces,
        cut=parts.always(parts.before_words),
    ),
    "XGLM": ModelClass(
        special=_OF_ROBERTA,
        further=lambda config: [f"<madeupword{index}>" for index in range(7)],  # which fill its vocabulary up
        unk_id=3,
        text=parts.map_then_spaces,
    ),
    "T5": ModelClass(
        special=_OF_T5,
        further=parts.extra_ids,
        pieces=parts.of_t5,
        unk_id=2,
        cut=parts.always(parts.between_spaces),
    ),
    "Pegasus": ModelClass(
        special={**_OF_T5, "mask_token": "<mask_2>"},
        further=lambda config: [
            *filter(None, [config.get("mask_token_sent", "<mask_1>")]),
            *parts.numbered_unknown(config),
        ],
        pieces=parts.of_pegasus,
        unk_id=-1,
        unk_by_name=True,
        text=parts.spaces_or_lines,
        cut=parts.always(parts.before_words),
    ),
    "BigBird": ModelClass(
        special={**_OF_BERT, **_ENDS, "mask_token": {"content": "[MASK]", "lstrip": True}},
        unk_id=100,
        unk_by_name=True,
        text=lambda config, charsmap: [replaced({"Regex": " {2,}"}, SPACE_SYMBOL)],
    ),
    "Albert": ModelClass(special=_OF_BERT, unk_id=1, text=parts.of_albert_text, cut=parts.between_spaces),
    "XLNet": ModelClass(
        special={**_ENDS, **special_tokens(sep="<sep>", pad="<pad>", cls="<cls>"), "mask_token": _MASK},
        text=parts.of_xlnet_text,
        cut=parts.always(parts.between_spaces),
    ),
    "DebertaV2": ModelClass(
        special={**_OF_BERT, "unk_token": "[UNK]", "pad_token": "[PAD]"},
        unk_by_name=True,
        text=parts.of_deberta_text,
        cut=parts.of_deberta_words,
    ),
    "Nllb": ModelClass(
        special={**_OF_ROBERTA, "mask_token": {**_MASK, "normalized": True}},
        bpe=True,
        unk_by_name=True,
        pieces=parts.of_nllb,
        text=parts.spaces_if_map,
        cut=parts.always(parts.before_words),
    ),
    "Reformer": ModelClass(
        special=special_tokens(eos="</s>", unk="<unk>"),
        symbols_special=True,
        bpe=True,
        unk_by_name=True,
        text=parts.spaces_if_map,
        cut=parts.always(parts.before_words),
    ),
    "Llama": ModelClass(
        special=_ENDS,
        bpe=True,
        byte_fallback=True,
        text=lambda config, charsmap: [],
        cut=parts.of_llama_words,
    ),
    "Gemma": ModelClass(
        special=special_tokens(bos="<bos>", eos="<eos>", unk="<unk>", pad="<pad>", mask="<mask>"),
        bpe=True,
        byte_fallback=True,
        unk_by_name=True,
        text=lambda config, charsmap: [SPACES_MARKED],
        cut=parts.of_gemma_words,
    ),
    "FNet": ModelClass(special=_OF_BERT, generic=True),
    **dict.fromkeys((BACKEND, "PreTrained"), ModelClass(special={}, bpe=None, generic=True)),
}
"""The known classes, without ``Tokenizer`` in their names."""

_MODELS = {
    "Albert": "albert yoso",
    "BigBird": "big_bird",
    "Camembert": "camembert",
    "DebertaV2": "deberta-v2",
    "FNet": "fnet",
    "Gemma": "gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 t5gemma",
    "Llama": "idefics idefics2",
    "MBart": "mbart",
    "MBart50": "mbart50",
    "Nllb": "nllb nllb-moe",
    "Pegasus": "pegasus",
    "Reformer": "reformer",
    "T5": "mt5 musicgen musicgen_melody switch_transformers t5",
    "XGLM": "xglm",
    "XLMRoberta": "gte jina_embeddings_v3 metaclip_2 trocr xlm-roberta xmod",
    "XLNet": "xlnet",
    BACKEND: (
        "arctic aria bigbird_pegasus ernie4_5 ernie4_5_moe fuyu granite granitemoe hyperclovax internlm2 "
        "internlm3 jamba llava llava_next minicpm3 minicpmv mistral mixtral nystromformer pegasus_x persimmon "
        "phi3 phi3_v phimoe pix2struct umt5 vipllava xlm-roberta-xl"
    ),
}
OF_MODELS = {model: name for name, models in _MODELS.items() for model in models.split()}
"""The class for each model type in a `config.json`, used if no file names the class."""
