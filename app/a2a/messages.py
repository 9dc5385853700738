"""What a client's message says: text, data, and the skill it is for. Imports `a2a`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from a2a.helpers import get_data_parts
from a2a.utils.errors import ContentTypeNotSupportedError, InvalidParamsError

from app.a2a.cards import RUNS_SKILL
from runner.excerpts import excerpt
from runner.json_values import forbidden_text

if TYPE_CHECKING:
    from a2a.types import SendMessageRequest

#: Name of the skill in a message's or request's metadata, and in a data part that carries it.
SKILL: Final = "skill"
INPUTS: Final = "inputs"


@dataclass(frozen=True, slots=True)
class Said:
    """A message.

    Attributes:
        id: The client's id of it.
        task_id: The task it continues; empty for a new one.
        context_id: The conversation; empty if the client named none.
        text: Its text parts, one per line.
        data: Its data part; None without one.
        skill: The pipeline it names, or `runs`; None if it names none.
    """

    id: str
    task_id: str
    context_id: str
    text: str
    data: dict[str, Any] | None
    skill: str | None

    @property
    def is_for_runs(self) -> bool:
        return self.skill == RUNS_SKILL


def read_message(params: SendMessageRequest) -> Said:
    """Read a message.

    Raises:
        A2AError: it is empty, or has a part we cannot take.
    """
    message = params.message
    texts: list[str] = []
    data: dict[str, Any] | None = None
    for number, part in enumerate(message.parts):
        kind = part.WhichOneof("content")
        if kind == "text":
            texts.append(part.text)
        elif kind == "data":
            value = _with_integers(get_data_parts([part])[0])
            if not isinstance(value, dict):
                raise InvalidParamsError(f"Part {number} is not a JSON object. A data part has the inputs by name.")
            if data is not None:
                raise InvalidParamsError(f"Part {number} is a second data part. Put all inputs into one.")
            data = value
        else:
            raise ContentTypeNotSupportedError(
                f"Part {number} is a file. Upload it with POST /artifacts, and give its id as an input."
            )
    if not message.message_id:
        raise InvalidParamsError("The message has no messageId.")
    text = "\n".join(texts).strip()
    skill, data = _skill_of(_metadata(params), data)
    if not text and data is None:
        raise InvalidParamsError("The message is empty. Send text, or a data part with the inputs of a pipeline.")
    for value in (text, data, skill, message.context_id):
        if faults := forbidden_text(value):
            raise InvalidParamsError(faults[0].message)
    for name, value in (("contextId", message.context_id), ("skill", skill or "")):
        if len(value) > _NAME_MAX:
            raise InvalidParamsError(f"`{name}` has {len(value)} characters; the limit is {_NAME_MAX}.")
    return Said(message.message_id, message.task_id, message.context_id, text, data, skill)


def _with_integers(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """A value with integers again: the SDK keeps every number as a double."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _with_integers(item) for name, item in value.items()}
        case list():
            return [_with_integers(item) for item in value]
        case _:
            return value


#: Longest context id or skill.
_NAME_MAX: Final = 400


def _metadata(params: SendMessageRequest) -> str | None:
    for metadata in (params.message.metadata, params.metadata):
        if SKILL in metadata:
            named = metadata[SKILL]
            if not isinstance(named, str):
                raise InvalidParamsError(f"`{SKILL}` in the metadata is not text. It is the id of a skill.")
            return named
    return None


def _skill_of(named: str | None, data: dict[str, Any] | None) -> tuple[str | None, dict[str, Any] | None]:
    """The skill of a message and its data without the name of the skill.

    A data part is either the inputs, or `{"skill": …, "inputs": {…}}`.
    """
    if named is not None or data is None or not isinstance(data.get(SKILL), str):
        return named, data
    skill = data[SKILL]
    rest = {name: value for name, value in data.items() if name != SKILL}
    if skill == RUNS_SKILL:
        return skill, rest
    inputs = rest.pop(INPUTS, {})
    if rest:
        unknown = excerpt(next(iter(rest)), 60)
        raise InvalidParamsError(
            f"A data part with `{SKILL}` has no member `{unknown}`. Put the inputs of the pipeline under `{INPUTS}`."
        )
    if not isinstance(inputs, dict):
        raise InvalidParamsError(f"`{INPUTS}` is not a JSON object.")
    return skill, inputs
