"""Answers A2A requests: messages start runs, tasks are runs. Imports `a2a`.

The SDK's default handler keeps tasks and queues of its own; ours reads runs from the store, so that a task survives a
restart and is the same on every server and surface.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import orjson
from a2a.helpers import new_data_part, new_text_part
from a2a.server.request_handlers.request_handler import RequestHandler, validate_request_params
from a2a.types import (
    ListTaskPushNotificationConfigsResponse,
    ListTasksResponse,
    Message,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a.utils.constants import (
    DEFAULT_LIST_TASKS_PAGE_SIZE,
    MAX_LIST_TASKS_PAGE_SIZE,
    PROTOCOL_VERSION_0_3,
    PROTOCOL_VERSION_1_0,
)
from a2a.utils.errors import (
    A2AError,
    InternalError,
    InvalidParamsError,
    InvalidRequestError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from app.a2a.cards import RUNS_SKILL, extended_card
from app.a2a.messages import INPUTS, SKILL, read_message
from app.a2a.pushes import check_push, put_push_config, remove_push, stored_pushes
from app.a2a.tasks import RUNS, STATES, find_run, find_runs, shown
from app.auth.refusals import ACCESS_ENDED, RUN_CONTINUES
from app.http.while_allowed import NoLongerAllowedError, while_allowed
from app.mcp.session import Unanswered
from resolvers.catalog.pack_routing import as_json
from resolvers.catalog.routing import route_request
from resolvers.pipelines.versions import get_pipeline
from resolvers.problems import Invalid, NotFound, Problem, WrongState, refusal_of
from resolvers.runs.runs import cancel_run
from resolvers.runs.starts import run_pipeline
from resolvers.runs.watching import watch_run
from runner.excerpts import excerpt
from runner.watching.tail import End
from schema.base.masking import internal_error, report
from store.database.ids import new_id
from store.runs.a2a_tasks import delete_question, find_tasks, list_tasks, put_task
from store.states import RunCause

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence

    from a2a.server.context import ServerCallContext
    from a2a.server.events.event_queue import Event
    from a2a.types import (
        AgentCard,
        CancelTaskRequest,
        DeleteTaskPushNotificationConfigRequest,
        GetExtendedAgentCardRequest,
        GetTaskPushNotificationConfigRequest,
        GetTaskRequest,
        ListTaskPushNotificationConfigsRequest,
        ListTasksRequest,
        Part,
        SendMessageRequest,
        SubscribeToTaskRequest,
        TaskPushNotificationConfig,
    )

    from app.a2a.messages import Said
    from app.a2a.pusher import Pusher
    from app.a2a.tasks import Shown
    from app.mcp.session import Session
    from app.mcp.tools.toolbox import Toolbox
    from runner.failures import JSONValue
    from runner.issues import Issue
    from store.runs.a2a_tasks import A2ATask

#: Keys of the state of a call.
SESSION_STATE: Final = "packline.session"
BASE_STATE: Final = "packline.base"
#: Tools of the skill for runs.
RUN_TOOLS: Final = ("list_runs", "run_pipeline", "get_run", "resume_run", "cancel_run")


@dataclass(frozen=True, slots=True)
class Question:
    """What a caller is asked before a run starts.

    Attributes:
        intent: The request so far, in the caller's words.
        skill: Id of the proposed pipeline.
        key: Its key.
        name: Its name.
        inputs: The inputs so far.
        missing: Names of required inputs without a value.
        issues: What is wrong with the inputs: path, rule and message; empty if the caller only has to confirm.
        why: Why this pipeline was chosen; empty if the caller named it.
        input_schema: JSON Schema of the inputs.
    """

    intent: str
    skill: str
    key: str
    name: str
    inputs: dict[str, Any]
    missing: tuple[str, ...]
    issues: tuple[dict[str, Any], ...]
    why: str
    input_schema: dict[str, Any]

    def text(self) -> str:
        """The question for people."""
        proposal = f"{self.name} (`{self.skill}`)"
        if self.issues or self.missing:
            needs = " ".join(issue["message"] for issue in self.issues) or f"Missing: {', '.join(self.missing)}."
            return f"{proposal} needs more. {needs} Answer with a data part that has these inputs."
        return (
            f"Run {proposal} with these inputs? {self.why} Answer with a data part to start it, empty or with changed "
            f"inputs, or with the text `{self.skill}`."
        )

    def parts(self) -> list[Part]:
        facts = {
            SKILL: self.skill,
            "name": self.name,
            INPUTS: self.inputs,
            "missing": list(self.missing),
            "issues": list(self.issues),
            "input_schema": self.input_schema,
        }
        return [new_text_part(self.text()), new_data_part(facts, "application/json")]


class PacklineHandler(RequestHandler):
    """The handler of the SDK's routes.

    Args:
        tools: Answer the skill for runs.
        stopping: Set when the server stops, which ends open streams.
        pusher: Sends push notifications.
    """

    def __init__(self, tools: Toolbox, stopping: asyncio.Event, pusher: Pusher) -> None:
        self._tools = tools
        self._stopping = stopping
        self._pusher = pusher

    # -- messages

    @validate_request_params
    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task | Message:
        """Answer a message, after its run has ended or the longest wait is over unless it asks to return at once."""
        session = _session(context)
        async with _answering():
            seconds = 0 if params.configuration.return_immediately else _wait_seconds(session)
            return await while_allowed(self._answer(session, params, context, seconds), session.ended)

    @validate_request_params
    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        """Answer a message and follow its run."""
        session = _session(context)
        async with _answering():
            answer = await self._answer(session, params, context, 0)
            if isinstance(answer, Task):
                async with aclosing(self._follow(session, answer)) as events:
                    async for event in events:
                        yield event
            else:
                yield answer

    async def _answer(
        self, session: Session, params: SendMessageRequest, context: ServerCallContext, wait_seconds: int
    ) -> Task | Message:
        """Answer a message; the address it gives for push notifications is stored before the wait."""
        if not params.configuration.HasField("task_push_notification_config"):
            return await self._said(session, params, wait_seconds)
        config = params.configuration.task_push_notification_config
        await check_push(session, config)
        answer = await self._said(session, params, 0)
        if not isinstance(answer, Task):
            return answer
        await self._put_push(session, context, answer.id, config)
        if not wait_seconds or answer.status.state == TaskState.TASK_STATE_INPUT_REQUIRED:
            return answer
        await session.context.services.engine.wait_ended(answer.id, wait_seconds)
        return (await self._run(session, answer.id)).task

    async def _said(self, session: Session, params: SendMessageRequest, wait_seconds: int) -> Task | Message:
        said = read_message(params)
        if said.task_id:
            return await self._go_on(session, said, wait_seconds)
        if said.is_for_runs:
            return await self._use_tool(session, said)
        if said.skill is not None:
            return await self._start(session, said, said.skill, said.data or {}, wait_seconds)
        return await self._propose(session, said, said.text)

    async def _start(
        self,
        session: Session,
        said: Said,
        skill: str,
        inputs: dict[str, Any],
        wait_seconds: int,
        asked: A2ATask | None = None,
        intent: str = "",
    ) -> Task:
        """Start a run, or ask for what its inputs lack."""
        caller = session.caller.id
        try:
            started = await run_pipeline(
                session.context,
                pipeline=skill,
                inputs=inputs,
                run_id=None if asked is None else asked.id,
                idempotency_key=_key(said.id if asked is None else asked.id),
                wait_seconds=wait_seconds,
            )
        except Invalid as invalid:
            issues = [issue for issue in invalid.issues if issue.severity == "error"]
            if any(issue.path[:1] != (INPUTS,) for issue in issues):
                raise
            question = await _question(session, skill, inputs, issues, intent=intent or said.text)
            return await self._ask(session, said, question, asked)
        assert started.run_id is not None, "only a dry run has no run"
        if asked is not None or said.context_id:
            context_id = said.context_id if asked is None else asked.context_id
            await session.context.services.store.write(
                lambda conn: put_task(
                    conn, id=str(started.run_id), caller_id=caller, context_id=context_id, question=None
                )
            )
        return (await self._run(session, started.run_id)).task

    async def _propose(self, session: Session, said: Said, text: str, asked: A2ATask | None = None) -> Task | Message:
        """Route a request, and ask its caller to confirm the pipeline; if none fits, say what is missing."""
        given: JSONValue = None if said.data is None else {INPUTS: said.data}
        routed = await route_request(session.context, user_intent=text, request_context=given)
        best = routed.recommendation
        if best.kind != "pipeline" or best.id is None:
            facts = as_json(routed)
            return Message(
                message_id=new_id("run"),
                context_id=said.context_id,
                role=Role.ROLE_AGENT,
                parts=[new_text_part(routed.reasoning or best.why), new_data_part(facts, "application/json")],
            )
        inputs = {**best.inputs.values(), **(said.data or {})}
        missing = tuple(name for name in best.inputs.missing if name not in inputs)
        question = await _question(session, best.id, inputs, (), intent=text, missing=missing, why=best.why)
        return await self._ask(session, said, question, asked)

    async def _ask(self, session: Session, said: Said, question: Question, asked: A2ATask | None) -> Task:
        """Store a question and return its task; the id is reserved for the run."""
        task_id = new_id("run") if asked is None else asked.id
        context_id = asked.context_id if asked is not None else said.context_id or task_id
        text = orjson.dumps(_stored(question)).decode()
        await session.context.services.store.write(
            lambda conn: put_task(conn, id=task_id, caller_id=session.caller.id, context_id=context_id, question=text)
        )
        return _asking(task_id, context_id, question)

    async def _go_on(self, session: Session, said: Said, wait_seconds: int) -> Task | Message:
        """Continue a task that waits for its caller."""
        asked = await self._asked(session, said.task_id)
        if asked is None or asked.question is None:
            run = await self._run(session, said.task_id)
            raise UnsupportedOperationError(
                f"Task {run.task.id} takes no messages: its run has {'ended' if run.is_final else 'started'}. Send a "
                "message without taskId to start another, or use the skill `runs` to resume it."
            )
        if said.context_id and said.context_id != asked.context_id:
            raise InvalidParamsError(f"Task {asked.id} does not belong to the context `{said.context_id}`.")
        question = _read_question(asked.question)
        if said.skill is not None and said.skill not in (question.skill, question.key):
            return await self._start(session, said, said.skill, said.data or {}, wait_seconds, asked, question.intent)
        if said.data is not None or said.skill is not None or said.text in (question.skill, question.key):
            inputs = {**question.inputs, **(said.data or {})}
            return await self._start(session, said, question.skill, inputs, wait_seconds, asked, question.intent)
        if (name := _single_text(question)) is not None:
            inputs = {**question.inputs, name: said.text}
            return await self._start(session, said, question.skill, inputs, wait_seconds, asked, question.intent)
        return await self._propose(session, said, f"{question.intent}\n{said.text}".strip(), asked)

    async def _use_tool(self, session: Session, said: Said) -> Task | Message:
        """Answer the skill for runs with one of its tools."""
        data = dict(said.data or {})
        tool, arguments = data.pop("tool", None), data.pop("arguments", {})
        if tool not in RUN_TOOLS or not isinstance(arguments, dict) or data:
            raise InvalidParamsError(
                f"The skill `{RUNS_SKILL}` takes a data part with `tool`, one of {', '.join(RUN_TOOLS)}, and "
                "`arguments`, an object."
            )
        answer = await self._tools.call(session, tool, arguments)
        parts = [new_data_part(answer.data if answer.data is not None else orjson.loads(answer.text))]
        if answer.data is None:
            parts.insert(0, new_text_part(orjson.loads(answer.text)["error"]["message"]))
        return Message(message_id=new_id("run"), context_id=said.context_id, role=Role.ROLE_AGENT, parts=parts)

    # -- tasks

    @validate_request_params
    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        """A run the caller may see, or a question to the caller."""
        session = _session(context)
        async with _answering():
            return await self._task(session, params.id)

    @validate_request_params
    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """The caller's tasks, newest first: of a conversation with its open questions, else runs started over A2A."""
        session = _session(context)
        async with _answering():
            size = params.page_size or DEFAULT_LIST_TASKS_PAGE_SIZE
            if not 1 <= size <= MAX_LIST_TASKS_PAGE_SIZE:
                raise InvalidParamsError(f"pageSize must be between 1 and {MAX_LIST_TASKS_PAGE_SIZE}.")
            if params.context_id:
                return await self._of_conversation(session, params, size)
            wanted: dict[str, Any] = {"causes": [RunCause.A2A.name], "callers": [session.caller.id]}
            if params.status:
                wanted["states"] = [name.name for name, state in STATES.items() if state == params.status]
                if not wanted["states"]:
                    return ListTasksResponse(page_size=size)
            page = await session.execute(RUNS, {"filter": wanted, "first": size, "after": params.page_token or None})
            found = page["runs"]
            known = await find_tasks(
                session.context.services.store, [run["id"] for run in found["nodes"]], session.caller.id
            )
            contexts = {run_id: task.context_id for run_id, task in known.items()}
            return ListTasksResponse(
                tasks=[shown(run, contexts.get(run["id"], run["id"])).task for run in found["nodes"]],
                next_page_token=found["pageInfo"]["endCursor"] if found["pageInfo"]["hasNextPage"] else "",
                page_size=size,
                total_size=found["totalCount"],
            )

    async def _of_conversation(self, session: Session, params: ListTasksRequest, size: int) -> ListTasksResponse:
        store, before = session.context.services.store, params.page_token or None
        rows, total = await list_tasks(
            store,
            session.caller.id,
            params.context_id,
            states=[run for run, task in STATES.items() if params.status in (0, task)],
            asking=params.status in (0, TaskState.TASK_STATE_INPUT_REQUIRED),
            limit=size + 1,
            before=before,
        )
        more = len(rows) > size
        rows = [*islice(rows, size)]
        runs = await find_runs(session, [row.id for row in rows if row.question is None])
        tasks = []
        for row in rows:
            if row.question is not None:
                tasks.append(_asking(row.id, row.context_id, _read_question(row.question)))
            elif (run := runs.get(row.id)) is not None:
                tasks.append(shown(run, row.context_id).task)
        return ListTasksResponse(
            tasks=tasks, page_size=size, total_size=total, next_page_token=rows[-1].id if more else ""
        )

    @validate_request_params
    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task | None:
        """Cancel a run, or withdraw a request whose run has not started."""
        session = _session(context)
        async with _answering():
            asked = await self._asked(session, params.id)
            if asked is not None and asked.question is not None:
                store = session.context.services.store
                if await store.write(delete_question, asked.id, session.caller.id):
                    return _with_state(asked.id, asked.context_id, TaskState.TASK_STATE_CANCELED)
            try:
                await cancel_run(session.context, id=params.id)
            except NotFound:
                raise TaskNotFoundError from None
            except WrongState as wrong:
                raise TaskNotCancelableError(wrong.message) from wrong
            return (await self._run(session, params.id)).task

    @validate_request_params
    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        """Follow a run until it ends."""
        session = _session(context)
        async with _answering():
            task = await self._task(session, params.id)
            if task is None:
                raise TaskNotFoundError
            if task.status.state in (
                TaskState.TASK_STATE_COMPLETED,
                TaskState.TASK_STATE_FAILED,
                TaskState.TASK_STATE_CANCELED,
            ):
                raise UnsupportedOperationError(f"Task {task.id} has ended; read it with tasks/get.")
            async with aclosing(self._follow(session, task)) as events:
                async for event in events:
                    yield event

    async def _follow(self, session: Session, task: Task) -> AsyncGenerator[Event]:
        """A task, then its changes until it ends or waits for its caller. Bounded by what one read of a run holds."""
        yield task
        if await find_run(session, task.id) is None:
            return
        last: Shown | None = None
        known = {artifact.artifact_id for artifact in task.artifacts}
        messages = await watch_run(session.context, id=task.id, after=0)
        while last is None or not last.is_final:
            message = await while_allowed(anext(messages, None), lambda: self._over(session))
            now = await self._run(session, task.id)
            for artifact in now.task.artifacts:
                if artifact.artifact_id not in known:
                    known.add(artifact.artifact_id)
                    yield TaskArtifactUpdateEvent(
                        task_id=task.id, context_id=task.context_id, artifact=artifact, last_chunk=True
                    )
            before = (task.status.state,) if last is None else last.mark
            if now.mark[: len(before)] != before or (last is None and now.is_final):
                yield TaskStatusUpdateEvent(
                    task_id=task.id, context_id=task.context_id, status=now.task.status, metadata=now.task.metadata
                )
            last = now
            if message is None or isinstance(message, End):
                return

    async def _over(self, session: Session) -> None:
        """Return once a stream has to end: with its caller's token, or with the server."""
        ends = [asyncio.ensure_future(session.ended()), asyncio.ensure_future(self._stopping.wait())]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in ends:
                each.cancel()

    async def _task(self, session: Session, task_id: str) -> Task | None:
        run = await find_run(session, task_id)
        if run is not None:
            return shown(run, await self._context_id(session, task_id)).task
        asked = await self._asked(session, task_id)
        if asked is None or asked.question is None:
            return None
        return _asking(asked.id, asked.context_id, _read_question(asked.question))

    async def _run(self, session: Session, run_id: str) -> Shown:
        run = await find_run(session, run_id)
        if run is None:
            raise TaskNotFoundError
        return shown(run, await self._context_id(session, run_id))

    async def _context_id(self, session: Session, task_id: str) -> str:
        asked = await self._asked(session, task_id)
        return task_id if asked is None else asked.context_id

    async def _asked(self, session: Session, task_id: str) -> A2ATask | None:
        return (await find_tasks(session.context.services.store, [task_id], session.caller.id)).get(task_id)

    # -- the card

    @validate_request_params
    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        """The card of the caller, with a skill for each pipeline."""
        async with _answering():
            return await extended_card(_session(context), context.state[BASE_STATE])

    # -- push notifications

    @validate_request_params
    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Store or replace a push notification config of a task."""
        session = _session(context)
        async with _answering():
            await self._known(session, params.task_id)
            await check_push(session, params)
            return await self._put_push(session, context, params.task_id, params)

    @validate_request_params
    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Return a push notification config without its secrets."""
        session = _session(context)
        async with _answering():
            await self._known(session, params.task_id)
            for config in await stored_pushes(session, params.task_id):
                if config.id == params.id:
                    return config
            raise TaskNotFoundError

    @validate_request_params
    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        """List the push notification configs of a task without their secrets."""
        session = _session(context)
        async with _answering():
            await self._known(session, params.task_id)
            return ListTaskPushNotificationConfigsResponse(configs=await stored_pushes(session, params.task_id))

    @validate_request_params
    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        """Delete a push notification config; an unknown id is no error."""
        session = _session(context)
        async with _answering():
            await self._known(session, params.task_id)
            await remove_push(session, params.task_id, params.id)

    async def _put_push(
        self, session: Session, context: ServerCallContext, task_id: str, config: TaskPushNotificationConfig
    ) -> TaskPushNotificationConfig:
        headers: dict[str, str] = context.state["headers"]
        # As the SDK reads it: without the header, a client speaks 0.3.
        is_old = not headers.get("a2a-version", "").startswith("1")
        protocol = PROTOCOL_VERSION_0_3 if is_old else PROTOCOL_VERSION_1_0
        stored = await put_push_config(session, task_id, config, protocol)
        self._pusher.added(task_id)
        return stored

    async def _known(self, session: Session, task_id: str) -> None:
        """Refuse a task the caller may not see.

        Raises:
            TaskNotFoundError: there is no such task.
        """
        if not (await find_runs(session, [task_id]) or await self._asked(session, task_id)):
            raise TaskNotFoundError


def _session(context: ServerCallContext) -> Session:
    session: Session = context.state[SESSION_STATE]
    return session


def _wait_seconds(session: Session) -> int:
    return int(session.context.services.limits.wait_seconds)


def _key(id: str) -> str:
    """The idempotency key of a message or task, so that a repeated message does not start a second run."""
    return f"a2a:{sha256(id.encode()).hexdigest()}"


@asynccontextmanager
async def _answering() -> AsyncIterator[None]:
    """Turn refusals into the protocol's errors; mask unexpected errors."""
    try:
        yield
    except (A2AError, asyncio.CancelledError, GeneratorExit):
        raise
    except NoLongerAllowedError:
        raise InvalidRequestError(f"{ACCESS_ENDED} Or this server is stopping. {RUN_CONTINUES}") from None
    except Unanswered as error:
        first = error.errors[0]
        raise InvalidRequestError(first["message"], {"code": str(first["extensions"].get("code", ""))}) from error
    except Exception as error:
        problem = refusal_of(error)
        if problem is None:
            raise InternalError(internal_error(report(error, "A2A request failed"))) from error
        raise _refused(problem) from error


def _refused(problem: Problem) -> A2AError:
    """A refusal as an error of the protocol, with our code and hint."""
    facts = {"code": problem.code.value, "retryable": str(problem.retryable).lower()}
    if problem.hint is not None and (hint := str(problem.hint)):
        facts["hint"] = hint
    kind = InvalidParamsError if isinstance(problem, NotFound | Invalid) else InvalidRequestError
    return kind(problem.message, facts)


async def _question(
    session: Session,
    skill: str,
    inputs: dict[str, Any],
    issues: Sequence[Issue],
    *,
    intent: str,
    missing: tuple[str, ...] = (),
    why: str = "",
) -> Question:
    found = await get_pipeline(session.context, skill)
    version = await session.context.services.versions.get(session.context, found, None)
    schema: dict[str, Any] = version.input_schema
    required = schema.get("required", ())
    return Question(
        intent=excerpt(intent, 20_000),
        skill=found.id,
        key=found.key,
        name=found.name,
        inputs=inputs,
        missing=missing or tuple(name for name in required if name not in inputs),
        issues=tuple({"path": list(issue.path[1:]), "rule": issue.rule, "message": issue.message} for issue in issues),
        why=why,
        input_schema=schema,
    )


def _stored(question: Question) -> dict[str, Any]:
    return {name: getattr(question, name) for name in Question.__dataclass_fields__}


def _read_question(text: str) -> Question:
    stored = orjson.loads(text)
    return Question(**{**stored, "missing": tuple(stored["missing"]), "issues": tuple(stored["issues"])})


def _single_text(question: Question) -> str | None:
    """The only missing input, if it is text, which an answer in words then is."""
    if len(question.missing) != 1:
        return None
    name = question.missing[0]
    schema = question.input_schema.get("properties", {}).get(name, {})
    return name if schema.get("type") == "string" else None


def _asking(task_id: str, context_id: str, question: Question) -> Task:
    task = _with_state(task_id, context_id, TaskState.TASK_STATE_INPUT_REQUIRED)
    task.status.message.CopyFrom(
        Message(
            message_id=f"{task_id}-question",
            context_id=context_id,
            task_id=task_id,
            role=Role.ROLE_AGENT,
            parts=question.parts(),
        )
    )
    task.metadata.update({SKILL: question.skill})
    return task


def _with_state(task_id: str, context_id: str, state: TaskState) -> Task:
    status = TaskStatus(state=state)
    status.timestamp.GetCurrentTime()
    return Task(id=task_id, context_id=context_id, status=status)
