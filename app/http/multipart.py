"""A streaming parser of `multipart/form-data` bodies with one file (RFC 7578); it buffers nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: Limit of everything except the file: boundaries, headers, other fields.
OVERHEAD_BYTES = 64 * 1024


class FormError(Exception):
    """The body is not a form with one file; the message says why."""


class FormFile:
    """The file in a form: `begin` reads up to it, `pieces` streams it.

    Attributes:
        name: The file's name; set by `begin`.
        media_type: The media type the sender declared; set by `begin`.
    """

    def __init__(self, body: AsyncIterator[bytes], content_type: str) -> None:
        boundary = parse_options_header(content_type)[1].get(b"boundary")
        if not boundary or len(boundary) > 70:
            raise FormError("The Content-Type of the form has no boundary of at most 70 characters.")
        self.name = ""
        self.media_type: str | None = None
        self._body = body
        self._overhead = 0
        self._ready: list[bytes] = []
        self._header = [b"", b""]
        self._headers: dict[bytes, bytes] = {}
        self._in_file = self._found = self._ended = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin_part,
                "on_header_field": lambda data, start, end: self._add_header(0, data[start:end]),
                "on_header_value": lambda data, start, end: self._add_header(1, data[start:end]),
                "on_header_end": self._end_header,
                "on_headers_finished": self._end_headers,
                "on_part_data": self._add,
                "on_part_end": self._end_part,
                "on_end": self._end,
            },
        )

    async def begin(self) -> None:
        """Read up to the file.

        Raises:
            FormError: the form has no file or is malformed.
        """
        while not self._found and await self._feed():
            pass
        if not self._found:
            raise FormError("The form has no file. Send one in a field with a file name.")

    async def pieces(self) -> AsyncIterator[bytes]:
        """Stream the file.

        Raises:
            FormError: the form is malformed, truncated or has a second file.
        """
        more = True
        while more or self._ready:
            for piece in self._ready:
                yield piece
            self._ready.clear()
            more = await self._feed()
        if not self._ended:
            raise FormError("The form ends before its file is complete.")

    async def _feed(self) -> bool:
        chunk = await anext(self._body, None)
        if chunk is None:
            return False
        try:
            self._parser.write(chunk)
        except MultipartParseError as error:
            raise FormError(f"The form cannot be read: {error}.") from error
        return True

    def _begin_part(self) -> None:
        self._headers = {}
        self._header = [b"", b""]

    def _add_header(self, which: int, data: bytes) -> None:
        self._count(len(data))
        self._header[which] += data

    def _end_header(self) -> None:
        self._headers[self._header[0].lower()] = self._header[1]
        self._header = [b"", b""]

    def _end_headers(self) -> None:
        options = parse_options_header(self._headers.get(b"content-disposition", b""))[1]
        name = options.get(b"filename")
        if name is None:
            return
        if self._found:
            raise FormError("The form has more than one file. Send each in a separate request.")
        self._in_file = self._found = True
        self.name = name.decode("utf-8", "replace")
        media_type = self._headers.get(b"content-type")
        self.media_type = media_type.decode("latin-1") if media_type else None

    def _add(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._ready.append(data[start:end])
        else:
            self._count(end - start)

    def _count(self, size: int) -> None:
        self._overhead += size
        if self._overhead > OVERHEAD_BYTES:
            raise FormError(f"The headers and other fields of the form are longer than {OVERHEAD_BYTES} bytes.")

    def _end_part(self) -> None:
        self._in_file = False

    def _end(self) -> None:
        self._ended = True
