"""What narrated videos and podcasts share: spoken text, captions, the sound track, the listing."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pack_harness import load_module
from tests.support.speech_server import tone

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("av")
spoken = load_module("_audio/spoken.py")
captions = load_module("_audio/captions.py")
track = load_module("_audio/track.py")
engagement = load_module("_audio/engagement.py")

Cue = captions.Cue


# ---- what is said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("See [the list](https://example.org/x_(y)?a=1) of **all** `lamps`.", "See the list of all lamps."),
        ("Read https://www.example.org/path?q=1.", "Read example dot org"),
        ("A → B & C", "A to B and C."),
        ("It rose 3\u20135 metres, 2\u00d74 in size — quickly.", "It rose 3 to 5 metres, 2 by 4 in size, quickly."),
        ("Fast 🚀 and `run_in_process()`", "Fast and run in process."),
        ("A claim [1] with a mark [^note].", "A claim with a mark."),
        ("<script>alert(1)</script> text", "alert(1) text."),
        ("🚀", ""),
    ],
)
def test_markup_addresses_and_signs_are_not_pronounced(written: str, said: str) -> None:
    assert " ".join(sentence.said for sentence in spoken.sentences(written)) == said


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Dr. Smith met J. Doe. They spoke.", ["Dr. Smith met J. Doe.", "They spoke."]),
        ("Is that all? No. It is not!", ["Is that all?", "No.", "It is not!"]),
        ("See No. 5 and e.g. this. Done.", ["See No. 5 and e.g. this.", "Done."]),
        ("He said “Stop.” Then he left.", ["He said “Stop.”", "Then he left."]),
        ("灯台です。光ります。", ["灯台です。", "光ります。"]),
        ("", []),
    ],
)
def test_sentences_end_where_people_end_them(text: str, parts: list[str]) -> None:
    assert spoken.split_sentences(text) == parts


def test_lists_and_headings_become_sentences_and_code_is_left_out() -> None:
    text = "# Title\n\n- one\n- two;\n\n```python\nprint('no')\n```\n\n![picture](x.png)\n\n[![b](b.svg)](c)\n\nLast"
    assert spoken.plain_lines(text) == ["Title.", "one.", "two;", "Last."]


def test_a_sentence_without_end_is_cut_for_the_voice() -> None:
    parts = spoken.split_sentences("word " * 1000)
    assert all(len(part) <= 500 for part in parts)
    assert " ".join(parts).split() == ["word"] * 1000


def test_reading_takes_150_words_a_minute() -> None:
    assert spoken.reading_seconds("word " * 150) == pytest.approx(60)
    assert spoken.reading_seconds("灯" * 300) == pytest.approx(60)


@given(st.text(max_size=400))
def test_any_text_can_be_prepared(text: str) -> None:
    for sentence in spoken.sentences(text):
        assert sentence.shown.strip()
        assert len(sentence.said) < 2000
        assert not re.search(r"[*_`<>{}\\]", sentence.said)


# ---- captions


def test_cues_have_two_short_lines_and_share_the_time() -> None:
    sentence = (
        "The keeper climbed the stairs every evening, trimmed the wick, wound the clockwork that turned the lens, "
        "and stayed awake until the first light of the morning made his own superfluous."
    )
    cues = captions.cues_of([(1.0, 13.0, sentence)])
    assert len(cues) >= 2
    assert " ".join(cue.text.replace("\n", " ") for cue in cues) == sentence
    assert all(len(line) <= 46 for cue in cues for line in cue.text.split("\n"))
    assert all(len(cue.text.split("\n")) <= 2 for cue in cues)
    assert cues[0].start == 1.0
    assert cues[-1].end == pytest.approx(13.0)
    assert all(one.end == pytest.approx(other.start) for one, other in itertools.pairwise(cues))


def test_chinese_is_broken_into_lines_too() -> None:
    cues = captions.cues_of([(0.0, 20.0, "灯台は船を導きます" * 12)])
    assert len(cues) > 1
    assert all(captions.width(line) <= 46 for cue in cues for line in cue.text.split("\n"))


def test_both_formats() -> None:
    cues = [Cue(0.5, 2.25, "Hello & <welcome>", "Host"), Cue(3661.0, 3662.5, "a --> b\n\nc")]
    assert captions.to_srt(cues) == (
        "1\n00:00:00,500 --> 00:00:02,250\nHost: Hello & <welcome>\n\n2\n01:01:01,000 --> 01:01:02,500\na → b\nc\n"
    )
    assert captions.to_vtt(cues) == (
        "WEBVTT\n\n00:00:00.500 --> 00:00:02.250\n<v Host>Hello &amp; &lt;welcome&gt;\n\n"
        "01:01:01.000 --> 01:01:02.500\na → b\nc\n"
    )


@given(st.lists(st.tuples(st.floats(0, 50), st.text(min_size=1, max_size=300)), max_size=6))
def test_cues_never_overlap_or_run_backwards(parts: list[tuple[float, str]]) -> None:
    at, spans = 0.0, []
    for seconds, text in parts:
        spans.append((at, at + seconds, text))
        at += seconds
    cues = captions.cues_of(spans)
    assert all(cue.end > cue.start for cue in cues)
    for one, other in itertools.pairwise(cues):
        assert one.end <= other.start + 0.051


# ---- the sound track


def save(folder: Path, name: str, pcm: bytes) -> str:
    path = folder / name
    path.write_bytes(pcm)
    return str(path)


def quieter(pcm: bytes, factor: float) -> bytes:
    from array import array

    return array("h", [int(sample * factor) for sample in array("h", pcm)]).tobytes()


def test_speakers_of_different_loudness_are_brought_to_one_level(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    loud, soft = tone("one two three. four five six."), quieter(tone("one two three. four five six."), 0.05)
    clips = [
        track.Clip(save(tmp_path, "a", loud), 24_000, len(loud) // 2, "Host", (13, 14)),
        track.Clip(None, 24_000, 12_000),
        track.Clip(save(tmp_path, "b", soft), 24_000, len(soft) // 2, "Guest", (13, 14)),
    ]
    joined = track.join_clips(clips, str(tmp_path / "joined"))
    samples = numpy.fromfile(joined.path, "<i2").astype(float)
    assert joined.samples == len(samples) == (len(loud) + len(soft)) // 2 + 12_000
    half = len(loud) // 2
    first, second = samples[:half], samples[half + 12_000 :]
    assert numpy.sqrt((first**2).mean()) == pytest.approx(numpy.sqrt((second**2).mean()), rel=0.1)
    assert not samples[half : half + 12_000].any()
    assert joined.starts == (0.0, half / 24_000, half / 24_000 + 0.5)


@pytest.mark.parametrize("factor", [0.02, 0.3, 3.0])
def test_the_finished_track_has_the_loudness_podcasts_have(tmp_path: Path, factor: float) -> None:
    numpy = pytest.importorskip("numpy")
    pcm = quieter(tone("one two three four. " * 12), factor)
    clip = track.Clip(save(tmp_path, "a", pcm), 24_000, len(pcm) // 2, "", ())
    joined = track.join_clips([clip], str(tmp_path / "joined"))
    frames = list(track.levelled(joined, 48_000))
    assert track.loudness(iter(frames), 48_000, "stereo") == pytest.approx(-16.0, abs=0.5)
    heard = numpy.concatenate([frame.to_ndarray() for frame in frames], 1)
    assert heard.shape[0] == 2
    assert heard.shape[1] / 48_000 == pytest.approx(joined.seconds, abs=0.05)
    assert abs(heard).max() <= 10 ** (-1.5 / 20)


def test_silence_stays_silent(tmp_path: Path) -> None:
    joined = track.join_clips([track.Clip(None, 24_000, 48_000)], str(tmp_path / "joined"))
    assert joined.lufs == track.SILENT_LUFS
    assert all(not frame.to_ndarray().any() for frame in track.levelled(joined, 44_100))


def test_clips_of_other_rates_are_resampled(tmp_path: Path) -> None:
    low, high = tone("one two", rate=22_050), tone("one two")
    clips = [
        track.Clip(save(tmp_path, "a", low), 22_050, len(low) // 2, "a", (7,)),
        track.Clip(save(tmp_path, "b", high), 24_000, len(high) // 2, "b", (7,)),
    ]
    joined = track.join_clips(clips, str(tmp_path / "joined"))
    assert joined.sample_rate == 24_000
    assert joined.seconds == pytest.approx(len(low) / 2 / 22_050 + len(high) / 2 / 24_000, abs=0.02)


def test_sentences_are_found_by_their_pauses(tmp_path: Path) -> None:
    text = "one two three four five six seven. eight. nine ten eleven twelve thirteen."
    said = [f"{part}." for part in text.rstrip(".").split(". ")]
    pcm = tone(text)
    clip = track.Clip(save(tmp_path, "a", pcm), 24_000, len(pcm) // 2, "", tuple(len(part) for part in said))
    joined = track.join_clips([clip], str(tmp_path / "joined"))
    ends, at = [], 0.0
    for part in said:
        at += len(tone(part)) / 2 / 24_000
        ends.append(at)
    for (_, end), true in zip(joined.sentences[0], ends, strict=True):
        assert end == pytest.approx(true, abs=0.3)


@given(st.lists(st.integers(0, 300), min_size=1, max_size=20), st.integers(0, 4))
def test_sentence_times_ascend_whatever_the_pauses(weights: list[int], pauses: int) -> None:
    numpy = pytest.importorskip("numpy")
    samples = numpy.ones(24_000, numpy.float32)
    for number in range(pauses):
        samples[2_000 + 5_000 * number : 5_000 + 5_000 * number] = 0
    spans = track.sentence_spans(samples, 24_000, weights)
    assert len(spans) == len(weights)
    assert spans[0][0] == 0.0
    assert spans[-1][1] == pytest.approx(1.0)
    assert all(start <= end for start, end in spans)


# ---- the listing


def test_short_chapters_join_the_one_before() -> None:
    starts = [(0.0, "Title"), (4.0, "Too near"), (20.0, ""), (30.0, "Second"), (58.0, "Too late")]
    found = engagement.chapters_of(starts, 60.0)
    assert [(chapter.start_seconds, chapter.title) for chapter in found] == [(0.0, "Title"), (30.0, "Second")]
    assert engagement.chapters_of([(0.0, "Only")], 60.0) == []


def test_the_listing_is_made_of_the_text() -> None:
    made = engagement.from_text(
        "Lights at sea",
        ["Lights at sea.", "The lens of 1823 bent the light into a beam.", "Lenses were heavy, and the lens was dear."],
        engagement.chapters_of([(0.0, "Fires"), (65.0, "Lenses")], 130.0),
    )
    assert made.title == "Lights at sea"
    assert made.description.startswith("The lens of 1823")
    assert made.description.endswith("0:00 Fires\n1:05 Lenses")
    assert "lens" in made.keywords
    assert "the" not in made.keywords
    assert len(made.keywords) <= 8
