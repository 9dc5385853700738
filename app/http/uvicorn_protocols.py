"""uvicorn's protocols with two additions that no setting offers; docs/adr/0007 says when to remove them."""

from __future__ import annotations

from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

_HOST: Final = b"host"


class HttpProtocol(HttpToolsProtocol):
    """HTTP connections that report the host of an absolute request target, as clients send it to a proxy.

    uvicorn drops it, so an application cannot compare it with the Host header:
    https://github.com/Kludex/uvicorn/pull/3097.
    """

    def on_headers_complete(self) -> None:
        """Add a second Host header if the target names another host; `app.auth.hosts` refuses two.

        RFC 9112 section 3.2.2 gives precedence to the target, but most programs use the header.
        """
        scheme, is_absolute, rest = self.url.partition(b"://")
        if is_absolute and scheme.isalpha():
            authority = rest.partition(b"/")[0].partition(b"?")[0].partition(b"#")[0].lower()
            if any(name == _HOST and value.lower() != authority for name, value in self.headers):
                self.headers.append((_HOST, authority))
        super().on_headers_complete()


class SocketProtocol(WebSocketsSansIOProtocol):
    """Websocket connections whose handshake may be refused with an HTTP answer (`websocket.http.response`).

    uvicorn 0.54 sends the answer and then logs an error, as if the handshake were incomplete:
    https://github.com/Kludex/uvicorn/pull/3138.
    """

    async def send(self, message: Any) -> None:  # noqa: ANN401 - its type has no public name
        """Send a message of the application; the last one of a refusal completes the handshake."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True
