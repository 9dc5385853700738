"""The messages of sd_notify(3): the service's supervisor waits for them, where there is one."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

READY = b"READY=1"
STOPPING = b"STOPPING=1"


def notify(state: bytes) -> None:
    """Report a state to the supervisor that `NOTIFY_SOCKET` names; without that, do nothing."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    # A name that begins with @ is in Linux' abstract namespace, which begins with a zero byte.
    name = f"\0{address[1:]}" if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender, suppress(OSError):
        sender.sendto(state, name)  # a supervisor that is gone must not keep us from stopping
