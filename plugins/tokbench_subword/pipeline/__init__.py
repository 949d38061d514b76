"""Everything around a subword model: added tokens, normalizers, pre-tokenizers, decoders, `tokenizer.json`.

| part | plain | compiled |
|---|---|---|
| what a file says | `document` | |
| all of it, in order | `preparation` | the same |
| texts on their way | `stretch` | `segments`; where they come from: `origins`, `leading` |
| added tokens | `added_tokens` | `added_matching`, with a `trie` |
| normalizers | `normalizers`; `bert`, `normal_forms`, `precompiled` | `compiled_normalizers`, `rewriting` |
| their kernels | | `splicing`; `rewriting_kernel`, `replacing_kernel`, … |
| pre-tokenizers | `pre_tokenizers` | `compiled_pre_tokenizers` |
| patterns | `patterns.regexes` | `patterns` |
| decoders | `decoders` | `document_decoding`, `decoding_kernel` |
| Unicode | `unicode_tables`, `byte_alphabet` | |

`document_tokenizer` is the common part of the tokenizers of such files.
"""
