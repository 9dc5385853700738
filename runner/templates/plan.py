"""The plan of a compiled template: which places change, and how each is filled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import orjson

from runner.failures import Failure, FailureCode
from runner.issues import Hint, hint_of, nearest
from runner.templates.references import INPUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.failures import JSONValue
    from runner.templates.references import Reference

#: Which inputs may be absent: a set of names, or a function of the path of a missing value, outermost first, for
#: inputs that are declared optional deeper down (see `runner.definitions.inputs.declared_optional`).
DeclaredOptional: TypeAlias = "frozenset[str] | Callable[[tuple[str | int, ...]], bool]"


class TemplateError(Exception):
    """A template that cannot be resolved; the step fails with it as `invalid_input`.

    Attributes:
        path: Where in the step's input, outermost first.
        expression: The reference as written; empty when the input as a whole is at fault.
        reason: The reason, one sentence.
        hint: What to do, if known.
    """

    def __init__(self, path: tuple[str, ...], expression: str, reason: str, hint: Hint | str | None = None) -> None:
        where = ".".join(path) or "the whole input"
        super().__init__(f"Unresolved reference {expression} in {where}: {reason}" if expression else reason)
        self.path = path
        self.expression = expression
        self.reason = reason
        self.hint = hint_of(hint)

    @property
    def failure(self) -> Failure:
        hint = None if self.hint is None else str(self.hint)
        return Failure(FailureCode.INVALID_INPUT, str(self), field=".".join(self.path) or None, hint=hint)


#: Default limit of a resolved input, in bytes of JSON.
MAX_RESOLVED_BYTES = 1024 * 1024


def oversized(limit_bytes: int, size_bytes: int | None = None) -> TemplateError:
    """Return the error of an input that is too large once resolved."""
    size = "more" if size_bytes is None else f"{size_bytes:,} bytes"
    reason = f"The resolved input has {size} of JSON; the limit is {limit_bytes:,} bytes."
    return TemplateError((), "", reason, "Pass an artifact instead of its content.")


class Absent:
    """The value of a reference whose referent is missing, and may be."""


ABSENT: Final = Absent()


class Scope:
    """The sources of one resolution, the size that is left, and the omitted places.

    Attributes:
        omitted: Places without a value, each in a few words.
        counts_wholes: Whether whole values are measured while resolving. A few can be measured at the end, but
            thousands of references to one large output would first make gigabytes.
    """

    __slots__ = (
        "_declared_optional",
        "_inputs",
        "_left",
        "_limit_bytes",
        "_outputs",
        "_sizes",
        "counts_wholes",
        "omitted",
    )

    def __init__(
        self,
        inputs: Mapping[str, JSONValue],
        outputs: Mapping[str, JSONValue],
        declared_optional: DeclaredOptional,
        *,
        limit_bytes: int,
        counts_wholes: bool,
    ) -> None:
        self._inputs = inputs
        self._outputs = outputs
        self._declared_optional = declared_optional
        self._limit_bytes = limit_bytes
        self._left = limit_bytes
        self._sizes: dict[int, int] = {}
        self.counts_wholes = counts_wholes
        self.omitted: list[str] = []

    def spend(self, size: int) -> None:
        """Subtract the size of a value in characters, of which bytes are never fewer.

        Raises:
            TemplateError: the limit is exceeded.
        """
        self._left -= size
        if self._left < 0:
            raise oversized(self._limit_bytes)

    def spend_value(self, value: Any) -> None:  # noqa: ANN401
        """Subtract the size of a whole value, which is measured once.

        Raises:
            TemplateError: the limit is exceeded.
        """
        if value.__class__ is str:
            self.spend(len(value))
        elif value.__class__ is dict or value.__class__ is list:
            size = self._sizes.get(id(value))
            if size is None:
                try:
                    size = len(orjson.dumps(value))
                except TypeError:
                    size = 2  # reported when the whole result is checked
                self._sizes[id(value)] = size
            self.spend(size)

    def look_up(self, reference: Reference) -> Any:  # noqa: ANN401 - a JSON value or `ABSENT`
        """Return the referent, the default, or `ABSENT` where absence is declared."""
        value: Any
        if reference.source_step is None:
            value = self._inputs
        else:
            try:
                value = self._outputs[reference.source_step]
            except KeyError:
                return self._missing(reference, 0, f"step `{reference.source_step}` has no output yet")
        depth = 0
        for part in reference.source_path:
            if isinstance(part, str):
                if value.__class__ is dict or hasattr(value, "keys"):
                    if part in value:
                        value = value[part]
                        depth += 1
                        continue
                    return self._missing(reference, depth, None, value)
                return self._missing(reference, depth, f"{_where(reference, depth)} is {_kind(value)}, not an object")
            if value.__class__ is not list:
                return self._missing(reference, depth, f"{_where(reference, depth)} is {_kind(value)}, not a list")
            if part >= len(value):
                return self._missing(reference, depth, f"{_where(reference, depth)} has only {len(value)} items")
            value = value[part]
            depth += 1
        return value

    def _missing(self, reference: Reference, depth: int, reason: str | None, holder: object = None) -> Any:  # noqa: ANN401
        if reference.has_default:
            return reference.default
        if reference.optional or (
            reference.source_step is None and reason is None and self._may_be_absent(reference.source_path[: depth + 1])
        ):
            return ABSENT
        hint = None
        if reason is None:
            name = str(reference.source_path[depth])
            if reference.source_step is None and depth == 0 and reference.root == INPUTS:
                reason = f"the run has no input `{name}`"
            else:
                reason = f"{_where(reference, depth)} has no field `{name}`"
            if isinstance(holder, dict) and (near := nearest(name, holder)):
                hint = Hint(closest=near)
        raise TemplateError(reference.path, reference.expression, f"{reason}.", hint)

    def _may_be_absent(self, path: tuple[str | int, ...]) -> bool:
        if callable(self._declared_optional):
            return self._declared_optional(path)
        return len(path) == 1 and path[0] in self._declared_optional


def _where(reference: Reference, depth: int) -> str:
    """Return the path up to a depth, as authors write it."""
    text = reference.root if reference.source_step is None else f"steps.{reference.source_step}.output"
    for part in reference.source_path[:depth]:
        text += f".{part}" if isinstance(part, str) else f"[{part}]"
    return f"`{text}`"


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"


class WholeReference:
    """A text that is exactly one reference, and keeps the referent's type."""

    __slots__ = ("reference",)

    def __init__(self, reference: Reference) -> None:
        self.reference = reference

    def resolve(self, scope: Scope) -> Any:  # noqa: ANN401
        """Return the referent, or `ABSENT`."""
        value = scope.look_up(self.reference)
        if scope.counts_wholes and value is not ABSENT:
            scope.spend_value(value)
        return value


class SplicedText:
    """A text with references, which are inserted as text."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[str | Reference, ...]) -> None:
        self.parts = parts

    def resolve(self, scope: Scope) -> str:
        """Return the text with every reference replaced; absent ones by nothing."""
        pieces: list[str] = []
        for part in self.parts:
            if isinstance(part, str):
                pieces.append(part)
                continue
            value = scope.look_up(part)
            if value is ABSENT:
                scope.omitted.append(f"{part.expression} in {_place(part)}")
                continue
            piece = value if value.__class__ is str else _json_text(value, part)
            scope.spend(len(piece))
            pieces.append(piece)
        return "".join(pieces)


def _json_text(value: Any, reference: Reference) -> str:  # noqa: ANN401
    try:
        return orjson.dumps(value).decode()
    except TypeError as refused:
        raise TemplateError(reference.path, reference.expression, f"its value is not JSON: {refused}.") from refused


class ChangedObject:
    """An object of which some fields change."""

    __slots__ = ("base", "changing")

    def __init__(self, base: dict[str, Any], changing: tuple[tuple[str, Plan], ...]) -> None:
        self.base = base
        self.changing = changing

    def resolve(self, scope: Scope) -> dict[str, Any]:
        """Return a new object without the fields whose value is absent."""
        result = self.base.copy()
        for key, plan in self.changing:
            value = plan.resolve(scope)
            if value is ABSENT:
                del result[key]
                scope.omitted.append(_place(_reference(plan)))
            else:
                result[key] = value
        return result


class ChangedList:
    """A list of which some items change."""

    __slots__ = ("base", "changing")

    def __init__(self, base: list[Any], changing: tuple[tuple[int, Plan], ...]) -> None:
        self.base = base
        self.changing = changing

    def resolve(self, scope: Scope) -> list[Any]:
        """Return a new list, with null for absent values."""
        result = self.base.copy()
        for index, plan in self.changing:
            value = plan.resolve(scope)
            if value is ABSENT:
                value = None
                scope.omitted.append(f"{_place(_reference(plan))} (null instead)")
            result[index] = value
        return result


Plan: TypeAlias = "WholeReference | SplicedText | ChangedObject | ChangedList"


def _place(reference: Reference) -> str:
    """Return where in the step's input a reference is."""
    return ".".join(reference.path) or "the whole input"


def _reference(plan: Plan) -> Reference:
    """Return the reference of a plan that can be absent, which only `WholeReference` can."""
    if not isinstance(plan, WholeReference):
        raise TypeError(f"A {type(plan).__name__} always has a value.")
    return plan.reference
