"""`transformers` classes for `vocab.json` with `merges.txt`: their text preparation and special tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class PairClass:
    """A class's default text preparation and special tokens; configuration files override both.

    `special` maps settings (``bos_token``) to tokens. If `plain`, files' flags for these tokens are ignored.
    """

    special: Mapping[str, str | Mapping[str, Any]]
    pattern: str = "gpt2"
    normal_form: str | None = None
    prefix_space: bool = False
    plain: bool = False


_END = "<|endoftext|>"
_OF_GPT2 = {"bos_token": _END, "eos_token": _END, "unk_token": _END}
_OF_ROBERTA = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "cls_token": "<s>",
    "mask_token": "<mask>",
}
_OF_DEBERTA = {
    "bos_token": "[CLS]",
    "eos_token": "[SEP]",
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}

CLASSES: Mapping[str, PairClass] = {
    **dict.fromkeys(("GPT2", "CodeGen", "Whisper"), PairClass(special=_OF_GPT2)),
    **dict.fromkeys(("Roberta", "Bart", "Longformer", "LED", "Mvp"), PairClass(special=_OF_ROBERTA)),
    "Blenderbot": PairClass(
        special={**_OF_ROBERTA, "mask_token": {"content": "<mask>", "lstrip": True}}, prefix_space=True
    ),
    "Deberta": PairClass(special=_OF_DEBERTA),
    "GPTNeoX": PairClass(special={**_OF_GPT2, "pad_token": "<|padding|>"}, normal_form="NFC"),
    "Qwen2": PairClass(
        special={"eos_token": _END, "unk_token": _END, "pad_token": _END},
        pattern="qwen2",
        normal_form="NFC",
        plain=True,
    ),
}
"""The known classes; their names leave out ``Tokenizer``."""

_MODELS = {
    "GPT2": "codegen dbrx gpt2 gpt_neo gptj opt phi starcoder2",
    "Roberta": "bart data2vec-text ibert led longformer mvp roberta roberta-prelayernorm",
    "Blenderbot": "blenderbot",
    "Deberta": "deberta",
    "GPTNeoX": "falcon_mamba gpt_neox mamba mamba2 mpt olmo olmoe rwkv xlstm",
    "Qwen2": "qwen2 qwen2_5_vl qwen2_audio qwen2_moe qwen2_vl qwen3 qwen3_moe qwen3_vl",
    "Whisper": "whisper",
}
OF_MODELS = {model: name for name, models in _MODELS.items() for model in models.split()}
"""The class for each model type of a `config.json`, used if no file names the class."""
