"""The context of a use case: the caller, and the services it works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from runner.secrets.vault import CredentialRequester
from store.states import RunCause, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from catalog.memory.audit_memory import Memory
    from catalog.memory.defaults import DefaultsCache
    from resolvers.catalog.compiled_catalog import CompiledCatalogCache
    from resolvers.operations import Trail
    from resolvers.pipelines.versions import Versions
    from resolvers.problems import NotFound
    from resolvers.usage import UsageCache
    from runner.failures import JSONValue
    from runner.files.previews import Previews
    from runner.mounts.mounts import Mounts
    from runner.packs.availability import RequirementCheck
    from runner.packs.registry import Registry
    from runner.running.engine import Engine
    from runner.running.resources import RunLimits
    from runner.secrets.redaction import Redactor
    from runner.secrets.vault import Vault
    from runner.secrets.vault_sync import VaultSync
    from runner.watching.tail import Tails
    from store.database.dialects import Connection
    from store.database.engine import Store

T = TypeVar("T")

#: Names not found that one call reports.
MISSES_MAX = 20


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, the same on every surface.

    Attributes:
        scopes: What the bearer token presented allows.
        token_id: The token or browser login; None for work the server does itself.
        expires_at: When that token stops working.
        tools: The only tools it may call, for the token of an agent step; None means all.
    """

    id: str
    subject: str
    name: str
    scopes: frozenset[Scope]
    token_id: str | None = None
    expires_at: datetime | None = None
    tools: frozenset[str] | None = None

    def may(self, scope: Scope) -> bool:
        """Whether the token carries a scope; `manage` carries all of them, and `observe` carries `read`."""
        scopes = self.scopes
        return scope in scopes or Scope.MANAGE in scopes or (scope is Scope.READ and Scope.OBSERVE in scopes)


@dataclass(frozen=True, slots=True)
class Services:
    """The services of use cases, created once by `app.main`.

    Attributes:
        vault_sync: Opens the vault, and seals what is stored in it.
        settings: Lists every setting; for callers with `manage`.
        sign_download: Returns a download URL for an artifact that expires after some minutes.
        sign_transcript: Returns the same for the transcript of an attempt.
        upload_url: Where files are uploaded.
        hooks_url: Where webhooks are delivered, before the address of each.
        runs_url: Where the page shows runs, before the id of each; None without a public address.
        previews: Renders previews of artifacts and caches them.
        memory: Records what callers ran, and forgets it on request.
        defaults: Cache of what callers usually choose.
        usage: Cache of recent usage of packs and pipelines.
        routing: Cache of the catalog compiled for routing.
    """

    engine: Engine
    vault_sync: VaultSync
    tails: Tails
    settings: Callable[[], list[SettingInfo]]
    sign_download: Callable[[str, str], str]
    sign_transcript: Callable[[str, str], str]
    upload_url: str
    hooks_url: str
    runs_url: str | None
    previews: Previews
    version: str
    versions: Versions
    mounts: Mounts
    memory: Memory
    defaults: DefaultsCache
    usage: UsageCache
    routing: CompiledCatalogCache

    def now(self) -> datetime:
        """Return the machine's time, aware UTC."""
        return datetime.now(UTC)

    @property
    def store(self) -> Store:
        return self.engine.resources.store

    @property
    def registry(self) -> Registry:
        return self.engine.resources.registry

    @property
    def vault(self) -> Vault:
        return self.engine.resources.vault

    @property
    def limits(self) -> RunLimits:
        return self.engine.resources.limits

    @property
    def redactor(self) -> Redactor:
        """Masks secrets in everything that is stored or shown."""
        return self.engine.resources.redactor


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting; `value` is None if it is secret.

    Attributes:
        source: `default`, `environment`, `command line`, or the settings file's path.
    """

    name: str
    description: str
    value: object
    default: object
    source: str


@dataclass(frozen=True, slots=True)
class Context:
    """One call of one caller.

    Attributes:
        client_name: The client program, as it names itself.
        cause: Recorded as the cause of runs this call starts.
        trail: The audit row of the current command; set by `resolvers.operations`.
        misses: Names that were not found; see `note_miss`.
    """

    services: Services
    caller: Caller
    client_name: str | None = None
    cause: RunCause = RunCause.PERSON
    trail: Trail | None = None
    misses: list[NotFound] = field(default_factory=list, compare=False)

    def with_trail(self, trail: Trail) -> Context:
        """Return a copy with the command's audit row; every start makes one, and `dataclasses.replace` is slower."""
        return Context(self.services, self.caller, self.client_name, self.cause, trail, self.misses)

    async def commit(
        self,
        unit: Callable[[Connection], T],
        target: Callable[[T], str] | None = None,
        detail: Callable[[T], Mapping[str, JSONValue]] | None = None,
    ) -> T:
        """Write a command's change and its audit row in one transaction; if it fails, neither is kept.

        This is how a use case writes; see `Store.write` for what a unit may do. A command that learns only in its unit
        that it must be refused raises there.

        Args:
            unit: The command's change.
            target: Returns the target's id from the unit's result; without it, the row has the caller's name for it.
            detail: Returns what the row says besides the command's arguments, from the unit's result.
        """

        def audited(conn: Connection) -> T:
            result = unit(conn)
            if target is not None:
                self.audit_target(target(result))
            self.record(conn, **({} if detail is None else detail(result)))
            return result

        return await self.services.store.write(audited)

    async def commit_unchanged(self, **detail: JSONValue) -> None:
        """Write the audit row of an accepted command that changes nothing, such as a dry run."""
        await self.services.store.write(partial(self.record, **detail))

    def record(self, conn: Connection, /, **detail: JSONValue) -> None:
        """Write the audit row of the accepted command inside a unit that something else commits."""
        assert self.trail is not None, "only commands change anything"
        self.trail.write(conn, **detail)

    def audit_target(self, target_id: str) -> None:
        """Set the audit row's target once it has been looked up."""
        assert self.trail is not None, "only commands are audited"
        self.trail.target_id = target_id

    def note_miss(self, miss: NotFound) -> None:
        """Note a name that a read did not find, to report it with the answer (`resolvers.not_found`)."""
        if len(self.misses) < MISSES_MAX and all(miss.ref != known.ref for known in self.misses):
            self.misses.append(miss)

    def requirement_check(
        self, pipeline_id: str | None = None, *, caller_id: str | None = None, agent: str | None = None
    ) -> RequirementCheck:
        """Return what finds the requirements that packs need and lack in a run.

        Args:
            pipeline_id: The run's pipeline; None for a pack called by itself.
            caller_id: The run's caller; None for the current caller.
            agent: The profile chosen for its agent steps; None leaves the choice to the steps.
        """
        return self.services.engine.resources.requirement_check(
            CredentialRequester(caller_id or self.caller.id, pipeline_id), agent
        )


__all__ = ["Caller", "Context", "Services", "SettingInfo"]
