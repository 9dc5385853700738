"""What a pack's handler is given: its context, and the artifacts, sessions and answers that come with it."""

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
    """A workspace one step leaves for later ones: a folder on this machine."""

    id: str
    path: Path


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """What an agent answered; what it did is in the attempt's transcript and in the session.

    Attributes:
        text: Its answer, masked.
        agent: The profile that worked, and `@model` when one was given.
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
            hand it to providers so that they recognise a repeat.
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
        """Tell watchers how far along the step is (0 to 1); coalesced to 5 a second."""

    def log(self, message: str, level: LogLevel = "info") -> None:
        """Add a line to the attempt's log."""

    def warn(self, message: str) -> None:
        """Record something that is not quite right although the step goes on; shown on the step."""

    async def save_artifact(self, name: str, content: bytes | Path, media_type: str) -> ArtifactRef:
        """Store a file. `name` is a plain file name: no folders, at most 200 characters.

        Raises:
            PackError: `invalid_output` for a bad name, `resource_exhausted` when the quota or the disk is full.
        """

    async def open_artifact(self, artifact_id: str) -> ArtifactFile:
        """Open an artifact the caller may see.

        Raises:
            PackError: `artifact_failed` when there is none, it was erased, or it belongs to somebody else.
        """

    async def start_session(self) -> PackSession:
        """Make a workspace that later steps can use; only for packs that declare `preserves_session`."""

    async def ask_agent(
        self, prompt: str, *, agent: str | None = None, model: str | None = None, may_spawn: bool = False
    ) -> AgentAnswer:
        """Let an agent work in the session, as an agent step would; only for packs that declare `uses_agent`.

        The same profiles, policy, redaction and transcript hold; always behind a sandbox, with no credentials but its
        profile's. An attempt asks once.

        Args:
            prompt: The prompt, given on its standard input.
            agent: The profile; the one the server's variable PACKLINE_AGENT names when None.
            model: The model it uses; the profile's own when None.
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
        """Run a module-level function in a separate, killable worker process; arguments and result are pickled.

        For libraries that block or crash. The process and all its children are killed at cancellation, at the
        step's time-out and when the server dies.

        Raises:
            PackError: what the function raised, `timeout`, or `handler_failed` when the process died.
        """

    def service_url(self, name: str) -> str | None:
        """Address of a service the operator configured (`PACKLINE_SERVICE_<NAME>_URL`), or None.

        Requests to its origin may reach private addresses; no other address of the caller's choosing may.
        """
