"""Settings as people see them: values without secrets, and what is wrong with one that cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

from app.settings.sources import entry_variable, source_of, variable_of
from runner.schemas.pydantic_messages import NEEDED, needed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import ValidationError
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

    from app.settings.sources import SettingsFile
    from runner.failures import JSONValue

#: What differs for settings, which people write in TOML.
_NEEDED = {
    **NEEDED,
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "it must be a table"),
    **dict.fromkeys(("path_type", "path_invalid"), "it must be a path"),
    "extra_forbidden": "there is no such key",
    "missing": "it is required",
}

#: Options of the command line that are not called as their setting.
_OPTIONS = {"lanes": "--concurrency", "worker_port": "--port"}


def explain(
    error: ValidationError,
    given: Mapping[str, object],
    file: SettingsFile,
    fields: Mapping[str, FieldInfo],
) -> str:
    """One sentence for each value that cannot be used."""
    return "\n".join(_explain_one(detail, given, file, fields) for detail in error.errors())


def _explain_one(
    detail: ErrorDetails, given: Mapping[str, object], file: SettingsFile, fields: Mapping[str, FieldInfo]
) -> str:
    name, *inside = [str(part) for part in detail["loc"] if part != "[key]"]
    dotted = ".".join((name, *inside))
    own = entry_variable(name, inside[0]) if len(inside) == 1 else None
    match source_of(name, given, file.values, file.path):
        case "command line":
            where, drop = _OPTIONS.get(name, f"--{name.replace('_', '-')}"), "leave it out"
        case "environment" if own is not None:
            where, drop = own, "unset it"
        case "environment":
            where = f"`{'.'.join(inside)}` in {variable_of(name)}" if inside else variable_of(name)
            drop = "unset it"
        case path:
            where, drop = f"`{dotted}` in {path}", "remove it"
    field = fields[name]
    default = default_of(field)
    if is_secret(field):
        value = "is set"
    elif inside or isinstance(default, dict) or not isinstance(detail["input"], (str, int, float)):
        value = "cannot be used"  # an entry of a table or a list may be a secret
    else:
        value = f"is `{shown(field, detail['input'])}`"
    if inside:
        remedy = "remove it" if own is None else drop
    elif default in (None, [], {}):
        remedy = drop
    else:
        remedy = f"{drop} to use the default `{str(default).lower() if isinstance(default, bool) else default}`"
    return f"{where} {value}: {needed(detail, _NEEDED)}. Correct it, or {remedy}."


def default_of(field: FieldInfo) -> JSONValue:
    """The default of a setting, as JSON."""
    value = field.get_default(call_default_factory=True)
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else cast("JSONValue", value)


def is_secret(field: FieldInfo) -> bool:
    """Whether the value of a setting is never shown."""
    return SecretStr in (field.annotation, *get_args(field.annotation))


def shown(field: FieldInfo, value: JSONValue) -> JSONValue:
    """A value without the secrets in it; None if the setting is a secret."""
    if is_secret(field):
        return None
    if isinstance(value, str):
        return _without_password(value)
    if isinstance(value, dict):
        return {key: shown(field, item) for key, item in value.items()}
    return value


def _without_password(value: str) -> str:
    """An address without the password it may carry."""
    if "@" not in value or "://" not in value:
        return value
    try:
        parts = urlsplit(value)
    except ValueError:
        return "***"
    if parts.password is None:
        return value
    account = f"{parts.username or ''}:***@{parts.netloc.rpartition('@')[2]}"
    return urlunsplit((parts.scheme, account, parts.path, parts.query, parts.fragment))
