"""Routing: recommends what to run for a request, with suggested inputs and reasons. Never runs anything."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import orjson
import structlog

from catalog.routing.facts import read_facts
from catalog.routing.gaps import MAX_NAME, GapWarning, describe_gaps
from catalog.routing.inputs import SuggestedInputs, suggest_inputs
from catalog.routing.model import ModelRoute, instructions, problems_of, repair_prompt, request_prompt
from catalog.routing.practice import offered
from catalog.routing.ranking import MAX_ALTERNATIVES
from catalog.routing.reasons import reason_of, reasoning_of
from catalog.routing.request_parts import rank_request
from resolvers.catalog.catalog import UNUSABLE_SHARE, catalog_entries
from resolvers.operations import operation
from resolvers.pipelines.lookups import lacks_of
from resolvers.problems import Invalid
from resolvers.tools import Parameter, Tool
from runner.excerpts import excerpt
from runner.failures import PackError
from runner.gateway.budgets import Budget
from runner.issues import argument_error
from runner.json_values import forbidden_text
from runner.packs.availability import pack_requirements
from runner.packs.pack import Pack
from store.pipelines.reads import PipelineRecord
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from catalog.routing.facts import Facts
    from catalog.routing.ranking import Choice, Ranking
    from catalog.routing.request_parts import RequestPart
    from resolvers.catalog.catalog import Found
    from resolvers.catalog.compiled_catalog import CompiledCatalog
    from resolvers.context import Context
    from runner.failures import JSONValue
    from runner.packs.availability import Requirement
    from runner.packs.models import Models

log = structlog.get_logger(__name__)

#: Longest request, and longest context as JSON, in characters.
MAX_REQUEST = 20_000
MAX_CONTEXT = 100_000
#: How long a routing model may take before words decide instead.
MODEL_SECONDS = 30.0
LEXICAL = "lexical"
#: Answers to a request that names no goal, and to a request to repeat something when there is nothing to repeat.
NOTHING_SAID = "The request does not say what you want. Say what you have and what you want: “slides from this PDF”."
NOTHING_BEFORE = "You have no recent run to repeat. Say what you want."
ROLE = "router"

RouteKind = Literal["pipeline", "pack", "none"]

#: Lowest confidence of alternatives to a gap; a lower one would still be read as advice.
_MIN_CONFIDENCE = 0.05


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The best match.

    Attributes:
        id: Id of the pipeline or pack; None if nothing fits.
        confidence: Probability that it is right, 0 to 1; for a gap, that nothing fits.
        lacks: What it needs and lacks on this server; empty if it can run.
    """

    kind: RouteKind
    id: str | None
    inputs: SuggestedInputs
    why: str
    confidence: float
    lacks: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another match, with suggested inputs."""

    kind: Literal["pipeline", "pack"]
    id: str
    inputs: SuggestedInputs
    why: str
    confidence: float
    lacks: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Routed:
    """The result of routing.

    Attributes:
        gaps: What the catalog lacks for the request, one for each missing capability.
        decided_by: `lexical`, or the model that chose.
    """

    recommendation: Recommendation
    alternatives: tuple[Alternative, ...]
    gaps: tuple[GapWarning, ...]
    reasoning: str
    decided_by: str


@dataclass(frozen=True, slots=True)
class _Request:
    """A request with everything known about it.

    Attributes:
        context: What the caller has: inputs, files, artifacts, runs.
        missing: What nothing in the catalog serves, found by words.
        also_served: Parts that other entries serve than the best of `ranking`.
        defaults: The caller's defaults, by id of pack or pipeline.
        history: How often the caller used each pack or pipeline, by id.
        lacks: What the best matches need and lack on this server, by id.
    """

    text: str
    context: JSONValue
    facts: Facts
    catalog: CompiledCatalog
    ranking: Ranking[Found]
    missing: tuple[RequestPart[Found], ...]
    also_served: tuple[RequestPart[Found], ...]
    defaults: Mapping[str, Mapping[str, str]]
    history: Mapping[str, int]
    lacks: Mapping[str, tuple[Requirement, ...]]


@operation(
    "route_request",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Find what to run for a request",
        description="Recommends a pipeline or pack for a request, with suggested inputs, missing inputs and the "
        "reason, and names each missing capability. Runs nothing: confirm with the user, then call "
        "run_pipeline or run_pack.",
        open_world=True,
        parameters={
            "context": Parameter(
                description="Available material: {inputs: {name: value}, files: [{name, media_type, id}], "
                "artifacts: […], runs: [{pipeline}]}; other fields are read as text."
            )
        },
    ),
)
async def route_request(context: Context, *, user_intent: str, request_context: JSONValue = None) -> Routed:
    """Recommend what to run for a request.

    Raises:
        Invalid: The request is empty or too long, or has forbidden characters.
    """
    services = context.services
    budget = Budget(services.store, services.limits.budgets, context.caller.id)
    models = services.engine.resources.gateway.attempt(budget=budget)
    return await find_route(context, user_intent, request_context, models)


async def find_route(context: Context, user_intent: str, request_context: JSONValue, models: Models) -> Routed:
    """Route a request without a check of the scope; for surfaces that have checked it.

    Args:
        context: The caller's, whose defaults and history count.
        user_intent: The request.
        request_context: What the caller has: inputs, files, artifacts, runs.
        models: The models to ask, if one can route.

    Raises:
        Invalid: The request is empty or too long, or has forbidden characters.
    """
    refuse_bad_request(user_intent, request_context)
    request = await _read_request(context, user_intent, request_context)
    if context.services.engine.resources.gateway.missing(ROLE) is None:
        try:
            async with asyncio.timeout(MODEL_SECONDS):
                answer, model, problems = await _ask_model(models, request)
        except (PackError, TimeoutError) as failed:
            log.info("routing fell back to words", reason=str(failed) or type(failed).__name__)
            return _by_words(request, f"No routing model answered ({_reason(failed)}), so words and facts decided.")
        if not problems:
            named = [answer.id, *(other.id for other in answer.alternatives)]
            refs = [request.catalog.by_id[name].ref for name in named if name is not None]
            return _by_model(replace(request, lacks=await _lacks(context, refs)), answer, model)
        return _by_words(
            request, f"The answer of {model} could not be used ({problems[0]}), so words and facts decided."
        )
    return _by_words(request, "Matched by keywords only: no routing model is set up.")


def refuse_bad_request(user_intent: str, request_context: JSONValue) -> None:
    """Refuse a request that cannot be routed.

    Raises:
        Invalid: With all its issues.
    """
    issues = [issue.under_argument("user_intent") for issue in forbidden_text(user_intent)]
    if not user_intent.strip():
        issues.append(
            argument_error("user_intent", "required", "The request is empty.", "Say in a sentence what you want.")
        )
    if len(user_intent) > MAX_REQUEST:
        issues.append(
            argument_error(
                "user_intent",
                "too_long",
                f"The request has {len(user_intent)} characters; the limit is {MAX_REQUEST}.",
                "Say what you want in a few sentences, and pass texts as inputs or artifacts.",
            )
        )
    issues += [issue.under_argument("context") for issue in forbidden_text(request_context)]
    if not issues and request_context is not None and (size := len(orjson.dumps(request_context))) > MAX_CONTEXT:
        issues.append(
            argument_error(
                "context",
                "too_long",
                f"The context has {size} bytes; the limit is {MAX_CONTEXT}.",
                "Name files and artifacts instead of sending their content.",
            )
        )
    if issues:
        raise Invalid(issues)


async def _read_request(context: Context, text: str, request_context: JSONValue) -> _Request:
    services = context.services
    facts = read_facts(text, request_context)
    entries = offered(await catalog_entries(context), text, facts.targets)
    catalog = await services.routing.read(services.store, entries)
    known = await services.defaults.of(context.caller.id)
    # Entries that are hidden or deleted cannot be repeated.
    history = {
        entry.target: entry.uses for entry in known.entries.values() if entry.uses and entry.target in catalog.by_id
    }
    defaults = {
        entry.target: {name: value.value for name, value in entry.common_inputs.items() if value.value is not None}
        for entry in known.entries.values()
    }
    ranked = rank_request(catalog.index, text, request_context, history)
    rankings = (ranked.ranking, *(part.ranking for part in ranked.also_served))
    lacks = await _lacks(context, [choice.entry.ref for ranking in rankings for choice in ranking.choices])
    return _Request(
        text,
        request_context,
        ranked.facts,
        catalog,
        ranked.ranking,
        ranked.missing,
        ranked.also_served,
        defaults,
        history,
        lacks,
    )


async def _lacks(context: Context, found: Sequence[Found]) -> dict[str, tuple[Requirement, ...]]:
    """Return what entries need and lack on this server, by id; without those that can run."""
    pipelines = [ref for ref in found if isinstance(ref, PipelineRecord)]
    missing = await lacks_of(context, pipelines) if pipelines else {}
    for ref in found:
        if isinstance(ref, Pack):
            missing[ref.name] = pack_requirements(ref, check=context.requirement_check())
    return {name: tuple(lacks) for name, lacks in missing.items() if lacks}


async def _ask_model(models: Models, request: _Request) -> tuple[ModelRoute, str, list[str]]:
    """Ask a model, once more if its answer has problems; returns the answer, the model, and the problems left."""
    system = instructions(request.catalog.index.entries)
    prompt = request_prompt(request.text, request.context, request.facts, request.ranking, request.defaults)
    answered = await models.structured(ROLE, ModelRoute, prompt, instructions=system, temperature=0.0)
    problems = problems_of(answered.value, request.catalog.by_id)
    if problems:
        again = repair_prompt(prompt, answered.value, problems)
        answered = await models.structured(ROLE, ModelRoute, again, instructions=system, temperature=0.0)
        problems = problems_of(answered.value, request.catalog.by_id)
    return answered.value, answered.model, problems


def _by_words(request: _Request, how: str) -> Routed:
    ranking = request.ranking
    reasoning = reasoning_of(request.catalog.index, ranking, request.facts, how)
    if ranking.is_gap and ranking.signals.says_nothing and not request.facts.facts:
        why = NOTHING_BEFORE if ranking.signals.repeats else NOTHING_SAID
        return Routed(Recommendation("none", None, SuggestedInputs((), ()), why, 1.0), (), (), how, LEXICAL)
    gaps = describe_gaps(request.missing)
    if ranking.is_gap or not ranking.choices:
        named = ", ".join(f"“{gap.missing_capability}”" for gap in gaps)
        why = f"Nothing here can do this: {named}."
        recommendation = Recommendation("none", None, SuggestedInputs((), ()), why, round(1 - ranking.served, 3))
        near = [choice for choice in ranking.choices if choice.confidence >= _MIN_CONFIDENCE]
        return Routed(recommendation, _alternatives(request, near), gaps, reasoning, LEXICAL)
    best, *others = _usable_first(ranking.choices, request.lacks)
    recommendation = Recommendation(
        best.entry.kind,
        best.entry.id,
        _inputs(request, best.entry.id),
        _why(request, best),
        best.confidence,
        request.lacks.get(best.entry.id, ()),
    )
    further = {answer.id: answer for answer in _for_further_parts(request) if answer.id != best.entry.id}
    rest = _alternatives(request, [other for other in others if other.entry.id not in further])
    alternatives = (*further.values(), *rest)[:MAX_ALTERNATIVES]
    return Routed(recommendation, alternatives, gaps, reasoning, LEXICAL)


def _for_further_parts(request: _Request) -> list[Alternative]:
    """Return the best answer for each further part that the catalog serves; `why` names the part."""
    found: list[Alternative] = []
    for part in request.also_served:
        best = _usable_first(part.ranking.choices, request.lacks)[0]
        asked = replace(request, text=part.text, facts=part.facts, ranking=part.ranking)
        (answer,) = _alternatives(asked, [best])
        found.append(replace(answer, why=f"For “{excerpt(part.text, MAX_NAME)}”: {answer.why}"))
    return found


def _usable_first(choices: Sequence[Choice[Found]], lacks: Collection[str]) -> list[Choice[Found]]:
    """Move a best choice that cannot run on this server behind the first that can and fits nearly as well."""
    best, *others = choices
    if best.entry.id in lacks:
        for other in others:
            if other.entry.id not in lacks and other.likely >= UNUSABLE_SHARE * best.likely:
                first = replace(other, confidence=best.confidence)
                then = replace(best, confidence=other.confidence)
                return [first, then, *(choice for choice in others if choice is not other)]
    return [*choices]


def _by_model(request: _Request, answer: ModelRoute, model: str) -> Routed:
    alternatives = tuple(
        Alternative(
            other.kind,
            other.id,
            _inputs(request, other.id),
            other.why,
            other.confidence,
            request.lacks.get(other.id, ()),
        )
        for other in answer.alternatives
        if other.id != answer.id
    )
    if answer.id is None or answer.kind == "none":
        recommendation = Recommendation("none", None, SuggestedInputs((), ()), answer.why, answer.confidence)
    else:
        proposed = {found.name: found.value for found in answer.inputs}
        recommendation = Recommendation(
            answer.kind,
            answer.id,
            _inputs(request, answer.id, proposed),
            answer.why,
            answer.confidence,
            request.lacks.get(answer.id, ()),
        )
    return Routed(
        recommendation,
        alternatives[:MAX_ALTERNATIVES],
        tuple(answer.gaps),
        f"{model} chose among {len(request.catalog.by_id)} entries; ids and inputs were checked.",
        model,
    )


def _inputs(request: _Request, target: str, proposed: Mapping[str, JSONValue] | None = None) -> SuggestedInputs:
    schema = request.catalog.by_id[target].input_schema
    return suggest_inputs(schema, request.text, request.facts, request.defaults.get(target, {}), proposed)


def _alternatives(request: _Request, choices: Sequence[Choice[Found]]) -> tuple[Alternative, ...]:
    return tuple(
        Alternative(
            choice.entry.kind,
            choice.entry.id,
            _inputs(request, choice.entry.id),
            _why(request, choice),
            choice.confidence,
            request.lacks.get(choice.entry.id, ()),
        )
        for choice in choices[:MAX_ALTERNATIVES]
    )


def _why(request: _Request, choice: Choice[Found]) -> str:
    return reason_of(
        request.catalog.index,
        choice,
        request.facts,
        request.ranking.signals,
        uses=request.history.get(choice.entry.id, 0),
    )


def _reason(failed: Exception) -> str:
    return failed.failure.message if isinstance(failed, PackError) else f"none within {MODEL_SECONDS:g} s"
