"""Every setting of the server.

A setting is a field of `Settings`. It is read from the command line, else from the environment variable
`PACKLINE_<FIELD>`, else from a TOML file (`PACKLINE_CONFIG`, or `packline.toml` in the data folder), else it has its
default. Adding a field is all it takes to be read and listed: the API and the documentation list fields as they are
declared here. `app.run_resources` and `app.main` hand values on. Types say what a value may be: `values`, and `agents`,
`models` and `mounts` for tables.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

from pydantic import Field, PrivateAttr, SecretStr, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from app.addresses import is_loopback
from app.settings import agents as settings_agents
from app.settings import models as settings_models
from app.settings import mounts as settings_mounts
from app.settings.messages import default_of, explain, shown
from app.settings.sources import (
    PREFIX,
    SettingsError,
    data_home,
    read_file,
    source_of,
    tables,
    unknown_variables,
    variable_of,
)
from app.settings.values import (
    Address,
    ArtifactStore,
    BasePath,
    Bytes,
    DatabaseAddress,
    Folder,
    Folders,
    Hosts,
    Origins,
    Seconds,
    ServiceAddresses,
    VaultKey,
    Words,
)
from runner.egress.web_address import read_web_address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from resolvers.context import SettingInfo
    from schema.guard.limits import RequestLimits


class Settings(BaseSettings):
    """All settings; `Settings.load` reads and checks them."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="forbid", frozen=True, hide_input_in_errors=True
    )

    # -- where it runs
    data_dir: Folder = Field(
        default_factory=data_home, description="Folder of the database, artifacts, keys and settings file."
    )
    host: str = Field("127.0.0.1", min_length=1, description="Address to listen on; a wider one needs a token first.")
    port: int = Field(8420, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    public_url: Address = Field(
        None,
        description="Address people reach the server at, when a proxy stands before it, such as https://pack.example.",
    )
    base_path: BasePath = Field(
        None,
        description="Path everything lies below, when a proxy serves other things beside, such as /tools/pipes; that "
        "of PACKLINE_PUBLIC_URL when absent.",
    )
    allowed_hosts: Hosts = Field(
        (), description="Names the server may be called by besides loopback and its own address, separated by commas."
    )
    allowed_origins: Origins = Field(
        (), description="Origins of other web pages that may call the server, such as https://ops.example, by commas."
    )
    database_url: DatabaseAddress = Field("sqlite", description="`sqlite`, or `postgresql://user@host/name`.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")
    log_format: Literal["auto", "console", "json"] = Field(
        "auto", description="How log lines look; `auto` writes for people on a terminal and JSON elsewhere."
    )
    shutdown_grace_seconds: float = Field(
        10, ge=0, le=3600, description="How long a server that stops lets short steps and requests finish."
    )

    # -- packs
    pack_path: Folders = Field((), description=f"Folders with packs of your own, separated by `{os.pathsep}`.")
    egress_allow: Words = Field(
        (),
        description="Private addresses packs may reach all the same, as `host`, `host:port` or a network, by commas.",
    )
    service_urls: ServiceAddresses = Field(
        default_factory=dict,
        description="Services that packs use, by name; each is a variable PACKLINE_SERVICE_<NAME>_URL.",
    )

    mcp_commands: Words = Field(
        settings_mounts.COMMANDS,
        description="Programs that MCP servers may be started with, names or paths, by commas.",
    )
    mcp_servers: settings_mounts.Servers = Field(
        default_factory=dict,
        description="MCP servers mounted as packs: a table [mcp_servers.<name>] each, in the settings file.",
    )

    agents: settings_agents.Profiles = Field(
        default_factory=dict,
        description="Programs agent steps may use: a table [agents.<name>] each, in the settings file.",
    )
    agent_output_bytes: Bytes = Field(256 << 20, description="What one agent may print, in bytes.")
    transcript_bytes: Annotated[int, Field(ge=1 << 20, le=1 << 40)] = Field(
        8 << 20, description="What is kept of the beginning of a transcript, and of its end, in bytes; 1 MiB at least."
    )
    agent_workspace_bytes: Bytes = Field(2 << 30, description="What an agent's workspace may hold, in bytes.")

    # -- models
    model_providers: settings_models.Providers = Field(
        default_factory=dict,
        description="Who serves models, by name, besides or over the built-in ones: kind, base_url, credential, "
        "api_key_env; each is a variable PACKLINE_PROVIDER_<NAME>_URL, _KIND, _CREDENTIAL or _API_KEY_ENV.",
    )
    model_roles: settings_models.Roles = Field(
        default_factory=dict,
        description="Models of each role in the order they are tried, as `provider:name`; each is a variable "
        "PACKLINE_MODEL_<ROLE> with commas between them.",
    )
    model_call_seconds: float = Field(
        240, gt=0, le=600, description="Longest time of one request to a model; then the next of its role is asked."
    )

    # -- secrets packs are given
    vault_key: VaultKey = Field(
        None,
        description="Key of the vault, 32 bytes in base64 or hexadecimal; the file `vault.key` of the data folder when "
        "absent.",
    )

    # -- who may call
    bootstrap_token: SecretStr | None = Field(
        None, min_length=1, description="A token accepted as administrator as given, for automation."
    )
    login_days: float = Field(30, gt=0, le=366, description="How long a browser stays signed in.")
    login_link_minutes: float = Field(15, gt=0, le=1440, description="How long a one-time login link works.")
    login_attempts_per_minute: int = Field(
        10, ge=1, le=10_000, description="Failed sign-ins or unknown tokens one address may send in a minute."
    )
    download_link_minutes: float = Field(15, gt=0, le=1440, description="How long a signed download address works.")

    # -- runs
    lanes: int = Field(64, ge=1, le=10_000, description="Runs this process works on at a time.")
    caller_concurrent_runs: int = Field(8, ge=1, le=100_000, description="Runs of one caller that work at a time.")
    queue_limit: int = Field(1000, ge=1, le=10_000_000, description="Runs that may wait; more are refused.")
    run_deadline_seconds: Seconds = Field(1800, description="Longest time of a run that sets no deadline of its own.")
    step_timeout_seconds: Seconds = Field(600, description="Longest time of a step that sets no timeout of its own.")
    steps_max: int = Field(64, ge=1, le=1000, description="Steps a pipeline may have.")
    step_input_bytes: Bytes = Field(1 << 20, description="Resolved input of a step, in bytes.")
    step_output_bytes: Bytes = Field(1 << 20, description="Output of a step, in bytes; more belongs into artifacts.")
    wait_seconds_max: int = Field(50, ge=0, le=3600, description="Longest time a request may wait for a run.")
    session_idle_seconds: Seconds = Field(900, description="How long a session lives that no step uses.")
    session_sweep_seconds: Seconds = Field(30, description="How often ended sessions and attempts are tidied up.")
    lease_seconds: float = Field(
        30, ge=1, le=3600, description="How long a worker that gives no sign of life keeps a run."
    )
    rescue_seconds: float = Field(
        5, ge=0.05, le=3600, description="How often runs that no worker keeps any more are looked for."
    )

    # -- what is kept
    run_days: int = Field(90, ge=1, le=36_500, description="Days a finished run is kept.")
    run_count: int = Field(10_000, ge=1, le=100_000_000, description="Finished runs that are kept.")
    artifact_days: int = Field(7, ge=1, le=36_500, description="Days an artifact is kept after its run succeeded.")
    artifact_quota_bytes: Bytes = Field(20 << 30, description="All artifacts together, in bytes; more are refused.")
    artifact_store: ArtifactStore = Field(
        "disk", description="Where contents of artifacts are kept: `disk`, in the data folder, or s3://bucket/folder."
    )
    artifact_store_endpoint: Address = Field(
        None, description="Address of a service that speaks S3 and is not Amazon's, such as https://minio.example:9000."
    )
    artifact_store_region: str = Field("us-east-1", min_length=1, description="Region of the bucket.")
    artifact_store_key_id: str | None = Field(
        None, description="Access key for the bucket; what the AWS_ variables or the machine's role say when absent."
    )
    artifact_store_secret: SecretStr | None = Field(None, min_length=1, description="Secret of that access key.")
    artifact_cache_bytes: Bytes = Field(
        2 << 30, description="Contents of a bucket kept on this machine while in use, in bytes."
    )
    upload_bytes: Bytes = Field(100 << 20, description="One uploaded file, in bytes.")
    uploads_per_minute: int = Field(60, ge=1, le=100_000, description="Files one caller may upload in a minute.")
    memory_days: int = Field(30, ge=1, le=36_500, description="Days audit memory is kept.")
    audit_days: int = Field(365, ge=1, le=36_500, description="Days the audit is kept.")

    # -- what one request may ask for
    request_body_bytes: Bytes = Field(1 << 20, description="Body of a GraphQL request, in bytes.")
    request_depth: int = Field(20, ge=1, le=200, description="Nesting of fields in a query.")
    request_fields: int = Field(400, ge=1, le=1_000_000, description="Fields of a query, fragments unfolded.")
    request_aliases: int = Field(40, ge=0, le=100_000, description="Aliases of a query.")
    request_lexemes: int = Field(1500, ge=1, le=10_000_000, description="Lexical units of a query.")
    request_cost: int = Field(10_000, ge=1, le=10_000_000, description="Cost of a query, page sizes multiplied out.")

    #: Where each value came from, by field.
    _sources: dict[str, str] = PrivateAttr(default_factory=dict)
    #: What `load` wants said about the environment, for the log.
    _warnings: tuple[str, ...] = PrivateAttr(default=())

    @classmethod
    def load(cls, overrides: Mapping[str, object] | None = None) -> Self:
        """Reads all settings.

        Args:
            overrides: Values from the command line by field; None means not given.

        Raises:
            SettingsError: one or more values cannot be used.
        """
        given = {name: value for name, value in (overrides or {}).items() if value is not None}
        try:
            settings = cls(**cast("dict[str, Any]", given))
        except ValidationError as error:
            file = read_file(given, cls.model_fields)
            raise SettingsError(explain(error, given, file, cls.model_fields)) from error
        file = read_file(given, cls.model_fields)
        settings._sources = {name: source_of(name, given, file.values, file.path) for name in cls.model_fields}
        settings._warnings = (*unknown_variables(cls.model_fields), *settings._weak())
        return settings

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Command line, environment, service variables, file."""
        given = init_settings.init_kwargs if isinstance(init_settings, InitSettingsSource) else {}
        file = read_file(given, settings_cls.model_fields)
        return (
            init_settings,
            InitSettingsSource(settings_cls, tables(file.values)),
            env_settings,
            InitSettingsSource(settings_cls, file.values),
        )

    @property
    def base(self) -> str:
        """Path everything lies below, without a slash at the end; empty at the root."""
        return self.base_path or (read_web_address(self.public_url).path.rstrip("/") if self.public_url else "")

    @property
    def outward(self) -> str:
        """What addresses given to people begin with: the public one, base included, or the base alone."""
        public = self.public_url or ""
        return public if public.endswith(self.base) else f"{public}{self.base}"

    def _weak(self) -> tuple[str, ...]:
        token = self.bootstrap_token.get_secret_value() if self.bootstrap_token else None
        if token is None or len(token) >= 16:
            return ()
        return ("PACKLINE_BOOTSTRAP_TOKEN is shorter than 16 characters and may be guessed: use a longer one.",)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about variables that were set and mean nothing."""
        return self._warnings

    def vault_key_text(self) -> str | None:
        """The vault key, if it was given; never shown."""
        return self.vault_key.get_secret_value() if self.vault_key else None

    def request_limits(self) -> RequestLimits:
        """What one GraphQL request may ask for."""
        from schema.guard.limits import RequestLimits

        return RequestLimits(
            depth=self.request_depth,
            fields=self.request_fields,
            aliases=self.request_aliases,
            lexemes=self.request_lexemes,
            cost=self.request_cost,
            body_bytes=self.request_body_bytes,
        )

    def describe(self) -> list[SettingInfo]:
        """Every setting in the order of declaration, secrets without their value."""
        # Not at the top: the command line reads settings too and should not wait for what the server imports.
        from resolvers.context import SettingInfo

        values = self.model_dump(mode="json")
        return [
            SettingInfo(
                name=variable_of(name),
                description=field.description or "",
                value=shown(field, values[name]),
                default=default_of(field),
                source=self._sources.get(name, "default"),
            )
            for name, field in type(self).model_fields.items()
        ]


__all__ = ["Settings", "SettingsError"]
