"""Reasons for refusing a command: one exception tree with one code each, the same on every surface.

`schema.base.problems` turns each into a union member, the MCP server into a structured tool error. Failures inside a
run are in `runner.failures`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from runner.excerpts import excerpt
from runner.issues import Hint, hint_of
from store.database.errors import StoreClosedError, StoreFullError, StoreUnavailableError, StoreUncertainError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.issues import Issue
    from runner.packs.availability import Requirement
    from store.states import Scope

#: Longest ref that a problem repeats; names, keys and ids are shorter.
REF_CHARACTERS = 400


class ProblemCode(StrEnum):
    NOT_FOUND = "NOT_FOUND"
    FORBIDDEN = "FORBIDDEN"
    INVALID = "INVALID"
    CONFLICT = "CONFLICT"
    WRONG_STATE = "WRONG_STATE"
    LIMITED = "LIMITED"
    UNAVAILABLE = "UNAVAILABLE"


class Problem(Exception):
    """A refused command. Nothing was changed, started or spent.

    Attributes:
        code: For programs; stable.
        message: For people: one sentence that names the object and the value.
        hint: What to do next.
        retryable: Whether the same call may succeed later.
    """

    code: ProblemCode
    retryable = False

    def __init__(self, message: str, *, hint: Hint | str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint_of(hint)


class NotFound(Problem):
    """The object does not exist, or the caller may not see it.

    Attributes:
        ref: The reference given, cut after `REF_CHARACTERS`.
        suggestion: The closest existing name.
    """

    code = ProblemCode.NOT_FOUND

    def __init__(
        self,
        what: str,
        ref: str,
        *,
        of: str = "",
        message: str | None = None,
        suggestion: str | None = None,
        hint: Hint | str | None = None,
    ) -> None:
        text = message or f"There is no {what} `{excerpt(ref, 100)}`{of and f' of {of}'}."
        super().__init__(text, hint=hint or Hint(closest=suggestion))
        self.ref = excerpt(ref, REF_CHARACTERS)
        self.suggestion = suggestion


class Forbidden(Problem):
    """The caller may not do this.

    Attributes:
        requires: The missing scope; None when the object belongs to another caller.
        operation: The use case that needs the scope; None when only these arguments are refused. Surfaces that have
            other names for both write the message themselves, with `runner.issues.lacking_scope`.
    """

    code = ProblemCode.FORBIDDEN

    def __init__(
        self,
        message: str,
        *,
        requires: Scope | None = None,
        operation: str | None = None,
        hint: Hint | str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.requires = requires
        self.operation = operation


class Invalid(Problem):
    """The input breaks one or more rules; all of them are listed.

    Attributes:
        issues: Errors before warnings.
        summary: What was refused, such as `The token cannot be made`, put before the first issue's message; None when
            that message is enough. The hint is the first issue's, too, unless another is given.
    """

    code = ProblemCode.INVALID

    def __init__(self, issues: Sequence[Issue], *, summary: str | None = None, hint: Hint | str | None = None) -> None:
        self.issues = tuple(sorted(issues, key=lambda issue: issue.severity != "error"))
        self.summary = summary
        first = self.issues[0]
        super().__init__(f"{summary}: {first.message}" if summary else first.message, hint=hint or first.hint)


class Conflict(Problem):
    """The object has changed or is read-only, or the key or idempotency key is taken.

    Attributes:
        current_id: Id of the conflicting object.
    """

    code = ProblemCode.CONFLICT

    def __init__(self, message: str, *, current_id: str | None = None, hint: Hint | str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.current_id = current_id


class WrongState(Problem):
    """The run's state does not allow the command."""

    code = ProblemCode.WRONG_STATE

    def __init__(self, message: str, run_id: str, *, hint: Hint | str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.run_id = run_id


class Limited(Problem):
    """A limit is reached.

    Attributes:
        retry_after_seconds: How long to wait before trying again; None when unknown.
    """

    code = ProblemCode.LIMITED
    retryable = True

    def __init__(
        self, message: str, *, retry_after_seconds: float | None = None, hint: Hint | str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(Problem):
    """The server lacks something the run's steps need, all of it listed; or the store cannot be used."""

    code = ProblemCode.UNAVAILABLE
    retryable = True

    def __init__(self, message: str, missing: Sequence[Requirement] = (), *, hint: Hint | str | None = None) -> None:
        super().__init__(message, hint=hint or next((lack.hint for lack in missing if lack.hint), None))
        self.missing = tuple(missing)


def refusal_of(error: Exception) -> Problem | None:
    """Return the problem that callers see for an error of a use case; None for an unexpected error.

    Callers see that the database is full, closing or lost. If the connection broke during COMMIT, a repeated call may
    do its work twice, so it is not retryable.
    """
    if isinstance(error, Problem):
        return error
    if not isinstance(error, StoreFullError | StoreClosedError | StoreUnavailableError | StoreUncertainError):
        return None
    problem = Unavailable(str(error))
    problem.retryable = not isinstance(error, StoreUncertainError)
    return problem
