"""The context of a pack's handler, with artifacts, sessions and answers of agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    import httpx2

    from runner.failures import JSONValue
    from runner.packs.memory import CallerMemory
    from runner.packs.models import Models
    from runner.packs.routing import CallerCatalog

LogLevel = Literal["debug", "info", "warning", "error"]
_Result = TypeVar("_Result")


class ArtifactRef(BaseModel):
    """Reference to an artifact in inputs and outputs: its id and metadata."""

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
    """A workspace that one step provides for later ones: a folder on this machine."""

    id: str
    path: Path


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """An agent's answer; its actions are in the attempt's transcript and in the session.

    Attributes:
        text: The answer, masked.
        agent: The profile, with `@model` if one was selected.
    """

    text: str
    agent: str


class PackContext(Protocol):
    """The context of a handler. Secrets are masked in everything that a handler stores through it.

    Attributes:
        caller: Subject of the run's caller.
        run_id: The run, `run_…`.
        step_key: The step in the definition.
        attempt_number: Counts from 1 within the step.
        idempotency_key: The same for retries, crash re-delivery and resumes of the same step with the same input; pass
            it to providers so that they recognise a repeat.
        session: The workspace of an earlier step, if the input has `_session_id`.
        http: HTTP client behind the egress guard; refuses private addresses at every hop.
        models: The model gateway; it records its spending on the attempt.
        memory: Audit memory of the caller, to forget it.
        catalog: Packs and pipelines, to find what serves a request.
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
        """Audit memory of the caller; see above."""

    @property
    def catalog(self) -> CallerCatalog:
        """Packs and pipelines; see above."""

    async def credential(self, key: str) -> Mapping[str, str]:
        """Return the fields of a credential that the pack declares, by name; the vault records the use.

        Raises:
            PackError: `credential_invalid` if it is not stored, not granted to this pack, pipeline or caller, or the
                vault is locked; the message says which and what to do.
        """

    async def find_credential(self, key: str) -> Mapping[str, str] | None:
        """Return an optional credential like `credential`; None where that would raise."""

    def progress(self, fraction: float | None, message: str) -> None:
        """Report the progress of the step (0 to 1); coalesced to 5 reports a second."""

    def log(self, message: str, level: LogLevel = "info") -> None:
        """Add a line to the attempt's log."""

    def warn(self, message: str) -> None:
        """Record a warning, which is shown on the step; the step continues."""

    async def save_artifact(self, name: str, content: bytes | Path, media_type: str) -> ArtifactRef:
        """Store a file. `name` is a plain file name: no folders, at most 200 characters.

        Raises:
            TypeError: The content is neither bytes nor a Path, such as a text that is not encoded.
            PackError: `invalid_output` for a bad name, `resource_exhausted` if the quota or the disk is full.
        """

    async def open_artifact(self, artifact_id: str) -> ArtifactFile:
        """Open an artifact the caller may see.

        Raises:
            PackError: `artifact_failed` if it does not exist, was erased, or belongs to another caller.
        """

    async def start_session(self) -> PackSession:
        """Create a workspace that later steps can use; only for packs that declare `preserves_session`."""

    async def ask_agent(
        self, prompt: str, *, agent: str | None = None, model: str | None = None, may_spawn: bool = False
    ) -> AgentAnswer:
        """Let an agent work in the session like an agent step; only for packs that declare `uses_agent`.

        Profiles, policy, masking and transcript are those of agent steps; it always runs in a sandbox, only with its
        profile's credentials. An attempt may call this once.

        Args:
            prompt: The prompt, passed on its standard input.
            agent: The profile; None for the one in the server's variable PACKLINE_AGENT.
            model: The model; None for the profile's.
            may_spawn: Whether it may start any program inside the sandbox, not only its profile's.

        Raises:
            PackError: `invalid_input` if the profile does not exist or cannot be used; `session_unavailable` without a
                session; otherwise like agent steps.
        """

    async def cached(self, key: str, ttl_seconds: float, make: Callable[[], Awaitable[JSONValue]]) -> JSONValue:
        """Return the caller's cached value for this pack and key; made if absent or older than `ttl_seconds`."""

    async def run_in_process(
        self, function: Callable[..., _Result], /, *args: object, timeout_seconds: float | None = None
    ) -> _Result:
        """Run a module-level function in a separate, killable worker process; arguments and result are pickled.

        For libraries that block or crash. The process and all its children are killed at cancellation, at the
        step's time-out and when the server dies.

        Raises:
            PackError: The function's error, `timeout`, or `handler_failed` if the process died.
        """

    async def permitted_address(self, host: str, port: int) -> str:
        """Return an IP address of a server, for a program that connects by itself: it must connect to this one.

        The egress policy applies as it does to `http`: only ports 80 and 443 of public addresses, and what the operator
        permits.

        Raises:
            PackError: `policy_denied`, or `upstream_unavailable` if the host is not found.
        """

    def service_url(self, name: str) -> str | None:
        """Return the URL of a service that the operator configured (`PACKLINE_SERVICE_<NAME>_URL`).

        Returns None if it is not set, but never for a service that the pack declares with `service_address(name)`.
        `http` may reach the origin, even a private one, from this call on, or from the start if it is declared.
        """
