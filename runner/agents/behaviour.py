"""Digests of agent profiles, to tell whether a profile has changed since an attempt."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from runner.agents.caching import named_digests
from runner.json_values import canonical_json

if TYPE_CHECKING:
    from runner.agents.profiles import AgentProfile
    from runner.failures import JSONValue

#: Length of each digest, in hexadecimal digits.
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Digests of a profile's parts, recorded with the prompt in an attempt's transcript.

    Attributes:
        command: Its command line, stream format and capabilities.
        files: Content of the files its command line names, and of a mock's script.
        walls: Its confinement: network, isolation, readable paths, names of variables and credentials.
    """

    command: str
    files: str
    walls: str

    @classmethod
    def of(cls, profile: AgentProfile) -> Behaviour:
        """Digest a profile as it is now; reads the files it names."""
        files = named_digests(profile)
        if profile.script is not None:
            with suppress(OSError):
                files.append(hashlib.sha256(profile.script.read_bytes()).hexdigest())
        variables = sorted((*profile.env, *profile.variables, *(f"{name}={ref}" for name, ref in profile.credentials)))
        return cls(
            _digest([*profile.command, *profile.model_args, profile.stream, *sorted(profile.capabilities)]),
            _digest([*files]),
            _digest([profile.network, profile.isolation, [*profile.read], [*variables]]),
        )

    def to_json(self) -> dict[str, JSONValue]:
        """Return the recorded form."""
        return {"command": self.command, "files": self.files, "walls": self.walls}

    def differs(self, before: object) -> list[str]:
        """Describe the parts that differ from a recorded form; empty if it is not one."""
        if not isinstance(before, dict):
            return []
        words = ("its command line", "a file it names", "its network, isolation, variables or credentials")
        known = (before.get(name) for name in ("command", "files", "walls"))
        pairs = zip(words, astuple(self), known, strict=True)
        return [word for word, now, then in pairs if isinstance(then, str) and now != then]


def _digest(parts: list[JSONValue]) -> str:
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:_DIGITS]
