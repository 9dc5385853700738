"""What a pack needs beside its input: services of this machine, credentials, models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.packs.installed import has_module, has_program

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Missing:
    """Why something a pack needs cannot be had here.

    Attributes:
        message: For people, one sentence.
        hint: What to do about it.
    """

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Service:
    """Something outside the pack that it needs: a library, a program, a configured service.

    Attributes:
        name: What requirements and problems call it.
        probe: Tells what is missing, or None when it can be had. Cheap (no network) and free of effects.
    """

    name: str
    probe: Callable[[], Missing | None]


def python_module(module: str, *, extra: str) -> Service:
    """A Python library that comes with one of Packline's extras; looked up without importing it."""

    def probe() -> Missing | None:
        if has_module(module):
            return None
        return Missing(
            f"The Python library `{module}` is not installed.", f"Install it with `pip install 'packline[{extra}]'`."
        )

    return Service(module, probe)


def program(name: str) -> Service:
    """A program on PATH."""

    def probe() -> Missing | None:
        if has_program(name):
            return None
        return Missing(f"The program `{name}` is not on PATH.", f"Install `{name}` with the system's package manager.")

    return Service(name, probe)


@dataclass(frozen=True, slots=True)
class CredentialNeed:
    """A credential a pack asks the vault for.

    Attributes:
        key: Handle in the vault, such as `github`.
        kind: Kind of credential, such as `github`; says which fields it has and how it is tested. Empty for any kind,
            as agent steps take them.
        required: Whether the pack cannot work without it; else it does something less, and says so.
    """

    key: str
    kind: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class ModelNeed:
    """A role a pack needs a model for.

    Attributes:
        role: The part, such as `writer`.
        required: Whether the pack cannot work without a model; else it has a mode that needs none, and says so.
    """

    role: str
    required: bool = True
