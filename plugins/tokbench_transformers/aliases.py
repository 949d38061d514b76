"""Names of open models, and the hub repository whose tokenizer each one is.

Some of these repositories are gated: their owners must grant access, and the error says so.
"""

from __future__ import annotations

REPOSITORIES = {
    "albert": "albert/albert-base-v2",
    "bert": "google-bert/bert-base-uncased",
    "bert-base-cased": "google-bert/bert-base-cased",
    "bert-base-multilingual-cased": "google-bert/bert-base-multilingual-cased",
    "bert-base-uncased": "google-bert/bert-base-uncased",
    "bloom": "bigscience/bloom",
    "byt5": "google/byt5-base",
    "command-r": "CohereLabs/c4ai-command-r-v01",
    "deepseek-v3": "deepseek-ai/DeepSeek-V3",
    "falcon": "tiiuae/falcon-7b",
    "gemma": "google/gemma-2b",
    "gemma-2": "google/gemma-2-2b",
    "gemma-3": "google/gemma-3-4b-it",
    "llama-2": "meta-llama/Llama-2-7b-hf",
    "llama-3": "meta-llama/Meta-Llama-3-8B",
    "llama-3.1": "meta-llama/Llama-3.1-8B",
    "mistral": "mistralai/Mistral-7B-v0.1",
    "mistral-nemo": "mistralai/Mistral-Nemo-Base-2407",
    "mt5": "google/mt5-base",
    "neox": "EleutherAI/gpt-neox-20b",
    "nllb": "facebook/nllb-200-distilled-600M",
    "olmo-2": "allenai/OLMo-2-1124-7B",
    "phi-3": "microsoft/Phi-3-mini-4k-instruct",
    "phi-4": "microsoft/phi-4",
    "qwen": "Qwen/Qwen3-8B",
    "qwen2": "Qwen/Qwen2-7B",
    "qwen3": "Qwen/Qwen3-8B",
    "roberta": "FacebookAI/roberta-base",
    "t5": "google-t5/t5-base",
    "t5-base": "google-t5/t5-base",
    "xlm-roberta": "FacebookAI/xlm-roberta-base",
}
ALIASES = {name: f"transformers:{repository}" for name, repository in REPOSITORIES.items()}
