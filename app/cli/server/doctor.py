"""Checks of this machine and the server, which change nothing."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from app.settings.server import Settings

#: What a check finds: it works; it is missing or wrong, and the message says what to do; nobody has set it up.
State = Literal["works", "missing", "not_set_up"]
#: Programs that some packs or agent steps use, and the effect of their absence.
_PROGRAMS = {
    "git": "repositories cannot be fetched",
    "bwrap": "agent steps run without a sandbox (package `bubblewrap`)",
    "chromium": "pages and videos cannot be rendered in a browser",
}
#: Prefix of the names of findings about roles.
_ROLE = "models of "
_ROOM_BYTES = 1 << 30
#: How long the collector of traces has to answer.
_COLLECTOR_SECONDS = 3.0
#: Health checks without which nothing runs; without the others, a part of Packline does not work.
_VITAL = frozenset({"store", "artifacts"})
#: Kinds of requirements that are missing until a user configures them.
_OPTIONAL_SETUP = frozenset({"credential", "agent_profile", "model"})
#: Health checks that the requirements of packs report in more detail.
_COVERED_BY_PACKS = frozenset({"packs", "programs"})


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        message: The result, and what to do.
        vital: Whether Packline does not work while it is missing.
    """

    what: str
    state: State
    message: str
    vital: bool = False


def _broken(what: str, message: str) -> Finding:
    return Finding(what, "missing", message, vital=True)


def examine(data_dir: Path | None, server: str | None) -> Iterator[Finding]:
    """Run all checks, the most basic first; continue after one that is broken."""
    from app.settings.server import Settings, SettingsError

    version = ".".join(str(part) for part in sys.version_info[:3])
    yield Finding("Python", "works", f"{version} at {sys.executable}")
    if sys.dont_write_bytecode:
        yield Finding(
            "bytecode", "missing", "PYTHONDONTWRITEBYTECODE is set: every start takes a second longer. Unset it."
        )
    try:
        settings = Settings.load({"data_dir": data_dir})
    except SettingsError as error:
        yield _broken("settings", str(error))
        return
    changed = [info for info in settings.describe() if info.source != "default"]
    yield Finding("settings", "works", f"{len(changed)} set: {', '.join(info.name for info in changed) or 'none'}")
    for warning in settings.warnings:
        yield Finding("settings", "missing", warning)
    reported = list(_server(server))
    answered = {finding.what for finding in reported}
    yield from (
        finding for finding in _files(settings, with_packs="packs" not in answered) if finding.what not in answered
    )
    for program, without in _PROGRAMS.items():
        found = shutil.which(program)
        state: State = "works" if found else "missing"
        yield Finding(program, state, found or f"not on PATH: {without}. Install it with the system's package manager.")
    yield from _requirements(settings)
    yield from _agents(settings)
    yield _page()
    yield from _traces()
    yield from reported
    if not any(what.startswith(_ROLE) for what in answered):
        yield from _models(settings)


def _files(settings: Settings, *, with_packs: bool) -> Iterator[Finding]:
    """Checks without a server; a server's results for the same checks replace these."""
    yield from _data_folder(settings.data_dir)
    yield _database(settings)
    yield from _vault(settings)
    yield _artifacts(settings)
    if with_packs:
        yield from _packs(settings)


def _data_folder(folder: Path) -> Iterator[Finding]:
    existing = folder
    while not existing.exists():
        existing = existing.parent
    if not os.access(existing, os.W_OK | os.X_OK):
        yield _broken("data folder", f"{folder} is not writable: choose another with PACKLINE_DATA_DIR.")
        return
    note = "" if folder.exists() else " (created at the first start)"
    free = shutil.disk_usage(existing).free
    if folder.exists() and folder.stat().st_mode & 0o077:
        yield Finding(
            "data folder", "missing", f"{folder} can be read by others on this machine: `chmod 700 {folder}`."
        )
    else:
        yield Finding("data folder", "works", f"{folder}{note}, {free >> 30} GiB free")
    if free < _ROOM_BYTES:
        yield Finding("disk", "missing", f"only {free >> 20} MiB are free at {folder}.")


def _agents(settings: Settings) -> Iterator[Finding]:
    """Check the isolation of agents on this machine, and the programs of their profiles."""
    from app.settings.agents import agents_of
    from runner.agents.isolation import Isolation, has_landlock, weaker

    agents = agents_of(
        settings.agents,
        folder=settings.data_dir / "agents",
        output_bytes=settings.agent_output_bytes,
        workspace_bytes=settings.agent_workspace_bytes,
    )
    level = agents.isolation
    spawning = "can" if has_landlock() else "cannot"
    message = f"agents get isolation `{level}`; the limits of steps on spawned programs {spawning} be enforced"
    if level is Isolation.PROCESS or not has_landlock():
        yield Finding(
            "agent isolation",
            "missing",
            f"{message}. Install bubblewrap, allow user namespaces, use a kernel with Landlock (5.13 or newer).",
        )
    else:
        yield Finding("agent isolation", "works", message)
    for key in sorted(settings.agents):
        profile = agents.profiles[key]
        lack = agents.missing(profile)
        demanded = agents.demanded(None, profile)
        if lack is not None:
            yield Finding(f"agent {key}", "missing", f"{lack.message} {lack.hint}")
        elif not profile.is_mock and weaker(level, demanded):
            yield Finding(
                f"agent {key}", "missing", f"needs isolation `{demanded}`, which this machine does not provide"
            )
        else:
            yield Finding(f"agent {key}", "works", " ".join(profile.command[:4]))


def _database(settings: Settings) -> Finding:
    from store.database.errors import StoreError
    from store.database.revisions import head_revision
    from store.database.schema import current_sqlite_revision, refuse_newer

    if settings.database_url != "sqlite":
        return _postgres(settings)
    path = settings.data_dir / "packline.db"
    try:
        found = current_sqlite_revision(path)
        refuse_newer(found, str(path))
    except StoreError as error:
        return _broken("database", str(error))
    if found is None:
        return Finding("database", "works", f"{path} is created at the first start")
    if found == head_revision():
        return Finding("database", "works", f"{path}, schema {found}")
    return Finding(
        "database",
        "missing",
        f"{path} has schema {found}, this release needs {head_revision()}: the next start or `packline migrate` "
        "upgrades it, after making a copy.",
    )


def _artifacts(settings: Settings) -> Finding:
    import asyncio

    from app.artifact_store import artifact_store
    from store.files.blob_port import BlobError

    if settings.artifact_store == "disk":
        return Finding("artifacts", "works", f"kept in {settings.data_dir / 'blobs'}")
    try:
        return Finding("artifacts", "works", asyncio.run(artifact_store(settings).check()))
    except BlobError as error:
        return _broken("artifacts", str(error))


def _postgres(settings: Settings) -> Finding:
    import asyncio
    from importlib.util import find_spec

    from store.database.engine import open_store
    from store.database.errors import StoreError

    for library in ("psycopg", "procrastinate"):
        if find_spec(library) is None:
            return _broken("database", f"{library} is not installed: `pip install 'packline[postgres]'`.")

    async def look() -> None:
        await (await open_store(settings.database_url, settings.data_dir, migrate=False)).close()

    try:
        asyncio.run(look())
    except StoreError as error:
        return _broken("database", str(error))
    return Finding("database", "works", "PostgreSQL, with the schema of this release and the tables of its queue")


def _vault(settings: Settings) -> Iterator[Finding]:
    """Check whether the key opens the vault; on PostgreSQL only the server can."""
    from store.secrets.cipher import VaultKeyError
    from store.secrets.vault_key import KeyFile, key_source
    from store.secrets.vault_proof import sqlite_proof

    keys = key_source(settings.data_dir, settings.vault_key_text())
    if isinstance(keys, KeyFile) and keys.is_readable_by_others():
        yield Finding("vault key file", "missing", f"{keys.path} can be read by others: `chmod 600 {keys.path}`.")
    if settings.database_url != "sqlite":
        return
    proof = sqlite_proof(settings.data_dir / "packline.db")
    if proof is None:
        yield Finding("vault key", "works", f"{keys.origin}; the vault is created with the first credential")
        return
    try:
        fits = any(found.cipher.fits(proof) for found in keys.candidates())
    except VaultKeyError as error:
        yield Finding("vault key", "missing", f"The vault is locked: {error}")
        return
    if fits:
        yield Finding("vault key", "works", f"{keys.origin} opens the vault; back it up apart from the database")
    else:
        yield Finding("vault key", "missing", f"The vault is locked: {keys.origin} does not open it. {keys.remedy}")


def _packs(settings: Settings) -> Iterator[Finding]:
    from runner.packs.availability import RequirementCheck, missing_settings, pack_requirements
    from runner.packs.registry import builtins_folder, load_registry

    try:
        registry = load_registry(builtins_folder(), settings.pack_path)
    except OSError as error:
        yield _broken("packs", str(error))
        return
    names = registry.names()
    newest = [pack for name in names if (pack := registry.find(name)) is not None]
    check = RequirementCheck(lambda pack: missing_settings(pack, settings.service_urls, settings.offers))
    lacking = {pack.name: pack_requirements(pack, check=check) for pack in newest}
    complete = sum(not missing for missing in lacking.values())
    yield Finding(
        "packs",
        "works",
        f"{len(names)} loaded; {complete} have the programs and services they need. "
        "A server also checks credentials and models.",
    )
    for problem in registry.load_errors():
        yield Finding("packs", "missing", _not_loaded(problem.origin, problem.message))
    needs = _grouped(
        (name, need.kind, need.name, need.message, str(need.hint or ""))
        for name, missing in lacking.items()
        for need in missing
    )
    yield from (need.finding() for need in needs)


def _requirements(settings: Settings) -> Iterator[Finding]:
    """Compare the `requirements.txt` of each pack folder with what is installed."""
    from runner.packs.installed import install_command
    from runner.packs.requirements import unmet_requirements

    for folder in settings.pack_path:
        unmet = unmet_requirements(folder)
        if unmet:
            problems = " ".join(f"Line {one.line}: {one.problem}" for one in unmet)
            install = f"Install them for the server's Python: `{install_command('', folder)}`."
            yield Finding(f"requirements of {folder}", "missing", f"{problems} {install}")


@dataclass(slots=True)
class _Need:
    """A requirement that packs lack; `packs` are their names."""

    kind: str
    name: str
    message: str
    hint: str
    packs: list[str] = field(default_factory=list)

    def finding(self) -> Finding:
        state: State = "not_set_up" if self.kind in _OPTIONAL_SETUP else "missing"
        words = f"{self.message} {self.hint}".strip()
        return Finding(f"{self.kind.replace('_', ' ')} {self.name}", state, f"{words} {self.needed()}")

    def needed(self) -> str:
        return f"Needed by {', '.join(self.packs)}."


def _grouped(lacking: Iterable[tuple[str, str, str, str, str]]) -> list[_Need]:
    """Return each requirement once with the packs that lack it; the first pack's message and hint stand for all.

    Args:
        lacking: For each pack and requirement: the pack, and the kind, name, message and hint of the requirement.
    """
    found: dict[tuple[str, str], _Need] = {}
    for pack, kind, name, message, hint in lacking:
        need = found.setdefault((kind, name), _Need(kind.lower(), name, message, hint))
        need.packs.append(pack)
    return list(found.values())


def _not_loaded(origin: str, message: str) -> str:
    return f"{origin} could not be loaded: {message}"


def _page() -> Finding:
    from app.http.pages import BUILT_PAGE

    if (BUILT_PAGE / "index.html").is_file():
        return Finding("web page", "works", "built")
    return Finding("web page", "not_set_up", "not part of this installation; API and commands work without it.")


def _traces() -> Iterator[Finding]:
    """Try the collector, if this command's environment names one."""
    from app.settings.telemetry import traces_endpoint
    from runner.excerpts import quoted

    if (endpoint := traces_endpoint()) is None:
        return
    from app.telemetry.collector import refusal

    variable, origin = endpoint
    if (reason := refusal(_COLLECTOR_SECONDS)) is None:
        yield Finding("traces", "works", f"{origin} takes them")
        return
    yield Finding(
        "traces",
        "missing",
        f"{origin} does not take them, so spans are lost: {quoted(reason)} Start the collector, or correct {variable}.",
    )


def _models(settings: Settings) -> Iterator[Finding]:
    """Check the roles by the settings alone, without the keys in the vault."""
    from app.settings.models import given_keys, providers_of, roles_of
    from runner.gateway.keys import StaticKeys
    from runner.gateway.listing import chain_of
    from runner.gateway.roles import Roles

    providers = providers_of(settings.model_providers)
    roles = Roles(providers, roles_of(settings.model_roles), StaticKeys(given_keys(providers)))
    for role in roles.names():
        chain = chain_of(roles, role)
        lacks = [
            None if one.missing is None else f"{one.missing.message} The vault may have it; only a server can check."
            for one in chain
        ]
        yield _role(role, [(one.key, lack) for one, lack in zip(chain, lacks, strict=True)])


def _role(role: str, chain: list[tuple[str, str | None]], needed: str = "") -> Finding:
    """The finding of a role: its models in order, why each unusable one is, and which packs cannot do without."""
    what = f"{_ROLE}{role}"
    if not chain:
        message = f"no model; set PACKLINE_MODEL_{role.upper()} to add one. {needed}"
        return Finding(what, "not_set_up", message.rstrip())
    models = ", then ".join(key if lack is None else f"{key} (cannot be used: {lack.strip()})" for key, lack in chain)
    if all(lack is None for _, lack in chain):
        return Finding(what, "works", models)
    used = next((key for key, lack in chain if lack is None), None)
    if used is None:
        return Finding(what, "missing", f"{models}. No model of this role can be used. {needed}".rstrip())
    instead = "" if used == chain[0][0] else f" {used} is used instead."
    return Finding(what, "missing", f"{models}.{instead}")


_SERVER_STATE = """
query CliServer {
  server { version accepting health { name ok message } packSources { loadErrors { origin message } } }
  viewer { name subject scopes }
  modelRoles { role chain { key availability { usable missing { message hint } } } }
}
"""


def _server(address: str | None) -> Iterator[Finding]:
    from app.cli.base.client import Client
    from app.cli.base.exits import EXIT_UNREACHABLE, CliError
    from app.cli.base.output import hint_words
    from app.cli.base.target import Target
    from app.cli.pipelines.documents import CATALOG

    try:
        with Client(Target.find(address)) as client:
            answer = client.execute(_SERVER_STATE)
            packs = list(client.pages(CATALOG, "catalog", {"filter": {"kind": "PACK"}}, limit=None))
    except CliError as error:
        if error.status == EXIT_UNREACHABLE:
            yield Finding("server", "not_set_up", "none is running here. `packline up` starts one.")
        else:
            yield _broken("server", str(error))
        return
    state, viewer = answer["server"], answer["viewer"]
    yield Finding(
        "server",
        "works",
        f"{client.target.url}, release {state['version']}, you are {viewer['name']} ({viewer['subject']})",
    )
    if not state["accepting"]:
        yield Finding("server", "missing", "It accepts no runs now.")
    needs = _grouped(
        (pack["id"], lack["kind"], lack["name"], lack["message"], hint_words(lack))
        for pack in packs
        for lack in pack["availability"]["missing"]
    )
    needing = {need.name: need.needed() for need in needs if need.kind == "model"}
    roles = {role["role"] for role in answer["modelRoles"]}
    for role in answer["modelRoles"]:
        models = [
            (model["key"], None if model["availability"]["usable"] else model["availability"]["missing"][0])
            for model in role["chain"]
        ]
        chain = [(key, lack and f"{lack['message']} {lack['hint'] or ''}") for key, lack in models]
        yield _role(role["role"], chain, needing.get(role["role"], ""))
    unloaded = [lost for source in state["packSources"] for lost in source["loadErrors"]]
    for lost in unloaded:
        yield Finding("packs", "missing", _not_loaded(lost["origin"], lost["message"]))
    usable = sum(pack["availability"]["usable"] for pack in packs)
    yield Finding("packs", "works", f"{len(packs)} loaded, {usable} can run on this server")
    yield from (need.finding() for need in needs if need.kind != "model" or need.name not in roles)
    for check in state["health"]:
        if check["name"] in _COVERED_BY_PACKS:
            continue
        vital = check["name"] in _VITAL and not check["ok"]
        yield Finding(check["name"], "works" if check["ok"] else "missing", check["message"], vital)
