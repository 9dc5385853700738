"""Ports for servers that must be told theirs before they are up."""

from __future__ import annotations

import random
import socket

#: Below those that systems give to whoever asks for none (RFC 6335 from 49152; Linux from 32768): every connection
#: another test opens meanwhile takes one of those, and a server may take seconds to come up.
_FIRST, _LAST = 10_000, 32_000
#: By the system's chance: that of `random` may be seeded alike in two processes.
_chance = random.SystemRandom()


def free_port() -> int:
    """A port of loopback that is free and stays so, but for another call of this function that has the same luck."""
    while True:
        port = _chance.randint(_FIRST, _LAST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
