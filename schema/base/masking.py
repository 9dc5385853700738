"""Masks errors of resolvers, so that callers read only messages written for them.

PublicError    raised on purpose; passes through with its code
Problem        a use case refused a read; passes through with its code and hint
StoreError     if `refusal_of` knows it, such as a full disk; passes through as UNAVAILABLE
anything else  logged once with an id; the caller receives only the id
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import structlog
from graphql import GraphQLError
from ulid import ULID

from resolvers.problems import Invalid, NotFound, Problem, refusal_of
from runner.excerpts import excerpt
from schema.base.issues import Hint, Issue, hint_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.failures import JSONValue

_log = structlog.get_logger("packline.graphql")


class PublicError(Exception):
    """An error whose message is written for the caller.

    Args:
        message: One sentence that names the thing, the value and the remedy.
        code: Identifier in upper case, such as `INVALID`, `FORBIDDEN`, `NOT_FOUND`, `LIMITED`.
        extensions: Further members of the error's `extensions`; JSON values.
    """

    def __init__(self, message: str, code: str, **extensions: JSONValue) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.extensions: Mapping[str, JSONValue] = {"code": code, **extensions}


#: Maximum length of a message about a document or its variables, which may quote them.
MESSAGE_CHARACTERS = 1_000


def report(error: BaseException, what: str, **details: object) -> str:
    """Log an unexpected error with its traceback, and return its id in the log."""
    error_id = f"err_{ULID()}"
    _log.error(what, error_id=error_id, exc_info=error, **details)
    return error_id


def internal_error(error_id: str) -> str:
    """Return the message that replaces an unexpected error."""
    return f"Internal server error. An administrator can find the details in the server log under {error_id}."


def public_answer(error: Exception, what: str, **details: object) -> tuple[str, dict[str, object]]:
    """Return message and extensions of the error that the caller reads instead of an exception; logs what it hides.

    Args:
        error: What was raised outside a resolver.
        what: Names an unexpected error in the log.
        details: Go with it there.
    """
    if (refusal := refusal_of(error)) is not None:
        if refusal is not error:
            _log.error("the store refused", error=str(error), **details)
        return refusal.message, error_extensions(refusal)
    error_id = report(error, what, **details)
    return internal_error(error_id), {"code": "INTERNAL", "id": error_id}


def mask_errors(errors: list[GraphQLError], operation: str | None = None) -> None:
    """Replace, in place, every error that was not written for callers, and log each cause once.

    Errors of the request itself (syntax, validation, limits, values of variables), `PublicError`s and `Problem`s
    stay. One exception that hit several fields, such as a failed batch load, gets one id and one log entry.

    Args:
        errors: The errors of one result, as the executor collected them.
        operation: Name of the operation, for the log.
    """
    ids: dict[int, str] = {}
    for index, error in enumerate(errors):
        cause = _cause(error)
        if cause is None:
            if len(error.message) > MESSAGE_CHARACTERS:
                # It quotes a document or value of any length.
                errors[index] = _replaced(
                    error, excerpt(error.message, MESSAGE_CHARACTERS), dict(error.extensions or {})
                )
            continue
        if (refusal := refusal_of(cause)) is not None:
            if refusal is not cause:
                _log.error("the store refused", path=error.path, operation=operation, error=str(cause))
            errors[index] = _replaced(error, refusal.message, error_extensions(refusal))
            continue
        if id(cause) not in ids:
            ids[id(cause)] = report(cause, "resolver failed", path=error.path, operation=operation)
        error_id = ids[id(cause)]
        errors[index] = _replaced(error, internal_error(error_id), {"code": "INTERNAL", "id": error_id})


def _replaced(error: GraphQLError, message: str, extensions: dict[str, object]) -> GraphQLError:
    return GraphQLError(
        message,
        nodes=error.nodes,
        source=error.source,
        positions=error.positions,
        path=error.path,
        extensions=extensions,
    )


def error_extensions(problem: Problem) -> dict[str, object]:
    """Extensions of the error for a refused read; commands answer with a member of their union instead."""
    extensions: dict[str, object] = {"code": problem.code.value, "retryable": problem.retryable}
    if (parts := Hint.of(problem.hint)) is not None:
        extensions |= {"hint": hint_text(problem.hint), "hintParts": asdict(parts)}
    if isinstance(problem, Invalid):
        extensions["issues"] = [
            {"path": issue.path, "argument": issue.argument, "rule": issue.rule, "message": issue.message}
            for issue in Issue.all(problem.issues)
        ]
    if isinstance(problem, NotFound):
        extensions["ref"] = problem.ref
        if problem.suggestion is not None:
            extensions["suggestion"] = problem.suggestion
    return extensions


def _cause(error: GraphQLError) -> Exception | None:
    """The unexpected exception behind an error, or None if the message is written for the caller."""
    if error.path is None and error.nodes:
        return None  # about the document or its variables, raised before a resolver ran
    cause: Exception | None = error
    while isinstance(cause, GraphQLError):
        cause = cause.original_error
    return None if isinstance(cause, PublicError) else cause
