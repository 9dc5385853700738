"""Parses the `agent:` block of a step strictly and collects every issue; looks nothing up."""

from __future__ import annotations

import itertools
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from runner.agents.definition import (
    ISOLATION_NAMES,
    AgentStep,
    Choice,
    CommandPolicy,
    CommandRule,
    IsolationName,
)
from runner.agents.keys import (
    AGENT_KEYS,
    CHOICE_KEYS,
    COMMANDS_KEYS,
    CREDENTIAL,
    HANDLE,
    MAX_OUTPUTS,
    MAX_RULES,
    PATH_CHARACTERS,
    PROMPT_CHARACTERS,
    RULE_KEYS,
    TEMPLATED,
    TOOL,
    VARIABLE,
)
from runner.issues import MAX_ISSUES, Hint, Issue, error, nearest, shown
from runner.schemas.admission import check_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.failures import JSONValue
    from runner.packs.pack import Effects

#: Variables that change how a program is loaded, and those that Packline sets; credentials may not use them.
RESERVED_VARIABLES = frozenset(
    {"PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "BASH_ENV", "ENV", "PWD", "LANG", "TERM"}
)
#: Prefix of Packline's own variables, such as the URL of its tools and the token for them.
RESERVED_PREFIX = "PACKLINE_"


def read_agent(block: object, path: tuple[str, ...]) -> tuple[AgentStep, dict[str, JSONValue], list[Issue]]:
    """Read one block.

    Args:
        block: The value of `agent`.
        path: Its path.

    Returns:
        The fixed settings, the template of the step's input, and all issues; parts with errors are blank.
    """
    reader = _AgentReader(path)
    if not isinstance(block, dict):
        reader.refuse((), "wrong_type", f"`agent` must be an object with `use` and `prompt`, not {shown(block)}.")
        return AgentStep(Choice("")), {}, reader.issues
    return reader.step(block), reader.template(block), reader.issues


def workspace_path(text: object) -> str | None:
    """Normalize a path inside a workspace; None if it is absolute, leaves the workspace, or is malformed."""
    if (
        not isinstance(text, str)
        or not 0 < len(text) <= PATH_CHARACTERS
        or "\\" in text
        or any(ord(sign) < 32 for sign in text)
    ):
        return None
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts or any(len(part) > 200 for part in path.parts):
        return None
    return str(path)


class _AgentReader:
    def __init__(self, path: tuple[str, ...]) -> None:
        self.issues: list[Issue] = []
        self._path = path

    def refuse(self, path: tuple[str, ...], rule: str, message: str, hint: Hint | str | None = None) -> None:
        self.issues.append(error((*self._path, *path), rule, message, hint))

    def step(self, block: Mapping[str, JSONValue]) -> AgentStep:
        self._unknown(block, AGENT_KEYS, ())
        for name, value in block.items():
            if name not in TEMPLATED and (where := _template_in(value)) is not None:
                self.refuse(
                    (name, *where),
                    "template_not_allowed",
                    f"`{name}` cannot have `${{{{ … }}}}`: what an agent may do is fixed when the pipeline is saved.",
                    f"Use references only in {', '.join(f'`{part}`' for part in TEMPLATED)}.",
                )
        use = self._choice(block.get("use"), "use")
        if use is None and block.get("use") is None:
            self.refuse(("use",), "required", "`use` is missing: the agent profile of the step.")
        cache = self._flag(block, "cache")
        outputs = self._outputs(block.get("outputs"))
        stdout_to = self._stdout_to(block.get("stdout_to"))
        if cache and not outputs and stdout_to is None and block.get("output_schema") is None:
            self.refuse(
                ("cache",),
                "cache_without_outputs",
                "A step with `cache` must declare its outputs.",
                "Add `outputs`, `stdout_to` or `output_schema`, or leave `cache` out.",
            )
        workspace = self._workspace(block.get("workspace"))
        if cache and workspace == "session":
            self.refuse(
                ("cache",),
                "cache_with_session",
                "A step that works in a session cannot be cached: its result depends on the whole session.",
                "Leave `cache` out, or give it its files as `inputs` in a fresh workspace.",
            )
        return AgentStep(
            use=use or Choice(""),
            model=self._choice(block.get("model"), "model"),
            workspace=workspace,
            stdout_to=stdout_to,
            outputs=outputs,
            commands=self._commands(block.get("commands")),
            tools=self._tools(block.get("tools")),
            isolation=self._isolation(block.get("isolation")),
            credentials=self._credentials(block.get("credentials")),
            effects=self._effects(block.get("effects")),
            cache=cache,
            output_schema=self._schema(block.get("output_schema")),
        )

    def template(self, block: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
        prompt = block.get("prompt")
        if prompt is None or (isinstance(prompt, str) and not prompt.strip()):
            self.refuse(("prompt",), "required", "`prompt` is missing: the instructions for the agent.")
            prompt = ""
        elif not isinstance(prompt, str):
            self.refuse(("prompt",), "wrong_type", f"`prompt` must be text, not {shown(prompt)}.", "Quote it.")
            prompt = ""
        elif len(prompt) > PROMPT_CHARACTERS:
            message = f"`prompt` has {len(prompt):,} characters; the limit is {PROMPT_CHARACTERS:,}."
            self.refuse(("prompt",), "too_long", message, "Give long material as an input file.")
            prompt = ""
        template: dict[str, JSONValue] = {"prompt": prompt}
        if (inputs := block.get("inputs")) is not None:
            if isinstance(inputs, list | str):
                template["inputs"] = inputs
            else:
                self.refuse(("inputs",), "wrong_type", f"`inputs` must be a list of files, not {shown(inputs)}.")
        return template

    def _workspace(self, value: object) -> Literal["fresh", "session"]:
        match value:
            case None | "fresh":
                return "fresh"
            case "session":
                return "session"
        self.refuse(("workspace",), "out_of_range", f"`workspace` must be `fresh` or `session`, not {shown(value)}.")
        return "fresh"

    def _choice(self, value: object, name: str) -> Choice | None:
        if value is None:
            return None
        if isinstance(value, str):
            return Choice(value) if self._handle(value, (name,)) else None
        if not isinstance(value, dict):
            message = f"`{name}` must be a name or an object with `env`, not {shown(value)}."
            self.refuse((name,), "wrong_type", message)
            return None
        self._unknown(value, CHOICE_KEYS, (name,))
        variable, default, mapping = value.get("env"), value.get("default"), value.get("map", {})
        if not isinstance(variable, str) or not VARIABLE.match(variable):
            self.refuse(
                (name, "env"), "invalid_name", f"`env` must name an environment variable, not {shown(variable)}."
            )
            return None
        if default is not None and not self._handle(default, (name, "default")):
            return None
        if not isinstance(mapping, dict):
            self.refuse((name, "map"), "wrong_type", f"`map` must be an object, not {shown(mapping)}.")
            return None
        if not all(self._handle(handle, (name, "map", key)) for key, handle in mapping.items()):
            return None
        return Choice(None, variable, default, tuple((key, str(handle)) for key, handle in mapping.items()))

    def _handle(self, value: object, path: tuple[str, ...]) -> bool:
        if isinstance(value, str) and HANDLE.match(value):
            return True
        self.refuse(path, "invalid_name", f"{shown(value)} is not the name of a profile or model.")
        return False

    def _outputs(self, value: object) -> tuple[str, ...]:
        if value is None:
            return ()
        if not isinstance(value, list) or len(value) > MAX_OUTPUTS:
            self.refuse(
                ("outputs",), "wrong_type", f"`outputs` must be a list of at most {MAX_OUTPUTS} workspace paths."
            )
            return ()
        found: list[str] = []
        for index, entry in enumerate(value):
            path = workspace_path(entry)
            if path is None:
                self.refuse(("outputs", str(index)), "invalid_path", f"{shown(entry)} {_PATH_RULE}")
            else:
                found.append(path)
        return tuple(dict.fromkeys(found))

    def _stdout_to(self, value: object) -> str | None:
        if value is None:
            return None
        path = workspace_path(value)
        if path is None:
            self.refuse(("stdout_to",), "invalid_path", f"{shown(value)} {_PATH_RULE}")
        return path

    def _commands(self, value: object) -> CommandPolicy:
        if value is None:
            return CommandPolicy()
        if not isinstance(value, dict):
            self.refuse(
                ("commands",), "wrong_type", f"`commands` must be an object, not {shown(value)}.", _COMMANDS_HINT
            )
            return CommandPolicy(declared=True)
        self._unknown(value, COMMANDS_KEYS, ("commands",))
        fallback = value.get("fallback", "deny")
        if fallback not in ("deny", "allow"):
            message = f"`fallback` must be `deny` or `allow`, not {shown(fallback)}."
            self.refuse(("commands", "fallback"), "out_of_range", message)
            fallback = "deny"
        rules = value.get("rules", [])
        if not isinstance(rules, list) or len(rules) > MAX_RULES:
            self.refuse(
                ("commands", "rules"),
                "wrong_type",
                f"`rules` must be a list of at most {MAX_RULES} rules.",
                _COMMANDS_HINT,
            )
            rules = []
        read = [self._rule(rule, ("commands", "rules", str(index))) for index, rule in enumerate(rules)]
        kept = tuple(rule for rule in read if rule is not None)
        policy: Literal["deny", "allow"] = "allow" if fallback == "allow" else "deny"
        return CommandPolicy(policy, kept, declared=True)

    def _rule(self, rule: object, path: tuple[str, ...]) -> CommandRule | None:
        if not isinstance(rule, dict):
            self.refuse(path, "wrong_type", f"A rule must be an object, not {shown(rule)}.", _COMMANDS_HINT)
            return None
        self._unknown(rule, RULE_KEYS, path)
        program, prefix, allow = rule.get("program"), rule.get("args_prefix", []), rule.get("allow")
        if not isinstance(program, str) or not program or len(program) > 500 or "\0" in program:
            self.refuse((*path, "program"), "required", "A rule needs a `program`.")
            return None
        if not isinstance(prefix, list) or not all(isinstance(part, str) for part in prefix):
            self.refuse((*path, "args_prefix"), "wrong_type", "`args_prefix` must be a list of texts.")
            return None
        if not isinstance(allow, bool):
            self.refuse((*path, "allow"), "required", "A rule needs `allow: true` or `allow: false`.")
            return None
        return CommandRule(program, tuple(str(part) for part in prefix), allow)

    def _tools(self, value: object) -> tuple[str, ...]:
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(tool, str) and TOOL.match(tool) for tool in value):
            self.refuse(("tools",), "wrong_type", "`tools` must be a list of names of Packline's MCP tools.")
            return ()
        return tuple(dict.fromkeys(str(tool) for tool in value))

    def _isolation(self, value: object) -> IsolationName | None:
        if value is None:
            return None
        for name in ISOLATION_NAMES:
            if name == value:
                return name
        message = f"`isolation` must be one of {', '.join(ISOLATION_NAMES)}, not {shown(value)}."
        self.refuse(("isolation",), "out_of_range", message)
        return None

    def _credentials(self, value: object) -> tuple[tuple[str, str], ...]:
        if value is None:
            return ()
        if not isinstance(value, dict):
            message = "`credentials` must map environment variables to credentials: `{GITHUB_TOKEN: github.token}`."
            self.refuse(("credentials",), "wrong_type", message)
            return ()
        for name, ref in value.items():
            reserved = name.upper() in RESERVED_VARIABLES or name.upper().startswith(RESERVED_PREFIX)
            if not VARIABLE.match(name) or reserved:
                hint = "The name is reserved; use a variable that the agent's program reads." if reserved else None
                message = f"A credential cannot be passed in the variable {shown(name)}."
                self.refuse(("credentials", name), "invalid_name", message, hint)
            elif not isinstance(ref, str) or not CREDENTIAL.match(ref):
                self.refuse(
                    ("credentials", name), "invalid_name", f"{shown(ref)} is not `credential` or `credential.field`."
                )
        return tuple((name, str(ref)) for name, ref in value.items())

    def _effects(self, value: object) -> Effects:
        match value:
            case None | "external":
                return "external"
            case "none":
                return "none"
            case "idempotent":
                return "idempotent"
        self.refuse(
            ("effects",), "out_of_range", f"`effects` must be none, idempotent or external, not {shown(value)}."
        )
        return "external"

    def _flag(self, block: Mapping[str, JSONValue], name: str) -> bool:
        value = block.get(name, False)
        if isinstance(value, bool):
            return value
        self.refuse((name,), "wrong_type", f"`{name}` must be true or false, not {shown(value)}.")
        return False

    def _schema(self, value: object) -> dict[str, JSONValue] | None:
        if value is None:
            return None
        if not isinstance(value, dict):
            self.refuse(("output_schema",), "wrong_type", f"`output_schema` must be a JSON Schema, not {shown(value)}.")
            return None
        self.issues.extend(issue.under(*self._path, "output_schema") for issue in check_schema(value))
        return value

    def _unknown(self, holder: Mapping[str, object], known: Iterable[str], path: tuple[str, ...]) -> None:
        for key in itertools.islice((key for key in holder if key not in known), MAX_ISSUES):
            near = nearest(key, known)
            hint = Hint(closest=near) if near else Hint(f"Known keys: {', '.join(f'`{name}`' for name in known)}.")
            self.refuse((*path, key), "unknown_key", f"The key {shown(key)} is unknown.", hint)


def _template_in(value: Any) -> tuple[str, ...] | None:  # noqa: ANN401
    """Return the path of the first `${{` in a value; None if there is none."""
    if isinstance(value, str):
        return () if "${{" in value else None
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if (where := _template_in(item)) is not None:
            return (str(key), *where)
    return None


_PATH_RULE = "is not a path inside the workspace: relative, with `/`, without `..`."
_COMMANDS_HINT = "Write `commands: {fallback: deny, rules: [{program: git, allow: true}]}`."
