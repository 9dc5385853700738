"""Gap proposals: saved reports of capabilities the catalog lacks."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from catalog.routing.gaps import GapWarning as Gap
from catalog.routing.gaps import issue_text
from resolvers.catalog.gaps import (
    count_gap_proposals,
    delete_gap_proposal,
    find_gap_proposal,
    list_gap_proposals,
    read_gap,
    save_gap_proposal,
)
from resolvers.records import GapProposalRecord
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.node_interface import Node
from schema.base.pagination import After, Before, Connection, CursorKind, First, Last, PageArguments, page_of
from schema.base.payloads import as_json
from schema.base.problems import ForbiddenProblem, InvalidProblem, NotFoundProblem, refusable
from schema.base.scalars import JSON
from schema.catalog.routing import GapWarning, GapWarningInput
from schema.runs.commands import DeleteSuccess
from store.states import Scope

if TYPE_CHECKING:
    from schema.access.callers import Caller

_GAPS = CursorKind("gaps", (str,))


@strawberry.type(description="A saved proposal for a capability the catalog lacks.")
class GapProposal(Node):
    user_intent: str = strawberry.field(description="The request that nothing in the catalog could serve.")
    created_at: datetime = strawberry.field(description="When the proposal was saved.")
    record: strawberry.Private[GapProposalRecord]
    read: strawberry.Private[Gap | None]

    @classmethod
    def of(cls, record: GapProposalRecord) -> "GapProposal":
        return cls(
            id=strawberry.ID(record.id),
            user_intent=record.user_intent,
            created_at=record.created_at,
            record=record,
            read=read_gap(record.gap),
        )

    @strawberry.field(
        description="What is missing. Null if another release saved the proposal in a form that this one cannot read."
    )
    def gap(self) -> GapWarning | None:
        return None if self.read is None else GapWarning.of(self.read)

    @strawberry.field(
        description="Title and body for an issue, ready to paste or to pass to `github.create_issue`. "
        "Null if `gap` is null."
    )
    def issue_text(self) -> str | None:
        if self.read is None:
            return None
        text = issue_text(self.user_intent, self.read)
        return f"{text.title}\n\n{text.body}"

    @strawberry.field(
        description="Input for calling the pack `github.create_issue` with `runPack`. Only `repo` must be added. "
        "Null if `gap` is null."
    )
    def issue_input(self) -> JSON | None:
        if self.read is None:
            return None
        text = issue_text(self.user_intent, self.read)
        return JSON({"title": text.title, "body": text.body})

    @strawberry.field(description="The caller that saved it.")
    async def created_by(self, info: Info) -> 'Annotated[Caller, strawberry.lazy("schema.access.callers")]':
        from schema.access.callers import load_caller

        found = await load_caller(info, self.record.caller_id)
        if found is None:
            raise LookupError(f"The caller {self.record.caller_id} of a gap proposal is gone.")
        return found


GapProposalConnection = Connection[GapProposal]


@strawberry.type(description="The proposal was saved.")
class GapProposalSuccess:
    proposal: GapProposal = strawberry.field(description="The saved proposal.")


SaveGapProposalResult = Annotated[
    GapProposalSuccess | InvalidProblem | ForbiddenProblem,
    strawberry.union("SaveGapProposalResult", description="The result of saveGapProposal."),
]
DeleteGapProposalResult = Annotated[
    DeleteSuccess | NotFoundProblem | ForbiddenProblem,
    strawberry.union("DeleteGapProposalResult", description="The result of deleteGapProposal."),
]


async def load_gap(info: Info, gap_id: str) -> GapProposal | None:
    found = await find_gap_proposal(info.context.context, gap_id)
    return None if found is None else GapProposal.of(found)


@strawberry.type
class GapProposalQueries:
    @strawberry.field(
        description="Saved proposals for missing capabilities, newest first.",
        directives=[Requires(scope=Scope.READ)],
    )
    async def gap_proposals(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> GapProposalConnection:
        arguments = PageArguments.parse(_GAPS, first=first, after=after, last=last, before=before)
        context = info.context.context
        rows = await list_gap_proposals(context, window=arguments.window)
        page = page_of(rows, arguments, lambda row: _GAPS.encode((row.id,)))
        return GapProposalConnection.of(page, GapProposal.of, lambda: count_gap_proposals(context))


@strawberry.type
class GapProposalMutations:
    @strawberry.mutation(
        description="Saves a gap reported by `route` as a proposal.", directives=[Requires(scope=Scope.WRITE)]
    )
    @refusable
    async def save_gap_proposal(
        self,
        info: Info,
        user_intent: Annotated[
            str, strawberry.argument(description="The request that nothing in the catalog could serve.")
        ],
        gap: Annotated[
            GapWarningInput, strawberry.argument(description="One of the `gapWarnings` from the result of `route`.")
        ],
    ) -> SaveGapProposalResult | None:
        proposal = strawberry.asdict(gap.proposal) | {"action": gap.proposal.action.value}
        given = strawberry.asdict(gap) | {"proposal": proposal}
        kept = await save_gap_proposal(info.context.context, user_intent=user_intent, gap=as_json(JSON(given)))
        return GapProposalSuccess(proposal=GapProposal.of(kept))

    @strawberry.mutation(description="Deletes a gap proposal.", directives=[Requires(scope=Scope.WRITE)])
    @refusable
    async def delete_gap_proposal(
        self, info: Info, id: Annotated[strawberry.ID, strawberry.argument(description="The proposal's id.")]
    ) -> DeleteGapProposalResult | None:
        deleted = await delete_gap_proposal(info.context.context, id=str(id))
        return DeleteSuccess(deleted_id=strawberry.ID(deleted))
