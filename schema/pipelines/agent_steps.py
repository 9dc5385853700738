"""Agent steps of a definition, and agent profiles."""

# mypy: disallow-untyped-decorators=False
from typing import TYPE_CHECKING

import strawberry

from resolvers.agents.agents import find_agent_profile, list_agent_profiles
from runner.agents.definition import AgentStep as WrittenAgent
from runner.packs.needs import Missing
from runner.templates.templating import compile_template
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.isolation import IsolationLevel
from schema.base.issues import Availability
from schema.base.scalars import JSON, JSONSchema, Key
from schema.pipelines.definitions import RetryPolicy, Step, StepReference
from store.states import Scope

if TYPE_CHECKING:
    from datetime import datetime

    from resolvers.agents.agents import ListedAgent
    from runner.definitions.models import StepDefinition


@strawberry.type(description="An agent command line declared in the settings.")
class AgentProfile:
    key: Key = strawberry.field(description="Key that agent steps use.")
    command: list[str] = strawberry.field(
        description="The program and its fixed arguments. The prompt is passed on standard input."
    )
    model: str | None = strawberry.field(description="The model passed to the program. Null for the program's default.")
    environment_names: list[str] = strawberry.field(
        description="Names of the environment variables that the profile passes to the program. It also receives a few "
        "basic ones, such as PATH and HOME, and the step's credentials."
    )
    credentials: list[str] = strawberry.field(description="Keys of the credentials the program receives.")
    timeout_seconds: float = strawberry.field(description="Timeout of one attempt, in seconds.")
    capabilities: list[str] = strawberry.field(description="Capabilities declared in the settings.")
    isolation: IsolationLevel | None = strawberry.field(
        description="Minimum isolation, regardless of the step. Null for none."
    )
    availability: Availability = strawberry.field(description="Whether the profile can be used on this server.")

    @classmethod
    def of(cls, listed: "ListedAgent", now: "datetime") -> "AgentProfile":
        profile = listed.profile
        names = [*profile.env, *profile.variables, *(name for name, _ in profile.credentials)]
        return cls(
            key=Key(profile.key),
            command=list(profile.command),
            model=profile.model,
            environment_names=sorted(names),
            credentials=sorted({ref.partition(".")[0] for _, ref in profile.credentials}),
            timeout_seconds=profile.timeout_seconds,
            capabilities=list(profile.capabilities),
            isolation=None if listed.isolation is None else IsolationLevel(listed.isolation),
            availability=Availability.of(listed.missing, now),
        )


@strawberry.type(
    description="A step in which an agent works. Its artifacts are PROPOSED until a later step verifies them."
)
class AgentStep(Step):
    """Holds nothing of a request, so instances may be cached."""

    candidates: list[Key] = strawberry.field(description="Keys of all profiles the step may use, in the order written.")
    prompt: str = strawberry.field(description="The prompt as written, with templates unresolved.")
    stdout_to: str | None = strawberry.field(
        description="Workspace path for the artifact made from standard output. Null if none."
    )
    outputs: list[str] = strawberry.field(description="Workspace paths of the files the agent must produce.")
    output_schema: JSONSchema | None = strawberry.field(
        description="JSON Schema of the answer. Null if none is declared."
    )
    commands: JSON | None = strawberry.field(
        description="Commands the agent may run, from the `commands` block. Null allows only the profile's own command."
    )
    cache: bool = strawberry.field(description="Whether a cached result may be used.")
    required_isolation: IsolationLevel | None = strawberry.field(
        description="Minimum isolation of the process. Null for none."
    )
    written: strawberry.Private[WrittenAgent]
    written_timeout: strawberry.Private[float | None]

    @classmethod
    def of(cls, step: "StepDefinition", agent: WrittenAgent, position: int) -> "AgentStep":
        template = step.input if isinstance(step.input, dict) else {}
        return cls(
            key=Key(step.id),
            position=position,
            references=[StepReference.of(reference) for reference in compile_template(step.input).references],
            retry=RetryPolicy.of(step.retry),
            candidates=[Key(candidate) for candidate in agent.use.candidates],
            prompt=str(template.get("prompt", "")),
            stdout_to=agent.stdout_to,
            outputs=list(agent.outputs),
            output_schema=None if agent.output_schema is None else JSONSchema(agent.output_schema),
            commands=JSON(agent.document().get("commands")) if agent.commands.declared else None,
            cache=agent.cache,
            required_isolation=None if agent.isolation is None else IsolationLevel(agent.isolation),
            written=agent,
            written_timeout=step.timeout_seconds,
        )

    @strawberry.field(description="The profile currently selected. Null if it is not declared in the settings.")
    def profile(self, info: Info) -> AgentProfile | None:
        context = info.context.context
        selected = context.services.engine.resources.agents.select(self.written)
        if isinstance(selected, Missing):
            return None
        found = find_agent_profile(context, selected.profile)
        return None if found is None else AgentProfile.of(found, context.services.now())

    @strawberry.field(description="The model currently selected. Null for the program's default.")
    def model(self, info: Info) -> str | None:
        selected = info.context.context.services.engine.resources.agents.select(self.written)
        return None if isinstance(selected, Missing) else selected.model

    @strawberry.field(description="Timeout of one attempt, in seconds.")
    def timeout_seconds(self, info: Info) -> float:
        if self.written_timeout is not None:
            return self.written_timeout
        resources = info.context.context.services.engine.resources
        selected = resources.agents.select(self.written)
        if isinstance(selected, Missing):
            return resources.limits.step_timeout_seconds
        return resources.agents.profiles[selected.profile].timeout_seconds


@strawberry.type
class AgentQueries:
    @strawberry.field(description="Agent profiles that agent steps can use.", directives=[Requires(scope=Scope.READ)])
    async def agent_profiles(self, info: Info) -> list[AgentProfile]:
        context = info.context.context
        return [AgentProfile.of(listed, context.services.now()) for listed in await list_agent_profiles(context)]
