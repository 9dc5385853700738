"""Types of settings: how each is parsed from text, and which values it refuses.

Messages begin in lower case, because `messages.explain` puts the setting's name and value before them.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from app.addresses import is_loopback
from app.settings.scope_rules import ScopeRule
from runner.egress.web_address import WebAddress, WebAddressError, read_web_address, read_web_host

T = TypeVar("T")

Seconds = Annotated[float, Field(gt=0, le=31_536_000)]
#: A budget; 0 refuses every call.
Dollars = Annotated[float | None, Field(ge=0, le=1_000_000_000, allow_inf_nan=False)]
Tokens = Annotated[int | None, Field(ge=0, le=1 << 50)]
Bytes = Annotated[int, Field(ge=1, le=1 << 50)]


def _words(value: object) -> object:
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return value


def _folders(value: object) -> object:
    if isinstance(value, str):
        return tuple(Path(part).expanduser().resolve() for part in value.split(os.pathsep) if part)
    return value


def _table(value: object) -> object:
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            raise ValueError("it must be a table; in a variable, write it as JSON") from None
    return value


def _absolute(value: Path) -> Path:
    return value.expanduser().resolve()


def _hosts(value: tuple[str, ...]) -> tuple[str, ...]:
    names = []
    for host in value:
        try:
            names.append(read_web_host(host))
        except WebAddressError as error:
            message = f"`{host}` is not a host: write a name such as pack.example, without scheme and port"
            raise ValueError(message) from error
    return tuple(names)


def _labels(value: tuple[str, ...]) -> tuple[str, ...]:
    for label in value:
        if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", label):
            raise ValueError(f"`{label}` is not a label: write up to 64 lower-case letters, digits and . _ -")
    return tuple(dict.fromkeys(value))


def _origins(value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_web_address(origin).origin for origin in value)


def _address(value: str | None) -> str | None:
    return None if value is None else _web_address(value).url.rstrip("/")


def _service_address(value: str) -> str:
    url = _web_address(value).url
    # Keep a trailing slash only if it was given: packs may join paths to the address.
    return url if value.rstrip().endswith("/") else url.removesuffix("/")


def _lower_names(value: dict[str, str]) -> dict[str, str]:
    return {name.lower(): text for name, text in value.items()}


def _base_path(value: str | None) -> str | None:
    if value is None or not value.strip("/"):
        return None
    if re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+/?", value) is None:
        raise ValueError("it must be a path such as /tools/pipes, of letters, digits and . _ ~ -")
    return value.rstrip("/")


def _database(value: str) -> str:
    if value == "sqlite" or value.startswith(("postgresql://", "postgres://", "postgresql+psycopg://")):
        return value
    raise ValueError("use `sqlite` for the embedded database or `postgresql://user@host/name`")


def _vault_key(value: SecretStr | None) -> SecretStr | None:
    if value is not None:
        from store.secrets.cipher import VaultKeyError, parse_key

        try:
            parse_key(value.get_secret_value(), "it")
        except VaultKeyError as error:
            raise ValueError(str(error).rstrip(".")) from error
    return value


def _artifact_store(value: str) -> str:
    if value != "disk":
        from store.files.blobs_s3 import Bucket

        Bucket.parse(value)
    return value


def _issuer(value: str | None) -> str | None:
    if value is None:
        return None
    address = _web_address(value)
    if address.scheme != "https" and not is_loopback(address.host):
        raise ValueError("it must begin with https://, except on this machine")
    if address.query is not None or address.fragment is not None or address.account is not None:
        raise ValueError("it must have no account, `?` and `#`")
    return value.strip()  # tokens repeat it character by character


def _rules(value: object) -> object:
    given = [rule for rule in value.split(";") if rule.strip()] if isinstance(value, str) else value
    if not isinstance(given, list | tuple):
        return given
    return tuple(ScopeRule.parse(rule.strip()) if isinstance(rule, str) else rule for rule in given)


def _web_address(value: str) -> WebAddress:
    try:
        return read_web_address(value)
    except WebAddressError as error:
        raise ValueError(f"it must be an address such as https://host.example: {error.reason}") from error


#: A table of the settings file; a variable holds it as JSON.
Table = Annotated[T, NoDecode, BeforeValidator(_table)]
#: Words separated by commas.
Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)]
Hosts = Annotated[Words, AfterValidator(_hosts)]
#: What a worker offers, in the order given, each once.
Labels = Annotated[Words, AfterValidator(_labels)]
#: Origins of web pages, such as https://ops.example; in lower case, without a slash at the end.
Origins = Annotated[Words, AfterValidator(_origins)]
Folder = Annotated[Path, AfterValidator(_absolute)]
#: Folders separated as in PATH.
Folders = Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_folders)]
#: A web address, without a slash at the end.
Address = Annotated[str | None, AfterValidator(_address)]
#: Addresses by name of the service, in lower case.
ServiceAddresses = Annotated[
    dict[str, Annotated[str, AfterValidator(_service_address)]], NoDecode, AfterValidator(_lower_names)
]
#: A path that begins with a slash and ends without one; None is the root.
BasePath = Annotated[str | None, AfterValidator(_base_path)]
#: The issuer of an OpenID provider, as its tokens spell it.
Issuer = Annotated[str | None, AfterValidator(_issuer)]
#: Rules separated by semicolons; see `app.settings.scope_rules`.
ScopeRules = Annotated[tuple[ScopeRule, ...], NoDecode, BeforeValidator(_rules)]
DatabaseAddress = Annotated[str, AfterValidator(_database)]
VaultKey = Annotated[SecretStr | None, Field(min_length=1), AfterValidator(_vault_key)]
#: `disk` or s3://bucket/folder.
ArtifactStore = Annotated[str, AfterValidator(_artifact_store)]
