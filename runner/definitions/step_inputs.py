"""Inputs of steps: the field that names a session, and the key by which a repeat is recognised."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from runner.json_values import canonical_bytes

if TYPE_CHECKING:
    from runner.failures import JSONValue

#: Input field that names a step's session; no pack declares it, and idempotency keys leave it out.
SESSION_FIELD = "_session_id"


def idempotency_key(run_id: str, step_key: str, resolved_input: JSONValue, text: bytes | None = None) -> str:
    """The key a provider recognises a repeat by (guarantee E3): 64 hexadecimal digits.

    The same for every attempt of one step of one run with the same input; `_session_id` does not count, since a
    session may be recreated while the work stays the same.

    Args:
        run_id: The run.
        step_key: Its step.
        resolved_input: What the step is given.
        text: The same as canonical JSON, where somebody wrote it already.
    """
    if isinstance(resolved_input, dict) and SESSION_FIELD in resolved_input:
        resolved_input, text = without_session(resolved_input), None
    if text is not None:
        return hashlib.sha256(b"%b,%b]" % (canonical_bytes([run_id, step_key])[:-1], text)).hexdigest()
    return hashlib.sha256(canonical_bytes([run_id, step_key, resolved_input])).hexdigest()


def without_session(step_input: dict[str, JSONValue]) -> dict[str, JSONValue]:
    """A step's input as its pack takes it; the same object where it names no session."""
    if SESSION_FIELD not in step_input:
        return step_input
    return {name: value for name, value in step_input.items() if name != SESSION_FIELD}
