"""The live page's defences: security headers on every answer, and requests from other sites refused.

The policy allows the page's own script and style and nothing else. Requests must name a host the server was
told it has (a web page elsewhere cannot reach it by rebinding a name), and a POST must come from the page
itself or from no page at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")

SECURITY = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-cache",
}


class Guard:
    """ASGI middleware: checks host and origin, adds the headers of `SECURITY`.

    `hosts` are the names, without port, under which the page may be asked for.
    """

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str]) -> None:
        self.app = app
        self.hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY)
            await send(message)

        refused = self._refusal(Headers(scope=scope))
        if refused:
            await JSONResponse({"error": refused}, 403)(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)

    def _refusal(self, headers: Headers) -> str:
        host = headers.get("host", "")
        if _name(host) not in self.hosts:
            return f"host {host!r} is not one this page answers to; start it with --allow-host"
        origin = headers.get("origin")
        if origin is not None and not self._own(origin, host):
            return "requests from other sites' pages are not answered"
        return ""

    def _own(self, origin: str, host: str) -> bool:
        """Whether a page is this one: of one of our names, and on loopback at the very port that is asked."""
        try:
            place = urlsplit(origin).netloc.lower()
        except ValueError:
            return False
        name = _name(place)
        return name in self.hosts and (name not in LOOPBACK or place == host.lower())


def _name(host: str) -> str:
    """The host without its port.

    Example:
        >>> _name("localhost:8321"), _name("[::1]:8321")
        ('localhost', '[::1]')
    """
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower()
