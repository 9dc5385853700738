"""Applies YAML documents: creates or updates pipelines to match them, all or none."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from resolvers.operations import operation
from resolvers.permissions import require_owner
from resolvers.pipelines.definitions import CheckedDefinition, checked_definition, documents_of
from resolvers.pipelines.keys import key_taken
from resolvers.problems import Conflict, Invalid
from resolvers.tools import Tool
from runner.definitions.background_compile import in_background_if_large
from runner.issues import Issue, error
from store.pipelines.commands import (
    KeyTakenError,
    NoPipelineError,
    Saved,
    StaleVersionError,
    StarterNameError,
    create_pipeline,
    save_version,
)
from store.pipelines.reads import PipelineRecord, find_pipeline
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from resolvers.context import Context
    from store.database.dialects import Connection


ApplyAction = Literal["create", "update", "keep"]
#: The diff of equal lines; diff readers treat what follows a backslash as a comment.
ONLY_LINE_BREAKS: Final = "\\ Only a line break differs, such as the last one of a text after `|`.\n"


@dataclass(frozen=True, slots=True)
class AppliedDocument:
    """What applying one document does; `pipeline_id` is None until the pipeline exists."""

    key: str
    action: ApplyAction
    diff: str
    pipeline_id: str | None
    warnings: tuple[Issue, ...]


@dataclass(frozen=True, slots=True)
class _Planned:
    """A document with its changes; `found` is the pipeline to update, None to create one."""

    applied: AppliedDocument
    checked: CheckedDefinition
    found: PipelineRecord | None


@operation(
    "apply_pipelines",
    scope=Scope.WRITE,
    kind="command",
    idempotent=True,
    tool=Tool(
        title="Apply pipeline documents",
        description="Creates or updates pipelines from YAML documents, all or none. Use dry_run first to see the "
        "changes.",
        toolset="author",
    ),
)
async def apply(context: Context, *, yaml: str, dry_run: bool = False) -> tuple[AppliedDocument, ...]:
    """Create or update pipelines to match the documents, all or none; applying twice changes nothing."""
    documents = await documents_of(context, yaml)
    if not documents:
        raise Invalid([error((), "empty", "The text has no document to apply.")])
    planned: list[_Planned] = []
    seen: set[str] = set()
    for number, (document, text) in enumerate(documents):
        if text is None and len(documents) == 1:
            text = yaml
        try:
            checked = await checked_definition(context, document, text)
        except Invalid as refused:
            issues = [issue.under(str(number)) for issue in refused.issues]
            where = f"Document {number + 1}"
            raise Invalid(issues, summary=f"{where}: {refused.summary}" if refused.summary else where) from refused
        if checked.key in seen:
            message = f"Two documents have the key `{checked.key}`."
            raise Invalid([error((str(number), "key"), "duplicate_key", message)])
        seen.add(checked.key)
        planned.append(await _plan(context, checked))
    if dry_run:
        await context.commit_unchanged()
        return tuple(plan.applied for plan in planned)
    saved = await _write_all(context, planned)
    return tuple(
        plan.applied if result is None else replace(plan.applied, pipeline_id=result.pipeline_id)
        for plan, result in zip(planned, saved, strict=True)
    )


async def _plan(context: Context, checked: CheckedDefinition) -> _Planned:
    found = await find_pipeline(context.services.store, checked.key)
    if found is not None and found.builtin:  # by its key or an earlier name
        raise key_taken(StarterNameError(checked.key, found.id, found.key))
    before, means = "", ""
    if found is not None:
        require_owner(context, found)
        body = (await context.services.versions.get(context, found)).body
        before, means = body.yaml, body.document
    after = checked.definition.yaml
    diff = await in_background_if_large(context.caller.id, partial(_diff, checked.key, before, after), before + after)
    is_same = not diff and (before == after or means == checked.definition.document)
    if not diff and not is_same:
        diff = ONLY_LINE_BREAKS
    action: ApplyAction = "create" if found is None else "keep" if is_same else "update"
    applied = AppliedDocument(checked.key, action, diff, found.id if found else None, checked.warnings)
    return _Planned(applied, checked, found)


def _diff(key: str, before: str, after: str) -> str:
    """Return a line diff that ignores a line break at the end of the text.

    After a `|` that line break counts, so an empty diff does not prove that both mean the same.
    """
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), key, key, lineterm="")
    return "".join(f"{line}\n" for line in lines)


async def _write_all(context: Context, planned: Sequence[_Planned]) -> list[Saved | None]:
    owner = context.caller.id

    def unit(conn: Connection) -> list[Saved | None]:
        saved: list[Saved | None] = []
        for plan in planned:
            heading, definition = plan.checked.heading, plan.checked.definition
            if plan.applied.action == "keep":
                saved.append(None)
            elif plan.found is None:
                saved.append(create_pipeline(conn, heading, definition, owner_id=owner, note=None))
            else:
                number = plan.found.current_number
                saved.append(save_version(conn, plan.found.id, heading, definition, based_on=number, saved_by=owner))
        return saved

    try:
        return await context.commit(unit)
    except KeyTakenError as taken:
        raise key_taken(taken) from taken
    except (StaleVersionError, NoPipelineError) as overtaken:
        raise Conflict(
            "Another request changed or deleted a pipeline while the documents were applied; nothing was saved.",
            current_id=overtaken.pipeline_id,
            hint="Apply again.",
        ) from overtaken
