"""The counts that a tally keeps for each bootstrap group: their names and what each counts.

All of them are sums over documents of whole numbers, so they add up over shards and machines, and any ratio of
them gets its interval from the group sums. Metrics read them as attributes: ``t.tokens``, ``t.words`` …
"""

from __future__ import annotations

TEXT_COUNTERS: dict[str, str] = {
    "documents": "documents",
    "bytes": "bytes of UTF-8",
    "chars": "Unicode code points",
    "graphemes": "extended grapheme clusters (UAX #29)",
    "lines": "lines, cut at line feeds",
    "words": "words: gold where the document has them, else UAX #29 segments with a letter or number",
    "gold_words": "words that the corpus marked",
    "unspaced_words": "words that begin with a letter of a script written without spaces",
    "letters": "code points of category L or M",
    "digits": "decimal digits (Nd)",
    "spaces": "white space",
    "punctuation": "code points of category P or S",
    "non_ascii": "code points above U+007F",
    "numbers": "runs of decimal digits",
    "digit_gold": "boundaries of three-digit groups, from the right, inside numbers that are no years",
    "operators": "operators of two or more characters (code)",
    "indents": "lines that begin with white space and go on with something else (code)",
    "identifiers": "identifiers (code)",
    "identifier_gold": "boundaries of camelCase and snake_case parts inside identifiers (code)",
    "parsed_documents": "documents that a tree-sitter grammar parsed (code)",
    "syntax_gold": "gaps between the parser's own tokens, empty or blank (code)",
}
"""What a text has whatever the tokenizer."""

TOKEN_COUNTERS: dict[str, str] = {
    "tokens": "tokens",
    "aligned_documents": "documents in which every token's place in the text is known",
    "aligned_words": "words of those documents",
    "aligned_bytes": "bytes of those documents",
    "aligned_tokens": "tokens of those documents",
    "word_tokens": "tokens that touch a word, summed over words",
    "continued_words": "words that more than one token touches",
    "boundaries": "boundaries between tokens, in aligned documents",
    "cut_chars": "boundaries that fall inside a character's UTF-8",
    "cut_graphemes": "boundaries that fall inside a grapheme cluster",
    "cross_words": "tokens that touch two or more words",
    "split_tokens": "tokens whose bytes are not whole UTF-8 characters",
    "round_trips": "documents that decode(encode(x)) gives back unchanged",
    "whitespace_kept": "documents whose white space comes back unchanged",
    "lossy_chars": "code points of the documents that do not come back unchanged",
    "unk_tokens": "tokens that are the unknown token",
    "unk_chars": "code points covered by the unknown token",
    "unk_unknown": "documents with an unknown token whose reach could not be found",
    "digit_cuts": "token boundaries inside numbers that are no years, inside a digit's bytes too",
    "digit_hits": "those of them at a three-digit group",
    "digit_reach": "three-digit group boundaries in aligned documents",
    "aligned_numbers": "numbers in aligned documents",
    "whole_numbers": "numbers that one token covers",
    "aligned_operators": "operators in aligned documents",
    "whole_operators": "operators that one token covers",
    "aligned_indents": "indented lines in aligned documents",
    "indent_tokens": "tokens that touch the indentation of a line",
    "aligned_identifiers": "identifiers in aligned documents",
    "identifier_tokens": "tokens that touch an identifier, summed over identifiers",
    "identifier_cuts": "token boundaries inside identifiers",
    "identifier_hits": "those of them at a camelCase or snake_case boundary",
    "identifier_reach": "camelCase and snake_case boundaries in aligned documents",
    "syntax_reach": "the parser's gaps in parsed, aligned documents",
    "syntax_hits": "those of them in which a token boundary falls",
    "syntax_cuts": "token boundaries in parsed, aligned documents",
}
"""What a tokenizer made of it."""

COUNTERS: dict[str, str] = {**TEXT_COUNTERS, **TOKEN_COUNTERS}
"""Every counter, in the order in which group sums hold them."""
