"""Proposals of pipelines based on runs."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers.pipelines.promotions import promote_run
from schema.base.context import Info
from schema.base.directives import Cost, Requires, published
from schema.base.problems import InvalidProblem, NotFoundProblem, WrongStateProblem, refusable
from schema.base.scalars import JSON
from schema.pipelines.definitions import PipelineCheck
from schema.runs.runs import Run, load_run
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.pipelines.promotions import Promotion


@strawberry.type(description="A pipeline was proposed. Nothing was saved.")
class PromoteRunSuccess:
    yaml: str = strawberry.field(description="The proposed definition as YAML, to review and save.")
    document: JSON = strawberry.field(description="The proposed definition as JSON.")
    check: PipelineCheck = strawberry.field(description="The result of checking the proposed definition.")
    run_ids: strawberry.Private[tuple[str, ...]]

    @classmethod
    def of(cls, info: Info, made: "Promotion") -> "PromoteRunSuccess":
        now = info.context.context.services.now()
        return cls(
            yaml=made.yaml,
            document=JSON(made.document),
            check=PipelineCheck.of(made.check, now),
            run_ids=made.made_from,
        )

    @strawberry.field(description="Runs the proposal is based on, in order.")
    async def made_from(self, info: Info) -> list[Run]:
        found = [await load_run(info, run_id) for run_id in self.run_ids]
        return [run for run in found if run is not None]


PromoteRunResult = Annotated[
    PromoteRunSuccess | NotFoundProblem | WrongStateProblem | InvalidProblem,
    strawberry.union("PromoteRunResult", description="The result of promoteRun."),
]


@strawberry.type
class PromotionQueries:
    @strawberry.field(
        description=(
            "Proposes a pipeline based on a run, or on the pack calls that led to it. Saves nothing; review "
            "it and call createPipeline."
        ),
        directives=[Requires(scope=Scope.READ), Cost(weight=10), published(promote_run)],
    )
    @refusable
    async def promote_run(
        self,
        info: Info,
        id: Annotated[
            strawberry.ID,
            strawberry.argument(description="Id of a successful run. For a chain of pack calls, that of the last one."),
        ],
        include: Annotated[
            list[strawberry.ID] | None,
            strawberry.argument(
                description="Ids of the other pack calls of the chain. By default they are found by "
                "matching outputs to inputs."
            ),
        ] = None,
        name: Annotated[str | None, strawberry.argument(description="Name of the pipeline.")] = None,
    ) -> PromoteRunResult:
        made = await promote_run(info.context.context, id=id, include=include, name=name)
        return PromoteRunSuccess.of(info, made)
