"""What to run for a request, with suggested inputs and reasons. Never runs anything."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import orjson
import structlog

from catalog.routing.facts import read_facts
from catalog.routing.gaps import GapWarning, describe_gap
from catalog.routing.inputs import SuggestedInputs, suggest_inputs
from catalog.routing.model import ModelRoute, instructions, problems_of, question, repair
from catalog.routing.practice import offered
from catalog.routing.ranking import MAX_ALTERNATIVES, rank
from catalog.routing.reasons import reason_of, reasoning_of
from resolvers.catalog.catalog import UNUSABLE_SHARE, catalog_entries
from resolvers.operations import operation
from resolvers.pipelines.lookups import lacks_of
from resolvers.problems import Invalid
from resolvers.tools import Parameter, Tool
from runner.failures import PackError
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
#: Longest a routing model may take before the answer by words is given instead.
MODEL_SECONDS = 30.0
LEXICAL = "lexical"
#: What is told of requests that lack nothing but a wish.
NOTHING_SAID = "The request does not say what is wanted. Say what you have and what you want: “slides from this PDF”."
NOTHING_BEFORE = "You have run nothing lately that could be done again. Say what is wanted."
ROLE = "router"

RouteKind = Literal["pipeline", "pack", "none"]


#: Where nothing fits, what may fit after all is told from this chance on; less would be read as advice.
_NEAR_ENOUGH = 0.05


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The best answer.

    Attributes:
        id: Of the pipeline or pack; None when nothing fits.
        confidence: How likely it is right, 0 to 1; of a gap, how likely nothing fits.
        lacks: What it needs and cannot have here; empty when it can run.
    """

    kind: RouteKind
    id: str | None
    inputs: SuggestedInputs
    why: str
    confidence: float
    lacks: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another answer, filled in like the best one."""

    kind: Literal["pipeline", "pack"]
    id: str
    inputs: SuggestedInputs
    why: str
    confidence: float
    lacks: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Routed:
    """What to run for a request.

    Attributes:
        decided_by: `lexical`, or the model that chose.
    """

    recommendation: Recommendation
    alternatives: tuple[Alternative, ...]
    gap: GapWarning | None
    reasoning: str
    decided_by: str


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request with all that is known about it.

    Attributes:
        defaults: The caller's, by id of pack or pipeline.
        history: How often the caller used what.
        lacks: What the nearest entries need and cannot have here, by id.
    """

    request: str
    at_hand: JSONValue
    facts: Facts
    catalog: CompiledCatalog
    ranking: Ranking[Found]
    defaults: Mapping[str, Mapping[str, str]]
    history: Mapping[str, int]
    lacks: Mapping[str, tuple[Requirement, ...]]


@operation(
    "route_request",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Find what to run for a request",
        description="Says which pipeline or pack serves a request, with inputs filled in, what is still missing, and "
        "why; or which capability is missing. Runs nothing: confirm with the user, then run_pipeline or run_pack.",
        open_world=True,
        parameters={
            "context": Parameter(
                description="What is at hand: {inputs: {name: value}, files: [{name, media_type, id}], artifacts: […], "
                "runs: [{pipeline}]}; other fields are read as text."
            )
        },
    ),
)
async def route_request(context: Context, *, user_intent: str, at_hand: JSONValue = None) -> Routed:
    """What to run for a request.

    Raises:
        Invalid: the request is empty or too long, or holds what no text may.
    """
    return await find_route(context, user_intent, at_hand, context.services.engine.resources.gateway.attempt())


async def find_route(context: Context, user_intent: str, at_hand: JSONValue, models: Models) -> Routed:
    """The same for whoever has checked what the caller may.

    Args:
        context: Whose defaults and history count.
        user_intent: What is wanted.
        at_hand: What is at hand.
        models: Whom to ask when one of them can route.

    Raises:
        Invalid: the request is empty or too long, or holds what no text may.
    """
    refuse_bad_request(user_intent, at_hand)
    asked = await _asked(context, user_intent, at_hand)
    if context.services.engine.resources.gateway.missing(ROLE) is None:
        try:
            async with asyncio.timeout(MODEL_SECONDS):
                answer, model, problems = await _ask_model(models, asked)
        except (PackError, TimeoutError) as failed:
            log.info("routing fell back to words", reason=str(failed) or type(failed).__name__)
            return _by_words(asked, f"No routing model answered ({_told(failed)}), so words and facts decided.")
        if not problems:
            named = [answer.id, *(other.id for other in answer.alternatives)]
            refs = [asked.catalog.by_id[name].ref for name in named if name is not None]
            return _by_model(replace(asked, lacks=await _lacks(context, refs)), answer, model)
        return _by_words(asked, f"The answer of {model} could not be used ({problems[0]}), so words and facts decided.")
    return _by_words(asked, "Matched by keywords only: no routing model is set up.")


def refuse_bad_request(user_intent: str, at_hand: JSONValue) -> None:
    """Refuses a request that cannot be routed.

    Raises:
        Invalid: saying what is wrong with it.
    """
    issues = [issue.under_argument("user_intent") for issue in forbidden_text(user_intent)]
    if not user_intent.strip():
        issues.append(
            argument_error("user_intent", "required", "The request is empty.", "Say in a sentence what is wanted.")
        )
    if len(user_intent) > MAX_REQUEST:
        issues.append(
            argument_error(
                "user_intent",
                "too_long",
                f"The request has {len(user_intent)} characters; at most {MAX_REQUEST} are read.",
                "Say what is wanted in a few sentences, and hand texts over as inputs or artifacts.",
            )
        )
    issues += [issue.under_argument("context") for issue in forbidden_text(at_hand)]
    if not issues and at_hand is not None and (size := len(orjson.dumps(at_hand))) > MAX_CONTEXT:
        issues.append(
            argument_error(
                "context",
                "too_long",
                f"The context has {size} bytes; at most {MAX_CONTEXT} are read.",
                "Name files and artifacts rather than their content.",
            )
        )
    if issues:
        raise Invalid(issues)


async def _asked(context: Context, request: str, at_hand: JSONValue) -> _Asked:
    services = context.services
    facts = read_facts(request, at_hand)
    on_offer = offered(await catalog_entries(context), request, facts.targets)
    catalog = await services.routing.read(services.store, on_offer)
    known = await services.defaults.of(context.caller.id)
    # What is not on offer, or no longer there, cannot be done again.
    history = {
        entry.target: entry.uses for entry in known.entries.values() if entry.uses and entry.target in catalog.by_id
    }
    defaults = {
        entry.target: {name: value.value for name, value in entry.common_inputs.items() if value.value is not None}
        for entry in known.entries.values()
    }
    ranking = rank(catalog.index, facts, history)
    lacks = await _lacks(context, [choice.entry.ref for choice in ranking.choices])
    return _Asked(request, at_hand, facts, catalog, ranking, defaults, history, lacks)


async def _lacks(context: Context, found: Sequence[Found]) -> dict[str, tuple[Requirement, ...]]:
    """What entries need and cannot have here, by id; those that can run are not in it."""
    pipelines = [ref for ref in found if isinstance(ref, PipelineRecord)]
    missing = await lacks_of(context, pipelines) if pipelines else {}
    for ref in found:
        if isinstance(ref, Pack):
            missing[ref.name] = pack_requirements(ref, lacks=context.lacks())
    return {name: tuple(lacks) for name, lacks in missing.items() if lacks}


async def _ask_model(models: Models, asked: _Asked) -> tuple[ModelRoute, str, list[str]]:
    """A model's answer, mended once when it cannot be used, with its name and what is still wrong with it."""
    told = instructions(asked.catalog.index.entries)
    prompt = question(asked.request, asked.at_hand, asked.facts, asked.ranking, asked.defaults)
    answered = await models.structured(ROLE, ModelRoute, prompt, instructions=told, temperature=0.0)
    problems = problems_of(answered.value, asked.catalog.by_id)
    if problems:
        again = repair(prompt, answered.value, problems)
        answered = await models.structured(ROLE, ModelRoute, again, instructions=told, temperature=0.0)
        problems = problems_of(answered.value, asked.catalog.by_id)
    return answered.value, answered.model, problems


def _by_words(asked: _Asked, how: str) -> Routed:
    ranking = asked.ranking
    reasoning = reasoning_of(asked.catalog.index, ranking, asked.facts, how)
    if ranking.is_gap and ranking.reading.says_nothing and not asked.facts.facts:
        why = NOTHING_BEFORE if ranking.reading.repeats else NOTHING_SAID
        return Routed(Recommendation("none", None, SuggestedInputs((), ()), why, 1.0), (), None, how, LEXICAL)
    if ranking.is_gap or not ranking.choices:
        gap = describe_gap(asked.request, asked.facts, ranking.reading, [choice.entry for choice in ranking.choices])
        recommendation = Recommendation(
            "none", None, SuggestedInputs((), ()), gap.missing_capability, round(1 - ranking.served, 3)
        )
        near = [choice for choice in ranking.choices if choice.confidence >= _NEAR_ENOUGH]
        return Routed(recommendation, _alternatives(asked, near), gap, reasoning, LEXICAL)
    best, *others = _usable_first(ranking.choices, asked.lacks)
    recommendation = Recommendation(
        best.entry.kind,
        best.entry.id,
        _inputs(asked, best.entry.id),
        _why(asked, best),
        best.confidence,
        asked.lacks.get(best.entry.id, ()),
    )
    return Routed(recommendation, _alternatives(asked, others), None, reasoning, LEXICAL)


def _usable_first(choices: Sequence[Choice[Found]], lacks: Collection[str]) -> list[Choice[Found]]:
    """The same, where a best one that cannot run here goes after the first that can and fits nearly as well."""
    best, *others = choices
    if best.entry.id in lacks:
        for other in others:
            if other.entry.id not in lacks and other.likely >= UNUSABLE_SHARE * best.likely:
                first = replace(other, confidence=best.confidence)
                then = replace(best, confidence=other.confidence)
                return [first, then, *(choice for choice in others if choice is not other)]
    return [*choices]


def _by_model(asked: _Asked, answer: ModelRoute, model: str) -> Routed:
    alternatives = tuple(
        Alternative(
            other.kind,
            other.id,
            _inputs(asked, other.id),
            other.why,
            other.confidence,
            asked.lacks.get(other.id, ()),
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
            _inputs(asked, answer.id, proposed),
            answer.why,
            answer.confidence,
            asked.lacks.get(answer.id, ()),
        )
    return Routed(
        recommendation,
        alternatives[:MAX_ALTERNATIVES],
        answer.gap,
        f"{model} chose among {len(asked.catalog.by_id)} entries; ids and inputs were checked.",
        model,
    )


def _inputs(asked: _Asked, target: str, proposed: Mapping[str, JSONValue] | None = None) -> SuggestedInputs:
    schema = asked.catalog.by_id[target].input_schema
    return suggest_inputs(schema, asked.request, asked.facts, asked.defaults.get(target, {}), proposed)


def _alternatives(asked: _Asked, choices: Sequence[Choice[Found]]) -> tuple[Alternative, ...]:
    return tuple(
        Alternative(
            choice.entry.kind,
            choice.entry.id,
            _inputs(asked, choice.entry.id),
            _why(asked, choice),
            choice.confidence,
            asked.lacks.get(choice.entry.id, ()),
        )
        for choice in choices[:MAX_ALTERNATIVES]
    )


def _why(asked: _Asked, choice: Choice[Found]) -> str:
    return reason_of(
        asked.catalog.index,
        choice,
        asked.facts,
        asked.ranking.reading,
        uses=asked.history.get(choice.entry.id, 0),
    )


def _told(failed: Exception) -> str:
    return failed.failure.message if isinstance(failed, PackError) else f"none within {MODEL_SECONDS:g} s"
