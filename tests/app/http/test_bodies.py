"""A body that says beforehand that it is too large is refused before any of it is sent, wherever bodies are taken."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from app.http.bodies import announced_over
from tests.support.product import ADMIN_TOKEN, product

if TYPE_CHECKING:
    from pathlib import Path

ANSWERS = {
    "/graphql": (b"413", b"BODY_TOO_LARGE"),
    "/mcp": (b"413", b"the limit is 4,194,304"),
    "/artifacts?name=film.mp4": (b"413", b"PACKLINE_UPLOAD_BYTES"),
}


async def test_what_is_announced_too_large_is_refused_at_once(tmp_path: Path) -> None:
    async with product(tmp_path) as it:
        for path, (status, told) in ANSWERS.items():
            reader, writer = await asyncio.open_connection("127.0.0.1", it.served.port)
            head = (
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {ADMIN_TOKEN}\r\n"
                "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
                "Content-Length: 900000000000\r\n\r\n"
            )
            writer.write(head.encode())
            async with asyncio.timeout(20):
                answer = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                answer += await reader.readexactly(int(length.split(b":")[1]))
            assert answer.split(b" ")[1] == status, path
            assert told in answer
            writer.close()
            await writer.wait_closed()


@pytest.mark.parametrize(
    ("length", "over"), [(None, None), ("", None), ("11", 11), ("10", None), ("²2", None), ("-99", None), ("1e9", None)]
)
def test_a_length_that_is_no_number_announces_nothing(length: str | None, over: int | None) -> None:
    assert announced_over(length, 10) == over
