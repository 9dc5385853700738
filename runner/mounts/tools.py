"""Tools of MCP servers: what one is, what tells it apart, and the pack made of it.

What a server says of its tools is not trusted: effects are what the settings say, schemas are held to the same rules
as those of strangers' pipelines, and a tool that is no longer what was accepted does not run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from runner.failures import JSONValue
from runner.issues import has_errors
from runner.json_values import canonical_json, digest
from runner.packs.context import ArtifactRef, PackContext
from runner.packs.metadata import Metadata
from runner.packs.needs import Missing, Service
from runner.packs.pack import Pack
from runner.schemas.admission import check_schema
from runner.schemas.validation import CompiledSchema, compile_schema

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.mounts.spec import ToolEffects

#: Longest description that is kept, in characters.
DESCRIPTION_CHARACTERS = 4000
_WORD = re.compile(r"[^a-z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as its server offers it.

    Attributes:
        input_schema: JSON Schema of the arguments.
        output_schema: JSON Schema of the structured result; None when it declares none.
    """

    name: str
    description: str
    input_schema: dict[str, JSONValue]
    output_schema: dict[str, JSONValue] | None

    @property
    def document(self) -> dict[str, JSONValue]:
        """The tool as JSON, as it is pinned and shown."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
        }

    @property
    def digest(self) -> str:
        """SHA-256 over name, description and schemas."""
        return digest(canonical_json(self.document))

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        """The tool of its `document`."""
        return cls(document["name"], document["description"], document["inputSchema"], document["outputSchema"])


def pack_name(server: str, tool: str) -> str:
    """The name of the pack made of a tool: `mcp.<server>.<tool>`, in the letters that pack names have."""
    words = _WORD.sub("_", _HUMP.sub("_", tool).lower()).strip("_")
    return f"mcp.{server}.{words if words[:1].isalpha() else f't_{words}'}"


def objection(tool: Tool) -> str | None:
    """Why no pack can be made of a tool; None when one can."""
    for what, schema in (("input", tool.input_schema), ("output", tool.output_schema)):
        if schema is None:
            continue
        issues = check_schema(schema)
        if has_errors(issues):
            return f"Tool {tool.name}: its {what} schema is refused: {issues[0].message}"
        if schema.get("type") != "object":
            return f"Tool {tool.name}: its {what} schema does not describe an object."
    return None


class UntypedOutput(BaseModel):
    """What a tool gives that does not declare it."""

    text: str = Field(description="Its texts, one after the other.")
    structured: dict[str, Any] | None = Field(description="Its structured result, when it gave one.")
    artifacts: list[ArtifactRef] = Field(description="Pictures, sounds and files it gave.")
    links: list[dict[str, str]] = Field(description="Resources it points to, each with `uri` and `name`.")


class _Shaped(BaseModel):
    """Any object that fits a JSON Schema; subclasses say which."""

    model_config = ConfigDict(extra="allow")
    shape: ClassVar[dict[str, JSONValue]]
    check: ClassVar[CompiledSchema]

    @model_validator(mode="before")
    @classmethod
    def fits(cls, given: Any) -> Any:  # noqa: ANN401 - any JSON
        """The object, once it fits the schema."""
        issues = cls.check.issues(given)
        if issues:
            raise ValidationError.from_exception_data(
                cls.__name__,
                [
                    InitErrorDetails(
                        type=PydanticCustomError("tool_schema", "{told}", {"told": issue.message}),
                        loc=issue.path,
                        input=_at(given, issue.path),
                    )
                    for issue in issues
                ],
            )
        return given

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:  # noqa: ANN401 - as pydantic has it
        """The schema itself."""
        return dict(cls.shape)


def shaped(name: str, schema: dict[str, JSONValue]) -> type[BaseModel]:
    """A model of the objects that fit a schema."""
    return type(name, (_Shaped,), {"shape": schema, "check": compile_schema(schema), "__module__": __name__})


def _at(value: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401 - any JSON
    for part in path:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def make_pack(
    server: str,
    tool: Tool,
    *,
    revision: int,
    effects: ToolEffects,
    timeout_seconds: float,
    lack: Callable[[], Missing | None],
    call: Callable[[PackContext, dict[str, JSONValue]], Awaitable[dict[str, JSONValue]]],
) -> Pack:
    """The pack of a tool.

    Args:
        server: Key of its server.
        tool: As it was accepted.
        revision: Its major version: raised each time a change of the tool is accepted.
        effects: What it changes outside, as the operator says.
        timeout_seconds: Longest time of one call.
        lack: Why it cannot run now.
        call: Calls it.
    """
    output_model = UntypedOutput if tool.output_schema is None else shaped("Output", tool.output_schema)

    async def handler(ctx: PackContext, input: BaseModel) -> BaseModel:
        arguments = dict(input.model_extra or {})
        return output_model.model_validate(await call(ctx, arguments))

    return Pack(
        name=pack_name(server, tool.name),
        version=f"{revision}.0.0",
        description=tool.description,
        input_model=shaped("Input", tool.input_schema),
        output_model=output_model,
        effects=effects,
        repeatable=effects != "external",
        preserves_session=False,
        uses_session=False,
        uses_agent=False,
        at_most_once=False,
        takes_idempotency_key=False,
        timeout_seconds=timeout_seconds,
        services=(Service(f"MCP server {server}", lack),),
        credentials=(),
        models=(),
        cost="",
        post_conditions=(),
        metadata=Metadata(),
        handler=handler,
    )
