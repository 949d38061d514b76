"""The files of `transformers` beside a bare vocabulary: its tokenizer class, special and added tokens.

They are read as ``AutoTokenizer.from_pretrained`` reads them from a local folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tokbench.errors import TokenizerError
from tokbench.vocabulary_files import read_text
from tokbench_subword.files.tokenizer_json import parse
from tokbench_subword.pipeline.added_tokens import FLAGS, AddedToken, check_numbers, numbered

BESIDE = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json")
"""The files that are read if they exist."""

_NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
"""Settings that name special tokens, in the order in which these are added to a vocabulary."""
_EXTRA, _ADDITIONAL = "extra_special_tokens", "additional_special_tokens"
"""Settings that list further special tokens: the present name, and its old one."""
_OWN = "model_specific_special_tokens"
"""The key under which `_joined` collects a model's own named special tokens, such as ``image_token``."""
BACKEND = "TokenizersBackend"
"""The generic class. If a model type uses it, a class that the configuration states is ignored."""


def special_tokens(**tokens: str) -> dict[str, str]:
    """Special tokens keyed by setting: ``bos="<s>"`` becomes ``{"bos_token": "<s>"}``."""
    return {f"{name}_token": text for name, text in tokens.items()}


@dataclass(frozen=True, slots=True)
class Beside:
    """The content of the files in a `folder`.

    `config` is the tokenizer's configuration, merged with `special_tokens_map.json`; `model` is the content of
    `config.json`; `described` contains the added tokens by id.
    """

    folder: Path
    config: Mapping[str, Any]
    model: Mapping[str, Any]
    described: Mapping[int, Mapping[str, Any]]

    @classmethod
    def of(cls, vocabulary: Path) -> Beside:
        """Read the files beside `vocabulary`; raises `TokenizerError` for malformed ones."""
        config, special, tokens, model = (_object(vocabulary.with_name(name)) for name in BESIDE)
        try:
            config = _joined(config, special, tokens)
            described = {int(index): one for index, one in config["added_tokens_decoder"].items()}
            for one in described.values():
                _token({**one})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            where = f"{vocabulary.parent}: {', '.join(BESIDE[:2])} or {BESIDE[2]}"
            raise TokenizerError(f"{where}: a token in it lacks its content or id") from error
        return cls(vocabulary.parent, config, model, dict(sorted(described.items())))

    @property
    def states_class(self) -> bool:
        """Whether a file states a tokenizer class or a model type."""
        return bool(self._stated_class or self.model.get("model_type"))

    @property
    def _stated_class(self) -> str:
        return str(self.config.get("tokenizer_class") or self.model.get("tokenizer_class") or "")

    def class_name(self, usual: str, of_models: Mapping[str, str]) -> str:
        """The class that a file names, else the class of the model type, else the `usual` one; see `BACKEND`.

        The name lacks ``Tokenizer`` and ``Fast``. A model type that `of_models` does not contain is returned
        as it is.
        """
        kind = str(self.model.get("model_type") or "")
        of_kind = of_models.get(kind, kind)
        name = of_kind if of_kind == BACKEND else self._stated_class or of_kind or usual
        return name.removesuffix("Fast").removesuffix("Tokenizer")

    def class_not_known(self) -> str:
        """The error message for an unknown class, without the remedy."""
        file = BESIDE[0] if self.config.get("tokenizer_class") else BESIDE[3]
        what = self._stated_class or f"the class for models of the type {self.model.get('model_type')!r}"
        return f"{self.folder / file}: how {what} cuts text is not known to this plugin"

    def tokens(
        self,
        usual: Mapping[str, str | Mapping[str, Any]],
        ids: Mapping[str, int],
        *,
        plain: bool = False,
        listed: Sequence[str | Mapping[str, Any]] | None = None,
        size: int | None = None,
    ) -> tuple[AddedToken, ...]:
        """All tokens that a class adds to a vocabulary, with their ids.

        Tokens described in the files come first, then the special tokens. Those are the `usual` settings
        (``pad_token`` …), each unless the configuration names another token for it, and whatever else the
        configuration names. Tokens missing from the vocabulary get the next free ids. A token given only by its
        text takes the flags of the `usual` one; with `plain`, special tokens have no flags. `listed` are the
        class's further special tokens, used if the configuration has none under the new name. `size` is the
        vocabulary size if it differs from the number of `ids`. Raises `TokenizerError` for a setting that names
        no token, and if `tokenizers` would give an added token another id.
        """
        named = self._named(usual)
        by_name = [token.content for token in named]
        described = [
            _token({**one, "special": one.get("special", False) or token_text(one) in by_name}, index)
            for index, one in self.described.items()
        ]
        check_numbers(described, ids, size, where=str(self.folder))
        found = {token.content: token for token in described}
        for token in (*named, *self._further(listed, by_name)):
            if plain:
                found[token.content] = _token(token.content)
            elif token.content not in found or found[token.content].id < 0:
                found[token.content] = token
        return tuple(replace(token, id=index) for token, index in numbered(found.values(), ids, size))

    def _named(self, usual: Mapping[str, str | Mapping[str, Any]]) -> list[AddedToken]:
        """The special tokens of the settings: the configuration's, else the `usual` ones."""
        named: dict[str, Any] = {**dict.fromkeys(_NAMED), **usual}
        own = self.config[_OWN]
        for setting, stated in {**self.config, **own}.items():
            if setting in (*_NAMED, *own) or (setting.endswith("_token") and _names_token(stated)):
                flags = usual.get(setting)
                named[setting] = stated
                if isinstance(stated, str) and isinstance(flags, Mapping):
                    named[setting] = {**flags, "content": stated}
        return [self._special(one, named=True) for one in named.values() if one]

    def _further(
        self, listed: Sequence[str | Mapping[str, Any]] | None, by_name: Sequence[str]
    ) -> list[AddedToken]:
        """The listed special tokens; one that a setting names too is special whatever its flags say."""
        by_old_name = self.config.get(_ADDITIONAL) if listed is None else [*listed]
        further = self.config.get(_EXTRA, by_old_name) or []
        if not isinstance(further, list):
            raise TokenizerError(f"{self.folder}: the further special tokens are {further!r:.80}, not a list")
        return [self._special(one, named=token_text(one) in by_name) for one in further]

    def _special(self, one: Any, *, named: bool) -> AddedToken:
        """A token that a setting names or lists; a listed token with flags need not be special."""
        if not _names_token(one):
            raise TokenizerError(
                f"{self.folder}: a special token in {BESIDE[0]} or {BESIDE[1]} is {one!r:.80}, neither a text "
                "nor an object with content"
            )
        if isinstance(one, str):
            return _token(one)
        return _token({**one, "special": named or one.get("special", "__type" not in one)})


def files_beside(vocabulary: Path) -> list[Path]:
    """The existing files that `Beside` reads."""
    return [path for path in map(vocabulary.with_name, BESIDE) if path.is_file()]


def _joined(config: Mapping[str, Any], special: Mapping[str, Any], tokens: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the three files that name tokens into one configuration.

    If the tokenizer's configuration has ``added_tokens_decoder``, even an empty one, the other two files are
    ignored. Otherwise a token in `added_tokens.json` is special if the configuration names it by its text, or
    `special_tokens_map.json` names it in any way. Further special tokens count only under the new setting name.
    """
    joined = dict(config)
    if not joined.get(_EXTRA) and _ADDITIONAL in joined:
        joined[_EXTRA] = joined.pop(_ADDITIONAL)
    own = {
        setting: joined.pop(setting)
        for setting, one in config.items()
        if setting.endswith("_token") and setting not in _NAMED and isinstance(one, str)
    }
    if isinstance(joined.get(_EXTRA), Mapping):
        own |= joined.pop(_EXTRA)
    if "added_tokens_decoder" not in joined:
        before, more = joined.get(_EXTRA) or [], special.get(_EXTRA)
        joined |= special
        if isinstance(more, Mapping):
            own |= joined.pop(_EXTRA)
        elif more is not None:
            more = [one if isinstance(one, str) else {**one, "special": True} for one in more]
            joined[_EXTRA] = [*before, *more]
        named = [joined.get(name) for name in _NAMED if name in special or isinstance(joined.get(name), str)]
        named += [one for one in before if isinstance(one, str)] + (more if isinstance(more, list) else [])
        texts = {_token(one).content for one in named if one}
        joined["added_tokens_decoder"] = {
            index: {"content": content, "special": content in texts, "normalized": content not in texts}
            for content, index in tokens.items()
        }
    return {**joined, _OWN: own}


def _names_token(one: Any) -> bool:
    return isinstance(token_text(one), str)


def token_text(one: Any) -> Any:
    """The text of a token given as a string or as an object; any other value is returned unchanged."""
    return one.get("content") if isinstance(one, Mapping) else one


def _token(one: str | Mapping[str, Any], index: int = -1) -> AddedToken:
    """A token from its text (then it is special) or its description; raises `KeyError` without content."""
    described: Mapping[str, Any] = {"content": one, "special": True} if isinstance(one, str) else one
    usual = {**dict.fromkeys(FLAGS, False), "normalized": not described.get("special", False)}
    flags = {flag: bool(described.get(flag, usual[flag])) for flag in FLAGS}
    return AddedToken(str(described["content"]), index, **flags)


def _object(path: Path) -> Mapping[str, Any]:
    """The object in a JSON file; empty if the file does not exist."""
    if not path.is_file():
        return {}
    content = parse(read_text(path), str(path))
    if not isinstance(content, Mapping):
        raise TokenizerError(f"{path}: expected an object, found a {type(content).__name__}")
    return content
