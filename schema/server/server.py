"""The server itself: version, health, limits, settings."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from typing import TYPE_CHECKING

import strawberry

from resolvers.server.server import count_queued, count_running, get_server, health, is_accepting, list_settings
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.scalars import JSON, Long
from schema.guard.guarded_schema import GuardedSchema
from schema.packs.packs import PackSource
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.context import Context, SettingInfo
    from resolvers.server.server import HealthCheck as Looked
    from schema.guard.limits import RequestLimits as Limits


@strawberry.type(description="One thing the server needs, and how it is.")
class HealthCheck:
    name: str = strawberry.field(description="What was looked at.")
    ok: bool = strawberry.field(description="Whether it is well.")
    message: str = strawberry.field(description="For people: how it is and what to do.")

    @classmethod
    def of(cls, looked: "Looked") -> "HealthCheck":
        return cls(name=looked.name, ok=looked.ok, message=looked.message)


@strawberry.type(description="What one request may ask for; more is refused before it is executed.")
class RequestLimits:
    depth: int = strawberry.field(description="Nesting of fields.")
    fields: int = strawberry.field(description="Fields, fragments unfolded.")
    aliases: int = strawberry.field(description="Aliases.")
    lexemes: int = strawberry.field(description="Lexical units of the document.")
    cost: int = strawberry.field(description="Cost, page sizes multiplied out.")
    body_bytes: int = strawberry.field(description="Bytes of the body.")

    @classmethod
    def of(cls, limits: "Limits") -> "RequestLimits":
        return cls(
            depth=limits.depth,
            fields=limits.fields,
            aliases=limits.aliases,
            lexemes=limits.lexemes,
            cost=limits.cost,
            body_bytes=limits.body_bytes,
        )


@strawberry.type(
    description=(
        "What one run may use, and how long things are kept. Each is a setting; the numbers told here are the defaults."
    )
)
class RunLimits:
    deadline_seconds: float = strawberry.field(description="Run deadline: 1800.")
    step_timeout_seconds: float = strawberry.field(description="Step timeout: 600.")
    wait_seconds: int = strawberry.field(description="Longest wait of a start or of waitRun: 50.")
    steps: int = strawberry.field(description="Steps of a pipeline: 64.")
    concurrent_runs: int = strawberry.field(description="Concurrent runs of one caller: 8.")
    queued_runs: int = strawberry.field(description="Runs of one caller that may wait beyond those: 1000.")
    step_input_bytes: Long = strawberry.field(description="Resolved input of a step: 1 MiB.")
    step_output_bytes: Long = strawberry.field(description="Output of a step, larger ones become artifacts: 1 MiB.")
    transcript_bytes: Long = strawberry.field(
        description="What is kept of the beginning of a transcript, and of its end: 8 MiB each."
    )
    upload_bytes: Long = strawberry.field(description="Upload: 100 MiB.")
    session_idle_seconds: float = strawberry.field(description="Session without use: 900.")
    run_days: int = strawberry.field(description="Days a finished run is kept: 90.")
    run_count: int = strawberry.field(description="Runs kept: 10000.")
    artifact_days: int = strawberry.field(description="Days an artifact outlives its run: 7.")
    memory_days: int = strawberry.field(description="Days of audit memory: 30.")

    @classmethod
    def of(cls, context: "Context") -> "RunLimits":
        limits = context.services.limits
        retention = context.services.engine.resources.retention
        return cls(
            deadline_seconds=limits.deadline_seconds,
            step_timeout_seconds=limits.step_timeout_seconds,
            wait_seconds=limits.wait_seconds,
            steps=limits.steps,
            concurrent_runs=limits.concurrent_runs,
            queued_runs=limits.queued_runs,
            step_input_bytes=Long(limits.step_input_bytes),
            step_output_bytes=Long(limits.step_output_bytes),
            transcript_bytes=Long(limits.transcript_bytes),
            upload_bytes=Long(limits.upload_bytes),
            session_idle_seconds=limits.session_idle_seconds,
            run_days=int(retention.run_days),
            run_count=retention.run_count,
            artifact_days=int(limits.artifact_days),
            memory_days=int(retention.memory_days),
        )


@strawberry.type(description="One setting.")
class Setting:
    name: str = strawberry.field(description="Its name.")
    description: str = strawberry.field(description="What it does.")
    value: JSON | None = strawberry.field(description="Its value; null for what is secret.")
    default_value: JSON | None = strawberry.field(description="Its value when nobody sets it.")
    source: str = strawberry.field(
        description="Where the value came from: `default`, `environment`, `command line`, or the settings file's path."
    )

    @classmethod
    def of(cls, info: "SettingInfo") -> "Setting":
        return cls(
            name=info.name,
            description=info.description,
            value=None if info.value is None else JSON(info.value),
            default_value=None if info.default is None else JSON(info.default),
            source=info.source,
        )


@strawberry.type(description="The server itself.")
class Server:
    version: str = strawberry.field(description="Version of the software.")

    @strawberry.field(description="Its clock.")
    def now(self, info: Info) -> datetime:
        return info.context.context.services.now()

    @strawberry.field(description="Whether it takes runs now.")
    def accepting(self, info: Info) -> bool:
        return is_accepting(info.context.context)

    @strawberry.field(
        description="Runs waiting for a worker: everybody's with the scope OBSERVE, else the caller's own."
    )
    async def queued_runs(self, info: Info) -> int:
        return await count_queued(info.context.context)

    @strawberry.field(description="Runs under way: everybody's with the scope OBSERVE, else the caller's own.")
    async def running_runs(self, info: Info) -> int:
        return await count_running(info.context.context)

    @strawberry.field(
        description="What was looked at and how it is: store, vault key, disk, artifacts, packs, programs."
    )
    async def health(self, info: Info) -> list[HealthCheck]:
        return [HealthCheck.of(looked) for looked in await health(info.context.context)]

    @strawberry.field(description="Where packs are loaded from, with files that could not be.")
    def pack_sources(self, info: Info) -> list[PackSource]:
        return [PackSource.of(source) for source in info.context.context.services.registry.sources()]

    @strawberry.field(description="Where files are uploaded: a form with one file, or the file itself and `?name=`.")
    def upload_url(self, info: Info) -> str:
        """A path on this server, or an absolute URL if the settings define the public address."""
        return info.context.context.services.upload_url

    @strawberry.field(description="What one request may ask for.")
    def request_limits(self, info: Info) -> RequestLimits:
        assert isinstance(info.schema, GuardedSchema), "nothing else is served"
        return RequestLimits.of(info.schema.limits)

    @strawberry.field(description="What one run may use, and how long things are kept.")
    def run_limits(self, info: Info) -> RunLimits:
        return RunLimits.of(info.context.context)


@strawberry.type
class ServerQueries:
    @strawberry.field(description="The server itself: version, health, limits.")
    async def server(self, info: Info) -> Server:
        return Server(version=await get_server(info.context.context))

    @strawberry.field(
        description="Every setting, its value and where it came from.", directives=[Requires(scope=Scope.MANAGE)]
    )
    async def settings(self, info: Info) -> list[Setting]:
        return [Setting.of(known) for known in await list_settings(info.context.context)]
