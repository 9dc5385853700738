"""The methods of dataclasses as closures, where Python 3.11 and 3.12 write and compile a text for each.

A start declares 550 dataclasses, ours, Strawberry's and those of GraphQL. Compiling six methods for each took 17 % of
its time; only `__init__` gains by being compiled, since it alone runs often. Python 3.13 compiles the methods of a
class in one go and is left alone. What the methods do is the same (`tests/app/test_dataclass_methods.py`).
"""

from __future__ import annotations

import dataclasses
import sys
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Fields = Sequence[dataclasses.Field[Any]]
    Globals = dict[str, Any]
    Method = Callable[..., Any]


def share_methods() -> None:
    """Makes every dataclass declared from now on get closures for all its methods but `__init__`."""
    if sys.version_info < (3, 13):
        module: Any = dataclasses
        module._repr_fn = _repr_method
        module._cmp_fn = _comparison(module._cmp_fn)
        module._hash_fn = _hash_method
        module._frozen_get_del_attr = _frozen_methods


def _values(names: Sequence[str]) -> Callable[[object], object]:
    """What reads these attributes of an object as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda of: tuple(getattr(of, name) for name in names)


def _repr_method(fields: Fields, _globals: Globals) -> Method:
    names = [field.name for field in fields]

    def __repr__(self: object) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    guarded: Method = dataclasses._recursive_repr(__repr__)  # type: ignore[attr-defined]
    return guarded


def _comparison(compiled: Method) -> Method:
    def method(name: str, operator: str, self_tuple: str, other_tuple: str, globals: Globals) -> Method:
        if operator != "==":
            return compiled(name, operator, self_tuple, other_tuple, globals=globals)  # type: ignore[no-any-return]
        # Such as `(self.key,self.position,)`.
        values = _values([part.removeprefix("self.") for part in self_tuple[1:-1].split(",") if part])

        def __eq__(self: object, other: object) -> bool:
            return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

        return __eq__

    return method


def _hash_method(fields: Fields, _globals: Globals) -> Method:
    values = _values([field.name for field in fields])

    def __hash__(self: object) -> int:
        return hash(values(self))

    return __hash__


def _frozen_methods(cls: type, fields: Fields, _globals: Globals) -> tuple[Method, Method]:
    names = frozenset(field.name for field in fields)

    def __setattr__(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)  # type: ignore[arg-type]

    def __delattr__(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)  # type: ignore[arg-type]

    return __setattr__, __delattr__
