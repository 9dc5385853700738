"""Gap proposals: missing capabilities that callers saved from routing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from pydantic import ValidationError

from catalog.routing.gaps import MAX_GAP_BYTES, MAX_INTENT, GapWarning
from resolvers.operations import operation
from resolvers.problems import Forbidden, Invalid, NotFound
from runner.issues import argument_error, error
from runner.json_values import forbidden_text
from store.pipelines.gaps import delete_gap, find_gaps, keep_gap, list_gaps
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.context import Context
    from runner.failures import JSONValue
    from store.database.dialects import Connection
    from store.database.paging import PageWindow
    from store.pipelines.gaps import GapProposalRecord


@operation("gap_proposals", scope=Scope.READ, kind="query")
async def list_gap_proposals(context: Context, *, window: PageWindow) -> list[GapProposalRecord]:
    """List saved gaps, newest first, and one more than the window asks for if there are more."""
    return await list_gaps(context.services.store, window)


async def find_gap_proposal(context: Context, gap_id: str) -> GapProposalRecord | None:
    return (await find_gaps(context.services.store, [gap_id])).get(gap_id)


@operation("save_gap_proposal", scope=Scope.WRITE, kind="command")
async def save_gap_proposal(context: Context, *, user_intent: str, gap: JSONValue) -> GapProposalRecord:
    """Save a gap that routing reported.

    Raises:
        Invalid: It is not a gap warning, or one of the texts is empty or too long.
    """
    intent = user_intent.strip()
    issues = [issue.under_argument("user_intent") for issue in forbidden_text(user_intent)]
    issues += [issue.under_argument("gap") for issue in forbidden_text(gap)]
    if not 1 <= len(intent) <= MAX_INTENT * 4:
        issues.append(
            argument_error("user_intent", "out_of_range", f"The request must have 1 to {MAX_INTENT * 4} characters.")
        )
    if issues:
        raise Invalid(issues)
    redactor = context.services.redactor
    text = orjson.dumps(redactor.value(_checked(gap).model_dump(mode="json"))).decode()
    if len(text) > MAX_GAP_BYTES:
        message = f"The gap has {len(text)} bytes; the limit is {MAX_GAP_BYTES}."
        raise Invalid([argument_error("gap", "too_long", message)])

    def unit(conn: Connection) -> GapProposalRecord:
        return keep_gap(conn, caller_id=context.caller.id, user_intent=redactor.text(intent), gap=text)

    return await context.commit(unit, lambda kept: kept.id)


@operation("delete_gap_proposal", scope=Scope.WRITE, kind="command", destructive=True, idempotent=True, target="id")
async def delete_gap_proposal(context: Context, *, id: str) -> str:
    """Delete a saved gap: one's own, or with `manage` any; returns its id.

    Raises:
        NotFound: It does not exist.
        Forbidden: Another caller saved it.
    """
    found = await find_gap_proposal(context, id)
    if found is None:
        raise NotFound("gap proposal", id)
    if found.caller_id != context.caller.id and not context.caller.may(Scope.MANAGE):
        raise Forbidden(
            f"Gap proposal {id} belongs to another caller.", hint="Its caller or an administrator can delete it."
        )

    def unit(conn: Connection) -> str:
        if not delete_gap(conn, id):
            raise NotFound("gap proposal", id)
        return id

    return await context.commit(unit, str)


def read_gap(text: str) -> GapWarning:
    return GapWarning.model_validate_json(text)


def _checked(gap: JSONValue) -> GapWarning:
    """Validate a gap as routing returned it, in camelCase or snake_case.

    Raises:
        Invalid: With all its issues.
    """
    try:
        return GapWarning.model_validate(_snake(gap))
    except ValidationError as refused:
        issues = [
            error(path := ("gap", *map(str, found["loc"])), "invalid", f"{'.'.join(path)}: {found['msg']}.")
            for found in refused.errors(include_url=False, include_input=False)
        ]
        raise Invalid(
            issues,
            summary="This is not a gap warning",
            hint="Send the gap warning as routing returned it.",
        ) from refused


_CAMEL = {
    "missingCapability": "missing_capability",
    "proposedPack": "proposed_pack",
    "inputSchema": "input_schema",
    "outputSchema": "output_schema",
    "integrationPattern": "integration_pattern",
    "whyUseful": "why_useful",
}


def _snake(value: JSONValue) -> JSONValue:
    """Convert the names of the two upper levels to snake_case; schemas stay as they are."""
    if not isinstance(value, dict):
        return value
    found = {_CAMEL.get(name, name): part for name, part in value.items() if name != "__typename"}
    pack = found.get("proposed_pack")
    if isinstance(pack, dict):
        found["proposed_pack"] = {_CAMEL.get(name, name): part for name, part in pack.items() if name != "__typename"}
    return found
