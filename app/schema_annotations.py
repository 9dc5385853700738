"""Strawberry's annotations, read by evaluating them, where Strawberry takes them apart, writes them anew and compiles.

Our modules postpone annotations, so Strawberry gets them as text. For each it makes a syntax tree, looks it through
for lazy types, turns it back into text and has `typing` compile that; a third of the time for nothing, while the class
is being made and the names are not known yet. That was a tenth of the time of a start.
"""

from __future__ import annotations

from typing import Any

from strawberry.annotation import StrawberryAnnotation
from strawberry.utils.typing import eval_type

_by_syntax_tree = StrawberryAnnotation.evaluate


def evaluate_annotations() -> None:
    """Makes Strawberry evaluate annotations first; only lazy types of unknown names take the long way."""
    StrawberryAnnotation.evaluate = _evaluate  # type: ignore[method-assign,assignment]


def _evaluate(annotation: StrawberryAnnotation) -> Any:  # noqa: ANN401 - a type, or what `typing` makes of several
    text = annotation.raw_annotation
    if not isinstance(text, str):
        return _by_syntax_tree(annotation)
    try:
        # As Python itself would at the declaration; the text is source code of the schema.
        value = eval(text, annotation.namespace or {})
    except NameError:
        if "lazy" in text:
            return _by_syntax_tree(annotation)
        raise
    if type(value) is type:
        return value
    return type(None) if value is None else eval_type(value, annotation.namespace, None)
