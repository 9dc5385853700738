"""How often one address may be wrong: a bucket of failures for each, refilled over a minute."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Addresses remembered; the one that failed longest ago is forgotten first.
REMEMBERED = 10_000


class Throttle:
    """Counts failures by address.

    Args:
        per_minute: Failures an address may have in a minute before it has to wait.
        clock: Seconds that only go forward.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        #: By address: failures still held against it, and when they were last counted.
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is held against anybody."""
        return not self._held

    def failed(self, address: str) -> bool:
        """Counts one failure of an address; true when none was held against it before."""
        key = _key(address)
        before = self._now_held(key)
        self._held[key] = (before + 1, self._clock())
        self._held.move_to_end(key)
        while len(self._held) > REMEMBERED:
            self._held.popitem(last=False)
        return before == 0

    def wait_seconds(self, address: str) -> float:
        """How long an address has to wait before it may try again; 0 when it may."""
        key = _key(address)
        over = self._now_held(key) + 1 - self._per_minute
        return max(0.0, over * 60 / self._per_minute)

    def _now_held(self, key: str) -> float:
        held, at = self._held.get(key, (0.0, 0.0))
        left = held - (self._clock() - at) * self._per_minute / 60
        if left > 0:
            return left
        self._held.pop(key, None)
        return 0.0


def _key(address: str) -> str:
    """The address; of IPv6 the network, because one person has all of it."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))
    except ValueError:
        return address
