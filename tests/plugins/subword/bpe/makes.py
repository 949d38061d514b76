"""`tokenizer.json` of many makes, trained by `tokenizers` on a little text, and texts to try them on."""

from __future__ import annotations

from functools import cache

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, trainers
from tokenizers import pre_tokenizers as P

from tests.plugins.subword.strings import hard_strings

TEXTS = [
    "It's a long way to the hat, he said; 12345 or 99 times.  They'll go.",
    "Der naïve Bär läuft über die Straße – und zurück.",
    "नमस्ते दुनिया, यह एक परीक्षण है। مرحبا بالعالم",
    "これはテストです。今天天气很好，我们去公园。",
    "def f(x):\n    return x  # comment\n\n\tif x == 10:\n",
] * 30
ALPHABET = P.ByteLevel.alphabet()
PLAIN_BYTES = P.ByteLevel(add_prefix_space=False, use_regex=False)


LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CLIP = r"<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
FALLBACK = [f"<0x{byte:02X}>" for byte in range(256)]


def trained(model, pre_tokenizer, *, normalizer=None, decoder=None, added=(), **options):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoder or decoders.ByteLevel()
    options = {"vocab_size": 700, "show_progress": False, **options}
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(**options))
    for token in added:
        (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
    return tokenizer


MAKES = {
    "llama3": lambda: trained(
        models.BPE(ignore_merges=True),
        P.Sequence([P.Split(Regex(LLAMA3), "isolated"), PLAIN_BYTES]),
        initial_alphabet=ALPHABET,
        special_tokens=["<|begin_of_text|>"],
    ),
    "deepseek": lambda: trained(
        models.BPE(),
        P.Sequence(
            [
                P.Split(Regex("[\r\n]"), "isolated"),
                P.Split(Regex("\\s?[A-Za-zµÀ-ÖØ-öø-ƺʕ-ʯ]+"), "isolated"),
                P.Split(Regex("\\s?[!-/:-~！-／：-～‘-‟　-。]+"), "isolated"),
                P.Split(Regex(r"\s+$"), "isolated"),
                P.Split(Regex("[一-龥ࠀ-一가-퟿]+"), "isolated"),
                P.Digits(True),
                PLAIN_BYTES,
            ]
        ),
        initial_alphabet=ALPHABET,
    ),
    "neox": lambda: trained(
        models.BPE(),
        P.ByteLevel(add_prefix_space=False),
        normalizer=normalizers.NFC(),
        initial_alphabet=ALPHABET,
        added=[AddedToken("    "), AddedToken("  "), AddedToken("<tab>")],
    ),
    "roberta": lambda: trained(
        models.BPE(),
        P.ByteLevel(add_prefix_space=True),
        initial_alphabet=ALPHABET,
        added=[AddedToken("<mask>", lstrip=True, special=True, normalized=False)],
    ),
    "starcoder": lambda: trained(
        models.BPE(),
        P.Sequence([P.Digits(True), P.ByteLevel(add_prefix_space=False)]),
        initial_alphabet=ALPHABET,
    ),
    "bloom": lambda: trained(
        models.BPE(),
        P.Sequence([P.Split(Regex(r" ?[^(\s|[.,!?…。，、।۔،])]+"), "isolated"), PLAIN_BYTES]),
        initial_alphabet=ALPHABET,
    ),
    "falcon": lambda: trained(
        models.BPE(),
        P.Sequence(
            [
                P.Punctuation("contiguous"),
                P.ByteLevel(add_prefix_space=False),
                P.Digits(False),
                P.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
            ]
        ),
        initial_alphabet=ALPHABET,
        added=[AddedToken(">>TITLE<<", special=True, normalized=False)],
    ),
    "few bytes, unknown": lambda: trained(
        models.BPE(unk_token="[UNK]"), P.ByteLevel(add_prefix_space=False), special_tokens=["[UNK]"]
    ),
    "few bytes, dropped": lambda: trained(models.BPE(), P.ByteLevel(add_prefix_space=False)),
    "metaspace": lambda: trained(
        models.BPE(unk_token="<unk>", fuse_unk=True),
        P.Metaspace(),
        decoder=decoders.Metaspace(),
        special_tokens=["<unk>"],
    ),
    "metaspace first": lambda: trained(
        models.BPE(unk_token="<unk>"),
        P.Metaspace(prepend_scheme="first", split=False),
        decoder=decoders.Metaspace(),
        special_tokens=["<unk>"],
        added=[AddedToken("the"), AddedToken("ab")],
    ),
    "llama2": lambda: trained(
        models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True),
        P.Metaspace(),
        decoder=decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        ),
        special_tokens=["<unk>", *FALLBACK],
    ),
    "half a fallback": lambda: trained(
        models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True),
        P.Metaspace(),
        decoder=decoders.Fuse(),
        special_tokens=["<unk>", *(text for text in FALLBACK if text not in ("<0x9F>", "<0xE4>"))],
    ),
    "clip": lambda: trained(
        models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"),
        P.Sequence([P.Split(Regex(CLIP), "removed", invert=True), PLAIN_BYTES]),
        normalizer=normalizers.Sequence(
            [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
        ),
        end_of_word_suffix="</w>",
        initial_alphabet=ALPHABET,
        special_tokens=["<|endoftext|>"],
    ),
    "sennrich": lambda: trained(
        models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"),
        P.WhitespaceSplit(),
        decoder=decoders.BPEDecoder(),
        end_of_word_suffix="</w>",
        special_tokens=["<unk>"],
    ),
    "prefix": lambda: trained(
        models.BPE(unk_token="<unk>", continuing_subword_prefix="##"),
        P.Whitespace(),
        decoder=decoders.Fuse(),
        continuing_subword_prefix="##",
        special_tokens=["<unk>"],
    ),
    "bert's pre-tokenizer": lambda: trained(
        models.BPE(unk_token="<unk>"),
        P.BertPreTokenizer(),
        normalizer=normalizers.Sequence(
            [normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]
        ),
        decoder=decoders.Fuse(),
        special_tokens=["<unk>"],
    ),
    "characters dropped": lambda: trained(models.BPE(), P.Whitespace(), decoder=decoders.Fuse()),
}
HARD = hard_strings(300, seed=21)
INPUTS = [
    *TEXTS[:5],
    *(text.replace("\x00", "") for text in HARD),
    *("a <mask>b <mask>", "  a    b  ", "aa the ab", "", "a" * 300, "中" * 200, " ", "e\u0301x"),
]


@cache
def _made(make):
    """The `tokenizer.json` of a make, which is trained once."""
    return MAKES[make]().to_str(pretty=True)


def theirs_and_its_file(make, folder):
    path = folder / "tokenizer.json"
    path.write_text(_made(make), encoding="utf-8")
    return Tokenizer.from_str(_made(make)), path
