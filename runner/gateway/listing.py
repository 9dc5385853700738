"""Lists the models and voices that people can choose from, and what each role resolves to now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from runner.gateway.offline_voice import missing_offline, offline_voices
from runner.gateway.providers import OFFLINE, ModelRef
from runner.gateway.speech import list_voices
from runner.packs.installed import has_module
from runner.packs.needs import Missing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.gateway.roles import Candidate, Roles

ModelKind = Literal["text", "image", "voice"]
_KINDS: dict[str, ModelKind] = {"image": "image", "voice": "voice"}


@dataclass(frozen=True, slots=True)
class Choice:
    """A model or voice.

    Attributes:
        key: `provider:name`, as packs take it.
        name: Display name.
        provider: The provider's name; `offline` for a voice of this machine.
        labels: Labels such as the language.
        missing: Why it cannot be used now; None when it can.
    """

    key: str
    kind: ModelKind
    name: str
    provider: str
    labels: tuple[str, ...]
    missing: Missing | None


def choices(roles: Roles, kinds: Iterable[ModelKind] | None = None) -> list[Choice]:
    """List the models of all roles, then the other known voices, each once.

    Args:
        roles: The configured roles.
        kinds: Only these kinds; all when None.
    """
    wanted = {"text", "image", "voice"} if kinds is None else set(kinds)
    found: dict[tuple[str, str], Choice] = {}
    for role in roles.names():
        kind = _KINDS.get(role, "text")
        if kind in wanted:
            for choice in chain_of(roles, role):
                found.setdefault((choice.kind, choice.key), choice)
    if "voice" in wanted:
        for voice in list_voices():
            choice = _voice(roles.candidate(ModelRef.parse(voice.name)), voice.label, voice.language)
            earlier = found.get(("voice", voice.name))
            found["voice", voice.name] = choice if earlier is None or earlier.missing is None else earlier
    return list(found.values())


def chain_of(roles: Roles, role: str) -> list[Choice]:
    """List what a role resolves to now, in the order it is tried; for voices, a voice of this machine comes last."""
    kind = _KINDS.get(role, "text")
    candidates = roles.chain(role)
    if kind == "voice":
        known = {voice.name: voice for voice in list_voices()}
        local = offline_voices()
        if local and all(candidate.ref.provider != OFFLINE for candidate in candidates):
            candidates.append(roles.candidate(ModelRef(OFFLINE, local[0])))
        named = [(candidate, known.get(str(candidate.ref))) for candidate in candidates]
        return [
            _voice(candidate, voice.label if voice else candidate.ref.name, voice.language if voice else None)
            for candidate, voice in named
        ]
    lacks_extra = kind == "text" and not has_module("pydantic_ai")
    return [
        Choice(
            key=str(candidate.ref),
            kind=kind,
            name=candidate.ref.name,
            provider=candidate.ref.provider,
            labels=(),
            missing=candidate.missing or (not_installed() if lacks_extra else None),
        )
        for candidate in candidates
    ]


def not_installed() -> Missing:
    """Say that the extra for text models is not installed."""
    return Missing(
        "The Python library `pydantic_ai`, which calls text models, is not installed.",
        "Install it with `pip install 'packline[llm]'`.",
    )


def _voice(candidate: Candidate, label: str, language: str | None) -> Choice:
    missing = candidate.missing
    if candidate.ref.provider == OFFLINE:
        missing = missing_offline()
        if missing is None and candidate.ref.name not in offline_voices():
            missing = Missing(
                f"There is no voice `{candidate.ref.name}` on this machine.",
                f"Use one of {', '.join(offline_voices())}.",
            )
    return Choice(
        key=str(candidate.ref),
        kind="voice",
        name=label,
        provider=candidate.ref.provider,
        labels=() if language is None else (language,),
        missing=missing,
    )
