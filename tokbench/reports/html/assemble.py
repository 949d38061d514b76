"""Assembles a page: templates with everything escaped, styles and script inside, and a matching policy.

The content security policy allows only the page's own style sheet and script, by their hashes, so that no text
in a report can run or load anything.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from importlib import resources
from typing import Any

import regex
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from tokbench.plots.fitting import cut
from tokbench.plots.losses import mark_of, unmarked
from tokbench.wording import undrawn


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates of reports; every value is escaped unless it is `Markup` that this package made."""
    made = Environment(
        loader=PackageLoader("tokbench.reports.html", package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"unmarked": unmarked, "mark_of": mark_of, "cut": cut}
    made.filters |= {"kept": _kept, "broken": _broken, "isolated": _isolated}
    return made


def _kept(text: str) -> str:
    """A text without line breaks between a name and its mark, or a number and its per cent sign."""
    return re.sub(" (?=[†‡≈§¶%])", "\u00a0", text)


_LEFTWARD = r"[\p{Hebrew}\p{Arabic}\p{Syriac}\p{Thaana}\p{Nko}\p{Adlam}]"
_LEFTWARD_WORDS = regex.compile(rf"(?:{_LEFTWARD}\p{{M}}*)+(?:[ _./'-](?:{_LEFTWARD}\p{{M}}*)+)*")


def _isolated(text: str) -> str:
    """An English text in which right-to-left words do not reorder their neighbours, such as numbers.

    `Markup` is returned unchanged.
    """
    if isinstance(text, Markup):
        return text
    return Markup(_LEFTWARD_WORDS.sub(r"<bdi>\g<0></bdi>", str(escape(text))))


def _broken(text: str) -> Markup:
    """The text of a cell, in which long names may break after an underscore."""
    return Markup("_<wbr>").join(map(escape, text.split("_")))


def asset(name: str, package: str = "tokbench.reports.html") -> str:
    """The text of a style sheet or script that ships with the package."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def policy(css: str, script: str) -> str:
    """The content security policy of a page with exactly this style sheet and this script."""
    return (
        f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def assemble(template: str, *, css: str, script: str, **values: Any) -> str:
    """A complete page; `css` and `script` come from this package, never from a run.

    Control characters in texts of plugins are spelt out, because a page may be written to a terminal.
    """
    import tokbench

    if "</" in css or "</script" in script.lower():
        raise ValueError("a style sheet or script must not close its own element")
    own = {"css": Markup(css), "script": Markup(script), "policy": policy(css, script)}
    return undrawn(rendered(template, version=tokbench.__version__, **own, **values))


def rendered(template: str, **values: Any) -> Markup:
    """A template filled with values, which are escaped."""
    return Markup(environment().get_template(template).render(**values))


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
