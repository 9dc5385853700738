"""The server's version, health, limits and settings."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers.server.admission import admission_pause, set_admission
from resolvers.server.server import (
    count_queued,
    count_running,
    get_server,
    health,
    is_accepting,
    list_settings,
    oldest_queued,
)
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.problems import ForbiddenProblem, refusable
from schema.base.scalars import JSON, Long
from schema.guard.guarded_schema import GuardedSchema
from schema.packs.packs import PackSource
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.context import Context, SettingInfo
    from resolvers.server.server import HealthCheck as Looked
    from schema.guard.limits import RequestLimits as Limits


@strawberry.type(description="The result of one health check.")
class HealthCheck:
    name: str = strawberry.field(description="What was checked.")
    ok: bool = strawberry.field(description="Whether the check passed.")
    message: str = strawberry.field(
        description="The result and what to do, for display. Without the scope MANAGE only whether it works, without "
        "paths, counts and names."
    )

    @classmethod
    def of(cls, looked: "Looked") -> "HealthCheck":
        return cls(name=looked.name, ok=looked.ok, message=looked.message)


@strawberry.type(description="Limits of one request. Requests that exceed a limit are rejected before execution.")
class RequestLimits:
    depth: int = strawberry.field(description="Maximum nesting depth of fields.")
    fields: int = strawberry.field(description="Maximum number of fields, with fragments expanded.")
    aliases: int = strawberry.field(description="Maximum number of aliases.")
    lexemes: int = strawberry.field(description="Maximum number of tokens in the document.")
    cost: int = strawberry.field(description="Maximum cost: the fields, multiplied by the page sizes.")
    body_bytes: int = strawberry.field(description="Maximum size of the request body, in bytes.")

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


@strawberry.type(description=("Limits of runs and retention. Each is a setting."))
class RunLimits:
    deadline_seconds: float = strawberry.field(description="Default deadline of a run, in seconds. Default: 1800.")
    step_timeout_seconds: float = strawberry.field(description="Default timeout of a step, in seconds. Default: 600.")
    wait_seconds: int = strawberry.field(
        description="Maximum wait of `waitRun` and of commands that start runs, in seconds. Default: 50."
    )
    steps: int = strawberry.field(description="Maximum number of steps in a pipeline. Default: 64.")
    concurrent_runs: int = strawberry.field(description="Maximum number of concurrent runs per caller. Default: 8.")
    queued_runs: int = strawberry.field(
        description="Maximum number of queued runs per caller, in addition to the concurrent ones, and as many again "
        "that its triggers started. Default: 1000."
    )
    step_input_bytes: Long = strawberry.field(description="Maximum size of a step's resolved input. Default: 1 MiB.")
    step_output_bytes: Long = strawberry.field(
        description="Maximum size of a step's output. A step with a larger output fails with RESOURCE_EXHAUSTED; "
        "return an artifact instead. Default: 1 MiB."
    )
    transcript_bytes: Long = strawberry.field(
        description="How much of a transcript is kept at its beginning and at its end. Default: 8 MiB each."
    )
    upload_bytes: Long = strawberry.field(description="Maximum size of an upload. Default: 100 MiB.")
    session_idle_seconds: float = strawberry.field(
        description="Time after which an unused session ends, in seconds. Default: 900."
    )
    run_days: int = strawberry.field(description="Days for which a finished run is kept. Default: 90.")
    run_count: int = strawberry.field(description="Maximum number of runs kept. Default: 10000.")
    artifact_days: int = strawberry.field(
        description="Days for which an artifact is kept after its run succeeded, unless it is pinned. Default: 7."
    )
    memory_days: int = strawberry.field(description="Days for which audit memory is kept. Default: 30.")

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


@strawberry.type(description="A setting of the server.")
class Setting:
    name: str = strawberry.field(description="Name of the setting.")
    description: str = strawberry.field(description="What the setting does.")
    value: JSON | None = strawberry.field(description="The current value. Null if it is secret.")
    default_value: JSON | None = strawberry.field(description="The default value.")
    source: str = strawberry.field(
        description="Source of the value: `default`, `environment`, `command line`, or the path of the settings file."
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


@strawberry.type(description="A pause of admission: no new run starts; runs in progress continue.")
class AdmissionPause:
    at: datetime = strawberry.field(description="When admission was paused.")
    by: str = strawberry.field(description="Subject of the operator.")
    reason: str | None = strawberry.field(description="Why, if the operator said so.")


@strawberry.type(description="Information about the server.")
class Server:
    version: str = strawberry.field(description="Version of Packline.")

    @strawberry.field(description="Current time of the server.")
    def now(self, info: Info) -> datetime:
        return info.context.context.services.now()

    @strawberry.field(description="Whether the server accepts new runs. False while it shuts down.")
    def accepting(self, info: Info) -> bool:
        return is_accepting(info.context.context)

    @strawberry.field(description="The pause of admission. Null while runs are admitted.")
    async def admission_pause(self, info: Info) -> AdmissionPause | None:
        pause = await admission_pause(info.context.context)
        return None if pause is None else AdmissionPause(at=pause.at, by=pause.by, reason=pause.reason)

    @strawberry.field(
        description="Number of runs waiting for a worker: of all callers with the scope OBSERVE, otherwise "
        "only the caller's own."
    )
    async def queued_runs(self, info: Info) -> int:
        return await count_queued(info.context.context)

    @strawberry.field(description="When the oldest of the runs in `queuedRuns` began to wait. Null if there are none.")
    async def oldest_queued_at(self, info: Info) -> datetime | None:
        return await oldest_queued(info.context.context)

    @strawberry.field(
        description="Number of runs in progress: of all callers with the scope OBSERVE, "
        "otherwise only the caller's own."
    )
    async def running_runs(self, info: Info) -> int:
        return await count_running(info.context.context)

    @strawberry.field(description="Health checks of the store, workers, vault key, disk, artifacts, packs and others.")
    async def health(self, info: Info) -> list[HealthCheck]:
        return [HealthCheck.of(looked) for looked in await health(info.context.context)]

    @strawberry.field(description="Sources that packs are loaded from, including load errors.")
    def pack_sources(self, info: Info) -> list[PackSource]:
        return [PackSource.of(source) for source in info.context.context.services.registry.sources()]

    @strawberry.field(description="URL for uploads. Send a form with one file, or the file as the body with `?name=`.")
    def upload_url(self, info: Info) -> str:
        """A path on this server, or an absolute URL if the settings define the public address."""
        return info.context.context.services.upload_url

    @strawberry.field(description="Limits of one request.")
    def request_limits(self, info: Info) -> RequestLimits:
        assert isinstance(info.schema, GuardedSchema), "nothing else is served"
        return RequestLimits.of(info.schema.limits)

    @strawberry.field(description="Limits of runs and retention.")
    def run_limits(self, info: Info) -> RunLimits:
        return RunLimits.of(info.context.context)


@strawberry.type
class ServerQueries:
    @strawberry.field(description="Information about the server: version, health and limits.")
    async def server(self, info: Info) -> Server:
        return Server(version=await get_server(info.context.context))

    @strawberry.field(
        description="All settings with their values and sources.", directives=[Requires(scope=Scope.MANAGE)]
    )
    async def settings(self, info: Info) -> list[Setting]:
        return [Setting.of(known) for known in await list_settings(info.context.context)]


@strawberry.type(description="Admission was paused, or the pause was ended.")
class SetAdmissionSuccess:
    server: Server = strawberry.field(description="The server in its current state.")


SetAdmissionResult = Annotated[
    SetAdmissionSuccess | ForbiddenProblem,
    strawberry.union("SetAdmissionResult", description="The result of setAdmission."),
]


@strawberry.type
class ServerMutations:
    @strawberry.mutation(
        description="Pauses admission for maintenance, or ends the pause, on all servers of the database. While "
        "admission is paused no new run starts; runs in progress continue, and starts are queued.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    @refusable
    async def set_admission(
        self,
        info: Info,
        paused: Annotated[bool, strawberry.argument(description="Whether admission is paused.")],
        reason: Annotated[
            str | None, strawberry.argument(description="Why, shown to everyone; shortened to 500 characters.")
        ] = None,
    ) -> SetAdmissionResult | None:
        await set_admission(info.context.context, paused=paused, reason=reason)
        return SetAdmissionSuccess(server=Server(version=await get_server(info.context.context)))
