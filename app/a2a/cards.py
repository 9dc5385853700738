"""Agent cards: how to reach the server, and for signed-in callers one skill per pipeline. Imports `a2a`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from a2a.utils.constants import PROTOCOL_VERSION_0_3, PROTOCOL_VERSION_1_0, TransportProtocol

from app.a2a.mount import A2A_PATH
from store.states import Scope

if TYPE_CHECKING:
    from app.mcp.session import Session

#: The skill that lists, starts, inspects, resumes and cancels runs.
RUNS_SKILL: Final = "runs"
#: Most pipelines on a card.
SKILLS_MAX: Final = 500
_PAGE: Final = 100
_DATA: Final = "application/json"
_TEXT: Final = "text/plain"
_PIPELINES: Final = """query A2ASkills($first: Int, $after: Cursor) {
    pipelines(filter: {usable: true}, first: $first, after: $after, orderBy: NAME) {
        nodes { id key name description metadata { accepts produces exampleIntents typicalUse } }
        pageInfo { hasNextPage endCursor } } }"""


def public_card(base: str, version: str) -> AgentCard:
    """The card for everybody: names no pipeline, and says how to sign in."""
    url = f"{base}{A2A_PATH}"
    return AgentCard(
        name="Packline",
        description="Runs stored pipelines. Sign in with a bearer token to see them as skills.",
        version=version,
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding=binding, protocol_version=protocol)
            for protocol in (PROTOCOL_VERSION_1_0, PROTOCOL_VERSION_0_3)
            for binding in (TransportProtocol.JSONRPC.value, TransportProtocol.HTTP_JSON.value)
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True, extended_agent_card=True),
        security_schemes={
            "bearer": SecurityScheme(
                http_auth_security_scheme=HTTPAuthSecurityScheme(
                    scheme="bearer", description="A token of this server; `packline token create` makes one."
                )
            )
        },
        security_requirements=[SecurityRequirement(schemes={"bearer": StringList()})],
        default_input_modes=[_TEXT, _DATA],
        default_output_modes=[_DATA, _TEXT],
        skills=[_runs_skill()],
    )


async def extended_card(session: Session, base: str) -> AgentCard:
    """The card of a caller: also the pipelines that can run here, if the caller may start runs."""
    card = public_card(base, session.context.services.version)
    card.description = (
        "Runs stored pipelines. Send text to find the pipeline for a request, or a data part with the inputs of one "
        "and its id as `skill` in the message's metadata."
    )
    if session.caller.may(Scope.RUN) and session.caller.may(Scope.READ):
        card.skills.extend([_skill(pipeline) for pipeline in await _pipelines(session)])
    return card


async def _pipelines(session: Session) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after = None
    while len(found) < SKILLS_MAX:
        page = (await session.execute(_PIPELINES, {"first": _PAGE, "after": after}))["pipelines"]
        found += page["nodes"]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    return found


def _skill(pipeline: dict[str, Any]) -> AgentSkill:
    metadata = pipeline["metadata"]
    return AgentSkill(
        id=pipeline["id"],
        name=pipeline["name"],
        description=pipeline["description"] or metadata["typicalUse"] or pipeline["name"],
        tags=list(dict.fromkeys([pipeline["key"], *metadata["accepts"], *metadata["produces"]])),
        examples=metadata["exampleIntents"],
        input_modes=[_DATA, _TEXT],
        output_modes=[_DATA],
    )


def _runs_skill() -> AgentSkill:
    return AgentSkill(
        id=RUNS_SKILL,
        name="Runs",
        description="Lists, starts, inspects, resumes and cancels runs. Send a data part with `tool` (list_runs, "
        "run_pipeline, get_run, resume_run or cancel_run) and its `arguments`.",
        tags=["runs", "tasks"],
        examples=['{"skill": "runs", "tool": "list_runs", "arguments": {"limit": 5}}'],
        input_modes=[_DATA],
        output_modes=[_DATA],
    )
