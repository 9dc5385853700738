"""Settings of models: their providers (`model_providers`) and the models of each role (`model_roles`).

Both are tables of the settings file; variables add entries and override those of the file:

    [model_providers.groq]
    kind = "openai"
    base_url = "https://api.groq.com/openai/v1"

    [model_roles]
    writer = ["anthropic:claude-sonnet-5", "groq:llama-3.3-70b-versatile"]

    PACKLINE_PROVIDER_GROQ_URL=https://api.groq.com/openai/v1    also _KIND, _CREDENTIAL, _API_KEY_ENV
    PACKLINE_MODEL_WRITER=anthropic:claude-sonnet-5,groq:llama-3.3-70b-versatile
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from pydantic import AfterValidator, BeforeValidator, ValidationInfo
from pydantic_settings import NoDecode

from runner.egress.web_address import WebAddressError, read_web_address
from runner.gateway.providers import (
    BUILTIN_PROVIDERS,
    DEFAULT_URLS,
    KINDS,
    OFFLINE,
    PROVIDER_NAME,
    ROLE_NAME,
    ModelRef,
    Price,
    Provider,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROLE = re.compile(r"PACKLINE_MODEL_([A-Z0-9_]+)\Z")
_PROVIDER = re.compile(r"PACKLINE_PROVIDER_([A-Z0-9_]+?)_(URL|KIND|CREDENTIAL|API_KEY_ENV)\Z")
_FIELDS = {"URL": "base_url", "KIND": "kind", "CREDENTIAL": "credential", "API_KEY_ENV": "api_key_env"}
#: Variables of the same prefix that set something other than a role.
_NOT_ROLES = frozenset(
    {"PACKLINE_MODEL_ROLES", "PACKLINE_MODEL_PROVIDERS", "PACKLINE_MODEL_CALL_SECONDS", "PACKLINE_MODEL_PRICES"}
)
_PRICES = ("input", "output", "cached")
_PRICE_MAX_USD = 1_000_000


def is_model_variable(name: str) -> bool:
    """Whether a variable sets a role or a provider."""
    return bool(_PROVIDER.match(name) or (_ROLE.match(name) and name not in _NOT_ROLES))


def role_variables() -> dict[str, str]:
    """Roles of the environment, by name in lower case."""
    found = {}
    for name, value in os.environ.items():
        match = _ROLE.match(name)
        if match and value and name not in _NOT_ROLES:
            found[match[1].lower()] = value
    return found


def provider_variables() -> dict[str, dict[str, str]]:
    """Providers of the environment, by name in lower case."""
    found: dict[str, dict[str, str]] = {}
    for name, value in os.environ.items():
        match = _PROVIDER.match(name)
        if match and value:
            found.setdefault(match[1].lower(), {})[_FIELDS[match[2]]] = value
    return found


def merged(file: object, variables: Mapping[str, Any]) -> object:
    """A table of the file, overridden by the variables' entries; validation refuses what is not a table."""
    if not isinstance(file, dict):
        return dict(variables) if file is None else file
    result = dict(file)
    for name, value in variables.items():
        earlier = result.get(name)
        result[name] = {**earlier, **value} if isinstance(earlier, dict) and isinstance(value, dict) else value
    return result


def _checked_providers(value: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Validate providers and put their names in lower case; the message names the wrong entry."""
    checked = {name.lower(): dict(entry) for name, entry in value.items()}
    for name, entry in checked.items():
        if not PROVIDER_NAME.match(name) or name == OFFLINE:
            raise ValueError(f"`{name}` cannot be a provider's name: use letters, digits and `_`, and not `{OFFLINE}`")
        unknown = sorted(entry.keys() - set(_FIELDS.values()))
        if unknown:
            raise ValueError(f"provider `{name}` has `{unknown[0]}`; it may have {', '.join(_FIELDS.values())}")
        kind = entry.get("kind")
        if kind is not None and kind not in KINDS:
            raise ValueError(f"provider `{name}` has the kind `{kind}`; it may be {', '.join(KINDS)}")
        if kind is None and name not in BUILTIN_PROVIDERS and "base_url" not in entry:
            raise ValueError(f"provider `{name}` needs a base_url (PACKLINE_PROVIDER_{name.upper()}_URL)")
        url = entry.get("base_url")
        if url is not None:
            needed = f"provider `{name}` needs an address such as https://host.example/v1"
            try:
                address = read_web_address(url)
            except WebAddressError as error:
                raise ValueError(f"{needed}: {error.reason}") from error
            if address.account is not None:
                raise ValueError(f"the address of provider `{name}` contains a password: store a credential instead")
            entry["base_url"] = address.url.rstrip("/")
    return checked


def _read_roles(value: object) -> object:
    """Split chains given as text at commas; validation refuses what is not a table."""
    if not isinstance(value, dict):
        return value
    return {
        name: tuple(part.strip() for part in chain.split(",") if part.strip()) if isinstance(chain, str) else chain
        for name, chain in value.items()
    }


def _checked_roles(value: dict[str, tuple[str, ...]], info: ValidationInfo) -> dict[str, tuple[str, ...]]:
    """Validate roles and put their names in lower case; the message names the wrong entry.

    The field `model_providers` is declared first, so the providers are known here.
    """
    checked = {name.lower(): chain for name, chain in value.items()}
    for name, chain in checked.items():
        if not ROLE_NAME.match(name):
            raise ValueError(f"`{name}` cannot be a role's name: use letters, digits and `_`")
        if not chain:
            raise ValueError(f"role `{name}` names no model")
        for text in chain:
            try:
                ModelRef.parse(text)
            except ValueError as error:
                raise ValueError(f"role `{name}`: {error}") from error
    providers = info.data.get("model_providers")
    problem = None if providers is None else _unknown_provider(checked, providers)
    if problem is not None:
        raise ValueError(problem)
    return checked


def _unknown_provider(roles: Mapping[str, tuple[str, ...]], providers: Mapping[str, Mapping[str, str]]) -> str | None:
    """What is wrong with the first role whose model no provider serves; None if each has one."""
    known = {*BUILTIN_PROVIDERS, *providers, OFFLINE}
    for role, chain in roles.items():
        for text in chain:
            ref = ModelRef.parse(text)
            if ref.provider not in known:
                return (
                    f"role `{role}` names `{text}`, but there is no provider `{ref.provider}`: use one of "
                    f"{', '.join(sorted(known))}, or add it as PACKLINE_PROVIDER_{ref.provider.upper()}_URL"
                )
            if ref.provider == OFFLINE and role != "voice":
                return f"role `{role}` names `{text}`, which is an offline voice: name a model of a provider"
    return None


def _read_prices(value: object) -> object:
    """Read a table that a variable gives as JSON."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError as error:
        example = '{"groq:llama-3.3-70b-versatile": {"input": 0.59, "output": 0.79}}'
        raise ValueError(f"it is not JSON ({error}): write a table such as {example}") from error


def _checked_prices(value: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Validate prices; the message names the wrong entry."""
    for model, prices in value.items():
        try:
            ModelRef.parse(model)
        except ValueError as error:
            raise ValueError(str(error)) from error
        unknown = sorted(prices.keys() - set(_PRICES))
        if unknown:
            raise ValueError(f"the price of `{model}` has `{unknown[0]}`; it may have {', '.join(_PRICES)}")
        for name in ("input", "output"):
            if name not in prices:
                raise ValueError(f"the price of `{model}` needs `{name}`, in US dollars for a million tokens")
        for name, price in prices.items():
            if not 0 <= price <= _PRICE_MAX_USD:
                raise ValueError(
                    f"the price `{name}` of `{model}` is {price}: use 0 to {_PRICE_MAX_USD:,} US dollars for a million "
                    "tokens"
                )
    return value


#: Providers by name.
Providers = Annotated[dict[str, dict[str, str]], NoDecode, AfterValidator(_checked_providers)]
#: Models of each role, in the order they are tried.
Roles = Annotated[dict[str, tuple[str, ...]], NoDecode, BeforeValidator(_read_roles), AfterValidator(_checked_roles)]


#: Prices of models, `provider:name`, in US dollars for a million tokens.
Prices = Annotated[
    dict[str, dict[str, float]], NoDecode, BeforeValidator(_read_prices), AfterValidator(_checked_prices)
]


def providers_of(
    value: Mapping[str, Mapping[str, str]], prices: Mapping[str, Mapping[str, float]] | None = None
) -> dict[str, Provider]:
    """The built-in providers, with the settings' changes, and the providers the settings add.

    A provider at another address than the built-in one needs no key, as a private server may not, unless a credential
    or a variable for one is named.
    """
    found = dict(BUILTIN_PROVIDERS)
    for name, entry in value.items():
        known = BUILTIN_PROVIDERS.get(name)
        kind = next(kind for kind in KINDS if kind == entry.get("kind", known.kind if known else "openai"))
        is_elsewhere = "base_url" in entry and entry["base_url"] != DEFAULT_URLS[kind]
        names_key = "credential" in entry or "api_key_env" in entry
        found[name] = Provider(
            name=name,
            kind=kind,
            base_url=entry.get("base_url", DEFAULT_URLS[kind]).rstrip("/"),
            credential=entry.get("credential", name),
            api_key_env=entry.get("api_key_env", known.api_key_env if known else None),
            needs_key=names_key or (kind != "ollama" and not is_elsewhere),
        )
    for text, price in (prices or {}).items():
        ref = ModelRef.parse(text)
        if (provider := found.get(ref.provider)) is not None:
            own = Price(price["input"], price["output"], price.get("cached", price["input"]))
            found[ref.provider] = replace(provider, prices={**provider.prices, ref.name: own})
    return found


def roles_of(value: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[ModelRef, ...]]:
    """The chain of each role."""
    return {name: tuple(ModelRef.parse(text) for text in chain) for name, chain in value.items()}


def given_keys(providers: Mapping[str, Provider]) -> dict[str, str]:
    """Keys of providers from the environment, by credential."""
    found: dict[str, str] = {}
    for provider in providers.values():
        key = os.environ.get(provider.api_key_env or "", "").strip()
        if key:
            found.setdefault(provider.credential, key)
    return found
