"""Resolvers called as they are, without the layers Strawberry puts around them.

Those layers are for extensions and conversions; fields need neither whose arguments are scalars, enums or lists of
them, nor those without arguments. They cost 25 µs of an asynchronous resolver, and 5 more for each argument, in
Strawberry 0.341. Resolvers marked `loaded` are run up to their first wait at once; see `schema.loading`.
"""

# ruff: noqa: ANN401 - the signatures are graphql-core's
from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from graphql import GraphQLObjectType, get_named_type, is_leaf_type
from strawberry.types.base import StrawberryMaybe
from strawberry.types.field import StrawberryField
from strawberry.types.info import Info

from schema.loading import begun, is_loaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphql import GraphQLField, GraphQLSchema


def shorten_resolvers(schema: GraphQLSchema) -> None:
    """Call resolvers that take no arguments but leaves as they are; called once, before anything else wraps them."""
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
    names = _leaf_arguments(field, definition)
    told = resolver.info_parameter
    if names is None or (told is not None and told.name != "info"):
        return None
    call = cast("Callable[..., Any]", resolver.wrapped_func)
    if not names:
        if told is None:
            return lambda source, _info: call(source)

        def alone(source: Any, info: Any) -> Any:
            return call(source, info=Info(info, definition))

        if not is_loaded(call):
            return alone

        def alone_now(source: Any, info: Any) -> Any:
            resolved = call(source, info=Info(info, definition))
            return begun(resolved) if getattr(info.context, "at_once", False) else resolved

        return alone_now

    def resolve(source: Any, info: Any, **given: Any) -> Any:
        # A list may be the default of the argument, which every operation is given.
        arguments = {names[name]: list(value) if type(value) is list else value for name, value in given.items()}
        if told is not None:
            arguments["info"] = Info(info, definition)
        return call(source, **arguments)

    if not is_loaded(call):
        return resolve

    def resolve_now(source: Any, info: Any, **given: Any) -> Any:
        resolved = resolve(source, info, **given)
        return begun(resolved) if getattr(info.context, "at_once", False) else resolved

    return resolve_now


def _leaf_arguments(field: GraphQLField, definition: StrawberryField) -> dict[str, str] | None:
    """Names in Python of arguments by those in the schema when none needs to be converted, else None.

    Scalars need not, nor enums, nor lists of them.
    """
    if not all(is_leaf_type(get_named_type(argument.type)) for argument in field.args.values()):
        return None
    if len(definition.arguments) != len(field.args) or any(
        isinstance(argument.type, StrawberryMaybe) for argument in definition.arguments
    ):
        return None
    return {name: argument.python_name for name, argument in zip(field.args, definition.arguments, strict=True)}
