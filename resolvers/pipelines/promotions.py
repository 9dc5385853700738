"""Promotes runs: proposes a pipeline from a run, to review and save. Saves nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

import orjson

from catalog.promotion import PackCall, chain_of, definition_of, with_values
from resolvers.operations import operation
from resolvers.permissions import readable_run
from resolvers.pipelines.definitions import DefinitionText, check_pipeline
from resolvers.problems import Invalid, WrongState
from resolvers.tools import Parameter, Tool
from runner.definitions.background_compile import in_background_if_large
from runner.excerpts import excerpt
from runner.issues import argument_error
from runner.yaml_documents import dump_yaml
from store.pipelines.promotions import calls_before, find_calls
from store.pipelines.reads import find_bodies
from store.runs.reads import find_payloads
from store.states import RunState, Scope, predicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from resolvers.context import Context
    from resolvers.pipelines.definitions import DefinitionCheck
    from runner.failures import JSONValue
    from store.pipelines.promotions import CallRecord
    from store.runs.reads import RunRecord

#: Earlier pack calls of the caller that are searched for the origin of values.
CALLS_SEARCHED = 100
NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Promotion:
    """A proposed pipeline.

    Attributes:
        document: The definition; `yaml` is the same as text.
        check: The result of checking it.
        made_from: Ids of the source runs, in order.
    """

    document: dict[str, JSONValue]
    yaml: str
    check: DefinitionCheck
    made_from: tuple[str, ...]


@operation(
    "promote_run",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Make a pipeline from a run",
        description="Proposes a pipeline from a successful run, or from the chain of run_pack calls whose "
        "outputs led to it, with templated steps and declared inputs. Saves nothing: review it with "
        "the user, then call create_pipeline.",
        toolset="author",
        parameters={
            "id": Parameter(
                name="run_id", description="Id of a successful run. For a chain of pack calls, that of the last one."
            ),
        },
    ),
)
async def promote_run(
    context: Context, *, id: str, include: Sequence[str] | None = None, name: str | None = None
) -> Promotion:
    """Propose a definition that repeats a run, or for a pack call the chain of calls that led to it.

    Raises:
        NotFound: The run does not exist.
        WrongState: The run did not succeed.
        Invalid: A run to include is not a successful pack call, or the name is empty or too long.
    """
    run = await readable_run(context, id)
    if run.state is not RunState.SUCCEEDED:
        raise WrongState(
            f"Run {id} {predicate(run.state)}; only a run that succeeded can become a pipeline.",
            id,
            hint="Resume it or run it again first.",
        )
    if name is not None and not 0 < len(name.strip()) <= NAME_CHARACTERS:
        message = f"The name must have 1 to {NAME_CHARACTERS} characters."
        raise Invalid([argument_error("name", "bad_length", message)])
    if run.pack is None:
        document, made_from = await _of_pipeline(context, run, name), [run.id]
    else:
        calls = await _chain(context, run, include)
        made_from = [call.run_id for call in calls]
        document = definition_of(
            [await _call(context, call) for call in calls],
            name=name or excerpt(" then ".join(_verb(call.pack) for call in calls).capitalize(), NAME_CHARACTERS),
            description=f"Made from {len(calls)} pack call{'s' if len(calls) > 1 else ''}.",
        )
    check = await check_pipeline(context, definition=DefinitionText(document=document))
    yaml = await in_background_if_large(context.caller.id, partial(dump_yaml, document), document)
    return Promotion(document, yaml, check, tuple(made_from))


async def _of_pipeline(context: Context, run: RunRecord, name: str | None) -> dict[str, JSONValue]:
    """Return the definition a run executed without its key, with the run's inputs as defaults."""
    assert run.version_id is not None, "a run of a pipeline has a version"
    body = (await find_bodies(context.services.store, [run.version_id]))[run.version_id]
    payload = (await find_payloads(context.services.store, [run.id]))[run.id]
    document: dict[str, JSONValue] = orjson.loads(body.document)
    document.pop("key", None)
    # A run without a title has its pipeline's name, which says nothing here.
    known = run.id if run.title == document["name"] else run.title
    document["name"] = name or excerpt(f"{document['name']}, as in {known}", NAME_CHARACTERS)
    schema: dict[str, JSONValue] = orjson.loads(body.input_schema)
    given = _masked(context, orjson.loads(payload.inputs))
    document["inputs"] = with_values(schema, given)
    return document


async def _chain(context: Context, run: RunRecord, include: Sequence[str] | None) -> list[CallRecord]:
    store = context.services.store
    if include is None:
        last = (await find_calls(store, [run.id]))[run.id]
        before = await calls_before(store, run.caller_id, run.id, limit=CALLS_SEARCHED)
        found = chain_of(await _call(context, last), [await _call(context, call) for call in before])
        by_id = {call.run_id: call for call in (last, *before)}
        return [by_id[call.run_id] for call in found][-context.services.limits.steps :]
    calls = await find_calls(store, [run.id, *include])
    by_id = {key: call for key, call in calls.items() if call.caller_id == run.caller_id}
    missing = [run_id for run_id in include if run_id not in by_id]
    if missing:
        message = f"{missing[0]} is not a successful pack call by the caller of {run.id}."
        raise Invalid([argument_error("include", "not_a_call", message)])
    return sorted(by_id.values(), key=lambda call: (call.run_id == run.id, call.created_at, call.run_id))


async def _call(context: Context, record: CallRecord) -> PackCall:
    found = context.services.registry.find(record.pack, record.pack_version)
    found = found or context.services.registry.find(record.pack)
    given = _masked(context, orjson.loads(record.input))
    schema = found.input_schema if found is not None else {}
    return PackCall(record.run_id, record.pack, given, orjson.loads(record.output), schema)


def _masked(context: Context, inputs: JSONValue) -> dict[str, JSONValue]:
    """Leave out inputs with secrets, since everybody can read a definition."""
    assert isinstance(inputs, dict), "inputs are an object"
    redactor = context.services.redactor
    return cast("dict[str, JSONValue]", {key: value for key, value in inputs.items() if redactor.value(value) == value})


def _verb(pack: str) -> str:
    area, _, verb = pack.rpartition(".")
    return f"{verb.replace('_', ' ')} {area.rpartition('.')[2].replace('_', ' ')}".strip()
