"""Describes exceptions: class, message and frames. Imports the standard library, since worker processes use it, too."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

#: Frames kept of each exception: of a deep recursion the first and, twice as many, the last.
FIRST_FRAMES, LAST_FRAMES = 8, 16
#: Exceptions kept that caused the one that was raised.
MAX_CAUSES = 3
#: Longest texts of a frame and longest message, in characters.
FRAME_CHARACTERS = 300
MESSAGE_CHARACTERS = 2000
#: Attribute of an exception from a worker process: its description there, where its frames were.
_IN_WORKER = "_packline_in_worker"


@dataclass(frozen=True, slots=True)
class Frame:
    """A call in a traceback.

    Attributes:
        source: The line of code, without indentation; empty when it cannot be read.
        own: Whether the code is the pack's, not Packline's or a library's.
    """

    file: str
    line: int
    function: str
    source: str
    own: bool


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that a pack raised.

    Attributes:
        type: Name of its class.
        frames: The calls from the pack's handler to where it was raised, outermost first.
        left_out: How many frames are missing after the first `FIRST_FRAMES`.
        causes: The exceptions that led to it, the nearest first; they have no causes of their own.
    """

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    left_out: int = 0
    causes: tuple[Raised, ...] = ()

    @property
    def place(self) -> Frame | None:
        """The last call in the pack's own code, or the last of all."""
        return next((frame for frame in reversed(self.frames) if frame.own), self.frames[-1] if self.frames else None)

    def lines(self, *, folded: bool = False) -> list[str]:
        """Return the traceback as lines of text, as Python prints it; causes follow.

        Args:
            folded: Whether successive calls outside of the pack's own code are one line.
        """
        shown = ["Traceback (most recent call last):", *self._calls(folded=folded)] if self.frames else []
        first, *more = self.message.splitlines() or [""]
        shown += [f"{self.type}: {first}" if first else self.type, *more]
        for cause in self.causes:
            below = cause.lines(folded=folded)
            shown += [f"Caused by {below[0]}", *below[1:]] if not cause.frames else ["Caused by:", *below]
        return shown

    def _calls(self, *, folded: bool) -> Iterator[str]:
        parts = (self.frames[:FIRST_FRAMES], self.frames[FIRST_FRAMES:]) if self.left_out else (self.frames,)
        # Without a call in the pack's own code, folding would leave nothing to read.
        folds = folded and any(frame.own for frame in self.frames)
        for number, part in enumerate(parts):
            if number > 0:
                yield f"  … {self.left_out} frames left out …"
            for is_shown, group in groupby(part, lambda frame: frame.own or not folds):
                frames = list(group)
                if not is_shown:
                    yield f"  … {len(frames)} {'call' if len(frames) == 1 else 'calls'} outside of the pack …"
                    continue
                for frame in frames:
                    yield f'  File "{frame.file}", line {frame.line}, in {frame.function}'
                    if frame.source:
                        yield f"    {frame.source}"

    def changed(self, change: Callable[[str, int], str]) -> Raised:
        """Return it with each text replaced by `change(text, longest)`, for example masked and cut."""
        frames = tuple(
            Frame(
                change(frame.file, FRAME_CHARACTERS),
                frame.line,
                change(frame.function, FRAME_CHARACTERS),
                change(frame.source, FRAME_CHARACTERS),
                frame.own,
            )
            for frame in self.frames
        )
        return replace(
            self,
            type=change(self.type, FRAME_CHARACTERS),
            message=change(self.message, MESSAGE_CHARACTERS),
            frames=frames,
            causes=tuple(cause.changed(change) for cause in self.causes),
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Raised:
        """Read what `dataclasses.asdict` made of it."""
        return cls(
            data["type"],
            data["message"],
            tuple(
                Frame(frame["file"], frame["line"], frame["function"], frame["source"], frame["own"])
                for frame in data["frames"]
            ),
            data["left_out"],
            tuple(cls.from_json(cause) for cause in data["causes"]),
        )


def describe(error: BaseException, *, package: str, without: str) -> Raised:
    """Describe an exception and its causes.

    Args:
        error: The exception; its class may do anything.
        package: The package of the pack, whose frames are its own.
        without: File whose frames are left out at the beginning.
    """
    raised = _describe_alone(error, package, without)
    causes = [_describe_alone(cause, package, without) for cause in islice(_causes(error), MAX_CAUSES)]
    in_worker = _attributes(error).get(_IN_WORKER)
    if isinstance(in_worker, Raised):
        return replace(raised, causes=in_worker.causes)
    return replace(raised, causes=tuple(causes))


def add_worker_frames(error: BaseException, raised: Raised) -> None:
    """Attach what a worker process said of an exception, so that `describe` continues with the frames there."""
    BaseException.__setattr__(error, _IN_WORKER, raised)  # also of a class that refuses attributes


def in_one_line(error: BaseException, package: str) -> str:
    """Describe an exception by its class, its message and, if known, the last line of a package's own code."""
    text = ": ".join(part for part in (type(error).__name__, " ".join(text_of(error).split())) if part)
    own = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if _is_in(package, frame)]
    return f"{text} ({own[-1][0].f_code.co_filename}, line {own[-1][1]})" if own else text


def text_of(value: object) -> str:
    """Return `str(value)`; a pack's exception may fail even at that, or try to end the process."""
    try:
        return str(value)
    except BaseException:
        return "(it cannot be shown)"


def _describe_alone(error: BaseException, package: str, without: str) -> Raised:
    calls = list(traceback.walk_tb(error.__traceback__))
    found = [
        Frame(item.filename, item.lineno or 0, item.name, item.line or "", own=_is_in(package, frame))
        for item, (frame, _) in zip(traceback.StackSummary.extract(iter(calls)), calls, strict=True)
    ]
    while found and found[0].file == without:
        del found[0]
    left_out = 0
    attributes = _attributes(error)
    in_worker = attributes.get(_IN_WORKER)
    if isinstance(in_worker, Raised):
        while found and not found[-1].own:  # how Packline passed it on
            found.pop()
        left_out = in_worker.left_out
        found += in_worker.frames
    surplus = len(found) - FIRST_FRAMES - LAST_FRAMES
    if surplus > 0:
        found[FIRST_FRAMES : FIRST_FRAMES + surplus] = []
        left_out += surplus
    given = attributes.get("__notes__")
    notes = [text_of(note) for note in given] if isinstance(given, list) else []
    return Raised(type(error).__name__, "\n".join((text_of(error), *notes)), tuple(found), left_out)


def _attributes(error: BaseException) -> dict[str, Any]:
    """Return what was set on an exception, whatever its class makes of looking at it."""
    attributes: dict[str, Any] = object.__getattribute__(error, "__dict__")
    return attributes


def _is_in(package: str, frame: FrameType) -> bool:
    return f"{frame.f_globals.get('__name__')}.".startswith(f"{package}.")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield what led to an exception, nearest first, and the members of a group."""
    seen = {id(error)}
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        members = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        context = None if one.__suppress_context__ else one.__context__
        for cause in (*members, one.__cause__ or context):
            if cause is not None and id(cause) not in seen:
                seen.add(id(cause))
                waiting.append(cause)
                yield cause
