"""What the BPE trainer is held against: the merges of `tokenizers`, and a model's as files have them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.training.alphabet import byte_order


def hf_merges(
    texts: Iterable[str], *, pre_tokenizer: str = "bytes", **options: object
) -> tuple[list[list[str]], dict[str, int]]:
    """The merges and the vocabulary of `tokenizers`' trainer."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    if pre_tokenizer == "bytes":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        options.setdefault("initial_alphabet", pre_tokenizers.ByteLevel.alphabet())
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(show_progress=False, **options))
    model = json.loads(tokenizer.to_str())["model"]
    return [list(merge) for merge in model["merges"]], model["vocab"]


def written(model: BpeModel) -> tuple[list[list[str]], dict[str, int]]:
    """A byte-level model's merges and vocabulary in the characters of `vocab.json`."""
    order = byte_order(0)
    stand_in = {
        byte: chr(byte) if index < 188 else chr(0x100 + index - 188) for index, byte in enumerate(order)
    }
    tokens = ["".join(stand_in[byte] for byte in token) for token in model.vocabulary]
    for text, index in model.special_tokens.items():
        tokens[index] = text
    return (
        [[tokens[left], tokens[right]] for left, right, _ in model.merges.tolist()],
        {token: index for index, token in enumerate(tokens)},
    )
