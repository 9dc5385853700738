"""Tools of MCP servers, and the packs made of them.

Servers are not trusted: effects come from the settings, schemas must pass the same checks as those of users' pipelines,
and a tool that differs from the accepted one does not run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from runner.excerpts import plain_text
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
    """A tool as its server describes it.

    Attributes:
        input_schema: JSON Schema of the arguments.
        output_schema: JSON Schema of the structured result; None when the tool declares none.
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
        """Make a tool from its `document`."""
        return cls(document["name"], document["description"], document["inputSchema"], document["outputSchema"])


def pack_name(server: str, tool: str) -> str:
    """Return the name of a tool's pack: `mcp.<server>.<tool>`, in the characters of pack names."""
    words = _WORD.sub("_", _HUMP.sub("_", tool).lower()).strip("_")
    return f"mcp.{server}.{words if words[:1].isalpha() else f't_{words}'}"


def refusal_of(tool: Tool) -> str | None:
    """Return why no pack can be made of a tool; None when one can."""
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
    """The output of a tool without an output schema."""

    text: str = Field(description="The tool's texts, separated by blank lines.")
    structured: dict[str, Any] | None = Field(description="The tool's structured result, if it returned one.")
    artifacts: list[ArtifactRef] = Field(description="Pictures, sounds and files that the tool returned.")
    links: list[dict[str, str]] = Field(description="Resources that the tool links to, each with `uri` and `name`.")


class _Shaped(BaseModel):
    """An object that fits a JSON Schema, which subclasses set."""

    model_config = ConfigDict(extra="allow")
    shape: ClassVar[dict[str, JSONValue]]
    check: ClassVar[CompiledSchema]

    @model_validator(mode="before")
    @classmethod
    def fits(cls, given: Any) -> Any:  # noqa: ANN401 - any JSON
        """Check the object against the schema."""
        issues = cls.check.issues(given)
        if issues:
            raise ValidationError.from_exception_data(
                cls.__name__,
                [
                    InitErrorDetails(
                        type=PydanticCustomError("tool_schema", "{message}", {"message": issue.message}),
                        loc=issue.path,
                        input=_at(given, issue.path),
                    )
                    for issue in issues
                ],
            )
        return given

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:  # noqa: ANN401 - as pydantic has it
        return dict(cls.shape)


def shaped(name: str, schema: dict[str, JSONValue]) -> type[BaseModel]:
    """Make a model of the objects that fit a schema."""
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
    missing: Callable[[], Missing | None],
    call: Callable[[PackContext, dict[str, JSONValue]], Awaitable[dict[str, JSONValue]]],
) -> Pack:
    """Make the pack of a tool.

    Args:
        server: Key of its server.
        tool: The accepted tool.
        revision: The pack's major version, raised each time a change of the tool is accepted.
        effects: What it changes outside, as the operator declares it.
        timeout_seconds: Timeout of a call.
        missing: Returns why it cannot run now.
        call: Calls the tool.
    """
    output_model = UntypedOutput if tool.output_schema is None else shaped("Output", tool.output_schema)

    async def handler(ctx: PackContext, input: BaseModel) -> BaseModel:
        arguments = dict(input.model_extra or {})
        return output_model.model_validate(await call(ctx, arguments))

    return Pack(
        name=pack_name(server, tool.name),
        version=f"{revision}.0.0",
        description=plain_text(tool.description),
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
        services=(Service(f"MCP server {server}", missing),),
        credentials=(),
        models=(),
        cost="",
        post_conditions=(),
        metadata=Metadata(),
        handler=handler,
    )
