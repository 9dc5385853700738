"""Refused commands as union members: one type for each `resolvers.problems` class, all of them `Problem`s."""

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
    "Kinds of refusal. What goes wrong inside a run is a FailureCode.",
    {
        "NOT_FOUND": "The object named does not exist, or the caller may not know of it.",
        "FORBIDDEN": "The caller may not do this.",
        "INVALID": "The input breaks a rule; see the issues.",
        "CONFLICT": "The object changed since the caller read it, is read-only, or the handle is taken.",
        "WRONG_STATE": "The run's state does not allow it.",
        "LIMITED": "A limit is reached.",
        "UNAVAILABLE": "A pack, credential, service, model or session it needs is missing here.",
    },
)
described_enum(
    RunAction,
    "What can be done with a run.",
    {
        "RESUME": "Go on in the same run at the first step that has not succeeded.",
        "RERUN": "Run again: a new run, from the first step.",
        "CANCEL": "Stop it.",
        "ACKNOWLEDGE": "Mark its failure as dealt with.",
        "PROMOTE": "Propose a pipeline made from it.",
        "DELETE": "Delete it and what it produced.",
    },
)


@strawberry.interface(
    description=("Why a command was refused. Select this interface so that problems added later are still understood.")
)
class Problem:
    message: str = strawberry.field(description="For people, one sentence.")
    code: ProblemCode = strawberry.field(description="For programs; stable.")
    hint: str | None = strawberry.field(description="What to do next.")
    hint_parts: Hint | None = strawberry.field(description="The hint in parts.")
    retryable: bool = strawberry.field(description="Whether the same call may succeed later.")


@strawberry.type(description="There is no such object, or the caller may not know of it.")
class NotFoundProblem(Problem):
    ref: str = strawberry.field(description="What was looked for.")
    suggestion: str | None = strawberry.field(description="The closest handle there is.")


@strawberry.type(description="The caller may not do this.")
class ForbiddenProblem(Problem):
    requires: Scope | None = strawberry.field(
        description="The scope that is missing; null when it belongs to somebody else."
    )
    operation: str | None = strawberry.field(
        description="The operation that needs the scope, in snake_case; null when the caller may call it, "
        "but not with these arguments."
    )


@strawberry.type(description="The input breaks a rule. Nothing was started or spent.")
class InvalidProblem(Problem):
    issues: list[Issue] = strawberry.field(description="Every rule broken, not only the first.")
    summary: str | None = strawberry.field(
        description="What was refused; the message is this and the first issue's. Null when that says it all."
    )


@strawberry.type(description="The object has moved on or is read-only, or the handle or idempotency key is taken.")
class ConflictProblem(Problem):
    current_id: strawberry.Private[str | None]

    @strawberry.field(description="The object in the way, as it is now.")
    async def current(self, info: Info) -> Node | None:
        from schema.node import load_node

        return None if self.current_id is None else await load_node(info, self.current_id)


@strawberry.type(description="The run's state does not allow it.")
class WrongStateProblem(Problem):
    run_id: strawberry.Private[str]

    @strawberry.field(description="The run as it is now.")
    async def run(self, info: Info) -> 'Annotated[Run, strawberry.lazy("schema.runs.runs")]':
        from schema.runs.runs import get_run_now

        return await get_run_now(info, self.run_id)

    @strawberry.field(description="What can be done with it.")
    async def actions(self, info: Info) -> list[RunAction]:
        from schema.runs.runs import get_run_now

        return (await get_run_now(info, self.run_id)).actions(info)


@strawberry.type(description="A limit is reached.")
class LimitedProblem(Problem):
    retry_after_seconds: float | None = strawberry.field(
        description="When to try again, in seconds from now; null when unknown."
    )


@strawberry.type(description="Something the run needs is missing here. Nothing was started or spent.")
class UnavailableProblem(Problem):
    missing: list[Requirement] = strawberry.field(description="Everything that is missing, over all steps.")


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
            info.context.fresh()  # what the refusal shows is read anew, as after a command that was accepted
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
