"""Requirements of packs: services of this machine, credentials, models."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from runner.packs.installed import has_module, has_program

if TYPE_CHECKING:
    from collections.abc import Callable

#: Names that a variable PACKLINE_SERVICE_<NAME>_URL can give.
SERVICE_NAME = re.compile(r"[a-z0-9_]+\Z")
CREDENTIAL_KEY = re.compile(r"[a-z][a-z0-9_-]{0,63}\Z")
#: Names of `runner.secrets.credential_kinds.KINDS`; empty for any kind.
CredentialKindName: TypeAlias = Literal[
    "",
    "github",
    "git",
    "ssh",
    "ghost",
    "smtp",
    "openai",
    "anthropic",
    "google",
    "elevenlabs",
    "openai-compatible",
    "generic",
]


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a requirement of a pack is missing on this server.

    Attributes:
        message: For people, one sentence.
        hint: What to do about it.
    """

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Service:
    """A library, a program or a configured service that a pack needs.

    Attributes:
        name: Its name in requirements and problems.
        probe: Returns why it is missing, or None. Must be cheap (no network) and have no effects.
    """

    name: str
    probe: Callable[[], Missing | None]


def python_module(module: str, *, extra: str) -> Service:
    """Require a Python library of one of Packline's extras; the probe does not import it."""

    def probe() -> Missing | None:
        if has_module(module):
            return None
        return Missing(
            f"The Python library `{module}` is not installed.", f"Install it with `pip install 'packline[{extra}]'`."
        )

    return Service(module, probe)


def program(name: str) -> Service:
    """Require a program on PATH."""

    def probe() -> Missing | None:
        if has_program(name):
            return None
        return Missing(f"The program `{name}` is not on PATH.", f"Install `{name}` with the system's package manager.")

    return Service(name, probe)


def _nothing_missing() -> None:
    """Leave the check to the server, which alone knows addresses and labels."""


@dataclass(frozen=True, slots=True)
class ServiceAddress(Service):
    """A service whose address the operator sets; make one with `service_address`."""

    probe: Callable[[], Missing | None] = _nothing_missing

    def not_set(self) -> Missing:
        """Say which variable is missing."""
        return Missing(
            f"The address of the service `{self.name}` is not set.",
            f"An operator sets PACKLINE_SERVICE_{self.name.upper()}_URL and restarts the server.",
        )


def service_address(name: str) -> ServiceAddress:
    """Require the address of a service, set as `PACKLINE_SERVICE_<NAME>_URL`; `ctx.service_url(name)` returns it."""
    return ServiceAddress(name)


@dataclass(frozen=True, slots=True)
class WorkerLabel(Service):
    """A label that the operator gives to workers; make one with `worker_label`."""

    probe: Callable[[], Missing | None] = _nothing_missing

    def not_given(self) -> Missing:
        """Say where to name it."""
        return Missing(
            f"This server does not offer the label `{self.name}`.",
            f"An operator sets PACKLINE_OFFERS={self.name} for a server or worker on a machine that has it.",
        )


def worker_label(name: str) -> WorkerLabel:
    """Require a worker with a label in `PACKLINE_OFFERS`, for what no probe can find out."""
    return WorkerLabel(name)


@dataclass(frozen=True, slots=True)
class CredentialNeed:
    """A credential that a pack needs.

    Attributes:
        key: Key in the vault, such as `github`.
        kind: Kind of credential, such as `github`, with its fields and test. Empty for any kind, as for agent steps.
        required: Whether the pack cannot work without it; otherwise it does less and says so.
        alternatives: Keys of other credentials of the pack; it can work with any of them instead of this one.
    """

    key: str
    kind: CredentialKindName
    required: bool = True
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelNeed:
    """A role a pack needs a model for.

    Attributes:
        role: The role, such as `writer`.
        required: Whether the pack cannot work without a model; otherwise it has a mode without one and says so.
    """

    role: str
    required: bool = True
