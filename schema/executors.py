"""Executors of documents that are sent again and again: built once for an operation, and copied for each request.

graphql-core builds an executor for every request: it looks through the document and the schema anew, and sets three
dozen attributes by way of four classes, all but a few of them to the same as before. For the events of a subscription
it copies the one it has; so it is done for requests here.
"""

# ruff: noqa: ANN401 - the signatures are graphql-core's
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graphql import (
    GraphQLEnumType,
    GraphQLError,
    GraphQLNonNull,
    GraphQLScalarType,
    Undefined,
    coerce_input_value,
)
from graphql.execution.executor import CollectedErrors
from graphql.execution.get_variable_signature import get_variable_signature
from graphql.execution.values import (
    VariableValues,
    VariableValueSource,
    get_variable_values,
    input_is_nested_too_deeply,
)
from strawberry.execution import optimized_is_awaitable

from schema.argument_plans import FIXED
from schema.execution import OperationExecutor
from schema.plans import DeclaredVariable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from graphql import DocumentNode, GraphQLSchema, VariableDefinitionNode

    from schema.plans import PlanBook

#: Wrong variables that one refusal tells of, as in `graphql.execute`.
_ERRORS_MAX: Final = 50
_LEAVES: Final = (GraphQLScalarType, GraphQLEnumType)


def executor_of(
    schema: GraphQLSchema,
    document: DocumentNode,
    plans: PlanBook,
    *,
    operation: str | None,
    variables: dict[str, Any] | None,
    context: Any,
    root: Any,
    extensions: dict[str, Any] | None,
) -> OperationExecutor | list[GraphQLError]:
    """The executor of one request, or what is wrong with it; see `graphql.execution.Executor.build`.

    Args:
        schema: What is asked.
        document: It is valid.
        plans: Of the document; the executors of its operations are kept there.
        operation: Which one of the document.
        variables: As they were sent.
        context: What resolvers are given.
        root: What the fields at the top are read from.
        extensions: What the request carries besides.
    """
    kept = plans.executors.get(operation)
    if kept is None:
        built = OperationExecutor.build(
            schema,
            document,
            raw_variable_values=variables,
            operation_name=operation,
            max_coercion_errors=_ERRORS_MAX,
            is_awaitable=optimized_is_awaitable,  # type: ignore[arg-type] # a TypeGuard but in name
            plans=plans,
        )
        if not isinstance(built, OperationExecutor):
            assert isinstance(built, list), "what `build` returns of any class"
            return built
        plans.variables[operation] = tuple(_variables(schema, built.operation.variable_definitions or ()))
        kept = plans.executors[operation] = copied(built, plans, VariableValues({}, {}))
        coerced = built.variable_values
    else:
        usual = _coerced(plans.variables[operation], variables or {})
        if usual is None:
            definitions = kept.operation.variable_definitions or ()
            found = get_variable_values(schema, definitions, variables or {}, max_errors=_ERRORS_MAX)
            if isinstance(found, list):
                return found
            usual = found
        coerced = usual
    executor = copied(kept, plans, coerced)
    executor.context_value = context
    executor.root_value = root
    executor.operation_extensions = extensions
    return executor


def _variables(schema: GraphQLSchema, nodes: Iterable[VariableDefinitionNode]) -> Iterator[DeclaredVariable]:
    """The variables that an operation declares, which is valid."""
    for node in nodes:
        signature = get_variable_signature(schema, node)
        assert not isinstance(signature, GraphQLError), "the document is valid"
        absent = VariableValueSource(signature)
        if signature.default is None:
            yield DeclaredVariable(signature, absent, Undefined, not isinstance(signature.type, GraphQLNonNull))
            continue
        found = get_variable_values(schema, [node], {})
        default = Undefined if isinstance(found, list) else found.coerced.get(signature.name, Undefined)
        # Of others each operation is given its own.
        yield DeclaredVariable(signature, absent, default, type(default) in FIXED)


def _coerced(declared: Iterable[DeclaredVariable], given: Mapping[str, Any]) -> VariableValues | None:
    """The variables as graphql-core makes them of what was sent; None where anything about one is unusual."""
    sources: dict[str, VariableValueSource] = {}
    coerced: dict[str, Any] = {}
    try:
        for signature, absent, default, optional in declared:
            value = given.get(signature.name, Undefined)
            kind = signature.type
            if value is Undefined and optional:
                sources[signature.name] = absent
                if default is not Undefined:
                    coerced[signature.name] = default
                continue
            if value is Undefined:
                return None
            leaf = kind.of_type if type(kind) is GraphQLNonNull else kind
            if isinstance(leaf, _LEAVES) and value is not None:
                found = leaf.coerce_input_value(value)  # as the function of that name does in the end
            elif input_is_nested_too_deeply(value, kind):
                return None
            else:
                found = coerce_input_value(value, kind)
            if found is Undefined:
                return None
            sources[signature.name] = VariableValueSource(signature, value)
            coerced[signature.name] = found
    except Exception:  # told by whoever looks at them next
        return None
    return VariableValues(sources, coerced)


def copied(executor: OperationExecutor, plans: PlanBook, variables: VariableValues) -> OperationExecutor:
    """An executor of the same operation with other variables, that shares nothing with it which changes."""
    copy = object.__new__(OperationExecutor)
    copy.__dict__ = executor.__dict__.copy()
    copy.variable_values = variables
    copy.collected_errors = CollectedErrors()
    copy.pending_incremental_futures = set()
    copy.background_futures = set()
    copy.groups, copy.tasks, copy.streams = [], [], []
    copy.follow(plans)
    return copy
