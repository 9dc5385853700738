"""Ids: a type prefix and a ULID, the same text on every surface.

Written out here because every step of a run costs two ids, and the library took a twentieth of all a step costs.
"""

from __future__ import annotations

import os
import time
from collections import deque
from functools import lru_cache
from typing import Literal

Prefix = Literal["pipe", "pver", "run", "step", "att", "art", "call", "tok", "aud", "sess", "cred", "mem", "gap", "res"]

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
#: Two digits for each ten bits.
_PAIRS = tuple(first + second for first in _ALPHABET for second in _ALPHABET)
#: A digit for each byte; 256 is a multiple of 32, so that all digits are equally likely.
_DIGIT_OF_BYTE = _ALPHABET.encode() * 8
#: Random ends of ids to come. Asking the system for each one alone gives up the interpreter lock each time, which the
#: writer's thread then takes.
_ENDS: deque[str] = deque()
_ENDS_AT_ONCE = 256
os.register_at_fork(after_in_child=_ENDS.clear)  # or parent and child would hand out the same


def new_id(prefix: Prefix) -> str:
    """A new id such as `run_01J…`; ids of one millisecond are in no particular order."""
    try:
        end = _ENDS.pop()
    except IndexError:
        digits = os.urandom(16 * _ENDS_AT_ONCE).translate(_DIGIT_OF_BYTE).decode()
        _ENDS.extend(digits[start : start + 16] for start in range(16, len(digits), 16))
        end = digits[:16]
    return f"{prefix}_{_time(time.time_ns() // 1_000_000)}{end}"


@lru_cache(maxsize=4)
def _time(milliseconds: int) -> str:
    """The ten digits of an instant."""
    pairs, now = _PAIRS, milliseconds
    return (
        f"{pairs[(now >> 40) & 1023]}{pairs[(now >> 30) & 1023]}{pairs[(now >> 20) & 1023]}"
        f"{pairs[(now >> 10) & 1023]}{pairs[now & 1023]}"
    )
