"""Finds numbers in a model that JSON does not support and that would become `null`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

if TYPE_CHECKING:
    from pydantic import BaseModel


def lost_number(result: BaseModel, value: Any) -> tuple[str, float] | None:  # noqa: ANN401 - JSON
    """Return the path and value of a NaN or infinite number that would be lost; None if there is none.

    Args:
        result: The model.
        value: Its serialized form: the model's own serializer may handle such a number.
    """
    plain = type(result).__pydantic_serializer__.to_python(result, warnings=False)
    text = to_json(plain, inf_nan_mode="constants", serialize_unknown=True)
    if b"NaN" not in text and b"Infinity" not in text:
        return None
    pending: list[tuple[Any, Any, tuple[str, ...]]] = [(plain, value, ())]
    while pending:
        own, written, path = pending.pop()
        if isinstance(own, float):
            lost = written is None or (isinstance(written, float) and not math.isfinite(written))
            if lost and not math.isfinite(own):
                return ".".join(path) or "the top level", own
        elif isinstance(own, dict) and isinstance(written, dict):
            pairs = zip(own.values(), written.items(), strict=False)
            pending.extend((item, other, (*path, key)) for item, (key, other) in pairs)
        elif isinstance(own, list | tuple | set | frozenset) and isinstance(written, list):
            pending.extend(
                (item, other, (*path, str(index)))
                for index, (item, other) in enumerate(zip(own, written, strict=False))
            )
    return None
