"""What tests of runs ask of a running product, in few words.

await save(it, "deck", step("make", "test.echo", text="${{ inputs.text }}"))
run = (await start(it, "deck", {"text": "tea"}, wait=10))["run"]
"""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from sqlalchemy import event
from sqlalchemy.engine import Engine

from store.database.dialects import NO_PARAMETERS, Sql
from store.database.sqlite import SQLiteStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.product import Product

_PROBLEMS = {
    "NotFoundProblem": "ref suggestion",
    "ForbiddenProblem": "requires",
    "InvalidProblem": "summary issues { path argument rule severity message hint }",
    "ConflictProblem": "current { __typename id }",
    "WrongStateProblem": "run { id state } actions",
    "LimitedProblem": "retryAfterSeconds",
    "UnavailableProblem": "missing { kind name steps message hint }",
}
#: A gap as routing answers it, to be kept.
GAP = {
    "missingCapability": "Sing",
    "whyMissing": "Nothing sings.",
    "proposal": {
        "action": "PROPOSE_PACK",
        "name": "song.sing",
        "summary": "Sings.",
        "packs": [],
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"},
        "integrationPattern": "A pack.",
        "whyUseful": "Songs.",
    },
}
_SDL = Path(__file__).parents[2] / "schema" / "schema.graphql"
#: A run as most tests look at it.
RUN = """
    id title state cause progress resumeCount clientName createdAt startedAt endedAt deadlineAt acknowledgedAt
    actions eventCursor inputs
    failure {
        code class message cause field hint remedy fixableBy retryable retryAfterSeconds safeToRepeat stepKey detail }
    wait { reason message until }
    output { json text nextOffset sizeBytes }
    caller { id subject } pipeline { id key } version { id number } pack { name } rerunOf { id }
    currentStep { key state }
    steps {
        id key state packVersion progress startedAt endedAt warnings wait { reason message until }
        failure { code message } input { json } output { json }
        artifacts { id name } session { id alive producedBy { key } } milestones { at fraction message }
        attempts { id number state packVersion notes input { json } output { json } failure { code message } }
    }
"""


@cache
def refusals(field: str) -> str:
    """Selects everything a command may be refused with."""
    name = field[0].upper() + field[1:]
    union = re.search(rf"^union {name}Result = (.*)$", _SDL.read_text(), re.MULTILINE)
    assert union is not None, f"no union {name}Result"
    members = [member for member in union[1].split(" | ") if member in _PROBLEMS]
    parts = " ".join(f"... on {member} {{ {_PROBLEMS[member]} }}" for member in members)
    return f"... on Problem {{ message code hint retryable }} {parts}"


def step(key: str, pack: str, **given: Any) -> dict[str, Any]:
    """A pack step; `retry`, `version` and `timeout_seconds` go beside the input."""
    beside = {name: given.pop(name) for name in ("retry", "version", "timeout_seconds") if name in given}
    return {"id": key, "pack": pack, "input": given, **beside}


async def save(it: Product, key: str, *steps: dict[str, Any], token: str | None = None, **document: Any) -> str:
    """Saves a pipeline, or its next version; its id."""
    definition = {"key": key, "name": key.replace("-", " ").capitalize(), "steps": list(steps), **document}
    data = await it.query(
        "query ($id: ID!) { pipeline(id: $id) { currentVersion { number } } }", {"id": key}, token=token
    )
    if data["pipeline"] is None:
        field = "createPipeline"
        change = f"{field}(definition: {{document: $definition}})"
    else:
        field = "updatePipeline"
        number = data["pipeline"]["currentVersion"]["number"]
        change = f'{field}(pipeline: "{key}", change: {{document: $definition}}, ifVersion: {number})'
    answer = await it.mutate(
        f"mutation ($definition: JSON!) {{ answer: {change} {{"
        f" __typename ... on PipelineSuccess {{ pipeline {{ id }} }} {refusals(field)} }} }}",
        {"definition": definition},
        token=token,
    )
    assert answer["__typename"] == "PipelineSuccess", answer
    return str(answer["pipeline"]["id"])


async def command(
    it: Product, field: str, token: str | None = None, select: str = "", **arguments: Any
) -> dict[str, Any]:
    """What a command on runs answers; arguments as the schema spells and types them.

    Args:
        it: The product.
        field: The mutation.
        token: Who asks; the administrator when absent.
        select: What to select beside the usual.
        arguments: Given as variables, absent where None.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    parameters = ", ".join(f"${name}: {_TYPES[name]}" for name in given)
    passed = ", ".join(f"{name}: ${name}" for name in given)
    success = {
        "deleteRun": "... on DeleteSuccess { deletedId }",
        "pinArtifact": "... on ArtifactSuccess { artifact { id pinned expiresAt } }",
        "resumeRun": f"... on RunSuccess {{ run {{ {RUN} {select} }} }}",
        "cancelRun": f"... on RunSuccess {{ run {{ {RUN} {select} }} }}",
        "acknowledgeRun": f"... on RunSuccess {{ run {{ {RUN} {select} }} }}",
    }.get(field)
    if success is None:
        issues = "warnings { path rule severity message }"
        success = f"... on StartRunSuccess {{ coalesced replayed {issues} run {{ {RUN} {select} }} }}"
    return await it.mutate(
        f"mutation ({parameters}) {{ {field}({passed}) {{ __typename {success} {refusals(field)} }} }}",
        given,
        token=token,
    )


_TYPES = {
    "startAt": "DateTime",
    "pipeline": "ID!",
    "pack": "ID!",
    "id": "ID!",
    "inputs": "JSON!",
    "input": "JSON!",
    "stepInput": "JSON",
    "version": "Int",
    "title": "String",
    "deadlineSeconds": "Float",
    "waitSeconds": "Int!",
    "idempotencyKey": "String",
    "dryRun": "Boolean!",
    "force": "Boolean!",
    "definition": "DefinitionChoice!",
    "fromStep": "Key",
    "reason": "String",
    "acknowledged": "Boolean!",
    "pinned": "Boolean!",
}


async def start(
    it: Product,
    pipeline: str,
    inputs: Mapping[str, Any] | None = None,
    *,
    wait: int = 0,
    token: str | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    """What `runPipeline` answers."""
    return await command(
        it, "runPipeline", token, pipeline=pipeline, inputs=dict(inputs or {}), waitSeconds=wait, **arguments
    )


async def ran(it: Product, pipeline: str, inputs: Mapping[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
    """A run of a pipeline once it has ended."""
    answer = await start(it, pipeline, inputs, wait=50, **arguments)
    assert answer["__typename"] == "StartRunSuccess", answer
    run: dict[str, Any] = answer["run"]
    assert run["endedAt"] is not None, run
    return run


async def look(it: Product, run_id: str, *, token: str | None = None, select: str = "") -> Any:
    """A run as it is now; None when there is none to see."""
    return (await it.query(f"query ($id: ID!) {{ run(id: $id) {{ {RUN} {select} }} }}", {"id": run_id}, token=token))[
        "run"
    ]


async def ended(it: Product, run_id: str) -> dict[str, Any]:
    """A run once it has ended."""
    data = await it.query(
        f"query ($id: ID!) {{ waitRun(id: $id, waitSeconds: 20) {{ timedOut run {{ {RUN} }} }} }}", {"id": run_id}
    )
    assert not data["waitRun"]["timedOut"], data
    run: dict[str, Any] = data["waitRun"]["run"]
    return run


async def until_state(it: Product, run_id: str, state: str) -> dict[str, Any]:
    """A run once it is in a state, waiting from change to change."""
    cursor = None
    for _ in range(2000):  # progress is a change, too
        data = await it.query(
            "query ($id: ID!, $after: Cursor, $wait: Int!) { waitRun(id: $id, untilChange: true, waitSeconds: $wait, "
            f"after: $after) {{ cursor timedOut run {{ {RUN} }} }} }}",
            {"id": run_id, "after": cursor, "wait": 0 if cursor is None else 20},
        )
        run: dict[str, Any] = data["waitRun"]["run"]
        if run["state"] == state:
            return run
        if run["endedAt"] is not None:
            break
        cursor = data["waitRun"]["cursor"]
    raise AssertionError(f"run {run_id} is {run['state']}, not {state}: {run['failure']}")


async def audit_rows(it: Product, action: str | None = None) -> list[dict[str, Any]]:
    """Audit entries, newest first."""
    data = await it.query(
        "{ audit(first: 100) { nodes { action accepted actor { subject } target { __typename id } detail } } }"
    )
    rows: list[dict[str, Any]] = data["audit"]["nodes"]
    return [row for row in rows if action is None or row["action"] == action]


@contextmanager
def statements() -> Iterator[list[str]]:
    """The SQL statements that reads of requests execute meanwhile, in this process.

    Not those of the tasks that look into the store by themselves now and then: memory, rescue, housekeeping.
    """
    seen: list[str] = []
    rows = SQLiteStore.rows

    def is_background() -> bool:
        try:
            task = asyncio.current_task()
        except RuntimeError:  # a thread's
            return False
        return task is not None and task.get_name().startswith("packline-")

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not is_background():
            seen.append(statement)

    def note_quick(store: SQLiteStore, statement: Sql, parameters: Any = NO_PARAMETERS, **how: bool) -> Any:
        if not is_background():
            seen.append(statement.sqlite)
        return rows(store, statement, parameters, **how)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        with patch.object(SQLiteStore, "rows", note_quick):
            yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)
