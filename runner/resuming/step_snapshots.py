"""Snapshots of a run's steps and their packs: the input of a resume plan."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import orjson

from runner.definitions.step_inputs import SESSION_FIELD
from store.states import StepState

if TYPE_CHECKING:
    from runner.definitions.compiled import CompiledStep
    from runner.failures import JSONValue
    from runner.packs.pack import Effects, Pack
    from store.runs.unit_types import ClaimedStep

_SESSION_ID = re.compile(r"sess_[0-9A-HJKMNP-TV-Z]{26}")

#: Where a step's input comes from: its template, the step input of this resume, or that of an earlier one.
InputSource = Literal["definition", "given", "given_earlier"]


@dataclass(frozen=True, slots=True)
class StepSnapshot:
    """Snapshot of a step of a run.

    Attributes:
        key: Its id in the definition.
        position: Its place in the order, from 1.
        state: Its state.
        definition_digest: `runner.definitions.parsing.step_digest` of the step as it ran or would run.
        effects: External changes of its pack.
        installed: Whether a version of its pack that may run it is installed; otherwise it cannot repeat anything.
        repeatable: Whether its pack gives an equivalent result if run again.
        preserves_session: Whether its pack provides a session.
        takes_idempotency_key: Whether repeats with one key cause one external change.
        uses_session: Whether its pack works in the session of an earlier step.
        chooses_session: Whether its input has a `_session_id`; if not, it gets the last session provided before it.
        names_sessions: Steps whose session its template names.
        session_sources: All steps whose output is part of its `_session_id`, including `names_sessions`.
        given_session: The session that a changed input names.
        produced_session: The session it provided.
        used_sessions: The sessions it got.
        mentioned_sessions: Ids of all sessions in its output.
        mentioned_artifacts: Ids of all artifacts in its output, of any run.
        reads_inputs: Run inputs that its input template reads.
        reads_steps: Steps whose output its input template reads.
        takes_inputs: Whether the run's inputs are its input, as in a single pack call.
        input_source: Where its input comes from; a changed input reads nothing.
        earlier_input: The input that an earlier resume set.
    """

    key: str
    position: int
    state: StepState
    definition_digest: str
    effects: Effects
    repeatable: bool
    preserves_session: bool = False
    takes_idempotency_key: bool = False
    uses_session: bool = True
    chooses_session: bool = False
    names_sessions: frozenset[str] = frozenset()
    session_sources: frozenset[str] = frozenset()
    given_session: str | None = None
    installed: bool = True
    produced_session: str | None = None
    used_sessions: frozenset[str] = frozenset()
    mentioned_sessions: frozenset[str] = frozenset()
    mentioned_artifacts: frozenset[str] = frozenset()
    reads_inputs: frozenset[str] = frozenset()
    reads_steps: frozenset[str] = frozenset()
    takes_inputs: bool = False
    input_source: InputSource = "definition"
    earlier_input: JSONValue = None

    @classmethod
    def pending(cls, step: CompiledStep, pack: Pack | None, *, other: Pack | None = None) -> StepSnapshot:
        """Make the snapshot of a step that has not run.

        Args:
            step: The step.
            pack: The pack that runs it; None if it is not installed.
            other: An installed version of the pack that may not run it, whose effects are used then. Without one, the
                worst is assumed.
        """
        known = pack or other
        return cls(
            key=step.key,
            position=step.position,
            state=StepState.PENDING,
            definition_digest=step.digest,
            effects=known.effects if known else "external",
            installed=pack is not None,
            repeatable=pack.repeatable if pack else False,
            preserves_session=pack.preserves_session if pack else False,
            takes_idempotency_key=pack.takes_idempotency_key if pack else False,
            uses_session=pack.uses_session if pack else False,
            chooses_session=step.session is not None,
            names_sessions=step.session_reads,
            session_sources=step.session_sources,
            reads_inputs=step.reads_inputs,
            reads_steps=step.reads_steps,
            takes_inputs=step.template is None,
        )

    def with_state(self, row: ClaimedStep, state: StepState) -> StepSnapshot:
        """Return the snapshot with the step's state, sessions and changed input in a run."""
        return replace(
            self,
            position=row.position,
            state=state,
            produced_session=row.session_id,
            used_sessions=frozenset({row.session_used} if row.session_used else ()),
            mentioned_sessions=frozenset(_SESSION_ID.findall(row.output or "")),
            earlier_input=None if row.input_override is None else orjson.loads(row.input_override),
        )

    def with_input(self, value: JSONValue, source: InputSource) -> StepSnapshot:
        """Return the step with a changed input instead of its template's, so that it reads nothing else.

        It works in the session that its template names, unless the input names one.
        """
        changed = replace(
            self, input_source=source, reads_inputs=frozenset(), reads_steps=frozenset(), takes_inputs=False
        )
        if not isinstance(value, dict) or SESSION_FIELD not in value:
            return changed
        session = value[SESSION_FIELD]
        return replace(
            changed,
            chooses_session=True,
            given_session=None if session is None else str(session),
            names_sessions=frozenset(),
            session_sources=frozenset(),
        )

    def reads_any(self, inputs: frozenset[str]) -> bool:
        """Whether its input is made from any of these run inputs."""
        return bool(inputs) and (self.takes_inputs or not self.reads_inputs.isdisjoint(inputs))
