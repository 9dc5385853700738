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

_CALLER = "Id of another caller. Requires MANAGE."


@strawberry.type(description="The result of deleting rows of audit memory, or of a dry run.")
class ForgetMemorySuccess:
    scope: MemoryScope = strawberry.field(description="The scope that was passed.")
    rows: int = strawberry.field(description="Number of rows deleted, or that would be deleted.")
    caller_id: strawberry.Private[str | None]

    @strawberry.field(description="The defaults in their current state.")
    async def defaults(self, info: Info) -> CallerDefaults:
        return CallerDefaults.of(info, await defaults_of(info.context.context, self.caller_id))


@strawberry.type(description="The defaults were changed.")
class DefaultsSuccess:
    defaults: CallerDefaults = strawberry.field(description="The defaults in their current state.")


ForgetMemoryResult = Annotated[
    ForgetMemorySuccess | NotFoundProblem | InvalidProblem | ForbiddenProblem,
    strawberry.union("ForgetMemoryResult", description="The result of forgetMemory."),
]
SetDefaultResult = Annotated[
    DefaultsSuccess | NotFoundProblem | InvalidProblem | UnavailableProblem | ForbiddenProblem,
    strawberry.union("SetDefaultResult", description="The result of setDefault."),
]
SetLearningResult = Annotated[
    DefaultsSuccess | NotFoundProblem | ForbiddenProblem,
    strawberry.union("SetLearningResult", description="The result of setLearning."),
]


@strawberry.type
class MemoryMutations:
    @strawberry.mutation(
        description="Deletes rows of audit memory and the defaults learned from them. Runs, caches and "
        "credentials are not affected.",
        directives=[Requires(scope=Scope.RUN), published(forget_memory)],
    )
    @refusable
    async def forget_memory(
        self,
        info: Info,
        scope: Annotated[MemoryScope, strawberry.argument(description="What to forget.")],
        caller: Annotated[strawberry.ID | None, strawberry.argument(description=_CALLER)] = None,
        dry_run: Annotated[bool, strawberry.argument(description="Only count the rows; delete nothing.")] = False,
    ) -> ForgetMemoryResult | None:
        rows = await forget_memory(info.context.context, scope=scope, caller=caller, dry_run=dry_run)
        return ForgetMemorySuccess(scope=scope, rows=rows, caller_id=caller)

    @strawberry.mutation(
        description="Pins or excludes the default of an input field, or returns it to learning.",
        directives=[Requires(scope=Scope.RUN)],
    )
    @refusable
    async def set_default(
        self,
        info: Info,
        target: Annotated[
            strawberry.ID, strawberry.argument(description="Id of the pack, or id, key or alias of the pipeline.")
        ],
        field: Annotated[LearnedField, strawberry.argument(description="The input field.")],
        rule: Annotated[
            DefaultRule, strawberry.argument(description="What to do with the field.")
        ] = DefaultRule.PINNED,
        value: Annotated[
            str | None, strawberry.argument(description="The value to pin. Defaults to the learned value.")
        ] = None,
        caller: Annotated[strawberry.ID | None, strawberry.argument(description=_CALLER)] = None,
    ) -> SetDefaultResult | None:
        known = await set_default(
            info.context.context, target=target, field=field, rule=rule.name_below(), value=value, caller=caller
        )
        return DefaultsSuccess(defaults=CallerDefaults.of(info, known))

    @strawberry.mutation(description="Pauses or resumes learning of defaults.", directives=[Requires(scope=Scope.RUN)])
    @refusable
    async def set_learning(
        self,
        info: Info,
        paused: Annotated[bool, strawberry.argument(description="True pauses learning; false resumes it.")],
        caller: Annotated[strawberry.ID | None, strawberry.argument(description=_CALLER)] = None,
    ) -> SetLearningResult | None:
        known = await set_learning(info.context.context, paused=paused, caller=caller)
        return DefaultsSuccess(defaults=CallerDefaults.of(info, known))
