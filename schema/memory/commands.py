"""Commands on memory and defaults: forget, pin, exclude, pause."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from typing import Annotated

import strawberry

from resolvers.memory import defaults_of, forget_memory, set_default, set_learning
from schema.base.context import Info
from schema.base.directives import Requires, published
from schema.base.learned import LearnedField
from schema.base.problems import ForbiddenProblem, InvalidProblem, NotFoundProblem, UnavailableProblem, refusable
from schema.base.scalars import MemoryScope
from schema.memory.memory import CallerDefaults, DefaultRule
from store.states import Scope

_CALLER = "Another caller, which needs MANAGE."


@strawberry.type(description="Memory was forgotten, or counted.")
class ForgetMemorySuccess:
    scope: MemoryScope = strawberry.field(description="What was asked for.")
    rows: int = strawberry.field(description="Rows concerned.")
    caller_id: strawberry.Private[str | None]

    @strawberry.field(description="The defaults as they are now.")
    async def defaults(self, info: Info) -> CallerDefaults:
        return CallerDefaults.of(info, await defaults_of(info.context.context, self.caller_id))


@strawberry.type(description="Defaults were changed.")
class DefaultsSuccess:
    defaults: CallerDefaults = strawberry.field(description="The defaults as they are now.")


ForgetMemoryResult = Annotated[
    ForgetMemorySuccess | NotFoundProblem | InvalidProblem | ForbiddenProblem,
    strawberry.union("ForgetMemoryResult", description="What came of forgetMemory."),
]
SetDefaultResult = Annotated[
    DefaultsSuccess | NotFoundProblem | InvalidProblem | UnavailableProblem | ForbiddenProblem,
    strawberry.union("SetDefaultResult", description="What came of setDefault."),
]
SetLearningResult = Annotated[
    DefaultsSuccess | NotFoundProblem | ForbiddenProblem,
    strawberry.union("SetLearningResult", description="What came of setLearning."),
]


@strawberry.type
class MemoryMutations:
    @strawberry.mutation(
        description="Forgets what was learned. Touches audit memory only: never runs, caches or credentials.",
        directives=[Requires(scope=Scope.RUN), published(forget_memory)],
    )
    @refusable
    async def forget_memory(
        self,
        info: Info,
        scope: Annotated[MemoryScope, strawberry.argument(description="What to forget.")],
        caller: Annotated[strawberry.ID | None, strawberry.argument(description=_CALLER)] = None,
        dry_run: Annotated[bool, strawberry.argument(description="Only count.")] = False,
    ) -> ForgetMemoryResult:
        rows = await forget_memory(info.context.context, scope=scope, caller=caller, dry_run=dry_run)
        return ForgetMemorySuccess(scope=scope, rows=rows, caller_id=caller)

    @strawberry.mutation(
        description="Pins, replaces or excludes a default, or leaves it to learning again.",
        directives=[Requires(scope=Scope.RUN)],
    )
    @refusable
    async def set_default(
        self,
        info: Info,
        target: Annotated[strawberry.ID, strawberry.argument(description="The pack or pipeline.")],
        field: Annotated[LearnedField, strawberry.argument(description="The field.")],
        rule: Annotated[DefaultRule, strawberry.argument(description="How it is to be settled.")] = DefaultRule.PINNED,
        value: Annotated[
            str | None, strawberry.argument(description="The value to pin; the learned one when absent.")
        ] = None,
        caller: Annotated[strawberry.ID | None, strawberry.argument(description=_CALLER)] = None,
    ) -> SetDefaultResult:
        known = await set_default(
            info.context.context, target=target, field=field, rule=rule.name_below(), value=value, caller=caller
        )
        return DefaultsSuccess(defaults=CallerDefaults.of(info, known))

    @strawberry.mutation(description="Pauses learning, or takes it up again.", directives=[Requires(scope=Scope.RUN)])
    @refusable
    async def set_learning(
        self,
        info: Info,
        paused: Annotated[bool, strawberry.argument(description="Whether to pause.")],
        caller: Annotated[strawberry.ID | None, strawberry.argument(description=_CALLER)] = None,
    ) -> SetLearningResult:
        known = await set_learning(info.context.context, paused=paused, caller=caller)
        return DefaultsSuccess(defaults=CallerDefaults.of(info, known))
