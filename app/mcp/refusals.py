"""Refusals of the schema as errors of a call: the same codes, and which tool helps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from strawberry.utils.str_converters import to_snake_case

from app.mcp.answers import CallError, hinted
from resolvers.problems import REF_CHARACTERS
from runner.excerpts import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.mcp.session import Unanswered

#: Which tool tells what there is, by the parameter that named something there is not.
_FINDERS: Final = {
    "run_id": ("run", "list_runs tells the runs there are."),
    "pipeline": ("pipeline", "search_catalog finds pipelines."),
    "pack": ("pack", "search_catalog finds packs."),
    "artifact_id": ("artifact", "get_run tells the artifacts of a run."),
    "target": ("pack or pipeline", "search_catalog finds packs and pipelines."),
    "scope": ("memory", "get_defaults tells the packs and pipelines that are remembered."),
    "accepts": ("kind", "search_catalog without it tells what there is, and what each takes and makes."),
    "produces": ("kind", "search_catalog without it tells what there is, and what each takes and makes."),
}
#: Which tool helps, by the code of a refusal; more precise where the call names what it is about.
_HELP: Final = {
    "WRONG_STATE": "get_run tells the run's state and what can be done with it.",
    "UNAVAILABLE": "search_catalog with usable: true tells what can run here.",
    "LIMITED": "list_runs tells the runs under way; wait_run or cancel_run make room.",
}
#: Where the input of a pack is told, of a tool that calls any.
PACK_INPUT_HELP: Final = "search_catalog with detail: full tells the input it takes."
#: Which tool tells what inputs there may be, by the parameter that names what takes them.
_INPUT_HELP: Final = {
    "pipeline": "get_pipeline tells the inputs it takes.",
    "pack": PACK_INPUT_HELP,
}
#: Which tool helps with what is written, by the parameter that holds it.
_WRITTEN_HELP: Final = {
    "definition": "check_pipeline tells every issue of a definition.",
    "yaml": "check_pipeline tells every issue of a definition.",
    "fields": "get_pipeline with detail: full tells the whole definition; check_pipeline tells every issue of one.",
    "query": '`{ __type(name: "Query") { fields { name args { name } } } }` tells what can be asked.',
}


#: What does what can be done with a run; a run that can be cancelled can be waited for, too.
_OF_ACTION: Final = {"RESUME": ("resume_run",), "RERUN": ("rerun_run",), "CANCEL": ("wait_run", "cancel_run")}
#: How the schema tells of a variable; agents have never seen one.
_VARIABLE: Final = re.compile(r"Variable '\$(\w+)' has invalid value: (.+)", re.DOTALL)
#: Addresses that answers tell, where an id is asked for.
_ADDRESS: Final = re.compile(r"packline://(?:run|artifact|pipeline)/([^/]+)")
#: What the schema says of a field that is not there.
_UNKNOWN_FIELD: Final = re.compile(r"Cannot query field '\w+' on type '(\w+)'")


def missing(arguments: Mapping[str, Any]) -> CallError:
    """The refusal of a call whose answer is nothing: what it names does not exist for this caller."""
    for name, (noun, help_text) in _FINDERS.items():
        if name in arguments:
            return CallError(
                "NOT_FOUND",
                f"There is no {noun} `{excerpt(str(arguments[name]), 100)}` that you may see.",
                field_errors=[{"path": name, "problem": f"no such {noun}"} | _within(arguments[name])],
                hint=help_text,
            )
    return CallError("NOT_FOUND", "There is no such thing.", hint="search_catalog tells what there is.")


def refused(problem: Mapping[str, Any], arguments: Mapping[str, Any]) -> CallError:
    """The refusal of a command, from the member of its result that says so."""
    code = problem["code"]
    errors: list[dict[str, Any]] = []
    for issue in problem.get("issues") or ():
        told = {"path": ".".join(issue["path"]), "rule": issue["rule"], "problem": issue["message"]}
        errors.append(told | hinted(issue.get("hintParts")))
    for lack in problem.get("missing") or ():
        told = {"path": f"{lack['kind']}:{lack['name']}".lower(), "problem": lack["message"]}
        errors.append(told | hinted(lack.get("hintParts")))
    errors += _unfound(problem, arguments)
    current = problem.get("current") or {}
    return CallError(
        code,
        problem["message"],
        retryable=bool(problem["retryable"]),
        field_errors=errors,
        hint=_joined(problem.get("hint"), _possible(problem.get("actions")) or _help(code, arguments, errors)),
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
    message, errors, hint = first["message"], _unfound(told, arguments), told.get("hint")
    if told.get("reason") == "BAD_CURSOR" and "cursor" in arguments:
        message = "`cursor` is none that this tool told."
        errors = [{"path": "cursor", "problem": message}]
        told_as = "cursor" if "run_id" in arguments else "next_cursor"
        hint = f"Pass `{told_as}` of the last answer as it is, or leave it out to begin anew."
    elif (variable := _VARIABLE.match(message)) and "query" not in arguments:
        message = variable[2]
        path = _argument(variable[1], arguments)
        errors = [] if path is None else [{"path": path, "problem": message}]
    errors += [{"path": "query", "problem": other["message"]} for other in others]
    return CallError(
        code,
        message,
        retryable=bool(told.get("retryable", code == "INTERNAL")),
        field_errors=errors,
        hint=_joined(hint, _fields_of(first["message"]) or _help(code, arguments, errors)),
        requires=told.get("scope"),
        request_id=told.get("id"),
    )


def _fields_of(message: str) -> str | None:
    """How to ask for the fields there are, where one was asked for that a type does not have."""
    named = _UNKNOWN_FIELD.match(message)
    if named is None:
        return None
    return f'`{{ __type(name: "{named[1]}") {{ fields {{ name args {{ name }} }} }} }}` tells what {named[1]} has.'


def _possible(actions: Sequence[str] | None) -> str | None:
    """The tools that do what can be done with a run."""
    tools = [tool for action in actions or () for tool in _OF_ACTION.get(action, ())]
    return f"What can be done now: {', '.join(tools)}." if tools else None


def _argument(variable: str, arguments: Mapping[str, Any]) -> str | None:
    """The argument that a variable was made of: `id` of `run_id`; None where it was made of several."""
    name = to_snake_case(variable)
    return next((given for given in arguments if given == name or given.endswith(f"_{name}")), None)


def _unfound(told: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The argument that names something there is not, with the closest there is."""
    ref = told.get("ref")
    if ref is None:
        return []
    named = (
        name
        for name, value in arguments.items()
        if any(isinstance(one, str) and excerpt(one, REF_CHARACTERS) == ref for one in _each(value))
    )
    error = {"path": next(named, "ref"), "problem": "no such thing"}
    return [error | ({"closest": told["suggestion"]} if told.get("suggestion") else _within(ref))]


def _within(named: object) -> dict[str, str]:
    """The id in an address that was given in its place."""
    address = _ADDRESS.fullmatch(str(named))
    return {} if address is None else {"closest": address[1]}


def _each(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def bad_arguments(tool: str, issues: list[dict[str, Any]]) -> CallError:
    """The refusal of arguments that do not fit the tool's input schema."""
    first = issues[0]
    named = f"`{first['path']}`"
    where = f"{named}: " if first["path"] and named not in first["problem"] else ""
    return CallError(
        "INVALID",
        f"The arguments do not fit {tool}: {where}{first['problem']}",
        field_errors=issues,
        hint=f"Call {tool} again with these repaired; its input schema says what it takes.",
    )


def _help(code: str, arguments: Mapping[str, Any], errors: Sequence[Mapping[str, Any]]) -> str | None:
    match code:
        case "INVALID" | "BAD_REQUEST":
            about = {str(error["path"]).partition(".")[0] for error in errors}
            told = _INPUT_HELP if not about or about & {"inputs", "input"} else {}
            if "run_id" not in arguments and arguments.keys() & _WRITTEN_HELP.keys():
                told = _WRITTEN_HELP
        case "NOT_FOUND":
            told = {name: text for name, (_, text) in _FINDERS.items()}
        case "CONFLICT" | "FORBIDDEN" if "if_version" in arguments:
            return "get_pipeline with detail: full tells the current definition; clone_pipeline copies it."
        case _:
            return _HELP.get(code)
    return next((text for name, text in told.items() if name in arguments), None)


def _joined(*parts: str | None) -> str | None:
    return " ".join(part for part in parts if part) or None
