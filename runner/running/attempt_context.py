"""Implements the `PackContext` of one attempt."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import orjson
import structlog

from runner.excerpts import plain_text
from runner.failures import FailureCode, JSONValue, PackError
from runner.files.names import NAME_CHARACTERS, plain_name, without_turning
from runner.gateway.budgets import Budget
from runner.packs.context import ArtifactFile, ArtifactRef, PackSession
from runner.packs.memory import CallerMemory
from runner.packs.routing import CallerCatalog
from runner.packs.services import AttemptServices
from runner.processes.processes import run_in_process
from runner.running.credential_use import AttemptCredentials
from runner.running.progress import ProgressReporter
from runner.secrets.quarantine import known_secret_in
from runner.secrets.vault import CredentialRequester
from store.database.errors import StoreError, StoreFullError
from store.database.ids import new_id
from store.files.artifacts import find_artifact, use_upload
from store.files.blob_port import NOT_HERE, BlobError, BlobsUnavailableError, QuotaExceededError
from store.memory.pack_cache import get_cached, put_cached
from store.runs.sessions import start_session
from store.runs.unit_types import NewArtifact
from store.states import ArtifactStatus

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    import httpx2

    from runner.gateway.uses import ModelUse
    from runner.packs.context import AgentAnswer, LogLevel
    from runner.packs.models import Models
    from runner.packs.pack import Pack
    from runner.running.resources import Resources
    from runner.secrets.redaction import Redactor
    from store.memory.agent_results import CachedFile
    from store.runs.unit_types import Fence

_Result = TypeVar("_Result")
log = structlog.get_logger(__name__)

#: Longest warning, in characters.
WARNING_CHARACTERS = 1000
_MEDIA_TYPE = re.compile(r"[\x20-\x7e]{1,200}\Z")


class AttemptContext:
    """The `runner.packs.context.PackContext` of one attempt; `close` stores what is still buffered."""

    def __init__(
        self,
        resources: Resources,
        pack: Pack,
        fence: Fence,
        *,
        caller_id: str,
        subject: str,
        step_id: str,
        step_key: str,
        attempt_id: str,
        attempt_number: int,
        idempotency_key: str,
        session: PackSession | None,
        pipeline_id: str | None = None,
        force: bool = False,
    ) -> None:
        self.caller = subject
        self.run_id = fence.run_id
        self.step_key = step_key
        self.attempt_number = attempt_number
        self.idempotency_key = idempotency_key
        self.session = session
        self.artifacts: list[NewArtifact] = []
        self.files: list[ArtifactFile] = []
        self.warnings: list[str] = []
        self.model_uses: list[ModelUse] = []
        self.session_left: PackSession | None = None
        self.opened: list[str] = []
        self.isolation: str | None = None
        self.receipt: str | None = None
        self.budget = Budget(resources.store, resources.limits.budgets, caller_id, fence.run_id, self.warn)
        self.resources = resources
        self.caller_id = caller_id
        self.attempt_id = attempt_id
        self.force = force
        self._resources = resources
        self._pack = pack
        self._fence = fence
        self._step_id = step_id
        self._pipeline_id = pipeline_id
        self._credentials: AttemptCredentials | None = None
        self._services = AttemptServices(pack, resources.service_urls)
        self._http: httpx2.AsyncClient | None = None
        self._models: Models | None = None
        self._reporter: ProgressReporter | None = None
        #: Longest this attempt may take, in seconds; see `runner.running.executor.Attempt`.
        self.timeout_seconds = resources.limits.step_timeout_seconds
        self._is_closed = False
        self._has_asked_agent = False

    @property
    def http(self) -> httpx2.AsyncClient:
        """HTTP client behind the egress guard."""
        if self._http is None:
            self._http = self._resources.egress.client(self._services)
        return self._http

    @property
    def memory(self) -> CallerMemory:
        """Audit memory of the caller."""
        return CallerMemory(self._resources.memory, self.caller_id, self.run_id)

    @property
    def catalog(self) -> CallerCatalog:
        """The catalog for the caller."""
        return CallerCatalog(self._resources.router, self.caller_id, self.models)

    @property
    def models(self) -> Models:
        """The model gateway."""
        if self._models is None:
            self._models = self._resources.gateway.attempt(self.model_uses.append, self.warn, self.budget)
        return self._models

    async def credential(self, key: str) -> Mapping[str, str]:
        """Return the fields of a credential the pack declares; its use is audited once per attempt."""
        return await self._get_credentials().take(key)

    async def find_credential(self, key: str) -> Mapping[str, str] | None:
        """Return the fields of a credential, or None."""
        return await self._get_credentials().find(key)

    def _get_credentials(self) -> AttemptCredentials:
        if self._credentials is None:
            requester = CredentialRequester(self.caller_id, self._pipeline_id)
            self._credentials = AttemptCredentials(self._resources, self._pack, requester, self.run_id, self.attempt_id)
        return self._credentials

    def progress(self, fraction: float | None, message: str) -> None:
        """Report how far along the step is; dropped once the attempt is closed."""
        if not self._is_closed:
            self._get_reporter().progress(fraction, message)

    def log(self, message: str, level: LogLevel = "info") -> None:
        """Add lines to the attempt's log; dropped once the attempt is closed."""
        if not self._is_closed:
            self._get_reporter().log(message, level)

    def _get_reporter(self) -> ProgressReporter:
        if self._reporter is None:
            self._reporter = ProgressReporter(self._resources, self._fence, self._step_id, self.attempt_id)
        return self._reporter

    def warn(self, message: str) -> None:
        """Record a problem that does not fail the step."""
        text = self._resources.redactor.excerpt(plain_text(message), WARNING_CHARACTERS)
        if text not in self.warnings and len(self.warnings) < 100:
            self.warnings.append(text)

    async def save_artifact(
        self,
        name: str,
        content: bytes | Path,
        media_type: str,
        *,
        status: ArtifactStatus = ArtifactStatus.STORED,
    ) -> ArtifactRef:
        """Store a file; it becomes an artifact when the attempt is settled."""
        name = checked_name(name, media_type, self._resources.redactor)
        check_content(name, content)
        try:
            digest, size = await self._resources.blobs.put(content)
            path = await self._resources.blobs.local(digest)
        except QuotaExceededError as error:
            raise PackError(FailureCode.RESOURCE_EXHAUSTED, str(error)) from error
        except BlobError as error:
            raise _content_failure(f"The artifact {name} could not be stored", error) from error
        except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
            raise PackError(
                FailureCode.ARTIFACT_FAILED, f"The file that was to become the artifact {name} cannot be read: {error}."
            ) from error
        except (StoreFullError, OSError) as error:
            raise PackError(
                FailureCode.RESOURCE_EXHAUSTED,
                f"The artifact {name} could not be stored: {error}.",
                hint="Free disk space, then resume the run.",
            ) from error
        return await self._made(name, media_type, size, digest, path, status)

    async def save_again(self, file: CachedFile, *, status: ArtifactStatus) -> ArtifactRef:
        """Make stored content an artifact of this attempt, too, without reading or writing it.

        Raises:
            FileNotFoundError: The content was erased.
        """
        try:
            path = await self._resources.blobs.keep(file.digest)
        except (BlobError, OSError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise _content_failure(f"The artifact {file.name} could not be stored", error) from error
        return await self._made(file.name, file.media_type, file.size_bytes, file.digest, path, status)

    async def _made(
        self, name: str, media_type: str, size: int, digest: str, path: Path, status: ArtifactStatus
    ) -> ArtifactRef:
        """Record stored content as an artifact, quarantined if it contains a secret."""
        name, status = self._resources.redactor.message(name), ArtifactStatus(status)
        if (secret := await known_secret_in(self._resources.redactor, path)) is not None:
            status = ArtifactStatus.QUARANTINED
            self.warn(quarantine_warning(name, secret))
        artifact = NewArtifact(new_id("art"), name, media_type, size, digest, status)
        ref = ArtifactRef(artifact_id=artifact.id, name=name, media_type=media_type, size_bytes=size, digest=digest)
        self.artifacts.append(artifact)
        self.files.append(ArtifactFile(ref, path))
        return ref

    async def open_artifact(self, artifact_id: str) -> ArtifactFile:
        """Open an artifact the caller may see."""
        for own in self.files:
            if own.ref.artifact_id == artifact_id:
                return own
        found = await find_artifact(self._resources.store, artifact_id, visible_to=self.caller_id)
        if found is None:
            raise PackError(
                FailureCode.ARTIFACT_FAILED,
                f"There is no artifact {artifact_id} that this caller may read.",
                hint="Give the id of an artifact of one of your own runs, `art_…`.",
            )
        if found.status == ArtifactStatus.QUARANTINED:
            raise PackError(
                FailureCode.ARTIFACT_FAILED,
                f"The artifact {found.name} ({artifact_id}) is quarantined, because it contains a secret.",
                hint="Ask a user with the `manage` scope to release it, then resume.",
            )
        if found.erased_at is not None:
            raise PackError(
                FailureCode.ARTIFACT_FAILED,
                f"The artifact {found.name} ({artifact_id}) has been erased.",
                hint="Run the step that produced it again.",
            )
        try:
            path = await self._resources.blobs.local(found.digest)
        except FileNotFoundError:
            raise PackError(
                FailureCode.ARTIFACT_FAILED,
                f"The content of {found.name} ({artifact_id}) {NOT_HERE}",
                hint="Have the servers share a data folder, or run the step that produced it again.",
            ) from None
        except (BlobError, OSError) as error:
            raise _content_failure(f"The content of {found.name} ({artifact_id}) cannot be read", error) from error
        if found.run_id is None:
            await self._resources.store.write(use_upload, found.id, keep_days=self._resources.limits.artifact_days)
        self.opened.append(found.id)
        ref = ArtifactRef(
            artifact_id=found.id,
            name=found.name,
            media_type=found.media_type,
            size_bytes=found.size_bytes,
            digest=found.digest,
        )
        return ArtifactFile(ref, path)

    async def start_session(self) -> PackSession:
        """Create a workspace that later steps can use."""
        if not self._pack.preserves_session:
            raise PackError(
                FailureCode.HANDLER_FAILED,
                f"The pack {self._pack.name} starts a session but does not declare preserves_session.",
            )
        session_id = new_id("sess")
        path = self._resources.sessions_folder / session_id
        # The row comes first: housekeeping removes folders without one.
        await self._resources.store.write(
            start_session,
            session_id=session_id,
            run_id=self.run_id,
            step_id=self._step_id,
            machine=self._resources.store.machine,
        )
        await asyncio.to_thread(path.mkdir, parents=True, mode=0o700)
        self.session_left = PackSession(session_id, path)
        return self.session_left

    async def ask_agent(
        self, prompt: str, *, agent: str | None = None, model: str | None = None, may_spawn: bool = False
    ) -> AgentAnswer:
        """Let an agent work in the session, once per attempt."""
        if not self._pack.uses_agent or self._has_asked_agent:
            why = "asks an agent twice" if self._has_asked_agent else "asks an agent but does not declare uses_agent"
            raise PackError(FailureCode.HANDLER_FAILED, f"The pack {self._pack.name} {why}.")
        self._has_asked_agent = True
        from runner.agents.asking import ask

        return await ask(self, prompt, agent=agent, model=model, may_spawn=may_spawn)

    async def cached(self, key: str, ttl_seconds: float, make: Callable[[], Awaitable[JSONValue]]) -> JSONValue:
        """Return the caller's cached value for this pack and key; make it if absent, stale or forced."""
        if not self.force:
            text = await get_cached(self._resources.store, self.caller_id, self._pack.name, key)
            if text is not None:
                value: JSONValue = orjson.loads(text)
                return value
        made = self._resources.redactor.value(await make())
        try:
            await self._resources.store.write(
                put_cached,
                caller_id=self.caller_id,
                pack=self._pack.name,
                key=key,
                value=orjson.dumps(made).decode(),
                ttl_seconds=ttl_seconds,
            )
        except StoreError as error:
            log.warning("a value could not be cached", pack=self._pack.name, error=str(error))
        return made

    async def run_in_process(
        self, function: Callable[..., _Result], /, *args: object, timeout_seconds: float | None = None
    ) -> _Result:
        """Run a module-level function in a separate, killable worker process."""
        limit = timeout_seconds or self._pack.timeout_seconds or self._resources.limits.step_timeout_seconds
        return await run_in_process(function, *args, timeout_seconds=limit)

    async def permitted_address(self, host: str, port: int) -> str:
        """Return an IP address of a server, if the policy permits all of its addresses."""
        return (await self._resources.egress.check_server(host, port))[0]

    def service_url(self, name: str) -> str | None:
        """Return the address of a service the operator configured, and open its origin to `http`."""
        return self._services.url(name)

    def finish(self) -> bool:
        """Accept nothing more; return whether `close` has something to do."""
        self._is_closed = True
        has_unsaved = self._reporter is not None and self._reporter.finish()
        return has_unsaved or self._http is not None

    async def close(self) -> None:
        """Store progress and log lines still buffered, and close the HTTP client."""
        self._is_closed = True
        if self._reporter is not None:
            await self._reporter.close()
        if self._http is not None:
            await self._http.aclose()


def checked_name(name: str, media_type: str, redactor: Redactor) -> str:
    """Return the name that an artifact gets.

    Raises:
        PackError: `invalid_output` for a name or media type that no artifact can have.
    """
    plain = plain_name(without_turning(name))
    if plain is None:
        raise PackError(
            FailureCode.INVALID_OUTPUT,
            f"The artifact name {redactor.excerpt(name, NAME_CHARACTERS)!r} is not a plain file name.",
            hint=f"Use a name without folders and control characters, of at most {NAME_CHARACTERS} characters.",
        )
    if not _MEDIA_TYPE.match(media_type) or redactor.message(media_type) != media_type:
        raise PackError(
            FailureCode.INVALID_OUTPUT,
            f"The media type {redactor.excerpt(media_type, 80)!r} of {plain} is not valid.",
            hint="Use something like `application/pdf`.",
        )
    return plain


def check_content(name: str, content: object) -> None:
    """Refuse content that cannot be stored.

    Raises:
        TypeError: It is neither bytes nor a path.
    """
    if not isinstance(content, bytes | Path):
        remedy = "encode the text, as in `text.encode()`" if isinstance(content, str) else "convert it"
        kind = type(content).__name__
        raise TypeError(f"The content of the artifact {name} is a {kind}, not bytes or a Path: {remedy}.")


def quarantine_warning(name: str, secret: str) -> str:
    """Return the warning of an artifact that contains a secret."""
    return (
        f"The artifact {name} contains the secret {secret}. It is quarantined, and nobody can open it until a "
        "user with the `manage` scope releases it."
    )


def _content_failure(what: str, error: BlobError | OSError) -> PackError:
    """Return the failure of content that could not be stored or read, retryable if the blob store is away."""
    if isinstance(error, BlobsUnavailableError):
        return PackError(FailureCode.UPSTREAM_UNAVAILABLE, f"{what}: {error}")
    if isinstance(error, BlobError):
        return PackError(FailureCode.ARTIFACT_FAILED, f"{what}: {error}")
    return PackError(
        FailureCode.RESOURCE_EXHAUSTED, f"{what}: {error}.", hint="Free disk space on the server, then resume the run."
    )
