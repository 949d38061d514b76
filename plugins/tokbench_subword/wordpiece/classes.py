"""Classes of `transformers` that prepare text as BERT does, with their default special tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokbench_subword.files.beside import special_tokens
from tokbench_subword.wordpiece.model import BERT_SPECIAL_TOKENS

_OF_BERT = "Bert DistilBert Electra MobileBert ConvBert SqueezeBert RetriBert LayoutLM LayoutLMv2 Lxmert"
_DPR = ("DPRContextEncoder", "DPRQuestionEncoder", "DPRReader")

SPECIAL_TOKENS: Mapping[str, Mapping[str, str | Mapping[str, Any]]] = {
    **dict.fromkeys((*_OF_BERT.split(), *_DPR), BERT_SPECIAL_TOKENS),
    "Splinter": {**BERT_SPECIAL_TOKENS, "question_token": "[QUESTION]"},
    "MPNet": {
        **special_tokens(bos="<s>", eos="</s>", unk="[UNK]", sep="</s>", pad="<pad>", cls="<s>"),
        "mask_token": {"content": "<mask>", "lstrip": True},
    },
    "Funnel": special_tokens(
        bos="<s>", eos="</s>", unk="<unk>", sep="<sep>", pad="<pad>", cls="<cls>", mask="<mask>"
    ),
}
"""Each class's settings for special tokens, with the tokens used if no configuration names others."""

LOWER_CASED = frozenset(_DPR)
"""Classes that lower-case always, since they do not pass ``do_lower_case`` on."""

_MODELS = {
    "Bert": (
        "align bark bert blip bros chinese_clip convbert distilbert electra ernie flava git grounding-dino "
        "layoutlm megatron-bert mm-grounding-dino mobilebert nomic_bert squeezebert tvp vilt visual_bert"
    ),
    "DPRQuestionEncoder": "dpr",
    "Funnel": "funnel",
    "LayoutLMv2": "layoutlmv2",
    "Lxmert": "lxmert",
    "MPNet": "mpnet",
    "Splinter": "splinter",
}
OF_MODELS = {model: name for name, models in _MODELS.items() for model in models.split()}
"""The class for each model type in a `config.json`, used if no file names the class."""
