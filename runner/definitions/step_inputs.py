"""Inputs of steps: the session field, and the idempotency key of a step."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from runner.json_values import canonical_bytes

if TYPE_CHECKING:
    from runner.failures import JSONValue

#: Input field that names a step's session; no pack declares it, and idempotency keys leave it out.
SESSION_FIELD = "_session_id"


def idempotency_key(run_id: str, step_key: str, resolved_input: JSONValue, text: bytes | None = None) -> str:
    """Return the key by which a provider recognises a repeat (guarantee E3): 64 hexadecimal digits.

    The same for every attempt of one step of one run with the same input. Ignores `_session_id`, since a recreated
    session does not change the work.

    Args:
        run_id: The run.
        step_key: Its step.
        resolved_input: The step's resolved input.
        text: The same as canonical JSON, if it is already serialized.
    """
    if isinstance(resolved_input, dict) and SESSION_FIELD in resolved_input:
        resolved_input, text = without_session(resolved_input), None
    if text is not None:
        return hashlib.sha256(b"%b,%b]" % (canonical_bytes([run_id, step_key])[:-1], text)).hexdigest()
    return hashlib.sha256(canonical_bytes([run_id, step_key, resolved_input])).hexdigest()


def without_session(step_input: dict[str, JSONValue]) -> dict[str, JSONValue]:
    """Return a step's input without its session, as its pack gets it; the same object if it names none."""
    if SESSION_FIELD not in step_input:
        return step_input
    return {name: value for name, value in step_input.items() if name != SESSION_FIELD}
