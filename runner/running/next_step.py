"""Prepares the next step of a run: the first that has not succeeded, with its pack, input and session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from runner.definitions.step_inputs import SESSION_FIELD, idempotency_key
from runner.excerpts import excerpt
from runner.failures import Failure, FailureCode
from runner.json_values import DocumentError
from runner.packs.context import PackSession
from runner.packs.fleet import machine_need
from runner.resuming.substitute_packs import find_pack, misfit
from runner.running.claimed_run import ClaimedRun, LackedStep, PreparedStep, RefusedStep
from runner.running.executor import storable_failure
from runner.templates.templating import TemplateError
from store.database.ids import new_id, with_prefix
from store.runs.needs import needs_text
from store.runs.unit_types import AttemptStart
from store.states import StepState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.definitions.compiled import CompiledStep
    from runner.failures import JSONValue
    from runner.packs.pack import Pack
    from runner.running.offers import PackNeeds, WorkerOffers
    from runner.running.resources import Resources
    from store.runs.unit_types import ClaimedStep

#: Longest note of an attempt.
NOTE_CHARACTERS = 1000


class StepPreparer:
    """Prepares steps to start; writes nothing."""

    def __init__(self, resources: Resources, needs: PackNeeds, offers: WorkerOffers) -> None:
        self._resources = resources
        self._needs = needs
        self._offers = offers

    def next(self, run: ClaimedRun) -> PreparedStep | RefusedStep | LackedStep | None:
        """Prepare the first step that has not succeeded; None when all have."""
        states, succeeded = run.states, StepState.SUCCEEDED
        for step in run.claim.steps:
            if states[step.key] is not succeeded:
                if self._offers.matter and (lacked := (needs := self.needs(run, step)) - self._offers.now):
                    return LackedStep(step, needs, lacked)
                return self._prepare(run, step)
        return None

    def changed_needs(self, run: ClaimedRun, step: ClaimedStep) -> str | None:
        """Return what a step needs as the store records it, and note that it will be recorded; None if it is."""
        if not self._offers.matter or (needs := needs_text(self.needs(run, step))) == run.needs:
            return None
        run.needs = needs
        return needs

    def needs(self, run: ClaimedRun, step: ClaimedStep) -> frozenset[str]:
        """Return what a step needs of a worker."""
        needs, uses_session = self._needs.of(step.pack, step.pack_version)
        agent = run.pipeline.step(step.key).agent
        if not (uses_session or (agent is not None and agent.workspace == "session")):
            return needs
        if (session := run.latest_session(step)) is None:
            return needs
        return needs | {machine_need(run.machines.get(session, self._resources.store.machine))}

    def _prepare(self, run: ClaimedRun, step: ClaimedStep) -> PreparedStep | RefusedStep:
        compiled = run.pipeline.step(step.key)
        registry, steps = self._resources.registry, run.claim.steps
        pack = find_pack(registry, run.pipeline, steps, step, self._resources.agents)
        if pack is None:
            return self._refused(run, step, self._no_pack(run, step))
        note: str | None = None
        text: bytes | None = None
        value: JSONValue
        limit = self._resources.limits.step_input_bytes
        try:
            outputs = _with_sessions(run, compiled) if compiled.session_reads else run.outputs
            optional = run.pipeline.optional_inputs
            if step.input_override is not None:
                value = orjson.loads(step.input_override)
                if compiled.session is not None and isinstance(value, dict) and SESSION_FIELD not in value:
                    named = compiled.session.resolve(run.inputs, outputs, optional, limit_bytes=limit)
                    value = {**value, SESSION_FIELD: named.value}
            else:
                resolved = compiled.resolve(run.inputs, outputs, optional, limit_bytes=limit)
                value, note, text = resolved
        except TemplateError as error:
            return self._refused(run, step, error.failure)
        if not isinstance(value, dict):
            message = f"The input of step {step.key} is {excerpt(repr(value), 80)}; it must be an object."
            return self._refused(run, step, Failure(FailureCode.INVALID_INPUT, message))
        session = self._session_for(run, step, value) if pack.uses_session else None
        if session is None and pack.uses_session and value.get(SESSION_FIELD) is not None:
            return self._refused(run, step, _no_session(step, value[SESSION_FIELD]))
        if session is not None and SESSION_FIELD not in value:
            value, text = {**value, SESSION_FIELD: session.id}, None
        try:
            if text is None:
                text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
            key = idempotency_key(run.claim.run_id, step.key, value, text)
            shown = self._resources.redactor.value(value, text)
            if shown is not value:
                text = orjson.dumps(shown, option=orjson.OPT_SORT_KEYS)
        except (DocumentError, TypeError) as error:
            message = f"The input of step {step.key} cannot be stored as JSON: {error}"
            return self._refused(run, step, Failure(FailureCode.INVALID_INPUT, message))
        if len(text) > limit:
            message = f"The input of step {step.key} has {len(text)} bytes; the limit is {limit}."
            hint = "Pass large content as an artifact."
            return self._refused(run, step, Failure(FailureCode.INVALID_INPUT, message, hint=hint))
        start = AttemptStart(
            step_id=step.id,
            attempt_id=_attempt_id(step, run),
            number=run.numbers[step.key] + 1,
            input=text.decode(),
            idempotency_key=key,
            pack_version=pack.version,
            session_used=session.id if session else None,
            notes=self._notes(step, pack, note),
        )
        return PreparedStep(step, compiled, pack, value, start, session)

    def _refused(self, run: ClaimedRun, step: ClaimedStep, failure: Failure) -> RefusedStep:
        start = AttemptStart(
            step_id=step.id,
            attempt_id=_attempt_id(step, run),
            number=run.numbers[step.key] + 1,
            input=None,
            idempotency_key="",
            pack_version=step.pack_version,
        )
        failure = storable_failure(failure, self._resources.redactor).at_step(step.key, safe_to_repeat=True)
        return RefusedStep(step, start, failure)

    def _notes(self, step: ClaimedStep, pack: Pack, not_set: str | None) -> str:
        """Return the attempt's notes, as a JSON list: which version runs instead, and what was not set."""
        if pack.version == step.pack_version and not_set is None:
            return "[]"
        notes = [] if pack.version == step.pack_version else [f"runs on {pack.version} instead of {step.pack_version}"]
        if not_set is not None:
            notes.append(self._resources.redactor.excerpt(not_set, NOTE_CHARACTERS))
        return orjson.dumps(notes).decode()

    def _no_pack(self, run: ClaimedRun, step: ClaimedStep) -> Failure:
        registry = self._resources.registry
        installed = ", ".join(registry.versions(step.pack)) or "none"
        broken = registry.unloaded(step.pack)
        why = broken.message_for(step.pack) if broken else misfit(registry, run.pipeline, run.claim.steps, step)
        return Failure(
            FailureCode.SCHEMA_MISMATCH,
            why
            or f"Neither the pack {step.pack} {step.pack_version} nor a substitute version is installed (installed: "
            f"{installed}).",
            hint="Install it again, or resume with the current definition.",
        )

    def _session_for(self, run: ClaimedRun, step: ClaimedStep, value: Mapping[str, JSONValue]) -> PackSession | None:
        """Return the session the input names, if it belongs to this run, else the latest an earlier step left."""
        if SESSION_FIELD in value:
            named = value[SESSION_FIELD]
            session_id = next((session for session in run.sessions.values() if session == named), None)
        else:
            session_id = run.latest_session(step)
        if session_id is None:
            return None
        return PackSession(session_id, self._resources.sessions_folder / session_id)


def _attempt_id(step: ClaimedStep, run: ClaimedRun) -> str:
    """Return the id of a step's next attempt. The first reuses the step's id with another prefix."""
    return new_id("att") if run.numbers[step.key] else with_prefix("att", step.id)


def _with_sessions(run: ClaimedRun, compiled: CompiledStep) -> dict[str, JSONValue]:
    """Return the outputs with the session ids that the step's template reads."""
    outputs = dict(run.outputs)
    for key in compiled.session_reads:
        output, session = outputs.get(key), run.sessions.get(key)
        if isinstance(output, dict) and session is not None:
            outputs[key] = {**output, SESSION_FIELD: session}
    return outputs


def _no_session(step: ClaimedStep, named: JSONValue) -> Failure:
    return Failure(
        FailureCode.SESSION_UNAVAILABLE,
        f"The input of step {step.key} names the session {excerpt(repr(named), 80)}, which is not one of this run or "
        "has ended.",
        hint=f"Name that of an earlier step as `steps.<id>.output.{SESSION_FIELD}`, or leave `{SESSION_FIELD}` out.",
    )
