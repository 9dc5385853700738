"""Offline speech, run in a worker process so that the library and its 180 MB stay out of the server.

Only the standard library is imported at the top: every worker imports this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

#: The voice in the wheel; any other would be downloaded.
BUNDLED_VOICE = "heart"
MODEL_FILE = "hibari.onnx"
SAMPLE_RATE = 24_000
#: Seed of the model's noise, so that the same text gives the same speech.
_SEED = 1
#: Silence kept around a sentence; the model's own pauses of 0.8 s are too long.
_LEAD_SECONDS = 0.06
_TAIL_SECONDS = 0.14
_SENTENCE_PAUSE_SECONDS = 0.26
#: Share of the loudest sample below which sound counts as silence.
_SILENCE = 0.015


def speak_texts(texts: list[str], pitch: float) -> list[bytes]:
    """Speak texts; return 16-bit samples of one channel at 24 kHz for each, none where nothing can be spoken.

    Args:
        texts: Plain English.
        pitch: 1 for the voice itself; below 1 for a deeper one at the same tempo.
    """
    from pathlib import Path

    import hibari  # type: ignore[import-untyped]
    import numpy as np

    # With a path, the library does not look for the model in a cache or on the network.
    model = Path(hibari.__file__).parent / "assets" / MODEL_FILE
    voice: Any = hibari.Hibari(voice=BUNDLED_VOICE, model=str(model), threads=1)
    pause = np.zeros(int(_SENTENCE_PAUSE_SECONDS * SAMPLE_RATE), np.float32)
    spoken = []
    for text in texts:
        parts: list[NDArray[numpy.float32]] = []
        for sentence in voice.stream(text, speed=1 / pitch, seed=_SEED):
            trimmed = _trimmed(sentence if pitch == 1 else _deepened(sentence, pitch))
            if trimmed.size:
                parts += [pause, trimmed] if parts else [trimmed]
        joined = np.concatenate(parts) if parts else np.zeros(0, np.float32)
        spoken.append((np.clip(joined, -1.0, 1.0) * 32767.0).astype("<i2").tobytes())
    return spoken


def _deepened(samples: NDArray[numpy.float32], pitch: float) -> NDArray[numpy.float32]:
    """Stretch sound by 1/pitch through its spectrum, which lowers pitch and formants alike without harshness."""
    import numpy as np

    length = round(len(samples) / pitch)
    spectrum = np.fft.rfft(samples)
    wider = np.zeros(length // 2 + 1, np.complex128)
    wider[: len(spectrum)] = spectrum[: len(wider)]
    stretched: NDArray[numpy.float32] = (np.fft.irfft(wider, length) * (length / len(samples))).astype(np.float32)
    return stretched


def _trimmed(samples: NDArray[numpy.float32]) -> NDArray[numpy.float32]:
    """Remove most of the silence around sound, and fade its ends so that nothing clicks."""
    import numpy as np

    loud = np.flatnonzero(np.abs(samples) > _SILENCE * max(float(np.abs(samples).max(initial=0)), 1e-6))
    if not loud.size or float(np.abs(samples).max()) < 1e-3:
        return samples[:0]
    start = max(0, int(loud[0]) - int(_LEAD_SECONDS * SAMPLE_RATE))
    end = min(len(samples), int(loud[-1]) + int(_TAIL_SECONDS * SAMPLE_RATE))
    kept = samples[start:end].copy()
    fade = min(240, len(kept) // 2)
    ramp = np.linspace(0, 1, fade, dtype=np.float32)
    kept[:fade] *= ramp
    kept[len(kept) - fade :] *= ramp[::-1]
    return kept
