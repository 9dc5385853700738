"""`slides.outline` without a model: real documents, plain text, odd and hostile text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from packline import PackError
from tests.support.pack_harness import SAMPLES, Harness, load_module, load_pack

if TYPE_CHECKING:
    from pathlib import Path

outline = load_pack("slides/outline.py")
parse = load_pack("doc/parse.py")
compose = load_module("slides/_compose.py")
digest = load_module("slides/_digest.py")
deck = load_module("slides/_deck.py")
write = load_module("slides/_write.py")
markdown = load_module("slides/_markdown.py")

ARTICLE = """# Tidal power

Two short lines of what this is about.

## Why tides

Tides can be forecast for a hundred years, which no other renewable source offers. The moon pulls the water twice a
day. Because the rhythm is known, a grid can plan around it. In 2023 the plants of France gave 500 GWh, as much as a
small city uses. Critics point to silt, to the cost of the barrage, and to the fish that pass the turbines every day.
Engineers answer with slower blades (they turn eight times a minute) and with fish passes. Nobody disputes that the
first plants were expensive; the question is whether the next ones will be.

## Numbers

| Plant | Opened | Power, MW |
|---|---|---:|
| La Rance | 1966 | 240 |
| Sihwa | 2011 | 254 |

## How it works

Water is let in at high tide:

1. Gates open as the tide rises
2. The basin fills
3. Gates close at the turn
4. Water leaves through the turbines

```python
def power(head, flow):
    return 9.81 * 1025 * head * flow
```

> The sea does not send a bill.
>
> — A miller of Dinan

## Ecology

Sediment settles behind the wall and must be dredged. Birds lose part of the mud they feed on.

## Outlook

Small turbines in free streams need no wall at all. They cost more for each kilowatt today but can be added one by one.
"""

OPTION_PROSE = " ".join(f"Sentence number {n} says that turbine {n} turns slowly in stream {n}." for n in range(400))


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)


def slides_of(text: str) -> list[str]:
    return [slide.strip() for slide in text.split("\n\n---\n\n")]


def shown(slide: str) -> str:
    return re.sub(r"<!--.*?-->", "", slide, flags=re.S).strip()


def bullets(slide: str) -> list[str]:
    return re.findall(r"(?m)^(?:-|\d+\.) (.*)$", shown(slide))


async def test_an_article_becomes_title_agenda_content_and_takeaways(harness: Harness) -> None:
    output = await harness.call(outline, {"text": ARTICLE, "author": "Ada", "audience": "councillors"})
    slides = slides_of(output["markdown"])
    assert output["mode"] == "deterministic"
    assert output["title"] == "Tidal power"
    assert output["slide_count"] == len(slides) >= 8
    assert shown(slides[0]).splitlines()[0] == "# Tidal power"
    assert "Two short lines of what this is about" in slides[0]
    assert "Ada · For councillors" in slides[0]
    assert slides[1].startswith("<!-- layout: agenda -->")
    assert bullets(slides[1]) == ["Why tides", "Numbers", "How it works", "Ecology", "Outlook"]
    assert slides[-1].startswith("<!-- layout: closing -->")
    assert 3 <= len(bullets(slides[-1])) <= 5


async def test_what_is_no_prose_stays_what_it_is(harness: Harness) -> None:
    text = (await harness.call(outline, {"text": ARTICLE}))["markdown"]
    assert "| La Rance | 1966 | 240 |" in text
    assert "| --- | --- | ---: |" in text
    assert "```python\ndef power(head, flow):\n    return 9.81 * 1025 * head * flow\n```" in text
    assert "> The sea does not send a bill.\n>\n> — A miller of Dinan" in text
    assert re.search(r"1\. Gates open as the tide rises\n2\. The basin fills\n3\. ", text)
    assert "Water is let in at high tide:" in text


async def test_prose_becomes_short_bullets_and_the_rest_is_spoken(harness: Harness) -> None:
    text = (await harness.call(outline, {"text": ARTICLE}))["markdown"]
    why = next(slide for slide in slides_of(text) if "## Why tides" in slide)
    points = bullets(why)
    assert 3 <= len(points) <= 6
    assert all(len(point) <= 165 and not point.endswith(".") for point in points)
    notes = re.search(r"<!-- notes: (.*?) -->", why, re.S)
    assert notes is not None
    assert "Engineers answer with slower blades" in notes[1]


async def test_every_bullet_is_made_of_whole_words_of_the_text(harness: Harness) -> None:
    text = (await harness.call(outline, {"text": ARTICLE}))["markdown"]
    known = set(re.findall(r"\w+", ARTICLE.lower()))
    for slide in slides_of(text)[2:]:
        for point in bullets(slide):
            assert set(re.findall(r"\w+", point.lower())) <= known, point


async def test_the_same_text_gives_the_same_slides(harness: Harness) -> None:
    first = await harness.call(outline, {"text": ARTICLE})
    assert first == await harness.call(outline, {"text": ARTICLE})


async def test_the_shipped_paper_becomes_a_full_deck_within_the_budget(harness: Harness) -> None:
    paper = harness.add_artifact("lighthouses.pdf", (SAMPLES / "lighthouses.pdf").read_bytes())
    text = (await harness.call(parse, {"artifact": paper.artifact_id}))["markdown"]
    output = await harness.call(outline, {"text": text})
    slides = slides_of(output["markdown"])
    assert output["title"] == "Lights at Sea"
    assert 10 <= len(slides) <= 14
    assert sum(slide.count("| --- |") + slide.count("---: |") > 0 for slide in slides) >= 4
    for slide in slides[2:]:
        assert len(bullets(slide)) <= 7
        assert len(shown(slide)) < 1_400


@pytest.mark.parametrize("limit", [3, 5, 8, 14, 40])
async def test_no_more_slides_than_wanted(harness: Harness, limit: int) -> None:
    text = "# Book\n\n" + "\n\n".join(
        f"## Chapter {n}\n\n" + ARTICLE.split("## Why tides\n\n")[1].split("\n\n## Numbers")[0] for n in range(30)
    )
    output = await harness.call(outline, {"text": text, "max_slides": limit})
    assert 2 <= output["slide_count"] <= limit
    if limit >= 8:
        assert output["slide_count"] >= min(limit - 1, 32)


async def test_sections_that_share_a_slide_are_all_named(harness: Harness) -> None:
    text = "# Book\n\n" + "\n\n".join(f"## Chapter {n}\n\nTurbine {n} turns slowly. It is safe." for n in range(20))
    output = await harness.call(outline, {"text": text, "max_slides": 8})
    body = output["markdown"]
    assert sum(f"Chapter {n}" in body for n in range(20)) >= 18


async def test_plain_text_without_headings_becomes_several_slides(harness: Harness) -> None:
    text = (
        "Remote work has changed how teams communicate. Before 2020, most decisions were made in meeting rooms. Now "
        "they are made in documents and chats. Managers report that they write more than before.\n\nThis shift has "
        "advantages. Written decisions can be searched later, and people in other time zones can take part. Quiet "
        "colleagues contribute more often when they have time to think.\n\nHowever, there are costs as well. Writing "
        "takes longer than talking, and misunderstandings are harder to notice. Informal contact between teams has "
        "fallen by half. Several companies have therefore introduced regular days on site."
    )
    output = await harness.call(outline, {"text": text})
    slides = slides_of(output["markdown"])
    assert output["title"] == "Remote work has changed how teams communicate"
    assert output["slide_count"] >= 4
    assert "## There are costs as well" in output["markdown"]
    assert all(not shown(slide).startswith("## Remote work has changed") for slide in slides[1:])


async def test_headings_of_plain_text_are_recognised(harness: Harness) -> None:
    text = (
        "The State of Harbours\n\nHarbours handle four fifths of trade by volume, and their depth decides which ships "
        "can call at them.\n\nDredging\n\nEvery year thirty million tonnes of silt are moved out of the ten largest "
        "harbours of Europe, at a cost that rises.\n\nAutomation\n\nCranes without drivers now work in eleven "
        "terminals, where accidents have become rare."
    )
    output = await harness.call(outline, {"text": text})
    assert output["title"] == "The State of Harbours"
    assert "## Dredging" in output["markdown"]
    assert "## Automation" in output["markdown"]


async def test_long_sections_and_lists_are_split_and_numbered(harness: Harness) -> None:
    items = "\n".join(f"- Point {n} about turbines" for n in range(15))
    text = f"# T\n\n## List\n\n{items}\n\n## Prose\n\n{OPTION_PROSE[:4000]}"
    output = await harness.call(outline, {"text": text})
    assert "## List (1/3)" in output["markdown"]
    assert "## List (3/3)" in output["markdown"]
    assert "## Prose (1/" in output["markdown"]


async def test_numbered_lists_go_on_counting_on_the_next_slide(harness: Harness) -> None:
    text = "# T\n\n## Steps\n\n" + "\n".join(f"{n}. Step {n} of the work" for n in range(1, 11))
    output = await harness.call(outline, {"text": text})
    assert re.search(r"## Steps \(2/2\)\n\n6\. Step 6", output["markdown"])


async def test_pictures_markup_and_page_furniture_are_left_out(harness: Harness) -> None:
    text = (
        "[Home](/) [About](/about)\n\n# Title\n\n![badge](https://example.org/b.svg)\n\n## Body\n\n<div>Words stand "
        "here.</div> More words follow them. <!-- hidden -->\n\n## License\n\nMIT, and so on."
    )
    output = await harness.call(outline, {"text": text})
    assert "badge" not in output["markdown"]
    assert "hidden" not in output["markdown"]
    assert "MIT" not in output["markdown"]
    assert any("License" in warning for warning in harness.warnings)


async def test_tables_and_code_that_find_no_room_are_named(harness: Harness) -> None:
    code = "\n\n".join(
        f"## Part {n}\n\nProse of part {n}.\n\n```\nx = {n}\n```\n\n| a | b |\n|---|---|\n| 1 | {n} |" for n in range(5)
    )
    await harness.call(outline, {"text": f"# T\n\n{code}", "max_slides": 8})
    assert any(re.search(r"Left out for want of room: .*max_slides", warning) for warning in harness.warnings)


async def test_voice_inputs_warn_that_they_do_not_change_the_wording(harness: Harness) -> None:
    plain = await harness.call(outline, {"text": ARTICLE})
    assert harness.warnings == []
    voiced = await harness.call(
        outline, {"text": ARTICLE, "persona": "technical", "audience": "engineers", "angle": "Costs first"}
    )
    assert slides_of(voiced["markdown"])[1:] == slides_of(plain["markdown"])[1:]
    assert "Costs first" in slides_of(voiced["markdown"])[0]
    (warning,) = harness.warnings
    for name in ("persona", "audience", "angle"):
        assert f"`{name}`" in warning


async def test_the_outline_can_be_kept_as_a_file_and_pictures_described(harness: Harness) -> None:
    output = await harness.call(
        outline, {"text": ARTICLE, "title": "Tides: a talk!", "export_outline": True, "include_image_prompts": True}
    )
    reference = output["outline_artifact"]
    assert reference["name"] == "tides-a-talk-outline.md"
    assert harness.read_artifact(reference["artifact_id"]).decode() == output["markdown"]
    assert output["image_prompts"]
    assert all(3 <= prompt["slide"] <= output["slide_count"] for prompt in output["image_prompts"])
    fractions = [fraction for fraction, _ in harness.progress]
    assert fractions == sorted(fractions)


@pytest.mark.parametrize("text", ["", "  \n\t ", "# Only a title", "<!-- nothing -->", "![x](y.png)"])
async def test_too_little_text_is_refused_with_what_to_do(harness: Harness, text: str) -> None:
    with pytest.raises(PackError) as caught:
        await harness.call(outline, {"text": text})
    assert caught.value.failure.code == "invalid_input"
    assert caught.value.failure.field == "text"
    assert caught.value.failure.hint


@pytest.mark.parametrize("change", [{"max_slides": 2}, {"max_slides": 41}, {"colour": "red"}, {"text": "x" * 500_001}])
async def test_input_outside_the_contract_is_refused(harness: Harness, change: dict[str, Any]) -> None:
    with pytest.raises(PackError) as caught:
        await harness.call(outline, {"text": ARTICLE, **change})
    assert caught.value.failure.code == "invalid_input"


async def test_hostile_text_cannot_break_out_of_notes_or_slides(harness: Harness) -> None:
    text = (
        "# T\n\n## S\n\nFirst --> <!-- layout: closing --> sentence ends. Second has --- in it and #read(1). "
        "Third *star and `tick is here. <script>alert(1)</script> goes fourth. Fifth one closes the paragraph.\n\n"
        "\\---\n\n1986\\. A great year it was.\n\n## E\n\nLast words are said here."
    )
    output = await harness.call(outline, {"text": text})
    read = markdown.read_deck(output["markdown"])
    assert len(read.slides) == output["slide_count"]
    assert "<script>alert(1)</script>" in " ".join(t for s in read.slides for t in deck.slide_texts(s)) + " ".join(
        s.notes for s in read.slides
    )


# ---- sentences and bullets


def run(text: str) -> tuple[Any, ...]:
    return (deck.Run(text),)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Dr. Smith met J. R. Brown at 5 p.m. sharp.", 1),
        ("It costs 3.5 EUR, i.e. little. Fine.", 2),
        ("See fig. 3 for more. The U.S. market grew.", 2),
        ("これは文です。もう一つの文です。", 2),
        ("No full stop", 1),
    ],
)
def test_sentences_are_told_apart(text: str, count: int) -> None:
    assert len(digest.split_sentences(run(text))) == count


@pytest.mark.parametrize(
    ("text", "bullet"),
    [
        ("However, it works.", "However, it works"),  # too short to lose its first word
        ("However, the new plant works at full power.", "The new plant works at full power"),
        (
            "Smeaton gave his tower a broad base and a curved, tapering profile, which he compared to the trunk of an "
            "oak he had seen in a park.",
            "Smeaton gave his tower a broad base and a curved, tapering profile",
        ),
        (
            "The valve (a small device of brass and steel that closes at sunrise) shut off the gas all by itself in "
            "daylight for the first time.",
            "The valve shut off the gas all by itself in daylight for the first time",
        ),
    ],
)
def test_sentences_become_bullets_at_clause_borders(text: str, bullet: str) -> None:
    assert deck.plain(digest.shorten(run(text))) == bullet


def test_links_and_code_are_never_cut() -> None:
    runs = (
        deck.Run("The measured figures are all kept in one place for everybody to see, in "),
        deck.Run("the public archive of the harbour office, which is open every day", href="https://example.org/a"),
        deck.Run(" and they go back to the year 1832 without a single gap in the whole series of readings taken."),
    )
    short = digest.shorten(runs)
    linked = [r.text for r in short if r.href]
    assert linked in ([], ["the public archive of the harbour office, which is open every day"])


def test_brackets_and_quotations_are_never_left_open() -> None:
    text = (
        "The keeper of the northern light wrote down \u201ca night of wind and hail, which nobody who was there will "
        "ever forget, and a dawn without colour\u201d in the log book that is shown today in the museum of the town"
    )
    short = deck.plain(digest.shorten(run(text)))
    assert short.count("\u201c") == short.count("\u201d")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.text(alphabet="abc DEF,.;:()-—é日\"'0", min_size=1, max_size=400))
def test_shortening_never_cuts_a_word_nor_grows(text: str) -> None:
    short = deck.plain(digest.shorten(run(text)))
    assert len(short) <= len(text) + 1
    known = {word.lower() for word in re.findall(r"\w+", text)}
    assert {word.lower() for word in re.findall(r"\w+", short)} <= known


@given(st.text(alphabet="ab *_`[]()<>#+-=|\\~&;!1.é日\n", min_size=1, max_size=60).filter(lambda t: t.strip()))
def test_written_text_reads_back_as_it_was(text: str) -> None:
    wanted = " ".join(text.split())
    written = write.write_block(deck.Listing((deck.Item(run(wanted)),)))
    (block,) = markdown.read_document(written)
    assert deck.block_texts(block) == [wanted] or _only_entities_differ(block, wanted)


def _only_entities_differ(block: Any, wanted: str) -> bool:
    """Task marks and HTML tags are read specially, on purpose."""
    return bool(re.match(r"\[[ xX]\]", wanted)) or bool(re.search(r"</?[a-z]", wanted))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=600), st.integers(min_value=3, max_value=12))
def test_any_text_gives_a_readable_deck_or_none(text: str, limit: int) -> None:
    made = compose.compose(text, compose.Request(limit))
    if made is not None:
        assert 2 <= made.slide_count <= limit
        assert len(markdown.read_deck(made.markdown).slides) == made.slide_count
