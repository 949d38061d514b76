"""The live page: type, and see every tokenizer's tokens (`tokbench serve`).

A small ASGI application: a page with its script and style, and a JSON API under ``api/``. Which tokenizers
there are is settled when it starts; nothing a visitor sends names a file, a module or a URL.
"""
