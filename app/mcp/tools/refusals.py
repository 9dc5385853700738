"""Refusals of the schema as errors of a call: the same codes, and advice on which tool helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from strawberry.utils.str_converters import to_camel_case, to_snake_case

from app.mcp.answers import Advice, CallError, hinted
from app.mcp.uris import id_in
from resolvers.agents.agent_tools import QUERY_TOOL
from resolvers.operations import OPERATIONS
from resolvers.problems import REF_CHARACTERS
from runner.excerpts import excerpt
from runner.issues import Hint, lacking_scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.mcp.session import Unanswered

_KINDS: Final = Advice(
    "search_catalog without it lists every entry, with the kinds it accepts and produces.", ("search_catalog",)
)
_CHECK: Final = Advice("check_pipeline lists every issue of a definition.", ("check_pipeline",))
#: The tool that finds the right name, by the parameter with a wrong one.
_FINDERS: Final = {
    "run_id": ("run", Advice("list_runs lists the runs you may see.", ("list_runs",))),
    "pipeline": ("pipeline", Advice("search_catalog finds pipelines.", ("search_catalog",))),
    "pack": ("pack", Advice("search_catalog finds packs.", ("search_catalog",))),
    "trigger_id": ("trigger", Advice("list_triggers lists the triggers you may see.", ("list_triggers",))),
    "artifact_id": ("artifact", Advice("get_run lists the artifacts of a run.", ("get_run",))),
    "target": ("pack or pipeline", Advice("search_catalog finds packs and pipelines.", ("search_catalog",))),
    "scope": ("memory", Advice("get_defaults lists the packs and pipelines with memory.", ("get_defaults",))),
    "accepts": ("kind", _KINDS),
    "produces": ("kind", _KINDS),
}
#: The tool that helps, by the code of a refusal.
_HELP: Final = {
    "WRONG_STATE": Advice("get_run shows the run's state and its possible actions.", ("get_run",)),
    "UNAVAILABLE": Advice("search_catalog with usable: true lists what can run here.", ("search_catalog",)),
    "LIMITED": Advice(
        "list_runs lists the runs in progress; wait_run or cancel_run make room.",
        ("list_runs", "wait_run", "cancel_run"),
    ),
}


def _fields_of(kind: str) -> Advice:
    query = f'{{ __type(name: "{kind}") {{ fields {{ name args {{ name }} }} }} }}'
    return Advice(f"`{query}` lists the fields of {kind}; name any other type to see its fields.")


_DEFINITION: Final = Advice(
    "get_pipeline with detail: full shows the current definition; clone_pipeline copies it.",
    ("get_pipeline", "clone_pipeline"),
)
#: For tools that call any pack, whose input schema cannot describe the pack's input.
PACK_INPUT: Final = Advice("search_catalog with detail: full shows the pack's input.", ("search_catalog",))
#: The tool that shows the inputs, by the parameter that names their pipeline or pack.
_INPUT_HELP: Final = {
    "pipeline": Advice("get_pipeline shows the pipeline's inputs.", ("get_pipeline",)),
    "pack": PACK_INPUT,
}
#: The tool that helps with a definition or query, by its parameter.
_DEFINITION_HELP: Final = {
    "definition": _CHECK,
    "yaml": _CHECK,
    "fields": Advice(
        "get_pipeline with detail: full shows the whole definition; check_pipeline lists every issue of one.",
        ("get_pipeline", "check_pipeline"),
    ),
    "query": _fields_of("Query"),
}
#: What helps with a refused document, by the reason.
_DOCUMENT_HELP: Final = {
    "EMPTY": Advice("Set `query` to one query, such as `{ server { version } }`."),
    "NO_QUERY": Advice("To change something, call the tool for it; tools/list lists the tools."),
    "SEVERAL_OPERATIONS": Advice("Call graphql_query once for each operation.", (QUERY_TOOL,)),
    "SYNTAX": Advice("Set `query` to one GraphQL query, and put its values into `variables`."),
}

#: The tools for each action of a run; a run that can be cancelled can also be waited for.
_OF_ACTION: Final = {"RESUME": ("resume_run",), "RERUN": ("rerun_run",), "CANCEL": ("wait_run", "cancel_run")}


def missing(arguments: Mapping[str, Any]) -> CallError:
    """The refusal of a call whose answer is null: what it names does not exist for this caller."""
    for name, (noun, finder) in _FINDERS.items():
        if name in arguments:
            return CallError(
                "NOT_FOUND",
                f"There is no {noun} `{excerpt(str(arguments[name]), 100)}`.",
                field_errors=[{"path": name, "problem": f"no such {noun}"} | _within(arguments[name])],
                advice=[finder],
            )
    finder = Advice("search_catalog lists packs and pipelines.", ("search_catalog",))
    return CallError("NOT_FOUND", "Not found.", advice=[finder])


def refused(
    problem: Mapping[str, Any], arguments: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> CallError:
    """The refusal of a command, from the problem in its result.

    Args:
        problem: The problem.
        arguments: The call's arguments.
        names: The tool's names for arguments that have another name in the command.
    """
    code = problem["code"]
    errors: list[dict[str, Any]] = []
    warnings: list[str] = []
    for issue in problem.get("issues") or ():
        if issue["severity"] == "WARNING":
            warnings.append(issue["message"])
            continue
        error = {"path": ".".join(_place(issue, arguments)), "rule": issue["rule"], "problem": issue["message"]}
        errors.append(error | hinted(issue.get("hintParts")))
    for requirement in problem.get("missing") or ():
        path = f"{requirement['kind']}:{requirement['name']}".lower()
        errors.append({"path": path, "problem": requirement["message"]} | hinted(requirement.get("hintParts")))
    errors += _unfound(problem, arguments)
    for error in errors:
        error["path"] = _renamed(error["path"], names or {})
    current = problem.get("current") or {}
    message = problem["message"]
    if (operation := problem.get("operation")) is not None:
        tool = OPERATIONS[operation].tool_name or operation
        message = lacking_scope(f"`{tool}`", f"`{problem['requires'].lower()}`")
    helping = _possible(problem.get("actions")) or _help(code, arguments, errors)
    return CallError(
        code,
        message,
        retryable=bool(problem["retryable"]),
        field_errors=errors,
        advice=[*_of_hint(problem.get("hintParts")), *helping],
        warnings=warnings or None,
        requires=problem.get("requires"),
        current_id=current.get("id"),
        actions=problem.get("actions"),
        retry_after_seconds=problem.get("retryAfterSeconds"),
    )


def failed(error: Unanswered, arguments: Mapping[str, Any]) -> CallError:
    """The refusal of a document that was answered with errors."""
    first, *others = error.errors
    extensions = first["extensions"]
    code = extensions.get("code") or "INVALID"
    message, errors, advice = first["message"], _unfound(extensions, arguments), _of_hint(extensions.get("hintParts"))
    if extensions.get("reason") == "BAD_CURSOR" and "cursor" in arguments:
        message = "This tool did not return that `cursor`."
        errors = [{"path": "cursor", "problem": message}]
        member = "cursor" if "run_id" in arguments else "next_cursor"
        advice = [Advice(f"Pass `{member}` of the last answer unchanged, or leave it out to start at the beginning.")]
    elif first["variable"] is not None and "query" not in arguments:
        message = first["reason"]
        path = _argument(first["variable"], arguments)
        errors = [] if path is None else [{"path": path, "problem": message}]
    errors += [{"path": "query", "problem": other["message"]} for other in others]
    if "type" in extensions:
        helping = [_fields_of(extensions["type"])]
    elif about := first.get("document"):
        helping = [_DOCUMENT_HELP[about]]
    else:
        helping = _help(code, arguments, errors)
    return CallError(
        code,
        message,
        retryable=bool(extensions.get("retryable", code == "INTERNAL")),
        field_errors=errors,
        advice=[*advice, *helping],
        requires=extensions.get("scope"),
        request_id=extensions.get("id"),
    )


def _of_hint(parts: Mapping[str, Any] | None) -> list[Advice]:
    """The hint of a refusal, with the tool of the operation it names."""
    if parts is None:
        return []
    found = []
    if text := str(Hint(parts["text"] or "", parts["closest"])):
        found.append(Advice(text))
    if parts["operation"] is not None:
        operation = OPERATIONS[parts["operation"]]
        if (tool := operation.tool_name) is not None:
            found.append(Advice(f"Try {tool}.", (tool,)))
        elif operation.kind == "query":
            found.append(Advice(f"Try {QUERY_TOOL}: `{to_camel_case(operation.name)}`.", (QUERY_TOOL,)))
    return found


def _possible(actions: Sequence[str] | None) -> list[Advice]:
    """The tools for a run's possible actions."""
    tools = tuple(tool for action in actions or () for tool in _OF_ACTION.get(action, ()))
    return [Advice("Possible now: {tools}.", tools)] if tools else []


def _renamed(path: str, names: Mapping[str, str]) -> str:
    """A path with its argument, or the field of one that is a parameter of the tool, under the tool's name."""
    parts = path.split(".")
    for size in (2, 1):
        if (name := names.get(".".join(parts[:size]))) is not None:
            return ".".join([name, *parts[size:]])
    return path


def _place(issue: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """An issue's path, with its argument under the tool's name."""
    argument, path = issue["argument"], issue["path"]
    return path if argument is None else [_argument(argument, arguments) or argument, *path[1:]]


def _argument(variable: str, arguments: Mapping[str, Any]) -> str | None:
    """The argument behind a variable, such as `run_id` behind `id`; None if several are."""
    name = to_snake_case(variable)
    return next((given for given in arguments if given == name or given.endswith(f"_{name}")), None)


def _unfound(problem: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The argument whose name was not found, with the closest known name."""
    ref = problem.get("ref")
    if ref is None:
        return []
    named = (
        name
        for name, value in arguments.items()
        if any(isinstance(one, str | int) and excerpt(str(one), REF_CHARACTERS) == ref for one in _each(value))
    )
    if (path := next(named, None)) is None:
        return []  # an agent can only repair arguments of its call
    error = {"path": path, "problem": "not found"}
    return [error | ({"closest": problem["suggestion"]} if problem.get("suggestion") else _within(ref))]


def _within(named: object) -> dict[str, str]:
    """The id in a resource's address, which agents send in place of the id."""
    found = id_in(str(named))
    return {} if found is None else {"closest": found}


def _each(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def bad_arguments(tool: str, issues: list[dict[str, Any]]) -> CallError:
    """The refusal of arguments that violate the tool's input schema."""
    return CallError(
        "INVALID",
        f"The arguments of {tool} are invalid: {issues[0]['problem']}",
        field_errors=issues,
        advice=[Advice(f"Correct these and call {tool} again; see its input schema.")],
    )


def _help(code: str, arguments: Mapping[str, Any], errors: Sequence[Mapping[str, Any]]) -> list[Advice]:
    match code:
        case "INVALID" | "BAD_REQUEST":
            about = {str(error["path"]).partition(".")[0] for error in errors}
            helpers = _INPUT_HELP if not about or about & {"inputs", "input"} else {}
            if "run_id" not in arguments and arguments.keys() & _DEFINITION_HELP.keys():
                helpers = _DEFINITION_HELP
        case "NOT_FOUND":
            about = {error["path"] for error in errors} or set(arguments)
            helpers = {name: finder for name, (_, finder) in _FINDERS.items() if name in about}
        case "CONFLICT" | "FORBIDDEN" if "if_version" in arguments:
            return [_DEFINITION]
        case _:
            return [_HELP[code]] if code in _HELP else []
    return [advice for name, advice in helpers.items() if name in arguments][:1]
