"""What runs in a worker process: a composition is loaded, photographed frame by frame and written as an MP4.

Arguments and results are plain values: they are pickled on their way. Chromium is a child of the worker, so it dies
with the attempt.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packline import PackError

from ._progress import ToldProgress
from ._seen import missing_glyphs
from ._stage import SCALES, STAGES, Asset, Stage, open_stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import Future

#: Imported before a worker starts on a job.
PRELOAD = ("av",)
MAX_SECONDS = 720.0
#: Longest a render may take; less than the pack's own limit, so that the failure can say where it stood.
RENDER_SECONDS = 1500.0
_REPORT_SECONDS = 0.5
#: Calls the encoder may be behind; bounds the memory of pictures that wait.
_FRAMES_AHEAD = 12


@dataclass(frozen=True, slots=True)
class Job:
    """What to render.

    Attributes:
        html: The composition.
        aspect_ratio: A key of `STAGES`.
        resolution: A key of `SCALES`.
        fps: Pictures a second.
        audio: Path of a sound file, or None.
        assets: Files the composition shows, by artifact id.
        target: Where the MP4 goes.
        progress: Pipe for progress.
    """

    html: str
    aspect_ratio: str
    resolution: str
    fps: int
    audio: str | None
    assets: Mapping[str, Asset]
    target: str
    progress: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """What came of a job.

    Attributes:
        seconds: Length of the video.
        width: In pixels.
        height: In pixels.
        frames: Pictures in it.
        drawn: How many of them were not reused.
        audio_seconds: Length of its sound, or None.
        poster: A JPEG of a telling moment.
        warnings: What is not quite right.
    """

    seconds: float
    width: int
    height: int
    frames: int
    drawn: int
    audio_seconds: float | None
    poster: bytes
    warnings: tuple[str, ...]


def measure_audio(path: str) -> float:
    """Length of a sound file in seconds; a little more than `MAX_SECONDS` for any longer one."""
    from ._encode import audio_seconds

    return audio_seconds(path, MAX_SECONDS + 1)


def render_composition(job: Job) -> Rendered:
    """Renders a composition.

    Raises:
        PackError: as of `open_stage`; `invalid_input` for a length that is missing or too long; `invalid_output` when
            the file is not what it should be.
    """
    from ._encode import Film, audio_seconds, film_problem

    warnings: list[str] = []
    sound = None if job.audio is None else audio_seconds(job.audio, MAX_SECONDS + 1)
    scale = SCALES[job.resolution]
    width, height = (round(side * scale) for side in STAGES[job.aspect_ratio])
    progress = ToldProgress(job.progress)
    until = time.monotonic() + RENDER_SECONDS
    with open_stage(job.html, job.aspect_ratio, scale, job.assets) as stage:
        seconds = _length(stage, sound, warnings)
        with contextlib.suppress(PackError):  # what ails the page shows when it is filmed
            if missing := stage.look()["missing"]:
                warnings.append(missing_glyphs(missing))
        frames = max(1, math.ceil(seconds * job.fps - 1e-6))
        poster_at = min(frames - 1, round(_poster_seconds(stage, seconds) * job.fps))
        poster = b""
        drawn = 0
        shown: bytes | None = None
        reported = 0.0
        with Film(Path(job.target), width, height, job.fps, job.audio) as film, _beside() as do:
            for number in range(frames):
                if stage.seek(number / job.fps) or shown is None:
                    picture = stage.picture()
                    drawn += 1
                    if picture != shown:
                        shown = picture
                        do(film.show, picture)
                do(film.add)
                if number == poster_at:
                    poster = shown
                now = time.monotonic()
                if now - reported >= _REPORT_SECONDS:
                    reported = now
                    progress.tell(0.05 + 0.9 * number / frames, f"Frame {number + 1} of {frames}")
                if now > until:
                    raise _too_long(number, frames)
        blocked, failed = stage.report()
    progress.close()
    if failed:
        warnings.append(f"A script of the composition failed: {failed[0]}")
    if blocked:
        more = f" and {len(blocked) - 3} more" if len(blocked) > 3 else ""
        warnings.append(f"Not loaded, since a composition reaches no network: {', '.join(blocked[:3])}{more}.")
    length = frames / job.fps
    problem = film_problem(Path(job.target), width, height, length, sound)
    if problem is not None:
        raise PackError("invalid_output", f"The video is not what it should be: {problem}.")
    return Rendered(length, width, height, frames, drawn, sound, poster, tuple(warnings))


@contextlib.contextmanager
def _beside() -> Iterator[Callable[..., None]]:
    """Does calls in order in a thread, so that a frame is encoded while the next is drawn; all done at the block's end.

    What a call raises comes out of a later one, or of the block.
    """
    pending: deque[Future[object]] = deque()
    with ThreadPoolExecutor(1) as thread:

        def do(function: Callable[..., object], *args: object) -> None:
            pending.append(thread.submit(function, *args))
            while len(pending) > _FRAMES_AHEAD:
                pending.popleft().result()

        yield do
        while pending:
            pending.popleft().result()


def _length(stage: Stage, sound: float | None, warnings: list[str]) -> float:
    """Seconds the video lasts: what the composition declares, and never less than its sound."""
    declared = stage.evaluate("__packlinePlayer.duration()")
    seconds = float(declared) if isinstance(declared, int | float) else None
    if seconds is None and sound is None:
        raise PackError(
            "invalid_input",
            "The composition does not say how long it lasts.",
            field="composition_html",
            hint='Put it on the root element, in seconds: `<html data-duration="20">`.',
        )
    if max(seconds or 0.0, sound or 0.0) > MAX_SECONDS:
        raise PackError(
            "invalid_input",
            f"The video would last {max(seconds or 0.0, sound or 0.0):.0f} seconds; at most {MAX_SECONDS:.0f} are "
            "possible.",
            field="composition_html" if (seconds or 0.0) > MAX_SECONDS else "audio_artifact",
            hint="Shorten it, or render it in parts.",
        )
    if seconds is None:
        warnings.append("The composition does not say how long it lasts; its sound decides.")
        return sound or 0.0
    if sound is not None and sound > seconds + 0.05:
        warnings.append(
            f"The sound is {sound - seconds:.1f} s longer than the composition; its last picture stays until then."
        )
        return sound
    return seconds


def _poster_seconds(stage: Stage, seconds: float) -> float:
    """A telling moment: the first scene with everything on it, shortly before it ends."""
    ends = stage.evaluate(
        "[...document.querySelectorAll('body [data-start]')].filter(e => parseFloat(e.dataset.start) === 0)"
        ".map(e => parseFloat(e.dataset.end)).filter(Number.isFinite)"
    )
    first = min([float(end) for end in ends if 0.5 < end <= seconds], default=seconds) if ends else seconds
    return min(first * 0.6, 6.0)


def _too_long(number: int, frames: int) -> PackError:
    return PackError(
        "resource_exhausted",
        f"After {RENDER_SECONDS:.0f} seconds only {number + 1} of {frames} frames were drawn.",
        field="composition_html",
        hint="Choose 720p, fewer frames a second, or a composition with less on it at a time.",
    )
