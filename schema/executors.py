"""Executors of documents that are sent again and again: built once for an operation, and copied for each request.

graphql-core builds an executor for every request: it looks through the document and the schema anew, and sets three
dozen attributes by way of four classes, all but a few of them to the same as before. For the events of a subscription
it copies the one it has; so it is done for requests here.
"""

# ruff: noqa: ANN401 - the signatures are graphql-core's
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graphql import GraphQLResolveInfoHelpers
from graphql.execution.executor import CollectedErrors
from graphql.execution.values import VariableValues, get_variable_values
from strawberry.execution import optimized_is_awaitable

from schema.execution import OperationExecutor

if TYPE_CHECKING:
    from graphql import DocumentNode, GraphQLError, GraphQLSchema

    from schema.plans import PlanBook

#: Wrong variables that one refusal tells of, as in `graphql.execute`.
_ERRORS_MAX: Final = 50


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
        kept = plans.executors[operation] = copied(built, plans, VariableValues({}, {}))
        coerced = built.variable_values
    else:
        found = get_variable_values(
            schema, kept.operation.variable_definitions or (), variables or {}, max_errors=_ERRORS_MAX
        )
        if isinstance(found, list):
            return found
        coerced = found
    executor = copied(kept, plans, coerced)
    executor.context_value = context
    executor.root_value = root
    executor.operation_extensions = extensions
    return executor


def copied(executor: OperationExecutor, plans: PlanBook, variables: VariableValues) -> OperationExecutor:
    """An executor of the same operation with other variables, that shares nothing with it which changes."""
    copy = object.__new__(OperationExecutor)
    copy.__dict__.update(executor.__dict__)
    copy.variable_values = variables
    copy.collected_errors = CollectedErrors()
    copy.pending_incremental_futures = set()
    copy.background_futures = set()
    copy.async_helpers = GraphQLResolveInfoHelpers(gather=copy.gather_async_work, track=copy.track_async_work)
    copy.groups, copy.tasks, copy.streams = [], [], []
    copy.follow(plans)
    return copy
