"""Union members for refused commands: one type per class of `resolvers.problems`, all implementing `Problem`."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import strawberry
from strawberry.utils.str_converters import to_camel_case, to_snake_case

from resolvers import problems
from resolvers.operations import OPERATIONS
from resolvers.problems import ProblemCode
from resolvers.runs.runs import RunAction
from runner.issues import lacking_scope
from schema.base.context import Info
from schema.base.enums import described_enum
from schema.base.issues import Hint, Issue, Requirement, hint_text
from schema.base.node_interface import Node
from schema.base.scopes import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLResolveInfo

    from schema.base.context import RequestContext
    from schema.runs.runs import Run

_Answer = TypeVar("_Answer")

described_enum(
    ProblemCode,
    "Reasons for refusing a command. Errors during a run have a FailureCode instead.",
    {
        "NOT_FOUND": "The object does not exist, or the caller may not see it.",
        "FORBIDDEN": "The caller is not allowed to do this.",
        "INVALID": "The input is invalid; see `issues`.",
        "CONFLICT": "The object was changed since the caller read it, is read-only, or the key is taken.",
        "WRONG_STATE": "The run's state does not allow it.",
        "LIMITED": "A limit has been reached.",
        "UNAVAILABLE": "A required pack, credential, service, model or session is not available on this server.",
    },
)
described_enum(
    RunAction,
    "What a caller can do with a run.",
    {
        "RESUME": "Continue the same run at the first step that has not succeeded.",
        "RERUN": "Start a new run from the first step.",
        "CANCEL": "Cancel the run.",
        "ACKNOWLEDGE": "Mark its failure as handled.",
        "PROMOTE": "Propose a pipeline based on the run.",
        "DELETE": "Delete the run and its artifacts.",
    },
)


@strawberry.interface(
    description=("Why a command was refused. Select this interface to handle problem types that are added later.")
)
class Problem:
    message: str = strawberry.field(description="What is wrong, for display. One sentence.")
    code: ProblemCode = strawberry.field(description="The kind of problem, for programs. Stable.")
    hint: str | None = strawberry.field(description="What to do next, for display.")
    hint_parts: Hint | None = strawberry.field(description="The hint in parts.")
    retryable: bool = strawberry.field(description="Whether the same call may succeed later.")


@strawberry.type(description="The object does not exist, or the caller may not see it.")
class NotFoundProblem(Problem):
    ref: str = strawberry.field(description="The id, key or name that was not found.")
    suggestion: str | None = strawberry.field(description="The closest existing name.")


@strawberry.type(description="The caller is not allowed to do this.")
class ForbiddenProblem(Problem):
    requires: Scope | None = strawberry.field(
        description="The missing scope. Null if the object belongs to another caller."
    )
    operation: str | None = strawberry.field(
        description="The operation that needs the scope, in snake_case. Null if only these arguments are not allowed."
    )


@strawberry.type(description="The input is invalid. Nothing was started or charged.")
class InvalidProblem(Problem):
    issues: list[Issue] = strawberry.field(description="Every rule that was broken.")
    summary: str | None = strawberry.field(
        description="What was refused; `message` is this and the first issue. Null if the issue alone says it."
    )


@strawberry.type(description="The object was changed, is read-only, or the key or idempotency key is taken.")
class ConflictProblem(Problem):
    current_id: strawberry.Private[str | None]

    @strawberry.field(description="The conflicting object in its current state.")
    async def current(self, info: Info) -> Node | None:
        from schema.node import load_node

        return None if self.current_id is None else await load_node(info, self.current_id)


@strawberry.type(description="The run's state does not allow the command.")
class WrongStateProblem(Problem):
    run_id: strawberry.Private[str]

    @strawberry.field(description="The run in its current state.")
    async def run(self, info: Info) -> 'Annotated[Run, strawberry.lazy("schema.runs.runs")]':
        from schema.runs.runs import get_run_now

        return await get_run_now(info, self.run_id)

    @strawberry.field(description="What the caller can do with the run now.")
    async def actions(self, info: Info) -> list[RunAction]:
        from schema.runs.runs import get_run_now

        return (await get_run_now(info, self.run_id)).actions(info)


@strawberry.type(description="A limit has been reached.")
class LimitedProblem(Problem):
    retry_after_seconds: float | None = strawberry.field(
        description="Seconds until a retry may succeed. Null if unknown."
    )


@strawberry.type(
    description="Something the run requires is not available on this server. Nothing was started or charged."
)
class UnavailableProblem(Problem):
    missing: list[Requirement] = strawberry.field(description="Everything that is missing, across all steps.")


def problem_of(problem: problems.Problem) -> Any:  # noqa: ANN401 - the member depends on the problem
    """Convert a refusal to the matching member of a union. A test checks that every problem has one."""
    common: dict[str, Any] = {
        "message": problem.message,
        "code": problem.code,
        "hint": hint_text(problem.hint),
        "hint_parts": Hint.of(problem.hint),
        "retryable": problem.retryable,
    }
    match problem:
        case problems.NotFound():
            return NotFoundProblem(**common, ref=problem.ref, suggestion=problem.suggestion)
        case problems.Forbidden():
            if problem.operation is not None and problem.requires is not None:
                field = to_camel_case(problem.operation)
                common["message"] = lacking_scope(f"`{field}`", f"`{problem.requires.name}`")
            return ForbiddenProblem(**common, requires=problem.requires, operation=problem.operation)
        case problems.Invalid():
            return InvalidProblem(**common, issues=Issue.all(problem.issues), summary=problem.summary)
        case problems.Conflict():
            return ConflictProblem(**common, current_id=problem.current_id)
        case problems.WrongState():
            return WrongStateProblem(**common, run_id=problem.run_id)
        case problems.Limited():
            return LimitedProblem(**common, retry_after_seconds=problem.retry_after_seconds)
        case problems.Unavailable():
            return UnavailableProblem(**common, missing=[Requirement.of(lack) for lack in problem.missing])
        case _:
            raise TypeError(f"{type(problem).__name__} has no type in the schema.")


def refusable(command: Callable[..., Awaitable[_Answer]]) -> Callable[..., Awaitable[_Answer]]:
    """Decorate a mutation to answer with the union member for a problem that its use case raises."""

    @wraps(command)
    async def answered(self: object, info: Info, **arguments: object) -> _Answer:
        try:
            return await command(self, info, **arguments)
        except problems.Problem as refusal:
            info.context.clear_loaders()  # the member shows current data, as after an accepted command
            member: _Answer = problem_of(refusal)
            return member

    return answered


async def refuse_command(
    scope: Scope, info: "GraphQLResolveInfo[RequestContext]", arguments: "Mapping[str, object]"
) -> ForbiddenProblem:
    """Answer a mutation whose caller lacks the scope; audited like every refused command."""
    command = OPERATIONS[to_snake_case(info.field_name)]
    if command.scope is not scope:
        raise TypeError(f"The field {info.field_name} requires {scope.name}, its operation {command.scope}.")
    given = {to_snake_case(name): value for name, value in arguments.items()}
    refusal: ForbiddenProblem = problem_of(await command.refuse_scope(info.context.context, given))
    return refusal
