"""Websocket connections whose handshake may be refused with words.

uvicorn 0.54 takes a refusal by an answer of HTTP (the ASGI extension `websocket.http.response`), sends it, and then
holds that the handshake was never ended: it logs an error for each one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent


class SocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's, for which a handshake that was refused with an answer is over."""

    async def send(self, message: ASGISendEvent) -> None:
        """Sends what the application says; see uvicorn."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True
