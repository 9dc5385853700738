"""Runs as tasks: the same id, the state, the output and artifacts. Imports `a2a`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import orjson
from a2a.compat.v0_3.conversions import to_compat_task
from a2a.helpers import new_data_part, new_text_part, new_url_part
from a2a.types import Artifact, Message, Role, Task, TaskState, TaskStatus
from a2a.utils.constants import PROTOCOL_VERSION_0_3
from a2a.utils.proto_utils import to_stream_response
from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped] # it has no types

from app.mcp.session import Unanswered
from runner.excerpts import excerpt
from store.states import RunState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from a2a.types import Part

    from app.mcp.session import Session

#: A task's state by its run's.
STATES: Final = {
    RunState.QUEUED: TaskState.TASK_STATE_SUBMITTED,
    RunState.RUNNING: TaskState.TASK_STATE_WORKING,
    RunState.WAITING: TaskState.TASK_STATE_WORKING,
    RunState.CANCELLING: TaskState.TASK_STATE_WORKING,
    RunState.SUCCEEDED: TaskState.TASK_STATE_COMPLETED,
    RunState.FAILED: TaskState.TASK_STATE_FAILED,
    RunState.CANCELLED: TaskState.TASK_STATE_CANCELED,
}
#: Id of the artifact that is a run's output.
OUTPUT_ID: Final = "output"
#: Most artifacts of a run that a task shows.
ARTIFACTS_MAX: Final = 100
_FIELDS: Final = """
    id title state progress createdAt startedAt endedAt
    pipeline { id } currentStep { key progress } wait { message }
    failure { code message hint retryable retryAfterSeconds safeToRepeat stepKey }"""
_RUN: Final = f"""query A2ATask($id: ID!, $artifacts: Int!) {{ run(id: $id) {{ {_FIELDS}
    output(limitBytes: 262144) {{ json text nextOffset sizeBytes }}
    artifacts(first: $artifacts) {{ nodes {{ id name mediaType sizeBytes downloadUrl }} }} }} }}"""
RUNS: Final = f"""query A2ATasks($filter: RunFilter, $first: Int, $after: Cursor) {{
    runs(filter: $filter, first: $first, after: $after) {{
        nodes {{ {_FIELDS} }} pageInfo {{ hasNextPage endCursor }} totalCount }} }}"""


_SOME: Final = f"query A2ARuns($ids: [ID!]!) {{ nodes(ids: $ids) {{ ... on Run {{ {_FIELDS} }} }} }}"


@dataclass(frozen=True, slots=True)
class Shown:
    """A run as a task, and what must differ for an update to be worth sending."""

    task: Task
    mark: tuple[object, ...]

    @property
    def is_final(self) -> bool:
        return self.task.status.state in FINAL


FINAL: Final = frozenset({TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_FAILED, TaskState.TASK_STATE_CANCELED})


async def find_run(session: Session, run_id: str) -> dict[str, Any] | None:
    """A run the caller may see, as a task needs it.

    Raises:
        Unanswered: the caller may read no runs.
    """
    try:
        data = await session.execute(_RUN, {"id": run_id, "artifacts": ARTIFACTS_MAX})
    except Unanswered as error:
        if error.errors[0]["extensions"].get("code") == "NOT_FOUND":
            return None
        raise
    run: dict[str, Any] | None = data["run"]
    return run


async def find_runs(session: Session, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Runs the caller may see, by id, without what they made; at most 100."""
    nodes = (await session.execute(_SOME, {"ids": list(ids)}))["nodes"] if ids else []
    return {node["id"]: node for node in nodes if node}


def shown(run: Mapping[str, Any], context_id: str) -> Shown:
    """A run as a task of a conversation."""
    state = STATES[RunState(run["state"].lower())]
    step, failure = run["currentStep"], run["failure"]
    status = TaskStatus(state=state)
    at = run["endedAt"] or run["startedAt"] or run["createdAt"]
    status.timestamp.FromDatetime(datetime.fromisoformat(at))
    if parts := _status_parts(run, failure):
        status.message.CopyFrom(
            Message(
                message_id=f"{run['id']}-{run['state'].lower()}",
                context_id=context_id,
                task_id=run["id"],
                role=Role.ROLE_AGENT,
                parts=parts,
            )
        )
    metadata = {"title": run["title"], "progress": run["progress"]}
    if run["pipeline"]:
        metadata["skill"] = run["pipeline"]["id"]
    if step and state not in FINAL:
        metadata["step"] = step["key"]
    task = Task(id=run["id"], context_id=context_id, status=status, metadata=metadata)
    artifacts = [_file(item) for item in (run.get("artifacts") or {"nodes": ()})["nodes"]]
    if state == TaskState.TASK_STATE_COMPLETED and (output := _output(run.get("output"))) is not None:
        artifacts.append(output)
    task.artifacts.extend(artifacts)
    mark = (state, run["progress"], step and (step["key"], step["progress"]), run["wait"] and run["wait"]["message"])
    return Shown(task, mark)


def _status_parts(run: Mapping[str, Any], failure: Mapping[str, Any] | None) -> list[Part]:
    if failure is not None and run["state"] == "FAILED":
        text = " ".join(filter(None, (failure["message"], failure["hint"])))
        facts = {name: value for name, value in failure.items() if value is not None}
        return [new_text_part(text), new_data_part({"failure": facts}, "application/json")]
    if run["wait"]:
        return [new_text_part(excerpt(run["wait"]["message"], 400))]
    if run["currentStep"] and run["state"] == "RUNNING":
        return [new_text_part(f"Running step {run['currentStep']['key']}.")]
    return []


def _file(artifact: Mapping[str, Any]) -> Artifact:
    """An artifact; without an address if its content is gone or withheld."""
    name = artifact["name"]
    part = (
        new_url_part(artifact["downloadUrl"], artifact["mediaType"], name)
        if artifact["downloadUrl"]
        else new_text_part(f"The content of {name} is not available.")
    )
    return Artifact(
        artifact_id=artifact["id"], name=name, parts=[part], metadata={"sizeBytes": int(artifact["sizeBytes"])}
    )


def _output(output: Mapping[str, Any] | None) -> Artifact | None:
    """A run's output; one too long for a message as its beginning, as text."""
    if output is None:
        return None
    if output["nextOffset"] is None and output["json"] is not None:
        parts = [new_data_part(output["json"], "application/json")]
    else:
        parts = [new_text_part(output["text"] or orjson.dumps(output["json"]).decode())]
    return Artifact(
        artifact_id=OUTPUT_ID,
        name=OUTPUT_ID,
        parts=parts,
        metadata={"truncated": output["nextOffset"] is not None, "sizeBytes": int(output["sizeBytes"])},
    )


def is_same_state(state: RunState, other: RunState) -> bool:
    """Whether a task is in the same state with its run in either state."""
    return STATES[state] == STATES[other]


def notification(run: Mapping[str, Any], context_id: str, protocol: str) -> bytes:
    """The body of a push notification: the task without its artifacts, as each protocol has it."""
    task = shown(run, context_id).task
    if protocol == PROTOCOL_VERSION_0_3:
        return to_compat_task(task).model_dump_json(by_alias=True, exclude_none=True).encode()
    return orjson.dumps(MessageToDict(to_stream_response(task)))
