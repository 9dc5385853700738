"""A limit of failed attempts per address: a leaky bucket that drains over a minute."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Addresses kept; the one that failed longest ago is dropped first.
ADDRESSES_MAX = 10_000


class Throttle:
    """Count failures by address.

    Args:
        per_minute: Failures an address may have in a minute before it has to wait.
        clock: A monotonic clock in seconds.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        #: By address: its bucket's level in failures, and when that was computed.
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    @property
    def is_idle(self) -> bool:
        """Whether no address has a failure."""
        return not self._levels

    def failed(self, address: str) -> bool:
        """Count one failure of an address; true if its bucket was empty."""
        key = _key(address)
        before = self._level(key)
        self._levels[key] = (before + 1, self._clock())
        self._levels.move_to_end(key)
        while len(self._levels) > ADDRESSES_MAX:
            self._levels.popitem(last=False)
        return before == 0

    def wait_seconds(self, address: str) -> float:
        """How long an address has to wait before it may try again; 0 if it may now."""
        key = _key(address)
        over = self._level(key) + 1 - self._per_minute
        return max(0.0, over * 60 / self._per_minute)

    def _level(self, key: str) -> float:
        level, at = self._levels.get(key, (0.0, 0.0))
        left = level - (self._clock() - at) * self._per_minute / 60
        if left > 0:
            return left
        self._levels.pop(key, None)
        return 0.0


def _key(address: str) -> str:
    """The address; for IPv6 its /64 network, because one person usually has all of it."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))
    except ValueError:
        return address
