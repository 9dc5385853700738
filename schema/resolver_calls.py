"""Resolvers called as they are, without the layers Strawberry puts around them.

Those layers are for extensions, and for making input objects; fields that are given scalars, enums or lists of them
need neither, nor those that are given nothing. They cost 25 µs of an asynchronous resolver, and 5 more for each
argument, in Strawberry 0.341. Resolvers marked `loaded` are run up to their first wait at once; see `schema.loading`.
"""

# ruff: noqa: ANN401 - the signatures are graphql-core's
from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from graphql import GraphQLObjectType, get_named_type, is_leaf_type
from strawberry.types.base import StrawberryMaybe
from strawberry.types.field import StrawberryField
from strawberry.types.info import Info

from schema.loading import begun, is_loaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphql import GraphQLField, GraphQLResolveInfo, GraphQLSchema


class LateInfo(Info[Any, Any]):
    """What a resolver is told, made up when it looks at it: most look at the context alone.

    Args:
        definition: Strawberry's, of the field.
        context: Of the operation.
        make: Makes what graphql-core tells, given `known`.
        known: See above.
    """

    __slots__ = ("_known", "_make", "context")

    context: Any  # in Strawberry a property, which asks what graphql-core tells

    def __init__(self, definition: StrawberryField, context: Any, make: Callable[..., Any], *known: Any) -> None:
        self._field = definition
        self.context = context
        self._make = make
        self._known = known

    @cached_property
    def _raw_info(self) -> GraphQLResolveInfo[Any]:  # type: ignore[override] # read-only here
        info: GraphQLResolveInfo[Any] = self._make(*self._known)
        return info


class ShortResolver:
    """A resolver that is called as it is.

    Args:
        call: The method, which is given the object first.
        definition: Strawberry's, of the field.
        names: What the method calls the field's arguments, by their names in the schema.

    Attributes:
        definition: See above.
        told: Whether it wants an `info`.
    """

    __slots__ = ("_call", "_loaded", "_names", "definition", "told")

    def __init__(
        self, call: Callable[..., Any], definition: StrawberryField, names: dict[str, str], *, told: bool
    ) -> None:
        self.definition = definition
        self.told = told
        self._call = call
        self._names = names
        self._loaded = is_loaded(call)

    def __call__(self, source: Any, info: GraphQLResolveInfo[Any], /, **given: Any) -> Any:
        """What it returns; as graphql-core calls resolvers."""
        return self.begin(source, Info(info, self.definition) if self.told else None, given, info.context)

    def begin(self, source: Any, info: Info[Any, Any] | None, given: dict[str, Any], context: Any) -> Any:
        """What it returns, once it has come to its first wait where that may be.

        Args:
            source: The object.
            info: If it is told.
            given: Arguments, by their names in the schema; not changed.
            context: Of the operation.
        """
        if not given:
            resolved = self._call(source) if info is None else self._call(source, info=info)
        else:
            names = self._names
            # A list may be the default of the argument, which every operation is given.
            arguments = {names[name]: list(value) if type(value) is list else value for name, value in given.items()}
            if info is not None:
                arguments["info"] = info
            resolved = self._call(source, **arguments)
        return begun(resolved) if self._loaded and getattr(context, "at_once", False) else resolved


def shorten_resolvers(schema: GraphQLSchema) -> None:
    """Call resolvers that are given no input objects as they are; called once, before anything else wraps them."""
    for graphql_type in schema.type_map.values():
        if isinstance(graphql_type, GraphQLObjectType):
            for field in graphql_type.fields.values():
                short = _short(field)
                if short is not None:
                    field.resolve = short


def _short(field: GraphQLField) -> Callable[..., Any] | None:
    definition = field.extensions.get("strawberry-definition")
    if not isinstance(definition, StrawberryField) or definition.base_resolver is None or definition.is_subscription:
        return None
    resolver = definition.base_resolver
    if definition.extensions or resolver.parent_parameter or resolver.root_parameter or resolver.self_parameter is None:
        return None
    names = _names(field, definition)
    told = resolver.info_parameter
    if names is None or (told is not None and told.name != "info"):
        return None
    short = ShortResolver(cast("Callable[..., Any]", resolver.wrapped_func), definition, names, told=told is not None)
    objects = [name for name, argument in field.args.items() if not is_leaf_type(get_named_type(argument.type))]
    long = field.resolve
    if not objects or long is None:
        return short

    def resolve(source: Any, info: Any, /, **given: Any) -> Any:
        """Strawberry makes what it has to make of input objects; mostly none is given."""
        for name in objects:
            if given.get(name) is not None:
                return long(source, info, **given)
        return short(source, info, **given)

    return resolve


def _names(field: GraphQLField, definition: StrawberryField) -> dict[str, str] | None:
    """Names in Python of arguments by those in the schema; None where absence has to be told from null."""
    if len(definition.arguments) != len(field.args) or any(
        isinstance(argument.type, StrawberryMaybe) for argument in definition.arguments
    ):
        return None
    return {name: argument.python_name for name, argument in zip(field.args, definition.arguments, strict=True)}
