"""Gap proposals: missing capabilities that callers saved from routing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from catalog.routing.gaps import MAX_GAP_BYTES, GapWarning
from resolvers.catalog.routing import MAX_REQUEST
from resolvers.operations import operation
from resolvers.problems import Forbidden, Invalid, NotFound
from runner.issues import argument_error, error, shown
from runner.json_values import forbidden_text
from runner.schemas.pydantic_messages import needed, rule_of
from store.pipelines.gaps import count_gaps, delete_gap, find_gaps, keep_gap, list_gaps
from store.states import Scope

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from resolvers.context import Context
    from runner.failures import JSONValue
    from runner.issues import Issue
    from store.database.dialects import Connection
    from store.database.paging import PageWindow
    from store.pipelines.gaps import GapProposalRecord


@operation("gap_proposals", scope=Scope.READ, kind="query")
async def list_gap_proposals(context: Context, *, window: PageWindow) -> list[GapProposalRecord]:
    """List saved gaps, newest first, and one more than the window asks for if there are more."""
    return await list_gaps(context.services.store, window)


async def count_gap_proposals(context: Context) -> int:
    """Count saved gaps, up to `COUNT_CAP`; as for `list_gap_proposals`, the surface has checked the scope."""
    return await count_gaps(context.services.store)


async def find_gap_proposal(context: Context, gap_id: str) -> GapProposalRecord | None:
    return (await find_gaps(context.services.store, [gap_id])).get(gap_id)


@operation("save_gap_proposal", scope=Scope.WRITE, kind="command")
async def save_gap_proposal(context: Context, *, user_intent: str, gap: JSONValue) -> GapProposalRecord:
    """Save a gap that routing reported, given as the fields of a `GapWarning`.

    Raises:
        Invalid: A field has a wrong value, or one of the texts is empty or too long.
    """
    intent = user_intent.strip()
    issues = [issue.under_argument("user_intent") for issue in forbidden_text(user_intent)]
    issues += [issue.under_argument("gap") for issue in forbidden_text(gap)]
    if not 1 <= len(intent) <= MAX_REQUEST:
        message = f"The request must have 1 to {MAX_REQUEST} characters."
        issues.append(argument_error("user_intent", "out_of_range", message))
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


def read_gap(text: str) -> GapWarning | None:
    """Read a saved gap; returns None if another release saved it in a form that this one does not know."""
    try:
        return GapWarning.model_validate_json(text)
    except ValidationError:
        return None


def _checked(gap: JSONValue) -> GapWarning:
    """Validate a gap.

    Raises:
        Invalid: With all its issues.
    """
    try:
        return GapWarning.model_validate(gap)
    except ValidationError as refused:
        issues = [_issue(found) for found in refused.errors(include_url=False)]
        raise Invalid(issues, hint="Send the gap warning as routing returned it.") from refused


def _issue(found: ErrorDetails) -> Issue:
    path = tuple(to_camel(str(part)) for part in found["loc"])
    message = f"`{'.'.join(path)}` is {shown(found['input'])}; {needed(found)}."
    return error(path, rule_of(found), message).under_argument("gap")
