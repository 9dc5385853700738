"""Agent profiles: the command lines the operator declared, and the selection of one for a step."""

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

#: Format of a program's output; `raw` is any text.
StreamFormat: TypeAlias = Literal["raw", "claude", "codex", "gemini", "opencode"]
#: Placeholder in `model_args` for the model.
MODEL_PLACEHOLDER = "{model}"
#: Program name of profiles that answer from a script file; nothing is spawned.
MOCK = "mock"
#: Environment variable of the server that names the default profile.
AGENT_VARIABLE = "PACKLINE_AGENT"
#: A step that leaves the choice to the server.
ANY_AGENT = AgentStep(Choice(variable=AGENT_VARIABLE))


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """A command line that agent steps may use.

    Attributes:
        key: Its name.
        command: Program and fixed arguments; the prompt is passed on standard input.
        model: Default model.
        model_args: Arguments that select a model, with the placeholder `{model}`; empty if it accepts no model.
        stream: Format of its output.
        env: Names of the server's environment variables to pass on.
        variables: Fixed environment variables.
        credentials: Pairs of an environment variable and `credential` or `credential.field`; the declaration grants
            them.
        timeout_seconds: Time-out of an attempt, if the step sets none.
        capabilities: What it can do, for people and for the key of its cached results.
        read: Folders and files outside the workspace that it may read, such as its own configuration.
        script: Script file of a `mock` profile.
        network: Whether it may use the network; if not, steps run at `sandbox_offline` at least.
        isolation: Weakest level it accepts; None for any.
        problem: Why the declaration cannot be used; None if it can.
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
        """The first file in its arguments with an absolute path, such as an interpreter's script; it may read it."""
        named = (part for part in self.command[1:] if os.path.isabs(part) and os.path.isfile(part))
        return next(named, None)

    def argv(self, model: str | None) -> tuple[str, ...]:
        """Return its command line for a model."""
        if model is None:
            return self.command
        return (*self.command, *(part.replace(MODEL_PLACEHOLDER, model) for part in self.model_args))


@dataclass(frozen=True, slots=True)
class Selection:
    """The profile and model of a step; resolved when a run starts and kept for the run, like a pack's version."""

    profile: str
    model: str | None = None

    def __str__(self) -> str:
        return self.profile if self.model is None else f"{self.profile}@{self.model}"

    @classmethod
    def parse(cls, text: str) -> Selection:
        """Parse what `str` returned; names of profiles have no `@`."""
        profile, found, model = text.partition("@")
        return cls(profile, model if found else None)


class Agents:
    """The agents of this server.

    Args:
        profiles: By key.
        read_variable: Reads an environment variable of the server.
        probe: Finds the strongest isolation of this machine; called once, when first needed.
        folder: Folder of the attempts' workspaces.
        output_bytes: Limit of one agent's output.
        workspace_bytes: Limit of its workspace.
        mcp_url: URL of Packline's own tools, for steps that declare `tools`; None if this process serves none.
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
        #: By token id; called with the name of a refused tool. See `runner.agents.tool_access`.
        self.refusals: dict[str, Callable[[str], None]] = {}

    @property
    def isolation(self) -> Isolation:
        """The strongest level this machine offers."""
        if self._isolation is None:
            self._isolation = self._probe()
        return self._isolation

    def note_refusal(self, token_id: str | None, tool: str) -> None:
        """Notify the attempt with a token that a call was refused.

        Does not reach an attempt on another server, whose transcript shows what its program prints.
        """
        take = self.refusals.get(token_id or "")
        if take is not None:
            take(tool)

    def select(self, step: AgentStep, chosen: str | None = None) -> Selection | Missing:
        """Select the profile and model of a step, or return why there is none.

        Args:
            step: The step.
            chosen: The caller's choice: one of the step's `choices`.
        """
        if chosen is not None and chosen not in (choices := self.choices(step)):
            return Missing(
                f"The step does not accept the agent {shown(chosen)}.",
                f"It accepts {', '.join(f'`{key}`' for key in choices)}.",
            )
        key = step.use.named(chosen) if chosen is not None else step.use.resolve(self.read_variable)
        if not key:
            return Missing(
                f"No agent is chosen: the environment variable {step.use.variable} names none that the step accepts.",
                f"Set {step.use.variable} for the server, or start the run with an agent of your choice.",
            )
        profile = self.profiles.get(key)
        if profile is None:
            known = ", ".join(f"`{name}`" for name in self.profiles) or "none"
            return Missing(
                f"There is no agent profile `{key}`; declared: {known}.",
                f"Declare it in the settings file: `[agents.{key}]`.",
            )
        model = step.model.resolve(self.read_variable) if step.model is not None else None
        if model is not None and not profile.model_args and not profile.is_mock:
            return Missing(
                f"The agent profile `{key}` accepts no model, but the step asks for `{model}`.",
                f'Give the profile `model_args`, such as `["--model", "{MODEL_PLACEHOLDER}"]`, or remove `model`.',
            )
        return Selection(key, model or profile.model)

    def choices(self, step: AgentStep) -> tuple[str, ...]:
        """List what a caller may choose for a step: its profiles, and the values of its `map`.

        A step that leaves the choice to a variable without a `map` accepts every declared profile.
        """
        use = step.use
        is_open = use.variable is not None and not use.mapping
        words = (word for word, _ in use.mapping)
        return tuple(dict.fromkeys((*use.candidates, *words, *(self.profiles if is_open else ()))))

    def missing(self, profile: AgentProfile) -> Missing | None:
        """Return why a profile cannot be used on this server; None if it can."""
        if profile.problem is not None:
            return Missing(profile.problem, "Correct it in the settings file.")
        if profile.is_mock:
            if profile.script is None or profile.script.is_file():
                return None
            return Missing(
                f"The script {profile.script.name} of the agent profile `{profile.key}` does not exist.",
                "Correct `script` in the settings file.",
            )
        if find_program(profile.command[0]) is None:
            return Missing(
                f"The program `{profile.command[0]}` of the agent profile `{profile.key}` is not on PATH.",
                f"Install `{profile.command[0]}`, or correct the profile's command.",
            )
        return None

    def demanded(self, step: AgentStep | None, profile: AgentProfile) -> Isolation:
        """Return the weakest level that the profile and the step, if given, accept."""
        named = {profile.isolation, None if step is None else step.isolation} - {None}
        if not profile.network:
            named.add("sandbox_offline")
        return next((level for level in reversed(Isolation) if level in named), Isolation.PROCESS)

    def level(self, step: AgentStep, profile: AgentProfile) -> Isolation:
        """Return the level at which a step's program runs.

        Unless `sandbox_offline` is required, an agent keeps the network, which it needs to reach its model.
        """
        reached = Isolation.SANDBOX if weaker(Isolation.SANDBOX, self.isolation) else self.isolation
        demanded = self.demanded(step, profile)
        return demanded if weaker(reached, demanded) else reached

    def usable(self) -> list[str]:
        """List the profiles that steps can use on this server, unless a step requires more isolation."""
        return [
            key for key, profile in self.profiles.items() if self.missing(profile) is None and self._isolates(profile)
        ]

    def _isolates(self, profile: AgentProfile) -> bool:
        demanded = self.demanded(None, profile)
        # The probe takes a while: it is asked only where it matters.
        return profile.is_mock or demanded is Isolation.PROCESS or not weaker(self.isolation, demanded)

    def lacks_any(self) -> list[Requirement]:
        """Return what a pack with any agent lacks: a usable profile that is not a mock."""
        chosen = self.select(ANY_AGENT)
        if isinstance(chosen, Selection):
            missing = self.missing(self.profiles[chosen.profile])
            return [] if missing is None else [Requirement.of("agent_profile", chosen.profile, missing)]
        usable = any(not found.is_mock and self.missing(found) is None for found in self.profiles.values())
        return [] if usable else [Requirement.of("agent_profile", AGENT_VARIABLE, chosen)]

    def lacks(
        self, step: AgentStep, chosen: str | None, vault: Vault, requester: CredentialRequester
    ) -> list[Requirement]:
        """Return what a step needs and lacks on this server; the requirements do not name the step."""
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
                    f"The step requires isolation `{demanded}`; this server offers `{self.isolation}`.",
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
    """Return the keys of the credentials a step names, each once."""
    return tuple(dict.fromkeys(ref.partition(".")[0] for _, ref in step.credentials))


def find_program(program: str) -> str | None:
    """Find the absolute path of a program; refuses a relative path, since it depends on the current folder."""
    if os.sep in program:
        return program if os.path.isabs(program) and os.access(program, os.X_OK) else None
    found = shutil.which(program)
    return os.path.abspath(found) if found else None


def no_agents(folder: Path) -> Agents:
    """Make the agents of a server without profiles."""
    return Agents({}, read_variable=lambda _: None, probe=lambda: Isolation.PROCESS, folder=folder)


_CLAUDE = ("claude", "-p", "--output-format", "stream-json", "--verbose")
#: Codex's own sandbox is bubblewrap, too, which does not start inside ours (tried with 0.169): it is off, and the
#: profile requires ours instead.
_CODEX = ("codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral", "--sandbox", "danger-full-access")
_MODEL = ("--model", MODEL_PLACEHOLDER)

#: Profiles for `preset = "…"` in a settings table. The plain ones read and answer; `-edit` may also change files of the
#: workspace. Permissions inside a program are its own: only the sandbox is a safe boundary.
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
    """Make a profile from a preset with changes.

    Raises:
        KeyError: The preset does not exist.
    """
    return replace(PRESETS[preset], key=key, **changes)  # type: ignore[arg-type] # the fields of a settings table
