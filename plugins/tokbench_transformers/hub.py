"""Fetch one file of a hub repository from the cache or the network; errors name the remedy."""

from __future__ import annotations

import contextlib
import socket
import threading
from functools import lru_cache
from pathlib import Path

from tokbench import LoadContext, TokenizerError
from tokbench.errors import nearest
from tokbench_transformers.aliases import REPOSITORIES

PATIENCE = 1.2
"""Seconds to wait for the hub to answer at all; its library would try for half a minute."""


def repository_file(
    repository: str, filename: str, *, revision: str | None, context: LoadContext, spec: str
) -> Path | None:
    """The path of `filename` in the hub's cache, downloaded if allowed; None if the repository lacks it."""
    import huggingface_hub
    from huggingface_hub import errors
    from huggingface_hub.utils import logging

    logging.set_verbosity_error()  # what goes wrong is said below, in one line
    offline = context.offline or not reachable()
    try:
        return Path(
            huggingface_hub.hf_hub_download(repository, filename, revision=revision, local_files_only=offline)
        )
    except errors.LocalEntryNotFoundError as error:
        if offline and _known_absent(repository, filename, revision):
            return None
        because = context.offline_because if context.offline else _UNREACHABLE
        raise TokenizerError(_not_cached(repository, revision, because, spec)) from error
    except errors.EntryNotFoundError:
        return None
    except errors.OfflineModeIsEnabled as error:
        because = "huggingface_hub is offline; unset HF_HUB_OFFLINE to download it"
        raise TokenizerError(_not_cached(repository, revision, because, spec)) from error
    except errors.GatedRepoError as error:
        raise TokenizerError(
            f"{spec}: {repository} is gated: ask for access at https://huggingface.co/{repository}, "
            f"then log in with `hf auth login` (or set HF_TOKEN)"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise TokenizerError(
            f"{spec}: {repository} has no revision {revision!r}; its branches, tags and commits are listed at "
            f"https://huggingface.co/{repository}/commits"
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise TokenizerError(
            f"{spec}: the hub has no repository {repository!r}, or it is private (then log in with "
            f"`hf auth login`); a folder or file of that name does not exist either"
        ) from error
    except (errors.HFValidationError, ValueError) as error:
        raise TokenizerError(
            f"{spec}: {repository!r} is no file or folder here, and no name of a hub repository (owner/name)"
        ) from error
    except (OSError, errors.HfHubHTTPError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TokenizerError(f"{spec}: {repository} could not be fetched from the hub: {reason}") from error


@lru_cache(maxsize=1)
def reachable() -> bool:
    """Whether the hub's host answers; always true behind a proxy, where this cannot be tested."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies

    from huggingface_hub import constants

    if getproxies().get("https"):
        return True
    address, answered = urlsplit(constants.ENDPOINT), threading.Event()

    def knock() -> None:
        port = address.port or (80 if address.scheme == "http" else 443)
        with contextlib.suppress(OSError), socket.create_connection((address.hostname, port), PATIENCE):
            answered.set()

    knocking = threading.Thread(target=knock, daemon=True)  # a name may take a resolver longer than we wait
    knocking.start()
    knocking.join(PATIENCE)
    return answered.is_set()


def cached_repositories() -> list[str]:
    """The model repositories that have files in the hub's cache."""
    from huggingface_hub import constants

    folders = Path(constants.HF_HUB_CACHE).glob("models--*")
    return sorted(folder.name.removeprefix("models--").replace("--", "/") for folder in folders)


def _known_absent(repository: str, filename: str, revision: str | None) -> bool:
    """Whether the cache records that the repository lacks the file, or contains other files of it."""
    from huggingface_hub import _CACHED_NO_EXIST, try_to_load_from_cache

    if try_to_load_from_cache(repository, filename, revision=revision) is _CACHED_NO_EXIST:
        return True
    return snapshot(repository, revision) is not None


def snapshot(repository: str, revision: str | None) -> Path | None:
    """The folder of a repository's revision in the hub's cache; None if it is not cached."""
    from huggingface_hub import try_to_load_from_cache

    for name in ("tokenizer_config.json", "config.json"):
        path = try_to_load_from_cache(repository, name, revision=revision)
        if isinstance(path, str):
            return Path(path).parent
    return None


_UNREACHABLE = "the hub cannot be reached; check the network"


def _not_cached(repository: str, revision: str | None, because: str, spec: str) -> str:
    what = f"{repository}@{revision}" if revision else repository
    there, names = cached_repositories(), {*REPOSITORIES, *REPOSITORIES.values()}
    near = nearest(repository, {*there, *names} - {repository})
    guess = f" Did you mean {' or '.join(near)}?" if near and repository not in names else ""
    held = f" The cache holds {', '.join(there[:5])}{' …' if len(there) > 5 else ''}." if there else ""
    remedy = f"{because}, or name a folder or tokenizer.json file"
    return f"{spec}: {what} is not in the hub's cache, and {remedy}.{guess}{held}"
