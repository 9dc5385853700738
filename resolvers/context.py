"""What a use case is given: who calls, and what it works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
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
    from runner.packs.availability import Lacks
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

#: Names told of one call that were looked for in vain.
MISSES_MAX = 20


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, the same on every surface.

    Attributes:
        scopes: What the bearer token presented allows.
        token_id: The token or browser login; None for work the server does itself.
        expires_at: When that token stops working.
        tools: The only tools it opens, when it is the token of an agent's step; None for everybody else.
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
    """What use cases work with, made once by `app.main`.

    Attributes:
        keeper: Opens the vault, and seals what goes into it.
        settings: Tells every setting, for those who may manage.
        sign_download: Makes the address an artifact can be downloaded from for some minutes.
        sign_transcript: The same for the transcript of an attempt.
        upload_url: Where files are uploaded.
        previews: Makes and remembers what artifacts look like.
        memory: Keeps how packs and pipelines ended, and forgets.
        defaults: What callers usually choose.
        usage: How packs and pipelines fared lately, remembered for a while.
        routing: The catalog, ready to be compared with requests.
    """

    engine: Engine
    keeper: VaultSync
    tails: Tails
    settings: Callable[[], list[SettingInfo]]
    sign_download: Callable[[str, str], str]
    sign_transcript: Callable[[str, str], str]
    upload_url: str
    previews: Previews
    version: str
    versions: Versions
    mounts: Mounts
    memory: Memory
    defaults: DefaultsCache
    usage: UsageCache
    routing: CompiledCatalogCache

    def now(self) -> datetime:
        """The machine's clock, aware UTC."""
        return datetime.now(UTC)

    @property
    def store(self) -> Store:
        """The database."""
        return self.engine.resources.store

    @property
    def registry(self) -> Registry:
        """The packs."""
        return self.engine.resources.registry

    @property
    def vault(self) -> Vault:
        """The credentials packs may be given."""
        return self.engine.resources.vault

    @property
    def limits(self) -> RunLimits:
        """What one run may use."""
        return self.engine.resources.limits

    @property
    def redactor(self) -> Redactor:
        """The one choke point before everything that is stored or shown."""
        return self.engine.resources.redactor


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting; `value` is None for what is secret.

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
        client_name: Program it calls with, as it names itself.
        cause: What a run started by this call was started by.
        trail: The audit row of the command under way; set by `resolvers.operations`.
        misses: Names that were looked for in vain; see `missed`.
    """

    services: Services
    caller: Caller
    client_name: str | None = None
    cause: RunCause = RunCause.PERSON
    trail: Trail | None = None
    misses: list[NotFound] = field(default_factory=list, compare=False)

    def with_trail(self, trail: Trail) -> Context:
        """The same call, as the command under way is given it; shorter than `dataclasses.replace`, for every start."""
        return Context(self.services, self.caller, self.client_name, self.cause, trail, self.misses)

    async def commit(
        self,
        unit: Callable[[Connection], T],
        target: Callable[[T], str] | None = None,
        detail: Callable[[T], Mapping[str, JSONValue]] | None = None,
    ) -> T:
        """Writes a command's change and its audit row in one transaction, which nothing outlives that fails.

        This is how a use case writes; see `Store.write` for what a unit may do. A command that finds out only in its
        unit that it is refused raises there.

        Args:
            unit: What the command does.
            target: Id of what it was done to, from the unit's result; as the caller named it when absent.
            detail: What the row says besides the command's arguments, from the unit's result.
        """

        def audited(conn: Connection) -> T:
            result = unit(conn)
            if target is not None:
                self.audit_target(target(result))
            self.record(conn, **({} if detail is None else detail(result)))
            return result

        return await self.services.store.write(audited)

    async def commit_unchanged(self) -> None:
        """Writes the audit row of an accepted command that changes nothing, such as a dry run."""
        await self.services.store.write(self.record)

    def record(self, conn: Connection, /, **detail: JSONValue) -> None:
        """Writes the audit row of the accepted command as a part of its unit; for units that others commit."""
        assert self.trail is not None, "only commands change anything"
        self.trail.write(conn, **detail)

    def audit_target(self, target_id: str) -> None:
        """Names what the command is done to, once that has been looked up."""
        assert self.trail is not None, "only commands are audited"
        self.trail.target_id = target_id

    def missed(self, miss: NotFound) -> None:
        """Notes a name that a read looked for in vain, to be told beside its answer (`resolvers.not_found`)."""
        if len(self.misses) < MISSES_MAX and all(miss.ref != told.ref for told in self.misses):
            self.misses.append(miss)

    def lacks(self, pipeline_id: str | None = None, *, caller_id: str | None = None, agent: str | None = None) -> Lacks:
        """Tells which credentials, models and agents a pack needs and cannot have in a run.

        Args:
            pipeline_id: The run's; None for a pack called by itself.
            caller_id: Whose run it is; None for whoever calls now.
            agent: The profile chosen for its agent steps; None leaves it to them.
        """
        return self.services.engine.resources.lacks(
            CredentialRequester(caller_id or self.caller.id, pipeline_id), agent
        )


__all__ = ["Caller", "Context", "Services", "SettingInfo"]
