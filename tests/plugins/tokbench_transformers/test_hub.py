"""What cannot be had is named, with the remedy: the hub, damaged and wrong files."""

from __future__ import annotations

import pytest
from huggingface_hub import errors
from tokbench_transformers.family import TRANSFORMERS
from tokbench_transformers.hub import reachable

from tests.plugins.tokbench_transformers.loading import load
from tokbench import LoadContext, Spec, SpecError, TokenizerError


def test_offline_hub_names_give_the_remedy():
    with pytest.raises(TokenizerError, match="offline") as caught:
        load("transformers:someone/nothing-cached")
    assert "\n" not in str(caught.value)


class Response:
    """As much of an HTTP response as the hub's errors look at."""

    headers: dict[str, str] = {}  # noqa: RUF012
    status_code = 404
    request = None


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("GatedRepoError", "gated.*hf auth login"),
        ("RevisionNotFoundError", "no revision 'v9'"),
        ("RepositoryNotFoundError", "no repository 'a/b'"),
        ("HfHubHTTPError", "could not be fetched"),
        ("OfflineModeIsEnabled", "offline"),
        ("LocalEntryNotFoundError", "cannot be reached"),
        ("HFValidationError", "owner/name"),
    ],
)
def test_every_answer_of_the_hub_has_a_line(kind, words, monkeypatch):
    import huggingface_hub

    error_type = getattr(errors, kind)
    plain = not issubclass(error_type, errors.HfHubHTTPError) or kind == "LocalEntryNotFoundError"
    error = error_type("no") if plain else error_type("no", response=Response())

    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", refuse)
    with pytest.raises(TokenizerError, match=words) as caught:
        load("transformers:a/b,revision=v9", offline=False)
    assert "\n" not in str(caught.value)


def test_a_hub_that_does_not_answer_is_not_waited_for(monkeypatch, tmp_path):
    import huggingface_hub
    from huggingface_hub import constants

    download, asked = huggingface_hub.hf_hub_download, []

    def watched(*given, local_files_only, **named):
        asked.append(local_files_only)
        return download(*given, local_files_only=local_files_only, **named)

    (tmp_path / "models--someone--good-name").mkdir()
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", watched)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.delenv("https_proxy", raising=False)
    monkeypatch.delenv("HTTPS_PROXY", raising=False)
    reachable.cache_clear()
    with pytest.raises(TokenizerError, match="cannot be reached") as caught:
        load("transformers:someone/god-name", offline=False)
    assert asked == [True], "the cache alone was asked"
    assert str(caught.value).endswith("Did you mean someone/good-name? The cache holds someone/good-name.")
    with pytest.raises(TokenizerError, match=r"Did you mean .*bert-base-uncased"):
        load("transformers:bert-base-uncasd", offline=False)
    reachable.cache_clear()


def test_wrong_files_are_named(tmp_path, test_data):
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "spiece.model").write_bytes(b"x")
    cases = {
        f"transformers:{tmp_path}": "not a tokenizer.json",
        f"transformers:{tmp_path}/spiece.model": "sentencepiece:FILE",
        f"transformers:{tmp_path}/absent.json": "no file or folder",
        "transformers": "transformers:NAME",
    }
    for spec, words in cases.items():
        with pytest.raises((TokenizerError, SpecError), match=words):
            TRANSFORMERS.load(Spec.parse(spec), LoadContext(tmp_path, True))
