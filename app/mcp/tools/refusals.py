"""Refusals of the schema as errors of a call: the same codes, and which tool helps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from strawberry.utils.str_converters import to_camel_case, to_snake_case

from app.mcp.answers import Advice, CallError, hinted
from resolvers.agents.agent_tools import QUERY_TOOL
from resolvers.operations import OPERATIONS
from resolvers.problems import REF_CHARACTERS
from runner.excerpts import excerpt
from runner.issues import Hint, lacking_scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.mcp.session import Unanswered

_KINDS: Final = Advice(
    "search_catalog without it lists every entry, with the kinds it takes and makes.", ("search_catalog",)
)
_CHECK: Final = Advice("check_pipeline lists every issue of a definition.", ("check_pipeline",))
#: Which tool finds the right name, by the parameter that holds a wrong one.
_FINDERS: Final = {
    "run_id": ("run", Advice("list_runs lists the runs you may see.", ("list_runs",))),
    "pipeline": ("pipeline", Advice("search_catalog finds pipelines.", ("search_catalog",))),
    "pack": ("pack", Advice("search_catalog finds packs.", ("search_catalog",))),
    "artifact_id": ("artifact", Advice("get_run lists the artifacts of a run.", ("get_run",))),
    "target": ("pack or pipeline", Advice("search_catalog finds packs and pipelines.", ("search_catalog",))),
    "scope": ("memory", Advice("get_defaults lists the packs and pipelines that are remembered.", ("get_defaults",))),
    "accepts": ("kind", _KINDS),
    "produces": ("kind", _KINDS),
}
#: Which tool helps, by the code of a refusal; more precise where the call names what it is about.
_HELP: Final = {
    "WRONG_STATE": Advice("get_run shows the run's state and what can be done with it.", ("get_run",)),
    "UNAVAILABLE": Advice("search_catalog with usable: true lists what can run here.", ("search_catalog",)),
    "LIMITED": Advice(
        "list_runs lists the runs under way; wait_run or cancel_run make room.", ("list_runs", "wait_run", "cancel_run")
    ),
}


def _fields_of(kind: str) -> Advice:
    query = f'{{ __type(name: "{kind}") {{ fields {{ name args {{ name }} }} }} }}'
    return Advice(f"`{query}` lists the fields of {kind}; name any other type to see its fields.")


_DEFINITION: Final = Advice(
    "get_pipeline with detail: full shows the current definition; clone_pipeline copies it.",
    ("get_pipeline", "clone_pipeline"),
)
#: For tools that call any pack, whose input schemas therefore say nothing of a pack's input.
PACK_INPUT: Final = Advice("search_catalog with detail: full shows the input it takes.", ("search_catalog",))
#: Which tool shows the inputs, by the parameter that names what takes them.
_INPUT_HELP: Final = {
    "pipeline": Advice("get_pipeline shows the inputs it takes.", ("get_pipeline",)),
    "pack": PACK_INPUT,
}
#: Which tool helps with what is written, by the parameter that holds it.
_WRITTEN_HELP: Final = {
    "definition": _CHECK,
    "yaml": _CHECK,
    "fields": Advice(
        "get_pipeline with detail: full shows the whole definition; check_pipeline lists every issue of one.",
        ("get_pipeline", "check_pipeline"),
    ),
    "query": _fields_of("Query"),
}
#: What helps with a document that is refused whole, by the reason.
_DOCUMENT_HELP: Final = {
    "EMPTY": Advice("Give `query` the text of one query, such as `{ server { version } }`."),
    "NO_QUERY": Advice("To change something, call the tool that does it; tools/list shows the tools."),
    "SEVERAL_OPERATIONS": Advice("Call graphql_query once for each operation.", (QUERY_TOOL,)),
    "SYNTAX": Advice("Give `query` the text of one GraphQL query; its values go into `variables`."),
}

#: The tools for each action of a run; a run that can be cancelled can be waited for, too.
_OF_ACTION: Final = {"RESUME": ("resume_run",), "RERUN": ("rerun_run",), "CANCEL": ("wait_run", "cancel_run")}
#: Addresses from answers, which agents send in place of an id.
_ADDRESS: Final = re.compile(r"packline://(?:run|artifact|pipeline)/([^/]+)")


def missing(arguments: Mapping[str, Any]) -> CallError:
    """The refusal of a call whose answer is nothing: what it names does not exist for this caller."""
    for name, (noun, finder) in _FINDERS.items():
        if name in arguments:
            return CallError(
                "NOT_FOUND",
                f"There is no {noun} `{excerpt(str(arguments[name]), 100)}` that you may see.",
                field_errors=[{"path": name, "problem": f"no such {noun}"} | _within(arguments[name])],
                advice=[finder],
            )
    finder = Advice("search_catalog lists packs and pipelines.", ("search_catalog",))
    return CallError("NOT_FOUND", "There is no such thing.", advice=[finder])


def refused(
    problem: Mapping[str, Any], arguments: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> CallError:
    """The refusal of a command, from the member of its result that says so.

    Args:
        problem: The member.
        arguments: Of the call.
        names: The tool's names for arguments that the command calls otherwise.
    """
    code = problem["code"]
    errors: list[dict[str, Any]] = []
    for issue in problem.get("issues") or ():
        told = {"path": ".".join(_place(issue, arguments)), "rule": issue["rule"], "problem": issue["message"]}
        errors.append(told | hinted(issue.get("hintParts")))
    for lack in problem.get("missing") or ():
        told = {"path": f"{lack['kind']}:{lack['name']}".lower(), "problem": lack["message"]}
        errors.append(told | hinted(lack.get("hintParts")))
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
        requires=problem.get("requires"),
        current_id=current.get("id"),
        actions=problem.get("actions"),
        retry_after_seconds=problem.get("retryAfterSeconds"),
    )


def failed(error: Unanswered, arguments: Mapping[str, Any]) -> CallError:
    """The refusal of a document that was answered with errors."""
    first, *others = error.errors
    told = first["extensions"]
    code = told.get("code") or "INVALID"
    message, errors, advice = first["message"], _unfound(told, arguments), _of_hint(told.get("hintParts"))
    if told.get("reason") == "BAD_CURSOR" and "cursor" in arguments:
        message = "`cursor` is not one that this tool returned."
        errors = [{"path": "cursor", "problem": message}]
        told_as = "cursor" if "run_id" in arguments else "next_cursor"
        advice = [Advice(f"Pass `{told_as}` of the last answer as it is, or leave it out to start at the beginning.")]
    elif first["variable"] is not None and "query" not in arguments:
        message = first["reason"]
        path = _argument(first["variable"], arguments)
        errors = [] if path is None else [{"path": path, "problem": message}]
    errors += [{"path": "query", "problem": other["message"]} for other in others]
    if "type" in told:
        helping = [_fields_of(told["type"])]
    elif about := first.get("document"):
        helping = [_DOCUMENT_HELP[about]]
    else:
        helping = _help(code, arguments, errors)
    return CallError(
        code,
        message,
        retryable=bool(told.get("retryable", code == "INTERNAL")),
        field_errors=errors,
        advice=[*advice, *helping],
        requires=told.get("scope"),
        request_id=told.get("id"),
    )


def _of_hint(parts: Mapping[str, Any] | None) -> list[Advice]:
    """The hint of a refusal, with the tool of the operation that helps."""
    if parts is None:
        return []
    found = []
    if said := str(Hint(parts["text"] or "", parts["closest"])):
        found.append(Advice(said))
    if parts["operation"] is not None:
        operation = OPERATIONS[parts["operation"]]
        if (tool := operation.tool_name) is not None:
            found.append(Advice(f"Try {tool}.", (tool,)))
        elif operation.kind == "query":
            found.append(Advice(f"Try {QUERY_TOOL}: `{to_camel_case(operation.name)}`.", (QUERY_TOOL,)))
    return found


def _possible(actions: Sequence[str] | None) -> list[Advice]:
    """The tools that do what can be done with a run."""
    tools = tuple(tool for action in actions or () for tool in _OF_ACTION.get(action, ()))
    return [Advice("What can be done now: {tools}.", tools)] if tools else []


def _renamed(path: str, names: Mapping[str, str]) -> str:
    """A path that begins with the tool's name of an argument."""
    head, dot, rest = path.partition(".")
    return f"{names.get(head, head)}{dot}{rest}"


def _place(issue: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """Where an issue is, its argument under the name the tool has for it."""
    argument, path = issue["argument"], issue["path"]
    return path if argument is None else [_argument(argument, arguments) or argument, *path[1:]]


def _argument(variable: str, arguments: Mapping[str, Any]) -> str | None:
    """The argument that a variable was made of: `id` of `run_id`; None where it was made of several."""
    name = to_snake_case(variable)
    return next((given for given in arguments if given == name or given.endswith(f"_{name}")), None)


def _unfound(told: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The argument whose name was not found, with the closest known name."""
    ref = told.get("ref")
    if ref is None:
        return []
    named = (
        name
        for name, value in arguments.items()
        if any(isinstance(one, str | int) and excerpt(str(one), REF_CHARACTERS) == ref for one in _each(value))
    )
    if (path := next(named, None)) is None:
        return []  # an agent cannot repair what is no argument of its call
    error = {"path": path, "problem": "no such thing"}
    return [error | ({"closest": told["suggestion"]} if told.get("suggestion") else _within(ref))]


def _within(named: object) -> dict[str, str]:
    """The id in an address that was given in its place."""
    address = _ADDRESS.fullmatch(str(named))
    return {} if address is None else {"closest": address[1]}


def _each(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def bad_arguments(tool: str, issues: list[dict[str, Any]]) -> CallError:
    """The refusal of arguments that do not fit the tool's input schema."""
    return CallError(
        "INVALID",
        f"The arguments do not fit {tool}: {issues[0]['problem']}",
        field_errors=issues,
        advice=[Advice(f"Call {tool} again with these repaired; its input schema says what it takes.")],
    )


def _help(code: str, arguments: Mapping[str, Any], errors: Sequence[Mapping[str, Any]]) -> list[Advice]:
    match code:
        case "INVALID" | "BAD_REQUEST":
            about = {str(error["path"]).partition(".")[0] for error in errors}
            told = _INPUT_HELP if not about or about & {"inputs", "input"} else {}
            if "run_id" not in arguments and arguments.keys() & _WRITTEN_HELP.keys():
                told = _WRITTEN_HELP
        case "NOT_FOUND":
            about = {error["path"] for error in errors} or set(arguments)
            told = {name: finder for name, (_, finder) in _FINDERS.items() if name in about}
        case "CONFLICT" | "FORBIDDEN" if "if_version" in arguments:
            return [_DEFINITION]
        case _:
            return [_HELP[code]] if code in _HELP else []
    return [advice for name, advice in told.items() if name in arguments][:1]
