"""Added tokens are matched as `tokenizers` matches them."""

from __future__ import annotations

import random

import pytest
from tokbench_subword.pipeline.added_tokens import AddedToken, AddedTokens, Trie, check_new
from tokenizers import AddedToken as TheirToken
from tokenizers import Tokenizer, models

from tokbench.errors import TokenizerError

ALPHABET = "ab _A1é\n\u3000"


@pytest.mark.parametrize("seed", range(4))
def test_matches_equal_those_of_tokenizers(seed):
    chosen = random.Random(seed)
    for _ in range(40):
        tokens: dict[str, dict[str, bool]] = {}
        for _ in range(chosen.randrange(1, 6)):
            text = "".join(chosen.choice(ALPHABET[:7]) for _ in range(chosen.randrange(1, 4)))
            flags = ("single_word", "lstrip", "rstrip", "special")
            if text.strip():
                tokens[text] = {flag: chosen.random() < 0.3 for flag in flags}
        theirs = Tokenizer(models.BPE({c: i for i, c in enumerate(ALPHABET)}, []))
        for text, flags_ in tokens.items():
            add = theirs.add_special_tokens if flags_["special"] else theirs.add_tokens
            add([TheirToken(text, normalized=False, **flags_)])
        ours = AddedTokens(
            AddedToken(text, theirs.token_to_id(text), normalized=False, **flags_)
            for text, flags_ in tokens.items()
        )
        for match_special in (False, True):
            theirs.encode_special_tokens = not match_special
            for _ in range(20):
                text = "".join(chosen.choice(ALPHABET) for _ in range(chosen.randrange(0, 20)))
                found = []
                for piece in ours.split(text, match_special=match_special):
                    if piece.token:
                        found.append((piece.token.id, (piece.start, piece.end)))
                    else:
                        found += [(ALPHABET.index(text[i]), (i, i + 1)) for i in range(piece.start, piece.end)]
                encoding = theirs.encode(text, add_special_tokens=False)
                assert found == list(zip(encoding.ids, encoding.offsets, strict=True)), (tokens, text)


def test_tokens_of_white_space_and_characters_unassigned_in_unicode_16():
    theirs = Tokenizer(models.BPE({c: i for i, c in enumerate("ab \U00012588\U0001dff7")}, []))
    flags = {"\n": {"lstrip": True, "rstrip": True}, "  ": {"single_word": True, "lstrip": True}}
    theirs.add_tokens([TheirToken(text, normalized=False, **one) for text, one in flags.items()])
    ours = AddedTokens(AddedToken(text, theirs.token_to_id(text), **one) for text, one in flags.items())
    for text in ("\n\n \n", "a\n\n\nb", "\U00012588  a", "b  \U0001dff7", "a      \n", "\U00012588      a"):
        found = [piece.token.id for piece in ours.split(text, match_special=True) if piece.token]
        assert found == [index for index in theirs.encode(text).ids if index > 4], ascii(text)


def test_the_longest_word_wins():
    assert Trie(["a", "abc"]).longest("xabcd", 1) == 4
    assert Trie(["a", "abc"]).longest("xabd", 1) == 2
    assert Trie([]).longest("x", 0) == -1


def test_a_token_that_is_there_cannot_be_added():
    with pytest.raises(TokenizerError, match="'x' is in the vocabulary already"):
        check_new(["y", "x"], lambda text: text == "x")
    with pytest.raises(TokenizerError, match="empty"):
        check_new([""], lambda text: False)
    with pytest.raises(TokenizerError, match="'y'"):
        check_new(["y", "y"], lambda text: False)
