"""Input and output of an agent step."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from runner.packs.context import ArtifactRef


class AgentFile(BaseModel):
    """A file put into the workspace before the agent starts."""

    model_config = ConfigDict(extra="forbid")

    path: str | None = Field(None, description="Path in the workspace; by default the file's name.")
    artifact: ArtifactRef | str | None = Field(None, description="An artifact, as an object or by its id `art_…`.")
    text: str | None = Field(None, description="The content, instead of an artifact.")


class AgentInput(BaseModel):
    """Input of an agent step, once its templates are resolved."""

    model_config = ConfigDict(extra="forbid")

    prompt: str = Field(description="The agent's instructions, passed on its standard input.")
    inputs: list[AgentFile | ArtifactRef | str] = Field(
        default_factory=list, max_length=100, description="Files to put into its workspace."
    )


class AgentOutput(BaseModel):
    """Output of an agent step."""

    text: str = Field(description="Its answer: the result that the program marks, else its standard output.")
    artifacts: list[ArtifactRef] = Field(description="The files it proposes: declared outputs, then `stdout_to`.")
    exit_code: int = Field(description="Exit code of the program.")
    data: JsonValue = Field(None, description="Its answer as JSON, if the step declares an `output_schema`.")
