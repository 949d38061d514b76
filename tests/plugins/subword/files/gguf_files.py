"""GGUF files for tests, as llama.cpp's converter writes them."""

from __future__ import annotations

import pytest


def written(path, vocabulary):
    """A GGUF file as llama.cpp's converter writes it, by the package's own writer."""
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(str(path), "llama")
    for name, value in vocabulary.items():
        getattr(writer, f"add_{name}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path
