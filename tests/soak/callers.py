"""Callers that start, watch, cancel, resume, repeat and delete runs, and note what they were answered.

A caller never takes silence for an answer: a command whose answer was lost may have been done or not, and the journal
then promises nothing about it. Commands on one run go one after the other, so that the journal knows their order.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections import defaultdict
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import websockets

from tests.soak.journal import KnownRun
from tests.soak.pipelines import PIPELINES
from tests.support.graphql_client import GraphQLClient, GraphQLSocket, OperationFailed

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from tests.soak.journal import Journal

#: How long a caller waits for an answer: shorter than some servers are frozen.
ANSWER_SECONDS = 8.0
FINAL = frozenset({"SUCCEEDED", "FAILED", "CANCELLED"})
#: What the loss of a server looks like.
LOST = (httpx2.HTTPError, OSError, TimeoutError, ValueError, websockets.WebSocketException)

_STARTED = """{ __typename ... on StartRunSuccess { coalesced replayed run { id state } }
    ... on Problem { code message } }"""
_START = f"""mutation ($pipeline: ID!, $inputs: JSON!, $key: String, $wait: Int!) {{
    runPipeline(pipeline: $pipeline, inputs: $inputs, idempotencyKey: $key, waitSeconds: $wait) {_STARTED} }}"""
_RERUN = f"""mutation ($id: ID!, $step: Key, $key: String) {{
    rerunRun(id: $id, fromStep: $step, idempotencyKey: $key) {_STARTED} }}"""
_CHANGED = "{ __typename ... on RunSuccess { run { id state } } ... on Problem { code message } }"
_CANCEL = f'mutation ($id: ID!) {{ cancelRun(id: $id, reason: "the soak") {_CHANGED} }}'
_RESUME = f"mutation ($id: ID!) {{ resumeRun(id: $id) {_CHANGED} }}"
_DELETE = """mutation ($id: ID!) { deleteRun(id: $id) {
    __typename ... on DeleteSuccess { deletedId } ... on Problem { code message } } }"""
_WEBHOOK = """mutation ($inputs: JSON) {
    createWebhook(pipeline: "soak-quick", name: "Deliveries", preset: BEARER, inputs: $inputs) {
        __typename ... on WebhookSecretSuccess { secret trigger { webhook { url } } } ... on Problem { message } } }"""
_LOOK = "query ($id: ID!) { run(id: $id) { id state } }"
_WATCH = """subscription ($id: ID!, $after: Cursor) { runEvents(id: $id, after: $after) { __typename
    ... on RunEventBatch { cursor events { sequence } } ... on RunEventGap { missed }
    ... on RunEventsEnd { cursor } } }"""

_numbers = itertools.count(1)


@dataclass
class Caller:
    """Somebody with a token of their own.

    Attributes:
        urls: The servers to ask, by name; which one is asked is left to chance.
        marks: The file that at-most-once steps write to.
    """

    subject: str
    token: str
    urls: Mapping[str, str]
    journal: Journal
    marks: Path
    random: random.Random
    _webhook: tuple[str, str] = ("", "")
    _clients: dict[str, GraphQLClient] = field(default_factory=dict)
    _turns: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    async def close(self) -> None:
        """Closes its connections."""
        for client in self._clients.values():
            await client.http.aclose()

    # -- what it does by chance

    async def act(self) -> None:
        """Does one thing."""
        known = [run for run in self.journal.runs.values() if run.caller == self.subject and run.deleted == "no"]
        recent = known[-30:]
        acts: list[tuple[Callable[[], Awaitable[object]], int]] = [(self.start_some, 60), (self.repeat_some, 6)]
        if recent:
            run = self.random.choice(recent)
            acts += [
                (self.deliver_some, 10),
                (lambda: self.cancel(run), 10),
                (lambda: self.resume(run), 12),
                (lambda: self.rerun(run), 6),
                (lambda: self.delete(run), 5),
                (lambda: self.look(run), 12),
            ]
        chosen = self.random.choices([act for act, _ in acts], [weight for _, weight in acts])[0]
        await chosen()

    async def start_some(self) -> None:
        """Starts a pipeline, mostly under an idempotency key, at times twice at the same moment."""
        pipelines = list(PIPELINES.values())
        pipeline = self.random.choices(pipelines, [each.weight for each in pipelines])[0].key
        key = f"key-{next(_numbers)}" if self.random.random() < 0.7 else None
        text = self._text()
        wait = self.random.choice([0, 0, 0, 1, 3])
        if key is not None and self.random.random() < 0.2:
            await asyncio.gather(*(self.start(pipeline, text, key, wait=wait) for _ in range(2)))
        else:
            await self.start(pipeline, text, key, wait=wait)

    async def repeat_some(self) -> None:
        """Repeats an old start under its idempotency key: it must lead to the same run."""
        mine = [(key, run_id) for (subject, key), run_id in self.journal.keys.items() if subject == self.subject]
        if mine:
            key, run_id = self.random.choice(mine)
            run = self.journal.runs[run_id]
            if not key.startswith("again"):
                await self.start(run.pipeline, run.text, key)

    async def deliver_some(self) -> None:
        """Delivers to its webhook until that is answered, at times twice at the same moment or once more."""
        delivery, text = f"delivery-{next(_numbers)}", self._text()
        times = 2 if self.random.random() < 0.2 else 1
        await asyncio.gather(*(self.deliver(delivery, text) for _ in range(times)))
        if self.random.random() < 0.1:
            await self.deliver(delivery, text)

    async def watch_some(self) -> None:
        """Follows a run, leaving in mid-event and coming back, at times at another server."""
        known = [run for run in self.journal.runs.values() if run.caller == self.subject and run.deleted == "no"]
        if not known:
            await asyncio.sleep(0.2)
            return
        run = self.random.choice(known[-10:])
        after: str | None = None
        seen = 0
        for _ in range(6):
            after, seen, over = await self._watch(run, after, seen, self.random.randint(1, 5))
            if over:
                return
            await asyncio.sleep(self.random.uniform(0, 0.3))

    # -- single commands

    async def start(self, pipeline: str, text: str, key: str | None = None, *, wait: int = 0) -> KnownRun | None:
        """Starts a run; under a key it asks until it is answered. None when no answer came."""
        given = {"text": text, "seconds": 1 + len(text) % 3, "file": str(self.marks)}
        words = json.dumps(PIPELINES[pipeline].document())
        inputs = {name: value for name, value in given.items() if f"inputs.{name} " in words}
        for _ in range(1 if key is None else 20):
            answer = await self.ask("runPipeline", _START, pipeline=pipeline, inputs=inputs, key=key, wait=wait)
            if answer is not None:
                return self._note_start("run_pipeline", answer, pipeline, text, key)
            self.journal.counts["answers lost"] += 1
            await asyncio.sleep(0.5)
        return None

    async def add_webhook(self) -> None:
        """Creates its webhook."""
        answered, made = await self._ask(_WEBHOOK, inputs={"text": "${{ trigger.payload.text }}"})
        assert answered, "no server was disturbed yet"
        assert made is not None
        assert made["__typename"] == "WebhookSecretSuccess", made
        self.journal.secrets.append(made["secret"])
        self._webhook = urlsplit(made["trigger"]["webhook"]["url"]).path, made["secret"]

    async def deliver(self, delivery: str, text: str) -> None:
        """Delivers to its webhook, and asks until it is answered."""
        path, secret = self._webhook
        headers = {"authorization": f"Bearer {secret}", "idempotency-key": delivery}
        for _ in range(20):
            try:
                name = self._some_server()
                url = f"{self.urls[name]}{path}"
                answer = await self._client(name).http.post(url, json={"text": text}, headers=headers)
                said = answer.json()
            except LOST:
                self.journal.counts["deliveries: no answer"] += 1
                await asyncio.sleep(0.5)
                continue
            self.journal.counts[f"deliveries: {answer.status_code}"] += 1
            if answer.status_code in (429, 503):
                await asyncio.sleep(0.5)
                continue
            if answer.status_code not in (200, 202):
                self.journal.faults.append(f"{delivery}: it was answered with {answer.status_code}: {said}")
                return
            run_id = said["run"]
            known = self.journal.deliveries.setdefault((self.subject, delivery), run_id)
            if known != run_id:
                self.journal.faults.append(f"{run_id}: {delivery} of {self.subject} led to {known} before")
            self.journal.runs.setdefault(run_id, KnownRun(run_id, self.subject, "soak-quick", text))
            return

    async def rerun(self, run: KnownRun) -> KnownRun | None:
        """Runs it again, from the beginning or a later step."""
        steps = [None, *(step["id"] for step in PIPELINES[run.pipeline].steps)]
        key = f"again-{next(_numbers)}"
        variables = {"id": run.id, "step": self.random.choice(steps), "key": key}
        for _ in range(10):
            answer = await self.ask("rerunRun", _RERUN, **variables)
            if answer is not None:
                if answer["__typename"] != "StartRunSuccess":
                    self._note("rerun_run", run.id, answer)
                    return None
                return self._note_start("rerun_run", answer, run.pipeline, run.text, key)
            await asyncio.sleep(0.5)
        return None

    async def cancel(self, run: KnownRun) -> None:
        """Cancels it: from then on it ends as cancelled, or has ended."""
        async with self._turns[run.id]:
            answer = await self.ask("cancelRun", _CANCEL, id=run.id)
            if answer is not None and self._note("cancel_run", run.id, answer):
                self._settle(run, "CANCELLED")

    async def resume(self, run: KnownRun) -> None:
        """Resumes it, where that is part of the soak."""
        if not PIPELINES[run.pipeline].may_resume:
            return
        async with self._turns[run.id]:
            settled, run.settled = run.settled, None
            answer = await self.ask("resumeRun", _RESUME, id=run.id)
            if answer is not None and not self._note("resume_run", run.id, answer):
                run.settled = settled

    async def delete(self, run: KnownRun) -> None:
        """Deletes it, if it has ended."""
        async with self._turns[run.id]:
            run.deleted = "maybe"
            answer = await self.ask("deleteRun", _DELETE, id=run.id)
            if answer is not None:
                run.deleted = "yes" if self._note("delete_run", run.id, answer) else "no"

    async def look(self, run: KnownRun) -> str | None:
        """Asks for its state."""
        async with self._turns[run.id]:
            answered, found = await self._ask(_LOOK, id=run.id)
            if not answered:
                return None
            if found is None:
                if run.deleted == "no":
                    self.journal.faults.append(f"{run.id}: it was answered to exist, and now it is not found")
                return None
            if found["state"] in FINAL:
                self._settle(run, found["state"])
            return str(found["state"])

    # -- how it asks

    async def ask(self, field: str, query: str, **variables: Any) -> dict[str, Any] | None:
        """What a command answers; None when no answer came."""
        answered, found = await self._ask(query, **variables)
        if not answered:
            self.journal.counts[f"{field}: no answer"] += 1
            return None
        assert found is not None, f"{field} answers something"
        self.journal.counts[f"{field}: {found.get('code', 'done')}"] += 1
        return found

    async def _ask(self, query: str, **variables: Any) -> tuple[bool, dict[str, Any] | None]:
        name = self._some_server()
        try:
            answer = await self._client(name).execute(query, variables)
        except LOST:
            return False, None
        if answer.errors:
            for code, error in zip(answer.codes, answer.errors, strict=True):
                self.journal.counts[f"error {code or answer.status}"] += 1
                if code == "NOT_FOUND":
                    return True, None
                if code == "INTERNAL":
                    self.journal.faults.append(f"server {name}: a request was answered with {error}")
            return False, None
        if not isinstance(answer.body.get("data"), dict):
            return False, None
        return True, next(iter(answer.body["data"].values()))

    def _some_server(self) -> str:
        return self.random.choice(list(self.urls))

    def _client(self, name: str) -> GraphQLClient:
        if name not in self._clients:
            url = f"{self.urls[name]}/graphql"
            self._clients[name] = GraphQLClient(url, token=self.token, timeout_seconds=ANSWER_SECONDS)
        return self._clients[name]

    async def _watch(self, run: KnownRun, after: str | None, seen: int, most: int) -> tuple[str | None, int, bool]:
        """Reads some messages; the cursor, the last number seen, and whether there is nothing more to see."""
        url = self.urls[self._some_server()].replace("http", "ws", 1)
        self.journal.counts["subscriptions"] += 1
        try:
            async with (
                asyncio.timeout(ANSWER_SECONDS),
                GraphQLSocket.open(f"{url}/graphql", token=self.token) as socket,
                aclosing(socket.subscribe(_WATCH, {"id": run.id, "after": after})) as messages,
            ):
                async for payload in messages:
                    if payload.get("errors"):
                        return after, seen, True
                    message = next(iter(payload["data"].values()))
                    if message["__typename"] == "RunEventsEnd":
                        return after, seen, True
                    if message["__typename"] == "RunEventGap":
                        if run.deleted == "no":
                            self.journal.faults.append(f"{run.id}: a subscriber was told of a gap after event {seen}")
                        return after, seen, True
                    for event in message["events"]:
                        self.journal.counts["events watched"] += 1
                        if event["sequence"] != seen + 1:
                            self.journal.faults.append(
                                f"{run.id}: a subscriber got event {event['sequence']} after {seen}"
                            )
                        seen = event["sequence"]
                    after = message["cursor"]
                    most -= 1
                    if most <= 0:
                        break
        except (*LOST, OperationFailed, AssertionError):
            self.journal.counts["subscriptions cut off"] += 1
            await asyncio.sleep(0.3)
        return after, seen, False

    # -- what it notes

    def _note(self, action: str, run_id: str, answer: dict[str, Any]) -> bool:
        accepted = "code" not in answer
        self.journal.commands[action, run_id, accepted] += 1
        return accepted

    def _note_start(
        self, action: str, answer: dict[str, Any], pipeline: str, text: str, key: str | None
    ) -> KnownRun | None:
        if answer["__typename"] != "StartRunSuccess":
            named = re.search(r"run_\w+", answer["message"])
            known = None if named is None else self.journal.runs.get(named.group())
            was_deleted = known is not None and known.deleted != "no"
            if not (answer["code"] == "LIMITED" or (answer["code"] == "CONFLICT" and was_deleted)):
                self.journal.faults.append(f"a start of {pipeline} with key {key} was refused: {answer['message']}")
            return None
        if answer["run"] is None:  # deleted by now
            return None
        run_id = answer["run"]["id"]
        self._note(action, run_id, answer)
        self.journal.led_to(self.subject, key, run_id)
        if answer["coalesced"] or answer["replayed"]:
            self.journal.counts["repeats that led to the same run"] += 1
        return self.journal.runs.setdefault(run_id, KnownRun(run_id, self.subject, pipeline, text))

    def _settle(self, run: KnownRun, state: str) -> None:
        if run.settled not in (None, state):
            self.journal.faults.append(f"{run.id}: it was {run.settled}, and {state} later, without a resume")
        run.settled = state

    def _text(self) -> str:
        number = next(_numbers)
        return f"n{number}" + "x" * (number % 2)
