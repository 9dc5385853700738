"""Why a command is refused: one tree, one code each, the same on every surface.

`schema.base.problems` turns each into a union member, the MCP server into a structured tool error. What goes wrong
inside a run is another matter: `runner.failures`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from runner.excerpts import excerpt
from runner.issues import Hint, hint_of
from store.database.engine import StoreClosedError, StoreFullError, StoreUnavailableError, StoreUncertainError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.issues import Issue
    from runner.packs.availability import Requirement
    from store.states import Scope

#: Longest ref that a refusal tells; names, keys and ids are shorter.
REF_CHARACTERS = 400


class ProblemCode(StrEnum):
    """Kinds of refusal."""

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
        message: For people, one sentence naming the thing and the value.
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
    """There is no such object, or the caller may not know of it.

    Attributes:
        ref: What was looked for; the beginning of what is longer than any name or id.
        suggestion: The closest handle there is.
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
        said = message or f"There is no {what} `{excerpt(ref, 100)}`{of and f' of {of}'}."
        super().__init__(said, hint=hint or Hint(closest=suggestion))
        self.ref = excerpt(ref, REF_CHARACTERS)
        self.suggestion = suggestion


class Forbidden(Problem):
    """The caller may not do this.

    Attributes:
        requires: The scope that is missing; None when the object belongs to somebody else.
        operation: The use case that needs the scope; None where the caller may call it, but not with these arguments.
            Surfaces that have other names for both say it themselves, by `runner.issues.lacking_scope`.
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
    """The input breaks a rule; every rule broken is told, not only the first.

    Attributes:
        issues: Errors before warnings.
        summary: What was refused, such as `The token cannot be made`; the message is this and the first issue's. None
            when the first issue's message says it all. The hint is the first issue's, too, unless another is given.
    """

    code = ProblemCode.INVALID

    def __init__(self, issues: Sequence[Issue], *, summary: str | None = None, hint: Hint | str | None = None) -> None:
        self.issues = tuple(sorted(issues, key=lambda issue: issue.severity != "error"))
        self.summary = summary
        first = self.issues[0]
        super().__init__(f"{summary}: {first.message}" if summary else first.message, hint=hint or first.hint)


class Conflict(Problem):
    """The object has moved on or is read-only, or the handle or idempotency key is taken.

    Attributes:
        current_id: Id of the object in the way.
    """

    code = ProblemCode.CONFLICT

    def __init__(self, message: str, *, current_id: str | None = None, hint: Hint | str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.current_id = current_id


class WrongState(Problem):
    """The run's state does not allow it."""

    code = ProblemCode.WRONG_STATE

    def __init__(self, message: str, run_id: str, *, hint: Hint | str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.run_id = run_id


class Limited(Problem):
    """A limit is reached.

    Attributes:
        retry_after_seconds: When to try again, from now; None when unknown.
    """

    code = ProblemCode.LIMITED
    retryable = True

    def __init__(
        self, message: str, *, retry_after_seconds: float | None = None, hint: Hint | str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(Problem):
    """The run needs what is missing here, all of which is listed, over all steps; or the store cannot be used."""

    code = ProblemCode.UNAVAILABLE
    retryable = True

    def __init__(self, message: str, missing: Sequence[Requirement] = (), *, hint: Hint | str | None = None) -> None:
        super().__init__(message, hint=hint or next((lack.hint for lack in missing if lack.hint), None))
        self.missing = tuple(missing)


def refusal_of(error: Exception) -> Problem | None:
    """Returns the problem that callers see for an error of a use case; None for an error nobody expected.

    A full, closing or lost database is for callers to know. When the connection broke during COMMIT, the same call may
    do its work twice: it is not retryable.
    """
    if isinstance(error, Problem):
        return error
    if not isinstance(error, StoreFullError | StoreClosedError | StoreUnavailableError | StoreUncertainError):
        return None
    problem = Unavailable(str(error))
    problem.retryable = not isinstance(error, StoreUncertainError)
    return problem
