"""Requests whose target is a whole address, as sent to a proxy: it names the host, as the field Host does."""

from __future__ import annotations

from typing import Final

from app.half_closed import HalfClosedProtocol

_HOST: Final = b"host"


class RequestTargetProtocol(HalfClosedProtocol):
    """uvicorn's protocol, which drops the authority of a target, so that nobody could compare it with Host."""

    def on_headers_complete(self) -> None:
        """Makes a target that names another host than the field Host a second such field.

        By RFC 9112 section 3.2.2 the target counts, by what most programs do the field. `app.hosts` refuses a request
        that names its host twice.
        """
        scheme, is_absolute, rest = self.url.partition(b"://")
        if is_absolute and scheme.isalpha():
            authority = rest.partition(b"/")[0].partition(b"?")[0].partition(b"#")[0].lower()
            if any(name == _HOST and value.lower() != authority for name, value in self.headers):
                self.headers.append((_HOST, authority))
        super().on_headers_complete()
