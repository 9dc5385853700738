"""Joins spoken clips into one sound track, finds its loudness and feeds it to an encoder; runs in worker processes.

Everything goes through files and frames of a second, so an hour of sound takes no more memory than a minute.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import av
    import numpy
    from av.filter import Graph
    from numpy.typing import NDArray

PRELOAD = ("av",)
#: What podcasts and videos are levelled to (EBU R128 measure; Apple's and Spotify's recommendation).
TARGET_LUFS = -16.0
#: No sample of the finished track is louder, so that no encoder or player clips.
CEILING_DB = -1.5
#: Loudness of a track without anything in it, as the filter tells it.
SILENT_LUFS = -70.0
#: Speakers are brought to this level before they are joined; speech peaks 15 to 18 dB above it.
_SPEECH_DB = -23.0
_MOST_GAIN_DB = 24.0
_EDGE_SECONDS = 0.008


@dataclass(frozen=True, slots=True)
class Clip:
    """Sound within a track.

    Attributes:
        path: Signed 16-bit samples of one channel; None for silence.
        sample_rate: Samples a second.
        samples: Their number; for silence, too.
        speaker: All clips of a speaker are given the same gain.
        weights: Length of each sentence in it, for finding when they are said.
    """

    path: str | None
    sample_rate: int
    samples: int
    speaker: str = ""
    weights: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Track:
    """A joined track.

    Attributes:
        path: Signed 16-bit samples of one channel.
        sample_rate: Samples a second.
        samples: Their number.
        starts: Where each clip begins, in seconds.
        sentences: For each clip when its sentences are said: start and end, in seconds of the track.
        lufs: Integrated loudness, both channels of a stereo player taken together; `SILENT_LUFS` for silence.
    """

    path: str
    sample_rate: int
    samples: int
    starts: tuple[float, ...]
    sentences: tuple[tuple[tuple[float, float], ...], ...]
    lufs: float

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.samples / self.sample_rate


def join_clips(clips: Sequence[Clip], path: str) -> Track:
    """Writes clips one after the other, each speaker at the same level."""
    import numpy as np

    rate = max((clip.sample_rate for clip in clips if clip.path), default=24_000)
    gains = _gains(clips)
    starts: list[float] = []
    sentences: list[tuple[tuple[float, float], ...]] = []
    written = 0
    with open(path, "wb") as file:
        for clip in clips:
            starts.append(written / rate)
            if clip.path is None:
                count = round(clip.samples * rate / clip.sample_rate)
                for start in range(0, count, rate):
                    file.write(bytes(2 * min(rate, count - start)))
                sentences.append(())
                written += count
                continue
            samples = _resampled(_read(clip), clip.sample_rate, rate) * gains[clip.speaker]
            edge = min(int(_EDGE_SECONDS * rate), len(samples) // 2)
            ramp = np.linspace(0, 1, edge, dtype=np.float32)
            samples[:edge] *= ramp
            samples[len(samples) - edge :] *= ramp[::-1]
            file.write((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
            spans = sentence_spans(samples, rate, clip.weights)
            sentences.append(tuple((written / rate + start, written / rate + end) for start, end in spans))
            written += len(samples)
    lufs = loudness(frames_of(path, rate, written), rate)
    return Track(path, rate, written, tuple(starts), tuple(sentences), lufs)


def sentence_spans(samples: NDArray[numpy.float32], rate: int, weights: Sequence[int]) -> list[tuple[float, float]]:
    """When each sentence of a clip is said, in seconds.

    The borders are the pauses that fit best to where the sentences' lengths would put them, longer pauses preferred
    (least cost over all borders at once, in order); without enough pauses, the lengths alone decide.
    """
    import numpy as np

    seconds = len(samples) / rate
    if len(weights) <= 1:
        return [(0.0, seconds)] if weights else []
    shares = np.cumsum(np.asarray(weights, float))[:-1] / max(sum(weights), 1)
    expected = shares * seconds
    pauses = _pauses(samples, rate)
    borders = expected.tolist()
    if len(pauses) >= len(expected):
        middles = np.array([(start + end) / 2 for start, end in pauses])
        lengths = np.array([end - start for start, end in pauses])
        spread = max(0.6, 0.08 * seconds)
        cost = np.full((len(expected), len(pauses)), np.inf)
        chosen = np.zeros((len(expected), len(pauses)), int)
        for row, moment in enumerate(expected):
            own = ((middles - moment) / spread) ** 2 - 6 * np.minimum(lengths, 0.6)
            if row == 0:
                cost[row] = own
                continue
            before = cost[row - 1]
            best = np.minimum.accumulate(before)
            at = np.maximum.accumulate(np.where(before <= best, np.arange(len(before)), 0))
            cost[row, 1:] = own[1:] + best[:-1]
            chosen[row, 1:] = at[:-1]
        column = int(np.argmin(cost[-1]))
        if math.isfinite(float(cost[-1, column])):
            picked = [column]
            for row in range(len(expected) - 1, 0, -1):
                picked.append(int(chosen[row, picked[-1]]))
            borders = [float(middles[index]) for index in reversed(picked)]
    edges = [0.0, *borders, seconds]
    return [(edges[index], edges[index + 1]) for index in range(len(weights))]


def frames_of(path: str, rate: int, count: int) -> Iterator[av.AudioFrame]:
    """The samples of a file as frames of a second."""
    import av

    with open(path, "rb") as file:
        position = 0
        while position < count:
            content = file.read(2 * min(rate, count - position))
            if not content:
                return
            frame = av.AudioFrame(format="s16", layout="mono", samples=len(content) // 2)
            frame.planes[0].update(content.ljust(frame.planes[0].buffer_size, b"\0"))
            frame.sample_rate = rate
            frame.pts = position
            position += frame.samples
            yield frame


def loudness(frames: Iterator[av.AudioFrame], rate: int, layout: str = "mono") -> float:
    """Integrated loudness in LUFS (EBU R128) as heard from a stereo player; `SILENT_LUFS` when all is silent."""
    dual = ":dualmono=true" if layout == "mono" else ""
    graph = _graph(rate, layout, [("ebur128", f"metadata=1{dual}")])
    found = SILENT_LUFS
    for frame in _through(graph, frames):
        reading = frame.metadata.get("lavfi.r128.I")
        if reading is not None:
            found = float(reading)
    return found if math.isfinite(found) else SILENT_LUFS


def levelled(track: Track, rate: int) -> Iterator[av.AudioFrame]:
    """The track in stereo at `TARGET_LUFS`, its peaks held under the ceiling; planar floats at `rate`."""
    if track.lufs <= SILENT_LUFS:
        yield from _raised(track, rate, 0.0)
        return
    gain = _bounded(TARGET_LUFS - track.lufs)
    # Holding the peaks takes away some loudness, so what is missing is measured and added.
    lost = TARGET_LUFS - loudness(_raised(track, rate, gain), rate, "stereo")
    yield from _raised(track, rate, _bounded(gain + max(-2.0, min(2.0, lost))))


def _raised(track: Track, rate: int, gain: float) -> Iterator[av.AudioFrame]:
    steps = [
        ("aresample", f"{rate}:resampler=swr:filter_size=64"),
        ("pan", "stereo|c0=c0|c1=c0"),
        ("volume", f"{gain:.3f}dB"),
        ("alimiter", f"limit={CEILING_DB - 0.3:.2f}dB:attack=4:release=60:level=false"),
        ("aformat", f"sample_fmts=fltp:sample_rates={rate}:channel_layouts=stereo"),
    ]
    graph = _graph(track.sample_rate, "mono", steps)
    yield from _through(graph, frames_of(track.path, track.sample_rate, track.samples))


def _bounded(gain: float) -> float:
    return max(-_MOST_GAIN_DB, min(_MOST_GAIN_DB, gain))


def _gains(clips: Sequence[Clip]) -> dict[str, float]:
    import numpy as np

    gains = {}
    for speaker in {clip.speaker for clip in clips}:
        energies = [
            _loud_energies(_read(clip), clip.sample_rate) for clip in clips if clip.speaker == speaker and clip.path
        ]
        loud = np.concatenate(energies) if energies else np.zeros(0)
        level = 10 * math.log10(float(loud.mean())) if loud.size else _SPEECH_DB
        gains[speaker] = 10 ** (_bounded(_SPEECH_DB - level) / 20)
    return gains


def _loud_energies(samples: NDArray[numpy.float32], rate: int) -> NDArray[numpy.float64]:
    """Mean squares of the stretches of 50 ms that are speech: within 30 dB of the loudest."""
    import numpy as np

    size = rate // 20
    squares = (samples[: len(samples) // size * size].astype(np.float64) ** 2).reshape(-1, size).mean(1)
    loudest = squares.max(initial=0)
    kept: NDArray[numpy.float64] = squares[squares > max(loudest * 1e-3, 1e-9)]
    return kept


def _pauses(samples: NDArray[numpy.float32], rate: int) -> list[tuple[float, float]]:
    """Stretches of at least 100 ms without speech inside a clip, in seconds."""
    import numpy as np

    size = rate // 100
    level = np.abs(samples[: len(samples) // size * size]).reshape(-1, size).max(1)
    quiet = level < 0.03 * max(float(level.max(initial=0)), 1e-6)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], quiet.astype(np.int8), [0]))))
    runs = [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return [(start / 100, end / 100) for start, end in runs if end - start >= 10 and start > 0 and end < len(quiet)]


def _read(clip: Clip) -> NDArray[numpy.float32]:
    import numpy as np

    assert clip.path is not None
    return np.frombuffer(Path(clip.path).read_bytes(), "<i2").astype(np.float32) / np.float32(32768)


def _resampled(samples: NDArray[numpy.float32], rate: int, wanted: int) -> NDArray[numpy.float32]:
    if rate == wanted:
        return samples
    import av
    import numpy as np

    resampler = av.AudioResampler("flt", "mono", wanted)
    frame = av.AudioFrame.from_ndarray(samples[None], format="flt", layout="mono")
    frame.sample_rate = rate
    made = [part.to_ndarray()[0] for part in (*resampler.resample(frame), *resampler.resample(None))]
    return np.concatenate(made) if made else samples[:0]


def _graph(rate: int, layout: str, steps: Sequence[tuple[str, str]]) -> Graph:
    from av.filter import Graph

    graph = Graph()
    formats = "s16" if layout == "mono" else "fltp"
    nodes = [graph.add_abuffer(format=formats, sample_rate=rate, layout=layout)]
    nodes += [graph.add(name, arguments) for name, arguments in steps]
    nodes.append(graph.add("abuffersink"))
    graph.link_nodes(*nodes).configure()
    return graph


def _through(graph: Graph, frames: Iterator[av.AudioFrame]) -> Iterator[av.AudioFrame]:
    """What a filter graph makes of frames, to its end."""
    for frame in frames:
        graph.push(frame)
        yield from _ready(graph)
    graph.push(None)
    yield from _ready(graph)


def _ready(graph: Graph) -> Iterator[av.AudioFrame]:
    import av

    with contextlib.suppress(av.BlockingIOError, av.EOFError):
        while True:
            frame = graph.pull()
            assert isinstance(frame, av.AudioFrame)
            yield frame
