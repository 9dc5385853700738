"""uvicorn's protocols, with two additions that it has no setting for; docs/adr/0007 says when they can go."""

from __future__ import annotations

from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

_HOST: Final = b"host"


class HttpProtocol(HttpToolsProtocol):
    """HTTP connections that report the host of a request target that is a whole address, as sent to a proxy.

    uvicorn drops it, so that an application cannot compare it with the Host header; see also
    https://github.com/Kludex/uvicorn/pull/3097.
    """

    def on_headers_complete(self) -> None:
        """Adds a second Host header when the target names another host; `app.auth.hosts` refuses two.

        The target counts by RFC 9112 section 3.2.2; most programs go by the header.
        """
        scheme, is_absolute, rest = self.url.partition(b"://")
        if is_absolute and scheme.isalpha():
            authority = rest.partition(b"/")[0].partition(b"?")[0].partition(b"#")[0].lower()
            if any(name == _HOST and value.lower() != authority for name, value in self.headers):
                self.headers.append((_HOST, authority))
        super().on_headers_complete()


class SocketProtocol(WebSocketsSansIOProtocol):
    """Websocket connections whose handshake may be refused with an HTTP answer (`websocket.http.response`).

    uvicorn 0.54 sends the answer and then logs an error, as if the handshake had never ended; see
    https://github.com/Kludex/uvicorn/pull/3138.
    """

    async def send(self, message: Any) -> None:  # noqa: ANN401 - its type has no public name
        """Sends a message of the application; the last of a refusal ends the handshake."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True
