"""Agent profiles: the command lines the operator declared, and which one a step works with here and now."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from runner.agents.definition import AGENT, AgentStep, Choice, IsolationName
from runner.agents.isolation import Isolation, weaker
from runner.issues import Hint, shown
from runner.packs.availability import Requirement
from runner.packs.needs import CredentialNeed, Missing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from runner.secrets.vault import CredentialRequester, Vault

#: How a program prints what it does; `raw` is any text.
StreamFormat: TypeAlias = Literal["raw", "claude", "codex", "gemini", "opencode"]
#: Stands in `model_args` for the model a step asks for.
MODEL_PLACE = "{model}"
#: Program name of profiles that answer from a script file; nothing is spawned.
MOCK = "mock"
#: Environment variable of the server that names the profile of those who leave the choice open.
AGENT_VARIABLE = "PACKLINE_AGENT"
#: Stands for any step that leaves the choice open.
ANY_AGENT = AgentStep(Choice(variable=AGENT_VARIABLE))


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """A command line agent steps may use.

    Attributes:
        key: Its name.
        command: Program and fixed arguments; the prompt goes in on standard input.
        model: Model it uses unless the step names another.
        model_args: Arguments that tell it, with `{model}` where the model's name goes; none when it takes no model.
        stream: How it prints what it does.
        env: Names of the server's environment variables it is given.
        variables: Fixed environment variables it is given.
        credentials: Environment variable and `credential` or `credential.field` for each; the operator grants them by
            declaring them.
        timeout_seconds: Longest time of an attempt whose step does not say.
        capabilities: What it says it can do, for people and for the key of its cached results.
        read: Folders and files outside the workspace it may read, such as its own configuration.
        script: File a `mock` profile answers from.
        network: Whether it may reach the network; without, steps run at `sandbox_offline` at least.
        isolation: Weakest level it accepts from a step; None for any.
        problem: Why it cannot be used as it is declared; None when it can.
    """

    key: str
    command: tuple[str, ...]
    model: str | None = None
    model_args: tuple[str, ...] = ()
    stream: StreamFormat = "raw"
    env: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    credentials: tuple[tuple[str, str], ...] = ()
    timeout_seconds: float = 600.0
    capabilities: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    script: Path | None = None
    network: bool = True
    isolation: IsolationName | None = None
    problem: str | None = None

    @property
    def is_mock(self) -> bool:
        """Whether it answers from a script file."""
        return self.command[0] == MOCK

    @property
    def named_file(self) -> str | None:
        """The first file its arguments name by absolute path, such as the script of an interpreter; it may read it."""
        named = (part for part in self.command[1:] if os.path.isabs(part) and os.path.isfile(part))
        return next(named, None)

    def argv(self, model: str | None) -> tuple[str, ...]:
        """Its command line for a model."""
        if model is None:
            return self.command
        return (*self.command, *(part.replace(MODEL_PLACE, model) for part in self.model_args))


@dataclass(frozen=True, slots=True)
class Selection:
    """The profile and model a step works with; resolved at start and kept for the run, like a pack's version."""

    profile: str
    model: str | None = None

    def __str__(self) -> str:
        return self.profile if self.model is None else f"{self.profile}@{self.model}"

    @classmethod
    def parse(cls, text: str) -> Selection:
        """Read what `str` wrote; names of profiles hold no `@`."""
        profile, found, model = text.partition("@")
        return cls(profile, model if found else None)


class Agents:
    """What agent steps may use on this server.

    Args:
        profiles: By key.
        read_variable: Reads an environment variable of the server.
        probe: Tells how far this machine can keep a process apart; asked once, when it first matters.
        folder: Where workspaces of attempts are made.
        output_bytes: What one agent may print.
        workspace_bytes: What its workspace may hold.
        mcp_url: Where Packline's own tools are, for steps that declare `tools`; None when this process serves none.
    """

    def __init__(
        self,
        profiles: Mapping[str, AgentProfile],
        *,
        read_variable: Callable[[str], str | None],
        probe: Callable[[], Isolation],
        folder: Path,
        output_bytes: int = 256 << 20,
        workspace_bytes: int = 2 << 30,
        mcp_url: str | None = None,
    ) -> None:
        self.profiles = dict(profiles)
        self.folder = folder
        self._probe = probe
        self._isolation: Isolation | None = None
        self.output_bytes = output_bytes
        self.workspace_bytes = workspace_bytes
        self.mcp_url = mcp_url
        self.read_variable = read_variable
        #: Takes the name of a tool that was refused, by the token it was called with; see `runner.agents.tool_access`.
        self.refusals: dict[str, Callable[[str], None]] = {}

    @property
    def isolation(self) -> Isolation:
        """The strongest level this machine reaches."""
        if self._isolation is None:
            self._isolation = self._probe()
        return self._isolation

    def note_refusal(self, token_id: str | None, tool: str) -> None:
        """Tell the attempt that was given a token that a call with it was refused.

        An attempt on another server is not informed: its transcript shows what its program prints.
        """
        take = self.refusals.get(token_id or "")
        if take is not None:
            take(tool)

    def select(self, step: AgentStep, chosen: str | None = None) -> Selection | Missing:
        """Which profile and model a step works with, or why none.

        Args:
            step: The step.
            chosen: What a caller chose at start: one of the step's `choices`.
        """
        if chosen is not None and chosen not in (choices := self.choices(step)):
            return Missing(
                f"The step may not use the agent {shown(chosen)}.",
                f"It may use {', '.join(f'`{key}`' for key in choices)}.",
            )
        key = step.use.named(chosen) if chosen is not None else step.use.resolve(self.read_variable)
        if not key:
            return Missing(
                f"No agent is chosen: the environment variable {step.use.variable} is not set to one the step knows.",
                f"Set {step.use.variable} for the server, or start the run with an agent of your choice.",
            )
        profile = self.profiles.get(key)
        if profile is None:
            known = ", ".join(f"`{name}`" for name in self.profiles) or "none"
            return Missing(
                f"There is no agent profile `{key}` here; declared: {known}.",
                f"Declare it in the settings file: `[agents.{key}]`.",
            )
        model = step.model.resolve(self.read_variable) if step.model is not None else None
        if model is not None and not profile.model_args and not profile.is_mock:
            return Missing(
                f"The agent profile `{key}` takes no model, and the step asks for `{model}`.",
                f'Give the profile `model_args`, such as `["--model", "{MODEL_PLACE}"]`, or ask for none.',
            )
        return Selection(key, model or profile.model)

    def choices(self, step: AgentStep) -> tuple[str, ...]:
        """What a caller may choose for a step: its profiles, and the words its `map` has for them.

        A step that leaves the choice to a variable without a `map` takes every profile declared here.
        """
        use = step.use
        is_open = use.variable is not None and not use.mapping
        words = (word for word, _ in use.mapping)
        return tuple(dict.fromkeys((*use.candidates, *words, *(self.profiles if is_open else ()))))

    def missing(self, profile: AgentProfile) -> Missing | None:
        """Why a profile cannot be used here; None when it can."""
        if profile.problem is not None:
            return Missing(profile.problem, "Correct it in the settings file.")
        if profile.is_mock:
            if profile.script is None or profile.script.is_file():
                return None
            return Missing(
                f"The script {profile.script.name} of the agent profile `{profile.key}` is not there.",
                "Correct `script` in the settings file.",
            )
        if find_program(profile.command[0]) is None:
            return Missing(
                f"The program `{profile.command[0]}` of the agent profile `{profile.key}` is not on PATH.",
                f"Install `{profile.command[0]}`, or correct the profile's command.",
            )
        return None

    def demanded(self, step: AgentStep | None, profile: AgentProfile) -> Isolation:
        """The weakest level the profile, and the step if one is given, accept."""
        named = {profile.isolation, None if step is None else step.isolation} - {None}
        if not profile.network:
            named.add("sandbox_offline")
        return next((level for level in reversed(Isolation) if level in named), Isolation.PROCESS)

    def level(self, step: AgentStep, profile: AgentProfile) -> Isolation:
        """How far a step's program is kept apart here.

        Without a demand, an agent keeps the network it needs to reach its model.
        """
        reached = Isolation.SANDBOX if weaker(Isolation.SANDBOX, self.isolation) else self.isolation
        demanded = self.demanded(step, profile)
        return demanded if weaker(reached, demanded) else reached

    def lacks_any(self) -> list[Requirement]:
        """What a pack lacks that has an agent of the caller's choice work: any that is no mock and can be used."""
        chosen = self.select(ANY_AGENT)
        if isinstance(chosen, Selection):
            missing = self.missing(self.profiles[chosen.profile])
            return [] if missing is None else [Requirement.of("agent_profile", chosen.profile, missing)]
        usable = any(not found.is_mock and self.missing(found) is None for found in self.profiles.values())
        return [] if usable else [Requirement.of("agent_profile", AGENT_VARIABLE, chosen)]

    def lacks(
        self, step: AgentStep, chosen: str | None, vault: Vault, requester: CredentialRequester
    ) -> list[Requirement]:
        """What a step needs and cannot have here, without naming the step."""
        selected = self.select(step, chosen)
        if isinstance(selected, Missing):
            named = step.use.named(chosen) if chosen is not None else None
            name = named or next(iter(step.use.candidates), step.use.variable or "")
            return [Requirement.of("agent_profile", name, selected)]
        profile = self.profiles[selected.profile]
        found: list[Requirement] = []
        if (missing := self.missing(profile)) is not None:
            found.append(Requirement.of("agent_profile", profile.key, missing))
        demanded = self.demanded(step, profile)
        if not profile.is_mock and weaker(self.isolation, demanded):
            found.append(
                Requirement(
                    "isolation",
                    demanded.value,
                    (),
                    f"The step demands isolation `{demanded}`; this server offers `{self.isolation}`.",
                    Hint("Install bubblewrap and allow user namespaces, or accept a weaker level."),
                )
            )
        for key in credential_keys(step):
            if (lack := vault.missing(AGENT, CredentialNeed(key, ""), requester)) is not None:
                found.append(Requirement.of("credential", key, lack))
        for _, ref in profile.credentials:
            if not vault.has(ref.partition(".")[0]):
                key = ref.partition(".")[0]
                message = f"The agent profile `{profile.key}` needs the credential `{key}`, which the vault lacks."
                found.append(
                    Requirement("credential", key, (), message, Hint(f"Store it with `packline credential set {key}`."))
                )
        return found


def credential_keys(step: AgentStep) -> tuple[str, ...]:
    """Keys of the credentials a step names, each once."""
    return tuple(dict.fromkeys(ref.partition(".")[0] for _, ref in step.credentials))


def find_program(program: str) -> str | None:
    """Absolute path of a program, or None; a relative path is refused, since it would mean another file elsewhere."""
    if os.sep in program:
        return program if os.path.isabs(program) and os.access(program, os.X_OK) else None
    found = shutil.which(program)
    return os.path.abspath(found) if found else None


def no_agents(folder: Path) -> Agents:
    """A server on which no profile is declared."""
    return Agents({}, read_variable=lambda _: None, probe=lambda: Isolation.PROCESS, folder=folder)


_CLAUDE = ("claude", "-p", "--output-format", "stream-json", "--verbose")
#: Codex's own sandbox is bubblewrap, too, which does not start inside ours (tried with 0.169): it is off, and ours is
#: demanded in its place.
_CODEX = ("codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral", "--sandbox", "danger-full-access")
_MODEL = ("--model", MODEL_PLACE)

#: Profiles a settings table may start from with `preset = "…"`. The plain ones may read and answer; `-edit` may also
#: change files of the workspace. What a program allows its model to do inside is its own affair: the sandbox is the
#: boundary that holds.
PRESETS: dict[str, AgentProfile] = {
    profile.key: profile
    for profile in (
        AgentProfile(
            "claude",
            (*_CLAUDE, "--allowedTools", "Read,Glob,Grep"),
            model_args=_MODEL,
            stream="claude",
            capabilities=("read",),
        ),
        AgentProfile(
            "claude-edit",
            (*_CLAUDE, "--permission-mode", "acceptEdits", "--allowedTools", "Read,Glob,Grep,Edit,Write"),
            model_args=_MODEL,
            stream="claude",
            capabilities=("read", "edit"),
        ),
        *(
            AgentProfile(
                key, _CODEX, model_args=_MODEL, stream="codex", capabilities=("read", "edit"), isolation="sandbox"
            )
            for key in ("codex", "codex-edit")
        ),
        AgentProfile(
            "gemini",
            ("gemini", "--output-format", "stream-json", "--approval-mode", "default"),
            model_args=_MODEL,
            stream="gemini",
            capabilities=("read",),
        ),
        AgentProfile(
            "gemini-edit",
            ("gemini", "--output-format", "stream-json", "--approval-mode", "auto_edit"),
            model_args=_MODEL,
            stream="gemini",
            capabilities=("read", "edit"),
        ),
        AgentProfile(
            "opencode",
            ("opencode", "run", "--format", "json"),
            model_args=_MODEL,
            stream="opencode",
            capabilities=("read", "edit"),
        ),
        AgentProfile(MOCK, (MOCK,)),
    )
}


def from_preset(preset: str, key: str, **changes: object) -> AgentProfile:
    """A profile made of a preset; what is given replaces its part.

    Raises:
        KeyError: there is no such preset.
    """
    return replace(PRESETS[preset], key=key, **changes)  # type: ignore[arg-type] # the fields of a settings table
