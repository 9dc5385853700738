"""Settings of mounted MCP servers: the tables `[mcp_servers.<name>]` of the settings file.

[mcp_servers.time]
command = ["uvx", "mcp-server-time"]
effects = {get_current_time = "none"}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from app.settings.values import Table
from runner.egress.web_address import WebAddressError, read_web_address
from runner.mounts.spec import KEY, MountSpec, MountSpecError, SecretRef, checked_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Default of PACKLINE_MCP_COMMANDS.
COMMANDS = ("node", "npx", "python3", "uvx")
_Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]


class McpServerSetting(BaseModel):
    """One table `[mcp_servers.<name>]`; secrets are written `credential.field` and looked up in the vault."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: tuple[str, ...] = Field((), description="Program and arguments of a stdio server.")
    url: str | None = Field(None, description="Address of a Streamable HTTP server.")
    env: dict[_Name, str] = Field(default_factory=dict, description="Environment variables besides PATH and HOME.")
    secret_env: dict[_Name, str] = Field(
        default_factory=dict, description="Environment variables from the vault: `credential.field` by name."
    )
    bearer: str | None = Field(None, description="Token for an HTTP server, as `credential.field`.")
    effects: dict[str, Literal["none", "idempotent", "external"]] = Field(
        default_factory=dict, description="Effects of tools, by name; `external` for the others."
    )
    tools: tuple[str, ...] | None = Field(None, description="Tools to offer as packs; all when absent.")
    call_seconds: float = Field(60, gt=0, le=3600, description="Longest time of one call.")
    start_seconds: float = Field(30, gt=0, le=600, description="Longest time of a connection attempt.")
    concurrency: int = Field(8, ge=1, le=1000, description="Concurrent calls.")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command) == (self.url is not None):
            raise ValueError("give either `command` or `url`")
        if self.url is not None and (self.env or self.secret_env):
            raise ValueError("`env` and `secret_env` are for servers with a `command`")
        if self.command and self.bearer is not None:
            raise ValueError("`bearer` is for servers with a `url`")
        return self

    @field_validator("url", mode="after")
    @classmethod
    def _http(cls, value: str | None) -> str | None:
        if value is None:
            return None
        needed = "it must be an address such as https://host.example/mcp"
        try:
            address = read_web_address(value)
        except WebAddressError as error:
            raise ValueError(f"{needed}: {error.reason}") from error
        if address.account is not None:
            raise ValueError(f"{needed}, without a password in it")
        return address.url

    @field_validator("secret_env", "bearer", mode="after")
    @classmethod
    def _secret_names(cls, value: dict[str, str] | str | None) -> dict[str, str] | str | None:
        # The wrong value may be the secret itself, so no message repeats it.
        for name, secret in value.items() if isinstance(value, dict) else [("", value)] if value is not None else []:
            if not all(secret.partition(".")):
                raise ValueError(f"{f'`{name}`' if name else 'it'} is not of the form `credential.field`")
        return value


def _named(servers: dict[str, McpServerSetting]) -> dict[str, McpServerSetting]:
    """Refuse names that cannot be part of a pack's name."""
    for key in servers:
        if not KEY.match(key):
            raise ValueError(f"the name `{key}` must be lower-case letters, digits and `_`, at most 40")
    return servers


#: Servers by name.
Servers = Annotated[Table[dict[str, McpServerSetting]], AfterValidator(_named)]


def mount_specs(servers: Mapping[str, McpServerSetting], commands: Sequence[str]) -> list[MountSpec]:
    """The servers to mount; `problem` says why the program of one is missing or not allowed."""
    return [_spec(key, server, commands) for key, server in servers.items()]


def _spec(key: str, server: McpServerSetting, commands: Sequence[str]) -> MountSpec:
    command, problem = server.command, None
    try:
        command = checked_command(key, command, commands) if command else ()
    except MountSpecError as refused:
        problem = str(refused)
    return MountSpec(
        key=key,
        command=command,
        url=server.url,
        env=server.env,
        secret_env={name: _secret(text) for name, text in server.secret_env.items()},
        bearer=_secret(server.bearer) if server.bearer is not None else None,
        effects=server.effects,
        tools=server.tools,
        call_seconds=server.call_seconds,
        start_seconds=server.start_seconds,
        concurrency=server.concurrency,
        problem=problem,
    )


def _secret(text: str) -> SecretRef:
    credential, _, name = text.partition(".")
    return SecretRef(credential, name)
