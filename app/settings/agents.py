"""Settings of agent profiles: the tables `[agents.<name>]` of the settings file.

[agents.claude]
preset = "claude"
credentials = {ANTHROPIC_API_KEY = "anthropic.api_key"}

[agents.mine]
command = ["my-agent", "--json"]
timeout_seconds = 900
"""

from __future__ import annotations

import os
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from app.settings.values import Table
from runner.agents.isolation import best_isolation
from runner.agents.parsing import RESERVED_VARIABLES
from runner.agents.profiles import PRESETS, AgentProfile, Agents, from_preset
from runner.packs.registry import builtins_folder
from runner.secrets.forms import MIN_SECRET_LENGTH

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}\Z")
#: Names of variables whose values are secrets, as programs call them.
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
_Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]


class AgentSetting(BaseModel):
    """One table `[agents.<name>]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: str | None = Field(None, description="Profile to start from; the other keys replace its values.")
    command: tuple[str, ...] = Field((), description="Program and fixed arguments; the prompt goes in on stdin.")
    model: str | None = Field(None, description="Model to use unless a step names another.")
    model_args: tuple[str, ...] | None = Field(None, description="Arguments that set the model, with `{model}`.")
    stream: Literal["raw", "claude", "codex", "gemini", "opencode"] | None = Field(
        None, description="Format of what it prints."
    )
    env: tuple[_Variable, ...] = Field((), description="Names of the server's environment variables to pass on.")
    variables: dict[_Variable, str] = Field(default_factory=dict, description="Environment variables to set.")
    credentials: dict[_Variable, str] = Field(
        default_factory=dict, description="Secrets to pass: `credential` or `credential.field` by variable."
    )
    timeout_seconds: float = Field(600, gt=0, le=86_400, description="Longest time of an attempt.")
    capabilities: tuple[str, ...] | None = Field(None, description="Capabilities it declares.")
    read: tuple[str, ...] = Field((), description="Absolute paths outside the workspace it may read.")
    script: Path | None = Field(None, description="Script of answers for a mock.")
    network: bool = Field(True, description="Whether it may reach the network.")
    isolation: Literal["process", "sandbox", "sandbox_offline"] | None = Field(
        None, description="Minimum isolation, even if a step asks for less."
    )

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if self.preset is None and not self.command:
            raise ValueError("give `command`, or a `preset` to start from")
        if self.preset is not None and self.preset not in PRESETS:
            raise ValueError(f"there is no preset `{self.preset}`; there are {', '.join(PRESETS)}")
        if self.command and not self.command[0].strip():
            raise ValueError("`command` begins with a program")
        return self

    @field_validator("credentials", "variables", mode="after")
    @classmethod
    def _plain_variables(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if name.upper() in RESERVED_VARIABLES:
                raise ValueError(f"`{name}` is set by Packline itself")
        return value

    @field_validator("read", mode="after")
    @classmethod
    def _absolute(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for path in value:
            if not os.path.isabs(path):
                raise ValueError(f"`{path}` is a relative path; give an absolute one")
        return value


def _named(agents: dict[str, AgentSetting]) -> dict[str, AgentSetting]:
    """Refuse names that steps could not write."""
    for key in agents:
        if not _NAME.match(key):
            raise ValueError(f"the name `{key}` must be lower-case letters, digits, `_` and `-`, at most 64")
    return agents


#: Profiles by name.
Profiles = Annotated[Table[dict[str, AgentSetting]], AfterValidator(_named)]


def agents_of(
    settings: Mapping[str, AgentSetting],
    *,
    folder: Path,
    output_bytes: int,
    workspace_bytes: int,
    mcp_url: str | None = None,
) -> Agents:
    """The agents steps may use, `mock` always among them.

    Args:
        settings: The tables by name.
        folder: Parent of the workspaces of attempts.
        output_bytes: The most one agent may print.
        workspace_bytes: The most its workspace may hold.
        mcp_url: Address of Packline's own tools.
    """
    mock = replace(PRESETS["mock"], script=builtins_folder() / "agents" / "mock.yaml")
    profiles = {"mock": mock, **{key: _profile(key, table) for key, table in settings.items()}}
    return Agents(
        profiles,
        read_variable=os.environ.get,
        probe=best_isolation,
        folder=folder,
        output_bytes=output_bytes,
        workspace_bytes=workspace_bytes,
        mcp_url=mcp_url,
    )


def given_secrets(agents: Agents) -> dict[str, str]:
    """Values to mask that do not come from the vault: of variables whose name says that they hold a secret.

    Values shorter than `MIN_SECRET_LENGTH` are left out, because masking them would damage ordinary words.
    """
    found: dict[str, str] = {}
    for profile in agents.profiles.values():
        read = {name: agents.read_variable(name) or "" for name in profile.env}
        for name, value in {**read, **profile.variables}.items():
            if _SECRET_NAME.search(name) and len(value) >= MIN_SECRET_LENGTH:
                found[f"{profile.key}.{name}"] = value
    return found


def _profile(key: str, table: AgentSetting) -> AgentProfile:
    given: dict[str, Any] = {
        name: value for name in table.model_fields_set - {"preset"} if (value := getattr(table, name)) is not None
    }
    if "credentials" in given:
        given["credentials"] = tuple(given["credentials"].items())
    if table.preset is not None:
        return from_preset(table.preset, key, **given)
    known = {field.name for field in fields(AgentProfile)}
    return AgentProfile(key=key, **{name: value for name, value in given.items() if name in known})
