"""Validates models again: pydantic trusts every instance of a model.

`model_construct`, `model_copy(update=…)`, assignments and changes of inner lists all bypass validation.
"""

from __future__ import annotations

import dataclasses
import typing
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, RootModel, ValidationError
from pydantic_core import InitErrorDetails

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, KeysView

    Path = tuple[str | int, ...]

_SCALAR = (str, int, float, type(None))
#: Attributes that mark typed dictionaries and named tuples.
_RECORD = ("__total__", "_fields")


def find_misfit(model: BaseModel) -> tuple[Path, ValidationError] | None:
    """Find a model, this one or an inner one, that does not fit its class; returns its path and the error.

    Validates only models that fields declare; the contents of an `Any` are not part of the contract. Does not change
    the model, since a validator may not return the same value twice.
    """
    holder: Path = ()
    name: str | int | None = None
    try:
        if not _validate(model):
            return None
        pending: list[tuple[Path, Any]] = [(holder, model)]
        entered: set[int] = set()  # models may form cycles
        while pending:
            holder, value = pending.pop()
            if id(value) in entered:
                continue
            entered.add(id(value))
            for name, item in _inside(value):
                if not isinstance(item, _SCALAR) and (not isinstance(item, BaseModel) or _validate(item)):
                    pending.append((_below(holder, name), item))
    except ValidationError as error:
        return _below(holder, name), error
    return None


def _below(holder: Path, name: str | int | None) -> Path:
    return holder if name is None else (*holder, name)


def _validate(model: BaseModel) -> bool:
    """Make a second model from the same values; returns whether the class declares inner models.

    Raises:
        ValidationError: The values do not fit the class.
    """
    traits = _traits(type(model))
    try:
        traits.validate(_values(model, traits))
    except ValidationError:
        values, untouched = _values(model, traits), _untouched(model)
        if not untouched:
            raise
        traits.validate({name: value for name, value in values.items() if name not in untouched})
    return bool(traits.nesting)


def _values(model: BaseModel, traits: _Traits) -> dict[str, Any]:
    """Copy a model's values by field name, since validators may change them."""
    values = model.__dict__.copy()
    if values.keys() != traits.fields:
        if missing := traits.fields - values.keys():  # a deleted value would get its default
            lacks = [InitErrorDetails(type="missing", loc=(name,), input=values) for name in sorted(missing)]
            raise ValidationError.from_exception_data(type(model).__name__, lacks)
        if type(model).model_config.get("extra") == "forbid":
            _refuse_extras(model, values.keys() - traits.fields)
        # Drops cached properties and surplus values from `model_copy`.
        values = {name: value for name, value in values.items() if name in traits.fields}
    if model.__pydantic_extra__:
        values |= model.__pydantic_extra__
    return values


def _refuse_extras(model: BaseModel, names: set[str]) -> None:
    """Refuse surplus values of a model that forbids them, except for cached properties, which the class declares."""
    extras = [
        InitErrorDetails(type="extra_forbidden", loc=(name,), input=model.__dict__[name])
        for name in sorted(names)
        if not hasattr(type(model), name)
    ]
    if extras:
        raise ValidationError.from_exception_data(type(model).__name__, extras)


def _untouched(model: BaseModel) -> set[str]:
    """Return fields that still have their default, which pydantic does not validate."""
    return {
        name
        for name, field in type(model).__pydantic_fields__.items()
        if name not in model.__pydantic_fields_set__ and model.__dict__[name] == field.default
    }


def _inside(value: Any) -> Iterable[tuple[str | int | None, Any]]:  # noqa: ANN401 - any value of a field
    """Yield inner values that are or may contain models, with their names; a root has none."""
    match value:
        case RootModel():
            return ((None, value.root),)
        case BaseModel():
            return ((name, value.__dict__[name]) for name in _traits(type(value)).nesting)
        case dict():
            return ((str(key), item) for key, item in value.items())
        case list() | tuple() | set() | frozenset():
            return enumerate(value)
        case _ if dataclasses.is_dataclass(value):
            return ((field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value))
        case _:
            return ()


class _Traits(NamedTuple):
    """Cached facts about a class of models.

    Attributes:
        validate: Validates the values of its fields, by name.
        fields: Names of its fields.
        nesting: Names of fields that declare models, at any depth.
    """

    validate: Callable[[dict[str, Any]], object]
    fields: KeysView[str]
    nesting: tuple[str, ...]


@lru_cache(maxsize=1024)
def _traits(kind: type[BaseModel]) -> _Traits:
    fields = kind.__pydantic_fields__
    validate: Callable[..., object] = partial(kind.__pydantic_validator__.validate_python, by_alias=True, by_name=True)
    nesting = tuple(name for name, field in fields.items() if _holds_models(field.annotation, set()))
    if issubclass(kind, RootModel):
        return _Traits(lambda values: validate(values["root"]), fields.keys(), nesting)
    if kind.__pydantic_custom_init__:  # such a class may have arguments that are not its fields
        return _Traits(lambda values: validate(values, self_instance=kind.__new__(kind)), fields.keys(), nesting)
    return _Traits(validate, fields.keys(), nesting)


def _holds_models(annotation: Any, seen: set[int]) -> bool:  # noqa: ANN401 - any annotation
    if id(annotation) in seen:  # an alias may name itself
        return False
    seen.add(id(annotation))
    arguments = typing.get_args(annotation)
    if isinstance(annotation, type) and not arguments:
        # A dataclass, a typed dictionary or a named tuple may declare models.
        is_record = dataclasses.is_dataclass(annotation) or any(hasattr(annotation, each) for each in _RECORD)
        return issubclass(annotation, BaseModel) or is_record
    return any(_holds_models(each, seen) for each in (*arguments, getattr(annotation, "__value__", None)))
