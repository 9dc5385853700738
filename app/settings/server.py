"""Every setting of the server.

A setting is a field of `Settings`. It is read from the command line, else from the environment variable
`PACKLINE_<FIELD>`, else from a TOML file (`PACKLINE_CONFIG`, or `packline.toml` in the data folder), else it has its
default. A new field is read and listed without further code: the API and the documentation list the fields in this
order. `app.run_resources` and `app.main` pass values on. The types are in `values`; those of tables in `agents`,
`models` and `mounts`.
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
from app.settings.telemetry import telemetry_warning
from app.settings.values import (
    Address,
    ArtifactStore,
    BasePath,
    Bytes,
    DatabaseAddress,
    Dollars,
    Folder,
    Folders,
    Hosts,
    Issuer,
    Labels,
    Origins,
    ScopeRules,
    Seconds,
    ServiceAddresses,
    Tokens,
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
    host: str = Field(
        "127.0.0.1",
        min_length=1,
        description="Address to listen on. An address that other machines can reach needs a token first.",
    )
    port: int = Field(8420, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    public_url: Address = Field(
        None,
        description="Public address of the server behind a proxy, such as https://pack.example.",
    )
    base_path: BasePath = Field(
        None,
        description="Path prefix behind a proxy that serves other applications too, such as /tools/pipes; default: the "
        "path of PACKLINE_PUBLIC_URL.",
    )
    allowed_hosts: Hosts = Field(
        (), description="Host names to answer to, besides loopback and the server's own address, separated by commas."
    )
    allowed_origins: Origins = Field(
        (),
        description="Origins of other web pages that may call the server, such as https://ops.example, separated by "
        "commas.",
    )
    database_url: DatabaseAddress = Field("sqlite", description="Database: `sqlite`, or `postgresql://user@host/name`.")
    database_write_connections: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="Connections to PostgreSQL for writing; default: 10, of `packline worker` 4.",
    )
    database_read_connections: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="Most connections to PostgreSQL for reading; default: 17, of `packline worker` 3.",
    )
    worker: bool = Field(
        True,
        description="Whether `packline up` executes runs. Without, it leaves them to `packline worker`, on PostgreSQL.",
    )
    worker_port: int = Field(
        0, ge=0, le=65535, description="Port for the health check and metrics of `packline worker`; 0 picks a free one."
    )
    offers: Labels = Field(
        (),
        description="Labels that the worker of this process offers besides what it finds, separated by commas, such as "
        "gpu; packs can need them.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Lowest level to log.")
    log_format: Literal["auto", "console", "json"] = Field(
        "auto", description="Format of log lines; `auto` is `console` on a terminal and `json` elsewhere."
    )
    shutdown_grace_seconds: float = Field(
        10, ge=0, le=3600, description="How long a stopping server waits for short steps and requests to finish."
    )

    # -- packs
    pack_path: Folders = Field((), description=f"Folders with packs of your own, separated by `{os.pathsep}`.")
    pack_reload: bool = Field(
        True,
        description="Whether the server loads changed files of your pack folders while it runs, once they have been "
        "unchanged for a second.",
    )
    egress_allow: Words = Field(
        (),
        description="Private addresses packs may reach, as `host`, `host:port` or a network, separated by commas.",
    )
    service_urls: ServiceAddresses = Field(
        default_factory=dict,
        description="Addresses of services that packs use, by name; one variable PACKLINE_SERVICE_<NAME>_URL each.",
    )

    mcp_commands: Words = Field(
        settings_mounts.COMMANDS,
        description="Programs that may start MCP servers, as names or paths, separated by commas.",
    )
    mcp_servers: settings_mounts.Servers = Field(
        default_factory=dict,
        description="MCP servers mounted as packs: one table [mcp_servers.<name>] each, in the settings file.",
    )

    a2a: bool = Field(
        True, description="Whether agents reach pipelines over A2A at /a2a; needs the extra `a2a`, see docs/a2a.md."
    )

    agents: settings_agents.Profiles = Field(
        default_factory=dict,
        description="Programs agent steps may use: one table [agents.<name>] each, in the settings file.",
    )
    agent_output_bytes: Bytes = Field(256 << 20, description="Largest output of one agent, in bytes.")
    transcript_bytes: Annotated[int, Field(ge=1 << 20, le=1 << 40)] = Field(
        8 << 20, description="Bytes kept of the beginning of a transcript, and as many of its end; at least 1 MiB."
    )
    agent_workspace_bytes: Bytes = Field(2 << 30, description="Largest workspace of an agent, in bytes.")

    # -- models
    model_providers: settings_models.Providers = Field(
        default_factory=dict,
        description="Providers of models, by name; they add to the built-in ones or change them. Keys: kind, base_url, "
        "credential, api_key_env; variables: PACKLINE_PROVIDER_<NAME>_URL, _KIND, _CREDENTIAL and _API_KEY_ENV.",
    )
    model_roles: settings_models.Roles = Field(
        default_factory=dict,
        description="Models of each role, as `provider:name`, in the order to try them; one variable "
        "PACKLINE_MODEL_<ROLE> each, separated by commas.",
    )
    model_call_seconds: float = Field(
        240, gt=0, le=600, description="Longest time of one request to a model, before the role's next model is tried."
    )

    model_prices: settings_models.Prices = Field(
        default_factory=dict,
        description='Prices of your own models, by `provider:name`: one table [model_prices."<model>"] each, in the '
        "settings file, with input, output and cached, in US dollars for a million tokens; or all as JSON.",
    )

    # -- secrets of packs
    vault_key: VaultKey = Field(
        None,
        description="Key of the vault, 32 bytes in base64 or hexadecimal; default: the file `vault.key` in the data "
        "folder.",
    )

    # -- who may call
    bootstrap_token: SecretStr | None = Field(
        None, min_length=1, description="A token that acts as the administrator, for automation."
    )
    login_days: float = Field(30, gt=0, le=366, description="How long a browser stays signed in.")
    login_link_minutes: float = Field(15, gt=0, le=1440, description="How long a one-time login link works.")
    login_attempts_per_minute: int = Field(
        10, ge=1, le=10_000, description="Failed sign-ins or unknown tokens allowed per address and minute."
    )
    oidc_issuer: Issuer = Field(
        None,
        description="OpenID provider whose users may sign in and whose tokens are accepted, as its issuer address; "
        "needs PACKLINE_PUBLIC_URL and PACKLINE_OIDC_SCOPES.",
    )
    oidc_scopes: ScopeRules = Field(
        (),
        description="Scopes of the provider's users: rules `claim=value:scope,scope`, or `*:scope` for everybody, "
        "separated by `;`, such as `groups=ops:manage; *:read`. The rules that match add up.",
    )
    oidc_audience: Words = Field(
        (),
        description="Audiences accepted in bearer tokens of the provider, separated by commas; default: "
        "PACKLINE_PUBLIC_URL, and that with /mcp.",
    )
    oidc_client_id: str | None = Field(
        None, min_length=1, description="Client that the provider knows Packline's page as; without, only tokens work."
    )
    oidc_client_secret: SecretStr | None = Field(
        None, min_length=1, description="Secret of that client; without, it is a public client with PKCE."
    )
    oidc_request_scopes: str = Field(
        "openid profile email",
        min_length=1,
        description="OAuth scopes that sign-in asks the provider for, separated by spaces; MCP clients are advised of "
        "them, too.",
    )
    oidc_name: str = Field(
        "single sign-on", min_length=1, max_length=60, description="Name of the provider on the sign-in page."
    )
    oidc_login_hours: float = Field(
        12, gt=0, le=8784, description="How long a browser stays signed in through the provider."
    )
    oidc_clock_skew_seconds: float = Field(
        60, ge=0, le=600, description="How far the clocks of the provider and this server may differ."
    )
    download_link_minutes: float = Field(15, gt=0, le=1440, description="How long a signed download address works.")

    # -- runs
    lanes: int = Field(64, ge=1, le=10_000, description="Concurrent runs of this process.")
    caller_concurrent_runs: int = Field(8, ge=1, le=100_000, description="Concurrent runs of one caller.")
    queue_limit: int = Field(
        1000,
        ge=1,
        le=10_000_000,
        description="Queued runs of one caller, and as many of its triggers; more are refused.",
    )
    caller_triggers: int = Field(10_000, ge=1, le=1_000_000, description="Triggers of one caller; more are refused.")
    budget_run_usd: Dollars = Field(None, description="US dollars that models may cost one run; default: no limit.")
    budget_run_tokens: Tokens = Field(None, description="Tokens that models may use in one run; default: no limit.")
    budget_caller_month_usd: Dollars = Field(
        None, description="US dollars that models may cost one caller in a month (UTC); default: no limit."
    )
    budget_caller_month_tokens: Tokens = Field(
        None, description="Tokens that models may use for one caller in a month (UTC); default: no limit."
    )
    budget_month_usd: Dollars = Field(
        None, description="US dollars that models may cost all callers in a month (UTC); default: no limit."
    )
    budget_month_tokens: Tokens = Field(
        None, description="Tokens that models may use for all callers in a month (UTC); default: no limit."
    )
    run_deadline_seconds: Seconds = Field(
        1800, description="Deadline of a run, unless its start or its pipeline sets one."
    )
    step_timeout_seconds: Seconds = Field(600, description="Longest time of a step that sets no timeout.")
    steps_max: int = Field(64, ge=1, le=1000, description="Steps a pipeline may have.")
    step_input_bytes: Bytes = Field(1 << 20, description="Largest input of a step, templates resolved, in bytes.")
    step_output_bytes: Bytes = Field(
        1 << 20, description="Largest output of a step, in bytes; larger content belongs in artifacts."
    )
    wait_seconds_max: int = Field(50, ge=0, le=3600, description="Longest time a request may wait for a run.")
    session_idle_seconds: Seconds = Field(900, description="How long to keep a session that no step uses.")
    session_wait_seconds: float = Field(
        60,
        ge=0,
        le=86_400,
        description="How long a step waits for the machine of its session, when no worker there is alive. After that "
        "another worker makes the session again, if the steps allow it. For PostgreSQL.",
    )
    session_sweep_seconds: Seconds = Field(30, description="How often to clean up after ended sessions and attempts.")
    lease_seconds: float = Field(30, ge=1, le=3600, description="How long a run stays leased to a silent worker.")
    rescue_seconds: float = Field(5, ge=0.05, le=3600, description="How often to look for runs whose lease expired.")

    # -- retention
    run_days: int = Field(90, ge=1, le=36_500, description="Days to keep a finished run.")
    run_count: int = Field(10_000, ge=1, le=100_000_000, description="Finished runs to keep.")
    artifact_days: int = Field(7, ge=1, le=36_500, description="Days to keep an artifact after its run succeeded.")
    artifact_quota_bytes: Bytes = Field(20 << 30, description="Size of all artifacts, in bytes; more are refused.")
    artifact_store: ArtifactStore = Field(
        "disk", description="Where to keep the contents of artifacts: `disk` (the data folder) or s3://bucket/folder."
    )
    artifact_store_endpoint: Address = Field(
        None, description="Address of an S3 service other than Amazon's, such as https://minio.example:9000."
    )
    artifact_store_region: str = Field("us-east-1", min_length=1, description="Region of the bucket.")
    artifact_store_key_id: str | None = Field(
        None, description="Access key for the bucket; default: the AWS_ variables or the machine's role."
    )
    artifact_store_secret: SecretStr | None = Field(None, min_length=1, description="Secret of that access key.")
    artifact_cache_bytes: Bytes = Field(
        2 << 30, description="Size of the local cache of a bucket's contents, in bytes."
    )
    metrics_token: SecretStr | None = Field(
        None,
        min_length=16,
        description="Bearer token for `/metrics`. Without one, only this machine may read them, without a proxy.",
    )
    shared_storage: bool = Field(
        True,
        description="Whether a server or worker on PostgreSQL refuses to start if it lacks the artifacts of others.",
    )
    upload_bytes: Bytes = Field(100 << 20, description="Largest uploaded file, in bytes.")
    uploads_per_minute: int = Field(60, ge=1, le=100_000, description="Files one caller may upload per minute.")
    memory_days: int = Field(30, ge=1, le=36_500, description="Days to keep audit memory.")
    audit_days: int = Field(365, ge=1, le=36_500, description="Days to keep the audit.")

    # -- limits of a request
    request_body_bytes: Bytes = Field(1 << 20, description="Largest body of a GraphQL request, in bytes.")
    request_depth: int = Field(20, ge=1, le=200, description="Deepest nesting of fields in a query.")
    request_fields: int = Field(400, ge=1, le=1_000_000, description="Fields of a query, fragments expanded.")
    request_aliases: int = Field(40, ge=0, le=100_000, description="Aliases of a query.")
    request_lexemes: int = Field(1500, ge=1, le=10_000_000, description="Tokens of a query's text.")
    request_cost: int = Field(
        10_000, ge=1, le=10_000_000, description="Cost of a query: its fields, multiplied by page sizes."
    )

    #: The source of each value, by field.
    _sources: dict[str, str] = PrivateAttr(default_factory=dict)
    #: Warnings about the environment, for the log.
    _warnings: tuple[str, ...] = PrivateAttr(default=())

    @classmethod
    def load(cls, overrides: Mapping[str, object] | None = None) -> Self:
        """Read and validate all settings.

        Args:
            overrides: Values from the command line by field; None means not given.

        Raises:
            SettingsError: one or more values are invalid.
        """
        given = {name: value for name, value in (overrides or {}).items() if value is not None}
        try:
            settings = cls(**cast("dict[str, Any]", given))
        except ValidationError as error:
            file = read_file(given, cls.model_fields)
            raise SettingsError(explain(error, given, file, cls.model_fields)) from error
        file = read_file(given, cls.model_fields)
        settings._sources = {name: source_of(name, given, file.values, file.path) for name in cls.model_fields}
        if problem := settings._incomplete():
            raise SettingsError(problem)
        traces = telemetry_warning()
        settings._warnings = (
            *unknown_variables(cls.model_fields),
            *settings._weak(),
            *((traces,) if traces else ()),
        )
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
        """Order the sources: command line, tables (file and environment), environment, file."""
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
        """The path prefix, without a slash at the end; empty at the root."""
        return self.base_path or (read_web_address(self.public_url).path.rstrip("/") if self.public_url else "")

    @property
    def outward(self) -> str:
        """The beginning of addresses given to people: the public address with the base, or the base alone."""
        public = self.public_url or ""
        return public if public.endswith(self.base) else f"{public}{self.base}"

    def _incomplete(self) -> str | None:
        """What a setting needs besides itself; None if nothing is missing."""
        if self.oidc_issuer is None:
            given = [name for name in type(self).model_fields if name.startswith("oidc_") and self._is_given(name)]
            if not given:
                return None
            return (
                f"{PREFIX}{given[0].upper()} has no effect without PACKLINE_OIDC_ISSUER. Set that to the issuer "
                "address of your provider."
            )
        if not self.public_url:
            return (
                "PACKLINE_OIDC_ISSUER needs PACKLINE_PUBLIC_URL: the provider sends browsers back to it, and its "
                "tokens name it as their audience. Set it to the address that people use."
            )
        if not self.oidc_scopes:
            return (
                "PACKLINE_OIDC_ISSUER needs PACKLINE_OIDC_SCOPES, or the provider's users may do nothing. Set it to "
                "rules such as `groups=ops:manage; *:read`."
            )
        return None

    def _is_given(self, name: str) -> bool:
        return self._sources[name] != "default"

    def _weak(self) -> tuple[str, ...]:
        found = []
        token = self.bootstrap_token.get_secret_value() if self.bootstrap_token else None
        if token is not None and len(token) < 16:
            found.append("PACKLINE_BOOTSTRAP_TOKEN is shorter than 16 characters and easy to guess. Use a longer one.")
        public = read_web_address(self.public_url) if self.oidc_issuer and self.public_url else None
        if public is not None and public.scheme != "https" and not is_loopback(public.host):
            found.append(
                "PACKLINE_PUBLIC_URL begins with http://, so sign-ins through the OpenID provider, and its tokens, can "
                "be read on their way. Serve Packline by https://."
            )
        return tuple(found)

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about unknown variables, a weak bootstrap token, and traces that cannot be exported."""
        return self._warnings

    def vault_key_text(self) -> str | None:
        """The vault key, if one was given; a secret."""
        return self.vault_key.get_secret_value() if self.vault_key else None

    def request_limits(self) -> RequestLimits:
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
        # A local import: the command line reads settings too and must not load the server's modules.
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
