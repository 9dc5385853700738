"""Where values of settings come from: the environment and the settings file."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.settings import models as settings_models
from runner.issues import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PREFIX = "PACKLINE_"
_SERVICE = re.compile(r"PACKLINE_SERVICE_([A-Z0-9_]+)_URL\Z")
#: Variables of this prefix that are not settings of the server: the settings file, and the command line's own.
CLIENT_VARIABLES = frozenset({"PACKLINE_CONFIG", "PACKLINE_SERVER", "PACKLINE_TOKEN"})
#: Settings that are tables, and the variable that sets one entry of each.
_TABLES = {
    "service_urls": "PACKLINE_SERVICE_<NAME>_URL",
    "model_providers": "PACKLINE_PROVIDER_<NAME>_URL",
    "model_roles": "PACKLINE_MODEL_<ROLE>",
}


class SettingsError(Exception):
    """One or more settings are invalid; the message names each variable, its value and the remedy."""


def data_home() -> Path:
    """The data folder when no setting names one."""
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "packline"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The settings file; `path` is None when there is none."""

    path: Path | None
    values: dict[str, Any]


def read_file(given: Mapping[str, object], names: Collection[str]) -> SettingsFile:
    """The settings file's content; empty when there is none.

    Raises:
        SettingsError: PACKLINE_CONFIG names a missing file, or the file is not TOML or has unknown keys.
    """
    named = os.environ.get("PACKLINE_CONFIG")
    folder = given.get("data_dir") or os.environ.get("PACKLINE_DATA_DIR") or data_home()
    path = Path(named).expanduser() if named else Path(str(folder)).expanduser() / "packline.toml"
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        if named:
            raise SettingsError(
                f"PACKLINE_CONFIG names {path}, which does not exist. Create the file or unset the variable."
            ) from None
        return SettingsFile(None, {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"The settings file {path} cannot be read: {error}.") from error
    lines = []
    for key in values:
        if key not in names:
            near = nearest(key.lower().removeprefix("packline_"), names)
            meant = f" Did you mean `{near}`?" if near else ""
            lines.append(f"The settings file {path} sets `{key}`, which is not a setting.{meant}")
    if lines:
        raise SettingsError("\n".join(lines))
    return SettingsFile(path, values)


def variable_of(name: str) -> str:
    """The environment variable of a setting; for a table, that of one of its entries."""
    return _TABLES.get(name) or PREFIX + name.upper()


def entry_variable(name: str, entry: str) -> str | None:
    """The environment variable that sets an entry of a table; None if none is set."""
    variable = re.sub(r"<\w+>", entry.upper(), _TABLES.get(name, ""))
    return variable if variable in os.environ else None


def _table_variables() -> dict[str, Mapping[str, Any]]:
    """Entries of the environment by table."""
    return {
        "service_urls": _service_variables(),
        "model_providers": settings_models.provider_variables(),
        "model_roles": settings_models.role_variables(),
    }


def tables(file: Mapping[str, Any]) -> dict[str, object]:
    """The tables of the file, with the entries of the environment."""
    return {
        name: settings_models.merged(file.get(name), variables)
        for name, variables in _table_variables().items()
        if variables
    }


def _service_variables() -> dict[str, str]:
    found = {}
    for name, value in os.environ.items():
        match = _SERVICE.match(name)
        if match and value:
            found[match[1].lower()] = value
    return found


def source_of(name: str, given: Mapping[str, object], file: Mapping[str, object], path: Path | None) -> str:
    """The source of a value: `command line`, `environment`, the path of the file or `default`."""
    if name in given:
        return "command line"
    if os.environ.get(PREFIX + name.upper()) or (name in _TABLES and _table_variables().get(name)):
        return "environment"
    return str(path) if name in file else "default"


def unknown_variables(names: Collection[str]) -> tuple[str, ...]:
    """A warning for each variable with the prefix that is not a setting, with the nearest name."""
    known = [PREFIX + name.upper() for name in names if name not in _TABLES]
    found = []
    for name in sorted(os.environ):
        if not name.startswith(PREFIX) or name in known or name in CLIENT_VARIABLES or _SERVICE.match(name):
            continue
        if settings_models.is_model_variable(name):
            continue
        near = nearest(name, known)
        meant = f" Did you mean {near}?" if near else " `packline doctor` lists all settings."
        found.append(f"{name} is not a setting and was ignored.{meant}")
    return tuple(found)
