"""The schema's own directives, and the enforcement of `@requires`.

`@mcp` publishes a field as a tool, `@cost` sets its cost (see `schema.guard.cost`), `@requires` names the scope it
needs. `guard_fields` wraps every field that has `@requires` when the schema is built, so the printed directive and the
check cannot differ.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import strawberry
from graphql import GraphQLInterfaceType, GraphQLObjectType
from strawberry.schema_directive import Location, StrawberrySchemaDirective
from strawberry.types.field import StrawberryField
from strawberry.utils.str_converters import to_camel_case

from runner.issues import lacking_scope
from schema.base.masking import PublicError
from schema.base.scalars import JSON
from schema.base.scopes import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLField, GraphQLResolveInfo, GraphQLSchema

    from resolvers.operations import Operation

DirectiveT = TypeVar("DirectiveT")


@strawberry.schema_directive(
    locations=[Location.FIELD_DEFINITION],
    name="requires",
    description="The scope a caller must have to read the field or call the mutation.",
)
class Requires:
    """`directives=[Requires(scope=Scope.READ)]`; `guard_fields` enforces it."""

    scope: Scope = strawberry.field(description="The required scope.")


@strawberry.schema_directive(
    locations=[Location.FIELD_DEFINITION],
    name="cost",
    description="Cost of a field, multiplied by the page sizes above it. Fields without this directive cost "
    "1 if they return an object and 0 if they return a scalar.",
)
class Cost:
    """`directives=[Cost(weight=10)]`."""

    weight: int = strawberry.field(description="Cost of resolving the field once.")


@strawberry.schema_directive(
    locations=[Location.FIELD_DEFINITION],
    name="mcp",
    description="Publishes a root field as an MCP tool. Its arguments become parameters in snake_case, the "
    "hints below tool annotations.",
)
class Mcp:
    """`directives=[Mcp(tool="get_run", read_only=True)]`. `find_directive` reads it.

    An argument left at its default is not printed on the field.
    """

    tool: str | None = strawberry.field(
        description="Name of the tool. Defaults to the field name in snake_case.", default=strawberry.UNSET
    )
    toolset: str = strawberry.field(
        description="The tool set: `default`, or `author` for tools that write pipelines and triggers.",
        default="default",
    )
    read_only: bool = strawberry.field(description="The tool does not change anything.", default=False)
    destructive: bool = strawberry.field(
        description="The tool may destroy data that cannot be restored.", default=False
    )
    idempotent: bool = strawberry.field(
        description="Repeating a call with the same arguments has no further effect.", default=False
    )
    open_world: bool = strawberry.field(description="The tool may reach external systems.", default=False)
    defaults: JSON | None = strawberry.field(
        description="Argument defaults that differ from those of the field.", default=strawberry.UNSET
    )

    def __post_init__(self) -> None:
        # The printer writes every argument that is set; what equals the default is left out of the SDL.
        for name, default in _MCP_DEFAULTS.items():
            if getattr(self, name) == default:
                setattr(self, name, strawberry.UNSET)


_MCP_DEFAULTS: dict[str, object] = {
    "toolset": "default",
    "read_only": False,
    "destructive": False,
    "idempotent": False,
    "open_world": False,
}


def published(operation: "Operation[..., Any]") -> Mcp:
    """The `@mcp` directive of a field, filled from the tool that its operation declares.

    Raises:
        ValueError: The operation declares no tool.
    """
    tool = operation.tool
    if tool is None:
        raise ValueError(f"The operation {operation.name} declares no tool.")
    defaults = {
        to_camel_case(name): parameter.default for name, parameter in tool.parameters.items() if parameter.has_default
    }
    return Mcp(
        tool=tool.name or operation.name,
        toolset=tool.toolset,
        read_only=operation.kind == "query",
        destructive=operation.destructive,
        idempotent=operation.idempotent,
        open_world=tool.open_world,
        defaults=JSON(defaults) if defaults else strawberry.UNSET,
    )


def find_directive(field: "GraphQLField", kind: type[DirectiveT]) -> DirectiveT | None:
    """Return the directive of one kind on a field of the schema, or None."""
    definition = field.extensions.get("strawberry-definition")
    if not isinstance(definition, StrawberryField):
        return None
    return next((directive for directive in definition.directives if isinstance(directive, kind)), None)


def describe_directives(schema: "GraphQLSchema") -> None:
    """Print the descriptions of directive arguments, which Strawberry 0.341 omits."""
    for directive in schema.directives:
        definition = directive.extensions.get("strawberry-definition")
        if isinstance(definition, StrawberrySchemaDirective):
            for argument, field in zip(directive.args.values(), definition.fields, strict=True):
                argument.description = field.description


class ScopedCaller(Protocol):
    """The part of a caller that `@requires` needs; `resolvers.context.Caller` implements it."""

    def may(self, scope: Scope) -> bool: ...


class ScopedContext(Protocol):
    """The part of an operation's context that `@requires` needs."""

    @property
    def caller(self) -> ScopedCaller: ...


def forbidden(scope: Scope) -> PublicError:
    """Return the error for a missing scope."""
    return PublicError(
        f"{lacking_scope('This', f'`{scope.name}`')} Ask for a token that has it.",
        "FORBIDDEN",
        scope=scope.name,
    )


#: Returns the result of a mutation whose scope is missing, a member of its union; receives the arguments by their names
#: in the schema.
RefuseCommand = Callable[["Scope", "GraphQLResolveInfo[ScopedContext]", "Mapping[str, object]"], object]


def guard_fields(schema: "GraphQLSchema", refuse_command: RefuseCommand | None = None) -> None:
    """Make every field with `@requires` check the caller's scope before its resolver runs.

    Fields without the directive are not changed. A missing scope raises a `PublicError` FORBIDDEN that names it, except
    in mutations if `refuse_command` is set.

    Args:
        schema: Changed in place; guard it only once.
        refuse_command: Returns the result of a refused mutation.
    """
    for graphql_type in schema.type_map.values():
        if not isinstance(graphql_type, GraphQLObjectType | GraphQLInterfaceType):
            continue
        refuse = refuse_command if graphql_type is schema.mutation_type else None
        for field in graphql_type.fields.values():
            required = find_directive(field, Requires)
            if required is None:
                continue
            if field.subscribe is not None:
                field.subscribe = _guarded(field.subscribe, required.scope, refuse)
            elif field.resolve is not None:
                field.resolve = _guarded(field.resolve, required.scope, refuse)


def _guarded(inner: Callable[..., object], scope: Scope, refuse: RefuseCommand | None) -> Callable[..., object]:
    def resolve(source: object, info: "GraphQLResolveInfo[ScopedContext]", **arguments: object) -> object:
        if info.context.caller.may(scope):
            return inner(source, info, **arguments)
        if refuse is not None:
            return refuse(scope, info, arguments)
        raise forbidden(scope)

    return resolve
