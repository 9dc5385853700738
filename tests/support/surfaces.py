"""Operations by name, through a transport: what a contract suite calls, so that it need not know GraphQL from MCP.

speaker = GraphQLSurface(product, token)
run = (await speaker.call("run_pipeline", pipeline="deck", waitSeconds=10))["run"]
with pytest.raises(Refused) as refused:
    await speaker.call("cancel_run", id="run_…")
assert refused.value.code == "NOT_FOUND"

A further transport is one more class of the `Surface` protocol, as in `tests.support.mcp_surface`. Arguments go by the
names the API gives them; an operation answers with the fields `ANSWERS` lists, whatever carries them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from graphql import GraphQLObjectType, GraphQLSchema, GraphQLUnionType, build_schema, get_named_type

from tests.support.graphql_client import GraphQLSocket

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.support.product import Product

F = TypeVar("F", bound="Callable[..., object]")

_SDL = Path(__file__).parents[2] / "schema" / "schema.graphql"

_ISSUES = "path rule severity message"
RUN_FIELDS = """id title state cause progress resumeCount acknowledgedAt endedAt inputs actions
    failure { code class message cause hint remedy } wait { reason message } output { json }
    caller { subject } pipeline { key } pack { name } version { number } rerunOf { id }
    steps { key state warnings output { json } artifacts { id name }
        attempts {
            id number state notes output { json } failure { code } reuse { madeBy { runStep { run { id } } } } } }"""
PIPELINE_FIELDS = "id key name builtin currentVersion { number digest note document } inputSchema actions"
_ARTIFACT = "id name mediaType sizeBytes digest status pinned run { id }"
_TOKEN = "id name scopes revokedAt caller { id subject }"
_CREDENTIAL = "id key kind fieldsSet fingerprint readable grants { id } lastTest { accepted }"
_DEFAULTS = """learningPaused locked unreadable caller { subject }
    packs { target uses lastUsedAt entry { name }
        values { field value count share lastUsedAt source pinned excluded others } }
    pipelines { target uses lastUsedAt entry { name }
        values { field value count share lastUsedAt source pinned excluded others } }"""
_SAVED = f"newVersion warnings {{ {_ISSUES} }} pipeline {{ {PIPELINE_FIELDS} }}"
_STARTED = f"coalesced replayed warnings {{ {_ISSUES} }} run {{ {RUN_FIELDS} }}"
_WARNING = """missingCapability whyMissing
    proposal { action name summary packs inputSchema outputSchema integrationPattern whyUseful }"""
_TRIGGER = """id name version enabled attention nextAt inputs kind pipeline { id key } schedule { cron overlap }
    webhook { url preset events previousSecretUntil } runEnded { states runsOf pipelines { key } }
    firings { totalCount nodes { id outcome run { id } } }"""
_WEBHOOK = (
    "id kind schedule { cron } webhook { url preset events previousSecretUntil } firings { nodes { id outcome } }"
)
_GAP = f"id userIntent issueText issueInput createdAt createdBy {{ subject }} gap {{ {_WARNING} }}"
_ROUTE = f"""recommendation {{ kind id suggestedInputs missingInputs
    missingRequirements {{ kind name message }} why confidence inputSources {{ name source }} }}
    alternatives {{ kind id suggestedInputs inputSources {{ name source }} missingInputs
    missingRequirements {{ kind name message }} why confidence }}
    gapWarnings {{ {_WARNING} }} reasoning decidedBy"""
_PAGE = "pageInfo { hasNextPage endCursor }"
_EVENT = """__typename sequence ... on RunStateChanged { runState } ... on StepStateChanged { stepState }
    ... on AttemptStateChanged { attemptState }"""

_PREVIEW = f"""allowed issues {{ {_ISSUES} }} definitionChanged
    steps {{ key action reason inputSource input {{ json }} mayRepeatEffects }}"""
#: Operations that are fields of a run rather than of the root.
_PREVIEWS = {"preview_resume": "resumePreview", "preview_rerun": "rerunPreview"}

#: What each operation answers with; of a command, what it answers with when it is not refused.
ANSWERS = {
    # pipelines
    "check_pipeline": f"valid issues {{ {_ISSUES} }} inputSchema preflight {{ usable }}",
    "create_pipeline": _SAVED,
    "update_pipeline": _SAVED,
    "clone_pipeline": _SAVED,
    "delete_pipeline": "deletedId",
    "apply_pipelines": "changes { key action diff triggers { name action } pipeline { id currentVersion { number } } }",
    "pipeline": f"{PIPELINE_FIELDS} usage {{ runs }} versions {{ nodes {{ number note createdBy {{ subject }} }} }}",
    "pipelines": f"nodes {{ {PIPELINE_FIELDS} }} {_PAGE}",
    # catalog
    "pack": "id name version effects repeatable inputSchema outputSchema availability { usable } usage { runs }",
    "catalog": f"""nodes {{ __typename id name availability {{ usable }}
        metadata {{ accepts produces practice }} }} {_PAGE}""",
    "routing_guide": """policy fetchedAt nextCursor kinds { name } packs { name availability { usable } }
        pipelines { key metadata { accepts produces derived } } defaults { pipelines { target uses } }""",
    "route_request": _ROUTE,
    "gap_proposals": f"nodes {{ {_GAP} }} {_PAGE}",
    "save_gap_proposal": f"proposal {{ {_GAP} }}",
    "delete_gap_proposal": "deletedId",
    # triggers
    "trigger": _TRIGGER,
    "triggers": f"nodes {{ {_TRIGGER} }} {_PAGE}",
    "preview_schedule": f"nextFirings issues {{ {_ISSUES} }}",
    "create_trigger": f"trigger {{ {_TRIGGER} }}",
    "update_trigger": f"trigger {{ {_TRIGGER} }}",
    "pause_trigger": f"trigger {{ {_TRIGGER} }}",
    "resume_trigger": f"trigger {{ {_TRIGGER} }}",
    "fire_trigger": "run { id cause }",
    "create_webhook": f"secret trigger {{ {_WEBHOOK} }}",
    "update_webhook": f"trigger {{ {_WEBHOOK} }}",
    "rotate_webhook_secret": f"secret trigger {{ {_WEBHOOK} }}",
    "replay_firing": "run { id cause }",
    "delete_trigger": "deletedId",
    # runs
    "run_pipeline": _STARTED,
    "run_pack": _STARTED,
    "get_run": RUN_FIELDS,
    "list_runs": f"nodes {{ id title state pipeline {{ key }} }} {_PAGE}",
    "wait_run": f"timedOut cursor run {{ {RUN_FIELDS} }}",
    "preview_resume": _PREVIEW,
    "preview_rerun": _PREVIEW,
    "resume_run": f"run {{ {RUN_FIELDS} }}",
    "rerun_run": _STARTED,
    "cancel_run": f"run {{ {RUN_FIELDS} }}",
    "acknowledge_run": f"run {{ {RUN_FIELDS} }}",
    "delete_run": "deletedId",
    # watching
    "watch_run": f"""__typename ... on RunEventBatch {{ live cursor events {{ {_EVENT} }} }}
        ... on RunEventsEnd {{ cursor run {{ state }} }} ... on RunEventGap {{ cursor }}""",
    "watch_runs": "runs { id state } deletedIds more",
    "watch_attempt": """__typename ... on AttemptOutputBatch { live cursor lines { level text } }
        ... on AttemptOutputEnd { cursor attempt { state } }""",
    # artifacts
    "get_artifact": f"... on Artifact {{ {_ARTIFACT} downloadUrl }}",
    "list_artifacts": f"nodes {{ {_ARTIFACT} }} {_PAGE}",
    "artifact_text": f"text nextOffset artifact {{ {_ARTIFACT} }}",
    "pin_artifact": f"artifact {{ {_ARTIFACT} }}",
    "release_artifact": f"artifact {{ {_ARTIFACT} }}",
    # models and mounted servers
    "models": "key kind name provider labels availability { usable }",
    "agent_profiles": "key command model timeoutSeconds isolation availability { usable missing { kind name } }",
    "model_roles": "role chain { key availability { usable } }",
    "mcp_servers": "key transport state lastError packs { id version toolChange { digest before after } }",
    "agent_clients": "key name check setups { transport path language text command }",
    "accept_mcp_tool_change": "pack { id version toolChange { digest } availability { usable } }",
    # credentials
    "set_credential": f"credential {{ {_CREDENTIAL} }}",
    "credentials": f"nodes {{ {_CREDENTIAL} }} {_PAGE}",
    "credential_kinds": "name fields { name secret required } freeFields testable",
    "test_credential": f"credential {{ {_CREDENTIAL} }}",
    "delete_credential": "deletedId",
    # memory
    "my_defaults": _DEFAULTS,
    "memory_entries": f"""nodes {{ id at target outcome failureCode durationSeconds readable isStep expiresAt
        learned {{ field value }} run {{ id }} entry {{ name }} }} totalCount {_PAGE}""",
    "forget_memory": f"scope rows defaults {{ {_DEFAULTS} }}",
    "set_default": f"defaults {{ {_DEFAULTS} }}",
    "set_learning": f"defaults {{ {_DEFAULTS} }}",
    # promotion
    "promote_run": f"yaml document check {{ valid issues {{ {_ISSUES} }} }} madeFrom {{ id }}",
    # callers and the server
    "viewer": "id subject name scopes",
    "callers": f"""nodes {{ id subject lastSeenAt disabledAt
        tokens {{ nodes {{ id name revokedAt madeBy {{ subject }} }} }} }} {_PAGE}""",
    "spending": f"totalCount nodes {{ month tokens amountUsd unpricedCalls caller {{ subject }} }} {_PAGE}",
    "budgets": "setting ofCaller limitUsd spentUsd limitTokens spentTokens nearlySpent message",
    "disable_caller": """caller { id subject disabledAt } pausedTriggers cancelledRuns
        tokensForOthers { name caller { subject } }""",
    "enable_caller": "caller { id subject disabledAt } resumedTriggers",
    "create_token": f"plaintext token {{ {_TOKEN} }}",
    "revoke_token": f"token {{ {_TOKEN} }}",
    "audit": f"nodes {{ action accepted actor {{ subject }} target {{ id }} detail }} {_PAGE}",
    "server": "version accepting queuedRuns runningRuns health { name ok message } runLimits { concurrentRuns steps }",
    "settings": "name value source",
    "set_admission": "server { admissionPause { at by reason } }",
    "workers": "name machine release startedAt lastSeenAt alive offers lanes running draining",
    "queue": "needs runs oldestQueuedAt workers missing",
    "drain_worker": "worker { name draining running }",
}
#: Root fields that are not named after their operation.
_FIELDS = {
    "get_run": "run",
    "list_runs": "runs",
    "get_artifact": "node",
    "list_artifacts": "artifacts",
    "watch_run": "runEvents",
    "watch_runs": "runChanges",
    "watch_attempt": "attemptOutput",
    "route_request": "route",
}


def states(*names: str) -> Callable[[F], F]:
    """Says which operations a test of the contract calls; the fixture holds it to that."""

    def mark(test: F) -> F:
        test.operations = frozenset(names)  # type: ignore[attr-defined]
        return test

    return mark


class Refused(Exception):
    """An operation was refused.

    Attributes:
        code: Such as `NOT_FOUND`.
        details: What else was said.
    """

    def __init__(self, code: str, message: str, details: dict[str, Any]) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.details = details


class Surface(Protocol):
    """A transport, signed in as somebody."""

    #: Operations this transport has no word for.
    lacks: frozenset[str]

    async def call(self, operation: str, /, **arguments: Any) -> Any:
        """What an operation answers.

        Raises:
            Refused: it was refused.
        """

    def watch(self, operation: str, /, **arguments: Any) -> AsyncIterator[Any]:
        """The messages of an operation that tells on; close it when done early."""

    async def close(self) -> None:
        """Ends whatever was opened."""


@dataclass
class GraphQLSurface:
    """GraphQL over HTTP, and over `graphql-transport-ws` to watch."""

    product: Product
    token: str
    lacks: frozenset[str] = field(default=frozenset())

    async def call(self, operation: str, /, **arguments: Any) -> Any:
        document, variables = document_of(operation, arguments)
        answer = await self.product.answer(document, variables, token=self.token)
        for error in answer.errors:
            extensions = dict(error.get("extensions", {}))
            raise Refused(extensions.pop("code", "REQUEST"), error["message"], extensions)
        value = next(iter(answer.data.values()))
        if operation in _PREVIEWS:
            value = value and value[_PREVIEWS[operation]]
        if isinstance(value, dict) and str(value.get("__typename", "")).endswith("Problem"):
            raise Refused(value.pop("code"), value.pop("message"), value)
        return value

    async def watch(self, operation: str, /, **arguments: Any) -> AsyncIterator[Any]:
        document, variables = document_of(operation, arguments)
        async with GraphQLSocket.open(self.product.served.ws_url("/graphql"), token=self.token) as opened:
            async for payload in opened.subscribe(document, variables):
                assert "errors" not in payload, payload["errors"]
                yield next(iter(payload["data"].values()))

    async def close(self) -> None:
        """Each request stands alone: nothing is open."""


def document_of(operation: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The GraphQL document of an operation with just these arguments, and its variables."""
    select = ANSWERS[operation]
    if operation in _PREVIEWS:
        run_id = arguments.pop("id")
        declared, passed = _parameters("Run", _PREVIEWS[operation], arguments)
        inner = f"{_PREVIEWS[operation]}{passed} {{ {select} }}"
        return f"query ($id: ID!, {declared}) {{ run(id: $id) {{ {inner} }} }}".replace(", )", ")"), {
            "id": run_id,
            **arguments,
        }
    root, name = _field_of(operation)
    declared, passed = _parameters(root, name, arguments)
    if refuses_by_members(operation):
        select = f"__typename ... on {_success(name)} {{ {select} }} {_refusals(name)}"
    head = f"{root.lower()} ({declared})" if declared else root.lower()
    return f"{head} {{ {name}{passed} {{ {select} }} }}", arguments


def refuses_by_members(operation: str) -> bool:
    """Whether an operation answers a refusal with a member of its union, as commands do; otherwise with an error."""
    root, name = _field_of(operation)
    answer = get_named_type(_object(root).fields[name].type)
    return isinstance(answer, GraphQLUnionType) and any(kind.name.endswith("Problem") for kind in answer.types)


def _field_of(operation: str) -> tuple[str, str]:
    """The root and the name of an operation's field."""
    name = _FIELDS.get(operation, re.sub(r"_(.)", lambda match: match[1].upper(), operation))
    root = next((kind for kind in ("Query", "Mutation", "Subscription") if name in _object(kind).fields), None)
    assert root is not None, f"no field {name} for the operation {operation}"
    return root, name


def _parameters(kind: str, name: str, arguments: dict[str, Any]) -> tuple[str, str]:
    types = _object(kind).fields[name].args
    declared = ", ".join(f"${each}: {types[each].type}" for each in arguments)
    passed = ", ".join(f"{each}: ${each}" for each in arguments)
    return declared, f"({passed})" if passed else ""


def _members(field_name: str) -> list[str]:
    union = _schema().get_type(f"{field_name[0].upper()}{field_name[1:]}Result")
    return [member.name for member in union.types]  # type: ignore[union-attr]


def _success(field_name: str) -> str:
    return next(name for name in _members(field_name) if not name.endswith("Problem"))


def _refusals(field_name: str) -> str:
    more = {
        "NotFoundProblem": "ref suggestion",
        "InvalidProblem": f"issues {{ {_ISSUES} }}",
        "ForbiddenProblem": "requires",
        "ConflictProblem": "current { id }",
        "WrongStateProblem": "actions",
        "UnavailableProblem": "missing { kind name }",
        "LimitedProblem": "retryAfterSeconds",
    }
    parts = [f"... on {name} {{ {more[name]} }}" for name in _members(field_name) if name in more]
    return f"... on Problem {{ code message hint retryable }} {' '.join(parts)}"


def _object(name: str) -> GraphQLObjectType:
    found = _schema().get_type(name)
    assert isinstance(found, GraphQLObjectType)
    return found


@cache
def _schema() -> GraphQLSchema:
    return build_schema(_SDL.read_text())
