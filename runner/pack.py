"""The pack protocol: what an author declares, and what a handler is given.

A pack is a function with a contract (CONTRACT 4.1). `pack` makes one out of an async function whose two parameters
are a `PackContext` and a pydantic input model and which returns a pydantic output model. Authors import all of this
from `packline`, never from here.
"""

from __future__ import annotations

import inspect
import re
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from runner.failures import JSONValue, PackError
from runner.installed import has_module, has_program
from runner.metadata import Metadata

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    import httpx2

    from runner.memory import CallerMemory
    from runner.models import Models
    from runner.routing import CallerCatalog

Effects = Literal["none", "idempotent", "external"]
LogLevel = Literal["debug", "info", "warning", "error"]

PACK_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+\Z")
PACK_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)\Z")
_Result = TypeVar("_Result")


class ArtifactRef(BaseModel):
    """How outputs and inputs name an artifact: by id, with what a reader wants to know before fetching it."""

    model_config = ConfigDict(frozen=True)

    artifact_id: str = Field(description="Id of the artifact, `art_…`.")
    name: str = Field(description="File name.")
    media_type: str = Field(description="Media type.")
    size_bytes: int = Field(description="Size in bytes.")
    digest: str = Field(description="SHA-256 of the content, hexadecimal.")


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """An artifact opened for reading: a read-only file on this machine, valid while the handler runs."""

    ref: ArtifactRef
    path: Path


@dataclass(frozen=True, slots=True)
class PackSession:
    """A workspace one step leaves for later ones: a folder on this machine (CONTRACT 2.6)."""

    id: str
    path: Path


@dataclass(frozen=True, slots=True)
class Missing:
    """Why something a pack needs cannot be had here.

    Attributes:
        message: For people, one sentence.
        hint: What to do about it.
    """

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Service:
    """Something outside the pack that it needs: a library, a program, a configured service.

    Attributes:
        name: What requirements and problems call it.
        probe: Tells what is missing, or None when it can be had. Cheap (no network) and free of effects.
    """

    name: str
    probe: Callable[[], Missing | None]


def python_module(module: str, *, extra: str) -> Service:
    """A Python library that comes with one of Packline's extras; looked up without importing it."""

    def probe() -> Missing | None:
        if has_module(module):
            return None
        return Missing(
            f"The Python library `{module}` is not installed.", f"Install it with `pip install 'packline[{extra}]'`."
        )

    return Service(module, probe)


def program(name: str) -> Service:
    """A program on PATH."""

    def probe() -> Missing | None:
        if has_program(name):
            return None
        return Missing(f"The program `{name}` is not on PATH.", f"Install `{name}` with the system's package manager.")

    return Service(name, probe)


@dataclass(frozen=True, slots=True)
class CredentialNeed:
    """A credential a pack asks the vault for.

    Attributes:
        key: Handle in the vault, such as `github`.
        kind: Kind of credential, such as `github`; says which fields it has and how it is tested. Empty for any kind,
            as agent steps take them.
        required: Whether the pack cannot work without it; else it does something less, and says so.
    """

    key: str
    kind: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class ModelNeed:
    """A role a pack needs a model for.

    Attributes:
        role: The part, such as `writer`.
        required: Whether the pack cannot work without a model; else it has a mode that needs none, and says so.
    """

    role: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class PostCondition:
    """Something checked before a step counts as succeeded (CONTRACT 2.12).

    Attributes:
        description: For people, such as "the PDF has a page for each slide".
        check: Given the output model and the files saved by the attempt; returns what is wrong, or None. Runs on the
            event loop, so it reads at most a few kilobytes.
    """

    description: str
    check: Callable[[Any, Sequence[ArtifactFile]], str | None]


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """What an agent answered; what it did is in the attempt's transcript and in the session.

    Attributes:
        text: Its answer, masked.
        agent: The profile that worked, and `@model` when it was told one.
    """

    text: str
    agent: str


class PackContext(Protocol):
    """What a handler is given. Everything that leaves the handler through it is redacted before it is kept.

    Attributes:
        caller: Subject of the caller the run belongs to.
        run_id: The run, `run_…`.
        step_key: The step in the definition.
        attempt_number: Counts from 1 within the step.
        idempotency_key: Unchanged over retries, crash re-delivery and resume of the same step with the same input;
            hand it to providers so that they recognise a repeat (CONTRACT 2.11).
        session: The workspace an earlier step left, when the input carries `_session_id`.
        http: HTTP client behind the egress guard; refuses private addresses at every hop.
        models: The model gateway; what it spends is recorded on the attempt.
        memory: What Packline remembers of the caller, to forget it.
        catalog: What can be run, to find what serves a request.
    """

    caller: str
    run_id: str
    step_key: str
    attempt_number: int
    idempotency_key: str
    session: PackSession | None

    @property
    def http(self) -> httpx2.AsyncClient:
        """HTTP client behind the egress guard; see above."""

    @property
    def models(self) -> Models:
        """The model gateway; see above."""

    @property
    def memory(self) -> CallerMemory:
        """What Packline remembers of the caller; see above."""

    @property
    def catalog(self) -> CallerCatalog:
        """What can be run; see above."""

    async def credential(self, key: str) -> Mapping[str, str]:
        """Fields of a credential the pack declares, by name; the vault notes the use.

        Raises:
            PackError: `credential_invalid` when it is not stored, not granted to this pack, pipeline or caller, or the
                vault is locked; the message says which and what to do.
        """

    async def find_credential(self, key: str) -> Mapping[str, str] | None:
        """Like `credential`, for one the pack can do without: None where that would raise."""

    def progress(self, fraction: float | None, message: str) -> None:
        """Tells watchers how far along the step is (0 to 1); coalesced to 5 a second."""

    def log(self, message: str, level: LogLevel = "info") -> None:
        """Adds a line to the attempt's log."""

    def warn(self, message: str) -> None:
        """Records something that is not quite right although the step goes on; shown on the step."""

    async def save_artifact(self, name: str, content: bytes | Path, media_type: str) -> ArtifactRef:
        """Stores a file. `name` is a plain file name: no folders, at most 200 characters.

        Raises:
            PackError: `invalid_output` for a bad name, `resource_exhausted` when the quota or the disk is full.
        """

    async def open_artifact(self, artifact_id: str) -> ArtifactFile:
        """Opens an artifact the caller may see.

        Raises:
            PackError: `artifact_failed` when there is none, it was erased, or it belongs to somebody else.
        """

    async def start_session(self) -> PackSession:
        """Makes a workspace that later steps can use; only for packs that declare `preserves_session`."""

    async def ask_agent(
        self, prompt: str, *, agent: str | None = None, model: str | None = None, may_spawn: bool = False
    ) -> AgentAnswer:
        """Has an agent work in the session, as an agent step would; only for packs that declare `uses_agent`.

        The same profiles, policy, redaction and transcript hold; always behind a sandbox, with no credentials but its
        profile's. An attempt asks once.

        Args:
            prompt: What it is told, on its standard input.
            agent: The profile; the one the server's variable PACKLINE_AGENT names when None.
            model: The model it is told to use; the profile's own when None.
            may_spawn: Whether it may start any program inside the sandbox, not only its profile's own.

        Raises:
            PackError: `invalid_input` when there is no such profile or it cannot be had; `session_unavailable` without
                a session; else as agent steps fail.
        """

    async def cached(self, key: str, ttl_seconds: float, make: Callable[[], Awaitable[JSONValue]]) -> JSONValue:
        """The caller's cached value under this pack and key, made when absent or older than `ttl_seconds`."""

    async def run_in_process(
        self, function: Callable[..., _Result], /, *args: object, timeout_seconds: float | None = None
    ) -> _Result:
        """Runs a module-level function in a killable worker process of its own; arguments and result are pickled.

        For libraries that block or crash. The process and all its children are killed at cancellation, at the
        step's time-out and when the server dies.

        Raises:
            PackError: what the function raised, `timeout`, or `handler_failed` when the process died.
        """

    def service_url(self, name: str) -> str | None:
        """Address of a service the operator configured (`PACKLINE_SERVICE_<NAME>_URL`), or None.

        Requests to its origin may reach private addresses; no other address of the caller's choosing may.
        """


@dataclass(frozen=True, eq=False)
class Pack:
    """A callable capability with its contract.

    Attributes:
        name: `area.verb`.
        version: Semantic version, `1.2.3`.
        description: What it does, Markdown; the handler's docstring.
        input_model: Checks and documents the input. Unknown fields are refused.
        output_model: Checks and documents the output.
        effects: What it changes outside.
        repeatable: Whether running it again gives an equivalent result, sessions included.
        preserves_session: Whether it leaves a session that later steps can use.
        uses_session: Whether it works in the session an earlier step left; only such packs are given one.
        uses_agent: Whether it has an agent work.
        at_most_once: Whether it must not run again when an outcome is unknown.
        takes_idempotency_key: Whether outside effects happen once however often it runs with one key.
        timeout_seconds: Longest one attempt may take, unless the step says otherwise; None for the server's default.
        services: What it needs on this machine.
        credentials: What it asks the vault for; it is given nothing else.
        models: The roles it needs models for.
        cost: What one call costs, in units a person can price, such as `one writer call, about as many tokens as the
            text is long`; empty when it costs nothing.
        post_conditions: What is checked before it counts as succeeded.
        metadata: What it is for.
        handler: The function.
    """

    name: str
    version: str
    description: str
    input_model: type[BaseModel]
    output_model: type[BaseModel]
    effects: Effects
    repeatable: bool
    preserves_session: bool
    uses_session: bool
    uses_agent: bool
    at_most_once: bool
    takes_idempotency_key: bool
    timeout_seconds: float | None
    services: tuple[Service, ...]
    credentials: tuple[CredentialNeed, ...]
    models: tuple[ModelNeed, ...]
    cost: str
    post_conditions: tuple[PostCondition, ...]
    metadata: Metadata
    handler: Callable[[PackContext, Any], Awaitable[BaseModel]]

    @property
    def input_schema(self) -> dict[str, JSONValue]:
        """JSON Schema (draft 2020-12) of the input."""
        return self.input_model.model_json_schema(mode="validation")

    @property
    def output_schema(self) -> dict[str, JSONValue]:
        """JSON Schema (draft 2020-12) of the output."""
        return self.output_model.model_json_schema(mode="serialization")


class PackDefinitionError(Exception):
    """A pack is declared wrongly; the message names the pack, the field and the rule."""


def pack(
    name: str,
    *,
    version: str,
    effects: Effects,
    repeatable: bool,
    metadata: Metadata | None = None,
    preserves_session: bool = False,
    uses_session: bool = False,
    uses_agent: bool = False,
    at_most_once: bool = False,
    takes_idempotency_key: bool = False,
    timeout_seconds: float | None = None,
    services: Sequence[Service] = (),
    credentials: Sequence[CredentialNeed] = (),
    models: Sequence[ModelNeed] = (),
    cost: str = "",
    post_conditions: Sequence[PostCondition] = (),
) -> Callable[[Callable[..., Awaitable[BaseModel]]], Pack]:
    """Makes a pack out of an async function `(ctx: PackContext, input: Model) -> Model`.

    Raises:
        PackDefinitionError: when the function or a value does not fit the protocol.
    """
    if not PACK_NAME.match(name):
        raise PackDefinitionError(f"Pack name `{name}` is not of the form `area.verb` in lower case.")
    if not PACK_VERSION.match(version):
        raise PackDefinitionError(f"Pack {name}: version `{version}` is not a semantic version such as `1.0.0`.")
    if timeout_seconds is not None and not 0 < timeout_seconds <= 86_400:
        raise PackDefinitionError(f"Pack {name}: timeout_seconds {timeout_seconds} is not within 0 to 86400.")

    def declare(function: Callable[..., Awaitable[BaseModel]]) -> Pack:
        if not inspect.iscoroutinefunction(function):
            raise PackDefinitionError(f"Pack {name}: the handler must be an `async def` function.")
        hints = typing.get_type_hints(function)
        parameters = list(inspect.signature(function).parameters)
        if len(parameters) != 2:
            raise PackDefinitionError(f"Pack {name}: the handler takes (ctx, input), not {len(parameters)} parameters.")
        shapes = {}
        for role, key in (("input", parameters[1]), ("output", "return")):
            model = hints.get(key)
            if not (isinstance(model, type) and issubclass(model, BaseModel)):
                raise PackDefinitionError(f"Pack {name}: its {role} must be annotated with a pydantic model.")
            shapes[role] = model
        if shapes["input"].model_config.get("extra") not in (None, "forbid"):
            raise PackDefinitionError(f"Pack {name}: the input model must refuse unknown fields.")
        return Pack(
            name=name,
            version=version,
            description=inspect.getdoc(function) or "",
            input_model=_forbid_unknown(shapes["input"]),
            output_model=shapes["output"],
            effects=effects,
            repeatable=repeatable,
            preserves_session=preserves_session,
            uses_session=uses_session,
            uses_agent=uses_agent,
            at_most_once=at_most_once,
            takes_idempotency_key=takes_idempotency_key,
            timeout_seconds=timeout_seconds,
            services=tuple(services),
            credentials=tuple(credentials),
            models=tuple(models),
            cost=cost,
            post_conditions=tuple(post_conditions),
            metadata=metadata or Metadata(),
            handler=function,
        )

    return declare


def _forbid_unknown(model: type[BaseModel]) -> type[BaseModel]:
    """The model itself, set to refuse unknown fields when the author left that open."""
    if model.model_config.get("extra") is None:
        model.model_config["extra"] = "forbid"
        # What is built when first used is not built yet (`runner.registry`).
        if not model.model_config.get("defer_build"):
            model.model_rebuild(force=True)
    return model


__all__ = [
    "AgentAnswer",
    "ArtifactFile",
    "ArtifactRef",
    "CredentialNeed",
    "Effects",
    "LogLevel",
    "Metadata",
    "Missing",
    "ModelNeed",
    "Pack",
    "PackContext",
    "PackDefinitionError",
    "PackError",
    "PackSession",
    "PostCondition",
    "Service",
    "pack",
    "program",
    "python_module",
]
