"""Finds the pack that runs a step of a recorded run: the version resolved at start, or a substitute.

Another version of the same major is a substitute if the definition does not fix the version and no later step provably
reads a field that its output lacks or has with another type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.agents.pack import agent_pack
from runner.agents.profiles import Selection
from runner.definitions.data_flow import destination, mismatch
from runner.definitions.step_inputs import SESSION_FIELD
from runner.packs.schemas import pack_schemas
from runner.schemas.shapes import ABSENT, OPEN, field_schema, fits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.agents.profiles import Agents
    from runner.definitions.compiled import CompiledPipeline, CompiledStep
    from runner.packs.pack import Pack
    from runner.packs.registry import LoadError, Registry
    from runner.templates.references import Reference
    from store.runs.unit_types import ClaimedStep


def find_pack(
    registry: Registry,
    pipeline: CompiledPipeline,
    steps: Sequence[ClaimedStep],
    step: ClaimedStep,
    agents: Agents | None = None,
) -> Pack | None:
    """Find the pack that runs a step; for an agent step, with the profile and model selected at start.

    Args:
        registry: The installed packs.
        pipeline: The run's definition.
        steps: The run's steps, with their resolved versions.
        step: One of them.
        agents: The declared profiles.
    """
    agent = pipeline.step(step.key).agent
    if agent is not None:
        selection = Selection.parse(step.pack_version)
        profile = None if agents is None else agents.profiles.get(selection.profile)
        return agent_pack(agent, selection, None if profile is None else profile.timeout_seconds)
    pack = registry.find(step.pack, step.pack_version)
    if pack is not None:
        return pack
    other = _same_major(registry, pipeline, step)
    return other if other is not None and misfit(registry, pipeline, steps, step) is None else None


def misfit(
    registry: Registry, pipeline: CompiledPipeline, steps: Sequence[ClaimedStep], step: ClaimedStep
) -> str | None:
    """Return why a step's substitute version does not fit; None if it fits or there is none."""
    other = _same_major(registry, pipeline, step)
    if other is None:
        return None
    rows = {row.key: row for row in steps}
    for later in pipeline.steps:
        for reference in later.template.references if later.template is not None else ():
            if reference.source_step != step.key or reference.source_path == (SESSION_FIELD,):
                continue
            row = rows.get(later.key)
            consumer = None if row is None else _consumer(registry, later, row)
            if (reason := _reference_misfit(reference, other, later, consumer)) is not None:
                return (
                    f"{other.name} {other.version} is installed in place of {step.pack_version}, "
                    f"but its output does not fit the step `{later.key}`: {reason}"
                )
    return None


class SubstitutePacks:
    """Packs for a check of a recorded run's definition: for each step the one that would run it.

    Args:
        registry: The installed packs.
        pipeline: The run's definition.
        steps: The run's steps, with their resolved versions.
    """

    def __init__(self, registry: Registry, pipeline: CompiledPipeline, steps: Sequence[ClaimedStep]) -> None:
        self._registry = registry
        self._packs = {(row.pack, pipeline.step(row.key).version): _recorded(registry, row) for row in steps}

    def find(self, name: str, version: str | None) -> Pack | None:
        """Find the pack for steps with this name and version."""
        return self._packs.get((name, version))

    def names(self) -> Sequence[str]:
        """List the names of all packs."""
        return self._registry.names()

    def versions(self, name: str) -> Sequence[str]:
        """List the installed versions of a pack, newest first."""
        return self._registry.versions(name)

    def unloaded(self, name: str) -> LoadError | None:
        """Find the error of a pack that failed to load."""
        return self._registry.unloaded(name)


def _same_major(registry: Registry, pipeline: CompiledPipeline, step: ClaimedStep) -> Pack | None:
    """Find the newest installed version of a step's major; None if the definition fixes the version."""
    compiled = pipeline.step(step.key)
    if compiled.template is not None and compiled.version is not None and not compiled.version.isdecimal():
        return None
    return registry.find(step.pack, step.pack_version.split(".", 1)[0])


def _consumer(registry: Registry, step: CompiledStep, row: ClaimedStep) -> Pack | None:
    """Find the pack of a step that reads an earlier output, even if it does not fit itself."""
    if step.agent is not None:
        return agent_pack(step.agent)
    return _recorded(registry, row)


def _recorded(registry: Registry, row: ClaimedStep) -> Pack | None:
    """Find the version a step was resolved to, or the newest of its major."""
    return registry.find(row.pack, row.pack_version) or registry.find(row.pack, row.pack_version.split(".", 1)[0])


def _reference_misfit(reference: Reference, producer: Pack, step: CompiledStep, consumer: Pack | None) -> str | None:
    """Return why the value of a reference does not fit its destination, as a sentence."""
    field = field_schema(pack_schemas(producer).output, reference.source_path, stands_alone=True)
    if field is ABSENT:
        if reference.optional or reference.has_default:
            return None
        return f"{reference.expression}: it has no field `{reference.source_text}`."
    if field is OPEN or consumer is None or not reference.whole or step.template is None:
        return None
    to = destination(reference, step.template.skeleton(None), consumer)
    if to is None or fits(field, to.schema, stand_alone=True) != "no":
        return None
    return mismatch(reference, field, to)
