"""One attempt: check the input, run the handler, check the output, return the outcome.

`Attempt.execute` lists the phases in order; nothing here writes state. Failures are values: no exception escapes.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import orjson
import structlog
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from runner.definitions.step_inputs import without_session
from runner.excerpts import plain_text
from runner.failures import Failure, FailureCode, JSONValue, PackError
from runner.json_values import MAX_KEPT_DEPTH, forbidden_text, is_too_deep
from runner.packs.context import PackContext
from runner.packs.lost_numbers import lost_number
from runner.packs.revalidation import find_misfit
from runner.processes.pack_modules import package_of
from runner.schemas.pydantic_messages import needed
from runner.tracebacks import describe, text_of
from store.runs.ending import DEADLINE_HINT

if TYPE_CHECKING:
    from traceback import FrameSummary

    from runner.packs.context import ArtifactFile
    from runner.packs.pack import Pack
    from runner.running.resources import RunLimits
    from runner.secrets.redaction import Redactor

log = structlog.get_logger(__name__)

#: Longest message and hint of a failure, in characters; a pack may put a whole page into either.
MESSAGE_CHARACTERS = 2000
#: Longest excerpts of an exception's message and of a value that does not fit.
WORDS_CHARACTERS = 500
GIVEN_CHARACTERS = 80
#: Longest detail of a failure, in bytes of JSON.
DETAIL_BYTES = 64 * 1024


class Outcome(NamedTuple):
    """Outcome of an attempt: an output (JSON text and value, redacted), or a failure.

    Attributes:
        cancelled: The handler was stopped from outside; `failure` then says why.
    """

    output: JSONValue = None
    output_text: str | None = None
    failure: Failure | None = None
    cancelled: bool = False


class StepContext(PackContext, Protocol):
    """The context of an attempt; `files` are those that its handler saved."""

    files: list[ArtifactFile]


class Blockage(NamedTuple):
    """A turn of a handler that keeps the event loop from everything else; see `runner.running.loop_watch`.

    Attributes:
        since: When it began, by the monotonic clock.
        place: Where it stood: file and line of the pack, and the function.
        stack: Its frames, from the handler inwards.
    """

    since: float
    place: str
    stack: list[FrameSummary]


@dataclass(slots=True)
class Attempt:
    """An attempt about to run.

    Attributes:
        input: The resolved input with `_session_id`, as it was recorded.
        timeout_seconds: Longest the handler may take; the smaller of the step's time-out and what the deadline leaves.
        past_deadline: Whether that limit is the run's deadline rather than the step's time-out.
        began_at: When the handler was called, by the monotonic clock; 0 before that.
        blocked: A blockage of the event loop that is not recorded yet.
        blocked_at: Places of all blockages.
    """

    pack: Pack
    context: StepContext
    input: dict[str, JSONValue]
    timeout_seconds: float
    past_deadline: bool
    limits: RunLimits
    redactor: Redactor
    began_at: float = 0.0
    blocked: Blockage | None = None
    blocked_at: tuple[str, ...] = ()
    _body: asyncio.Task[BaseModel] | None = None
    _stop: Failure | None = None
    _ended: asyncio.Future[None] | None = None
    _returned_at: float | None = None

    @property
    def began(self) -> bool:
        """Whether the handler was called."""
        return self._body is not None

    def runs_in(self, task: asyncio.Task[object]) -> bool:
        """Whether a task runs the handler."""
        return self._body is task

    def stop(self, reason: Failure) -> None:
        """Stop the handler from outside; `execute` then returns this failure as cancelled.

        The first reason counts. A handler that has its result already, or that finishes while it is being stopped,
        keeps it.
        """
        if self._stop is None:
            self._stop = reason
            self._end()

    async def execute(self) -> Outcome:
        """Run the attempt and return its outcome; errors, defects of the pack included, become its failure."""
        try:
            model = self._check_input()
            result = await self._handle(model)
            return self._check_output(result)
        except PackError as error:
            return Outcome(failure=storable_failure(error.failure, self.redactor))
        except _StoppedError as stopped:
            return Outcome(failure=stopped.failure, cancelled=True)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # validators, serializers and post-conditions are the pack's code, too
            return Outcome(failure=storable_failure(self._defect(error).failure, self.redactor))

    def _check_input(self) -> BaseModel:
        try:
            # As `model_validate` does it, which looks at six options. A copy: validators may change what they get.
            validator = self.pack.input_model.__pydantic_validator__
            model: BaseModel = validator.validate_python(dict(without_session(self.input)))
        except ValidationError as error:
            raise _invalid(error, FailureCode.INVALID_INPUT, f"The input of {self.pack.name}", self.redactor) from error
        return model

    async def _handle(self, model: BaseModel) -> BaseModel:
        """Run the handler under its time limit, in a separate task so that stopping it affects nothing else."""
        if self._stop is not None:
            raise _StoppedError(self._stop)
        loop = asyncio.get_running_loop()
        until = loop.time() + self.timeout_seconds
        self.began_at = monotonic()
        over_at = self.began_at + self.timeout_seconds  # some loops' clocks stop while a handler blocks them
        body = self._body = loop.create_task(self._call(model))
        try:
            await asyncio.sleep(0)  # the task's first turn: a handler that waits for nothing has ended by then
            if not body.done():
                await self._ended_or_late(body, until)
        finally:
            if not body.done():
                body.cancel()
        is_late = not body.done() if self._returned_at is None else self._returned_at > over_at
        is_late = is_late and self._stop is None
        if not body.done():
            await self._wait_for_cancelled(body)
        if is_late and self.past_deadline:
            raise PackError(FailureCode.TIMEOUT, "The run passed its deadline while this step ran.", hint=DEADLINE_HINT)
        if is_late:
            raise PackError(
                FailureCode.TIMEOUT,
                f"{self.pack.name} took longer than {self.timeout_seconds:g} seconds.",
                hint="Give the step a longer timeout_seconds, or less to do.",
            )
        if self._stop is not None and (not body.done() or body.cancelled() or body.exception() is not None):
            raise _StoppedError(self._stop)
        if body.cancelled():
            raise PackError(
                FailureCode.HANDLER_FAILED,
                f"{self.pack.name} cancelled itself.",
                hint="The handler cancelled its own task or raised CancelledError. Report it to the pack's author.",
            )
        return body.result()

    async def _ended_or_late(self, body: asyncio.Task[BaseModel], until: float) -> None:
        """Wait until the handler has ended, its time is up by the loop's clock, or it must stop."""
        if self._stop is not None:
            return
        loop = asyncio.get_running_loop()
        ended = self._ended = loop.create_future()
        body.add_done_callback(self._end)
        timer = loop.call_at(until, self._end)
        try:
            await ended
        finally:
            timer.cancel()

    def _end(self, _body: object = None) -> None:
        """Wake `_ended_or_late`."""
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    async def _call(self, model: BaseModel) -> BaseModel:
        try:
            result = await self.pack.handler(self.context, model)
        except (PackError, asyncio.CancelledError):
            raise
        except TimeoutError as error:
            message = f"{self.pack.name} gave up waiting: {self._error_text(error) or 'time-out'}."
            raise _with_traceback(PackError(FailureCode.TIMEOUT, message), error, self.pack) from error
        except MemoryError as error:
            message = f"{self.pack.name} ran out of memory."
            raise _with_traceback(PackError(FailureCode.RESOURCE_EXHAUSTED, message), error, self.pack) from error
        except BaseException as error:  # a pack may raise anything, native panics included
            if isinstance(error, ValidationError) and error.title == _title(self.pack.output_model):
                wrong = _invalid(error, FailureCode.INVALID_OUTPUT, f"The output of {self.pack.name}", self.redactor)
                raise _with_traceback(wrong, error, self.pack) from error
            raise self._defect(error) from error
        self._returned_at = monotonic()
        return result

    def _defect(self, error: BaseException) -> PackError:
        raised, text = f"{self.pack.name} raised {type(error).__name__}", self._error_text(error)
        message = f"{raised}: {text}" if text else f"{raised} without a message."
        hint = (
            f"Report it to the author of the pack, with the traceback that `packline show {self.context.run_id} --step "
            f"{self.context.step_key}` prints. Resume when the pack is fixed."
        )
        return _with_traceback(PackError(FailureCode.HANDLER_FAILED, message, hint=hint), error, self.pack)

    def _error_text(self, error: BaseException) -> str:
        if isinstance(error, ValidationError):  # pydantic's own text has several lines and an address
            return _misfit(error, error.title, self.redactor)
        return self.redactor.excerpt(plain_text(text_of(error)), WORDS_CHARACTERS)

    async def _wait_for_cancelled(self, body: asyncio.Task[BaseModel]) -> None:
        """Wait briefly for a cancelled handler, then abandon it; its later output is dropped."""
        done, _ = await asyncio.wait((body,), timeout=self.limits.abandon_seconds)
        if not done:
            log.error("a handler ignores its cancellation and was abandoned", pack=self.pack.name)
            body.add_done_callback(_forget)
        elif not body.cancelled() and (error := body.exception()) is not None:
            log.debug("a stopped handler raised", pack=self.pack.name, error=self._error_text(error))

    def _check_output(self, result: object) -> Outcome:
        output_model = self.pack.output_model
        if type(result) is not output_model:
            try:
                result = output_model.model_validate(result)
            except ValidationError as error:
                raise _invalid(
                    error, FailureCode.INVALID_OUTPUT, f"The output of {self.pack.name}", self.redactor
                ) from error
        assert isinstance(result, BaseModel), "validated above"
        if (misfit := find_misfit(result)) is not None:
            path, wrong = misfit
            what = f"The output of {self.pack.name}"
            raise _invalid(wrong, FailureCode.INVALID_OUTPUT, what, self.redactor, path) from wrong
        value: Any = None
        try:
            # As `model_dump` does it, which passes on fourteen arguments by name.
            value = type(result).__pydantic_serializer__.to_python(result, mode="json", warnings="error")
            text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except (ValueError, TypeError, RecursionError) as error:
            self._refuse_forbidden(value)
            if is_too_deep(value) or is_too_deep(result.__dict__):
                raise self._too_deep() from error
            raise self._not_as_declared(result, error) from error
        if b"\\u0000" in text:
            self._refuse_forbidden(value)
        if text.count(b"[") + text.count(b"{") > MAX_KEPT_DEPTH and is_too_deep(value):
            raise self._too_deep()
        if b"null" in text and (lost := lost_number(result, value)) is not None:
            place, number = lost
            raise PackError(
                FailureCode.INVALID_OUTPUT,
                f"The output of {self.pack.name} is wrong at {place}: JSON does not support the number {number}.",
                hint="Report it to the pack's author.",
            )
        limit = self.limits.step_output_bytes
        if len(text) > limit:
            raise PackError(
                FailureCode.RESOURCE_EXHAUSTED,
                f"The output of {self.pack.name} has {len(text)} bytes; the limit is {limit}.",
                hint="Return large results as an artifact.",
            )
        self._check_post_conditions(result)
        redacted = self.redactor.value(value, text)
        if redacted is not value:
            text = orjson.dumps(redacted, option=orjson.OPT_SORT_KEYS)
        return Outcome(output=redacted, output_text=text.decode())

    def _refuse_forbidden(self, value: JSONValue) -> None:
        """Raise for characters and numbers that are refused everywhere, naming the place."""
        for issue in forbidden_text(value):
            where = ".".join(issue.path) or "the top level"
            raise PackError(
                FailureCode.INVALID_OUTPUT,
                f"The output of {self.pack.name} is wrong at {where}: {issue.message}",
                hint="Report it to the pack's author.",
            )

    def _too_deep(self) -> PackError:
        return PackError(
            FailureCode.INVALID_OUTPUT,
            f"The output of {self.pack.name} is nested deeper than {MAX_KEPT_DEPTH} levels.",
            hint="Return what is nested so deep as an artifact, or as text.",
        )

    def _not_as_declared(self, result: BaseModel, error: Exception) -> PackError:
        """Return the error for unvalidated values that do not match their field, such as "3" for an integer."""
        what = f"The output of {self.pack.name}"
        if isinstance(error, UnicodeDecodeError):
            return PackError(
                FailureCode.INVALID_OUTPUT,
                f"{what} has bytes that are not UTF-8 text.",
                hint="Return them as an artifact, or as text, for example in Base64.",
            )
        if isinstance(error, PydanticSerializationError):
            try:
                type(result).model_validate(result.__dict__, strict=True, by_alias=True, by_name=True)
            except ValidationError as wrong:
                return _invalid(wrong, FailureCode.INVALID_OUTPUT, what, self.redactor)
            except Exception as failed:  # a validator of the pack's may raise anything
                log.debug("an output could not be looked at again", pack=self.pack.name, error=self._error_text(failed))
        return PackError(
            FailureCode.INVALID_OUTPUT,
            f"{what} has a value that does not fit its field and cannot be written as JSON.",
            hint="Report it to the pack's author: fields set by `model_construct`, `model_copy` or an assignment are "
            "not converted.",
            detail={"error": self._error_text(error)},
        )

    def _check_post_conditions(self, result: BaseModel) -> None:
        for file in self.context.files:
            try:
                size = file.path.stat().st_size
            except OSError:
                size = -1
            if size != file.ref.size_bytes:
                raise PackError(
                    FailureCode.ARTIFACT_FAILED, f"The artifact {file.ref.name} cannot be read back from the store."
                )
        for condition in self.pack.post_conditions:
            wrong = condition.check(result, self.context.files)
            if wrong is not None:
                raise PackError(
                    FailureCode.INVALID_OUTPUT,
                    f"{self.pack.name} breaks its post-condition “{condition.description}”: {wrong}",
                    cause="A defect of the pack, or an input that it cannot use: the artifacts of the run show which.",
                )


class _StoppedError(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def storable_failure(failure: Failure, redactor: Redactor) -> Failure:
    """Return a failure that may be stored: secrets masked, texts cut, characters a database refuses removed."""
    wait = failure.retry_after_seconds
    is_number = isinstance(wait, int | float) and not isinstance(wait, bool) and math.isfinite(wait)

    def storable(text: str | None) -> str | None:
        return None if text is None else _text(text, redactor, MESSAGE_CHARACTERS)

    return replace(
        failure,
        message=_text(failure.message, redactor, MESSAGE_CHARACTERS),
        field=storable(failure.field),
        cause=storable(failure.cause),
        hint=storable(failure.hint),
        retry_after_seconds=float(wait) if wait is not None and is_number else None,
        detail=_detail(failure.detail, redactor),
        exception=None
        if failure.exception is None
        else failure.exception.changed(lambda text, limit: _text(text, redactor, limit)),
    )


def _with_traceback(failed: PackError, error: BaseException, pack: Pack) -> PackError:
    package = package_of(pack.handler.__module__)
    failed.failure = replace(failed.failure, exception=describe(error, package=package, without=__file__))
    return failed


def _detail(detail: JSONValue, redactor: Redactor) -> JSONValue:
    try:
        masked = redactor.quoted(detail)
        size = DETAIL_BYTES + 1 if is_too_deep(masked) else len(orjson.dumps(masked))
    except BaseException:  # a pack may give anything, also an object that ends the process when looked at
        size = DETAIL_BYTES + 1
    return masked if size <= DETAIL_BYTES else _text(text_of(detail), redactor, DETAIL_BYTES // 8)


def _text(text: object, redactor: Redactor, limit: int) -> str:
    return redactor.excerpt(plain_text(text_of(text)), limit)


def _forget(body: asyncio.Task[BaseModel]) -> None:
    if not body.cancelled():
        body.exception()


def _invalid(
    error: ValidationError, code: FailureCode, what: str, redactor: Redactor, path: tuple[str | int, ...] = ()
) -> PackError:
    """Convert pydantic's errors below a path to one failure that names the first field and counts the rest."""
    found = error.errors(include_url=False)
    field = ".".join(str(part) for part in (*path, *found[0]["loc"])) or None
    return PackError(
        code,
        _misfit(error, what, redactor, path),
        field=field if code is FailureCode.INVALID_INPUT else None,
        hint="Change the input and resume." if code is FailureCode.INVALID_INPUT else "Report it to the pack's author.",
        detail=[
            {"field": ".".join(str(part) for part in (*path, *issue["loc"])), "message": needed(issue)}
            for issue in found[:20]
        ],
    )


def _misfit(error: ValidationError, what: str, redactor: Redactor, path: tuple[str | int, ...] = ()) -> str:
    """Say what is wrong at the first field, in one sentence."""
    found = error.errors(include_url=False)
    first = found[0]
    where = ".".join(str(part) for part in (*path, *first["loc"])) or "the top level"
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    given = redactor.excerpt(repr(first.get("input")), GIVEN_CHARACTERS)
    return f"{what} is wrong at {where}: {needed(first)} (given: {given}){more}."


def _title(model: type[BaseModel]) -> str:
    """Return the title that pydantic gives errors of a model."""
    return model.model_config.get("title") or model.__name__
