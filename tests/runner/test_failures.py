from __future__ import annotations

from typing import Any

from runner.failures import Failure, FailureCode, Remedy
from runner.tracebacks import Frame, Raised


def test_what_was_stored_is_read_again() -> None:
    raised = Raised("ValueError", "No.", (Frame("a.py", 1, "f", "no()", own=True),), causes=(Raised("OSError", "x"),))
    failure = Failure(FailureCode.TIMEOUT, "Late.", remedy=Remedy.RESUME, detail={"a": 1}, exception=raised)
    assert Failure.from_json(failure.to_json()) == failure


def test_what_a_newer_release_stores_is_read_without_what_is_new() -> None:
    raised = Raised("ValueError", "No.", (Frame("a.py", 1, "f", "no()", own=True),))
    failure = Failure(FailureCode.NOT_FOUND, "Gone.", hint="Look.", remedy=Remedy.RESUME, exception=raised)
    stored: dict[str, Any] = failure.to_json()
    stored["exception"]["frames"][0]["column"] = stored["exception"]["notes"] = stored["severity"] = "new"
    assert Failure.from_json(stored) == failure
    read = Failure.from_json({**stored, "code": "a_new_code", "remedy": "a_new_remedy"})
    assert (read.code, read.remedy, read.message, read.hint) == (FailureCode.INTERNAL, None, "Gone.", "Look.")
