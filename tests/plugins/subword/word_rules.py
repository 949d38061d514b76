"""Rules that files put in front of a Unigram model, and text that is hard on them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from tokbench_subword.sentencepiece.json_steps import ENDS_OFF
from tokbench_subword.sentencepiece.rules import charsmap_of
from tokenizers import Regex, normalizers, pre_tokenizers

N, P = normalizers, pre_tokenizers
MAP, FOLDING = (N.Precompiled(charsmap_of(name)) for name in ("nmt_nfkc", "nmt_nfkc_cf"))
SPLIT = P.Sequence([P.WhitespaceSplit(), P.Metaspace()])
RUNS = N.Replace(Regex(" {2,}"), "▁")
BLANKS = N.Replace(Regex(ENDS_OFF["pattern"]["Regex"]), "")
MARKED = [N.Prepend("▁"), N.Replace(" ", "▁")]
CHAINS = {
    "t5": (MAP, SPLIT),
    "albert": (
        N.Sequence(
            [N.Replace("``", '"'), N.Replace("''", '"'), N.NFKD(), N.StripAccents(), N.Lowercase(), MAP]
        ),
        SPLIT,
    ),
    "runs": (N.Sequence([MAP, N.Strip(left=False, right=True), RUNS]), P.Metaspace()),
    "ends": (N.Sequence([FOLDING, N.Strip(), RUNS]), P.Metaspace(prepend_scheme="first")),
    "first of words": (N.Strip(), P.Sequence([P.WhitespaceSplit(), P.Metaspace(prepend_scheme="first")])),
    "nfkc": (N.Sequence([N.Nmt(), N.NFKC(), N.Lowercase()]), P.Metaspace(prepend_scheme="never")),
    "nfd": (N.Sequence([N.NFD(), N.StripAccents()]), P.Metaspace(split=False)),
    "nfc": (N.NFC(), SPLIT),
    "written": (
        N.Sequence([MAP, BLANKS, N.Replace(Regex(" {2,}"), " "), *MARKED]),
        P.Metaspace(prepend_scheme="never"),
    ),
    "marked": (N.Sequence(MARKED), P.Metaspace()),
    "vowels": (N.Replace(Regex("[aeiou]"), "x"), P.Metaspace()),
    "twice": (N.Sequence([MAP, N.NFKC()]), P.Metaspace()),
    "strip marked": (N.Sequence([N.Prepend("▁"), N.Strip()]), P.Metaspace()),
    "runs first": (N.Sequence([RUNS, BLANKS, N.Prepend("_")]), P.Metaspace(replacement="_")),
    "words": (MAP, P.Whitespace()),
    "letters": (N.NFC(), P.ByteLevel()),
    "bert": (N.BertNormalizer(), P.BertPreTokenizer()),
}
HARD = [
    *"ab ef  ▁▁ \t\n\r\x01\x85\xa0\u2003\u3000\u200b\u200d\ufeff\ufffd①ﬁ㌀ﬀ½™©ßİΣς`'",
    *"\u0301\u0300\u0323\u0308\u3099\u309a\ufe0f\u0344\u0653\u064b\u093c\u094d\u0e33\u0600\u070f",
    *"ाीनक़カﾞハアاويé각가ᄀ\u1161\u11a8ㄱ\ua000",
    "\r\n",
    "🇩🇪",
    "👩\u200d👩",
    "``",
    "''",
    "<unk>",
]
texts = st.lists(st.sampled_from(HARD) | st.characters(exclude_categories=["Cs"]), max_size=12).map("".join)


def config(component: Any) -> Any:
    """The JSON of a component."""
    return json.loads(component.__getstate__())
