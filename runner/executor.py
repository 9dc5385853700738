"""One attempt: check the input, run the handler, check the output, and say what came of it.

The phases stand in order in `Attempt.execute`; nothing here writes state. What went wrong is a value, never an
exception that escapes.
"""

from __future__ import annotations

import asyncio
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import structlog
from pydantic import BaseModel, ValidationError

from runner.failures import Failure, FailureCode, JSONValue, PackError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.context import AttemptContext
    from runner.pack import Pack
    from runner.redaction import Redactor
    from runner.resources import RunLimits

log = structlog.get_logger(__name__)

#: How long a cancelled handler may take to let go before it is abandoned.
LET_GO_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an attempt came to: an output (JSON text and value, redacted), or a failure.

    Attributes:
        cancelled: The handler was stopped from outside; `failure` then says why.
    """

    output: JSONValue = None
    output_text: str | None = None
    failure: Failure | None = None
    cancelled: bool = False


@dataclass(slots=True)
class Attempt:
    """An attempt about to run.

    Attributes:
        input: The resolved input with `_session_id`, as it was recorded.
        timeout_seconds: Longest the handler may take; the smaller of the step's time-out and what the deadline leaves.
        past_deadline: Whether that limit is the run's deadline rather than the step's time-out.
    """

    pack: Pack
    context: AttemptContext
    input: Mapping[str, JSONValue]
    timeout_seconds: float
    past_deadline: bool
    limits: RunLimits
    redactor: Redactor
    _body: asyncio.Task[BaseModel] | None = None
    _stop: Failure | None = None

    def stop(self, reason: Failure) -> None:
        """Stops the handler from outside; `execute` then answers with this failure as cancelled."""
        if self._stop is None:
            self._stop = reason
        if self._body is not None:
            self._body.cancel()

    async def execute(self) -> Outcome:
        """Runs the attempt to its outcome."""
        try:
            model = self._check_input()
            result = await self._handle(model)
            return self._check_output(result)
        except PackError as error:
            return Outcome(failure=self._redacted(error.failure))
        except _StoppedError as stopped:
            return Outcome(failure=stopped.failure, cancelled=True)

    def _check_input(self) -> BaseModel:
        values = self.input
        if "_session_id" in values:
            values = {key: value for key, value in values.items() if key != "_session_id"}
        try:
            return self.pack.input_model.model_validate(values)
        except ValidationError as error:
            raise _invalid(error, FailureCode.INVALID_INPUT, f"The input of {self.pack.name}") from error

    async def _handle(self, model: BaseModel) -> BaseModel:
        """The handler, under its time limit; it runs in a task of its own so that stopping it touches nothing else."""
        if self._stop is not None:
            raise _StoppedError(self._stop)
        body = self._body = asyncio.create_task(self._call(model))
        done, _ = await asyncio.wait((body,), timeout=self.timeout_seconds)
        if not done:
            body.cancel()
            await self._let_go(body)
            raise PackError(
                FailureCode.TIMEOUT,
                "The run passed its deadline while this step ran."
                if self.past_deadline
                else f"{self.pack.name} took longer than {self.timeout_seconds:g} seconds.",
                hint="Give the step a longer timeout_seconds, or less to do.",
            )
        if self._stop is not None and (body.cancelled() or body.exception() is not None):
            raise _StoppedError(self._stop)
        if body.cancelled():
            raise PackError(FailureCode.HANDLER_FAILED, f"{self.pack.name} cancelled itself.")
        return body.result()

    async def _call(self, model: BaseModel) -> BaseModel:
        try:
            return await self.pack.handler(self.context, model)
        except (PackError, asyncio.CancelledError):
            raise
        except TimeoutError as error:
            raise PackError(
                FailureCode.TIMEOUT, f"{self.pack.name} gave up waiting: {str(error) or 'time-out'}."
            ) from error
        except MemoryError as error:
            raise PackError(FailureCode.RESOURCE_EXHAUSTED, f"{self.pack.name} ran out of memory.") from error
        except BaseException as error:  # a pack may raise anything, native panics included
            log.warning("a pack raised", pack=self.pack.name, error=repr(error))
            raise PackError(
                FailureCode.HANDLER_FAILED,
                f"{self.pack.name} raised {type(error).__name__}: {str(error)[:500]}",
                hint="This is a defect of the pack: report it with the detail below.",
                detail={"stack": "".join(traceback.format_exception(error)[-12:])[-8000:]},
            ) from error

    async def _let_go(self, body: asyncio.Task[BaseModel]) -> None:
        done, _ = await asyncio.wait((body,), timeout=LET_GO_SECONDS)
        if not done:
            log.error("a handler ignores its cancellation and was abandoned", pack=self.pack.name)
        elif not body.cancelled() and (error := body.exception()) is not None:
            log.debug("a stopped handler raised", pack=self.pack.name, error=repr(error))

    def _check_output(self, result: object) -> Outcome:
        output_model = self.pack.output_model
        if type(result) is not output_model:
            try:
                result = output_model.model_validate(result, from_attributes=True)
            except ValidationError as error:
                raise _invalid(error, FailureCode.INVALID_OUTPUT, f"The output of {self.pack.name}") from error
        assert isinstance(result, BaseModel), "validated above"
        try:
            value: Any = result.model_dump(mode="json")
            text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except (ValueError, TypeError, RecursionError) as error:
            raise PackError(
                FailureCode.INVALID_OUTPUT, f"The output of {self.pack.name} is not JSON: {error}."
            ) from error
        limit = self.limits.step_output_bytes
        if len(text) > limit:
            raise PackError(
                FailureCode.RESOURCE_EXHAUSTED,
                f"The output of {self.pack.name} has {len(text)} bytes; at most {limit} are kept.",
                hint="Return large results as an artifact.",
            )
        self._check_post_conditions(result)
        redacted = self.redactor.value(value)
        if redacted is not value:
            text = orjson.dumps(redacted, option=orjson.OPT_SORT_KEYS)
        return Outcome(output=redacted, output_text=text.decode())

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
                    f"{self.pack.name} does not keep its promise, {condition.description}: {wrong}",
                    hint="This is a defect of the pack or of what it was given; look at its artifacts.",
                )

    def _redacted(self, failure: Failure) -> Failure:
        data = self.redactor.value(failure.to_json())
        assert isinstance(data, dict), "an object stays an object"
        return Failure.from_json(data)


class _StoppedError(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def _invalid(error: ValidationError, code: FailureCode, what: str) -> PackError:
    """What pydantic found, as one failure naming the first field and telling of the rest."""
    found = error.errors(include_url=False, include_context=False)
    first = found[0]
    field = ".".join(str(part) for part in first["loc"]) or None
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    given = repr(first.get("input"))
    return PackError(
        code,
        f"{what} is wrong at {field or 'its top'}: {first['msg']} (given: {given[:80]}){more}.",
        field=field if code is FailureCode.INVALID_INPUT else None,
        hint="Change the input and resume." if code is FailureCode.INVALID_INPUT else "Report it to the pack's author.",
        detail=[
            {"field": ".".join(str(part) for part in issue["loc"]), "message": issue["msg"]} for issue in found[:20]
        ],
    )
