"""The packs of the `sample` and `agent-propose-verify` starters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from packline import PackError
from tests.support.pack_harness import Harness, load_module, load_pack

if TYPE_CHECKING:
    from pathlib import Path

text = load_pack("practice/text.py")
review = load_pack("practice/review.py")
verify = load_pack("practice/verify.py")

DECK = "---\nmarp: true\n---\n\n# One\n\nHello there\n\n---\n\n## Two\n\n```\n---\n```\n\n<!-- a\nnote -->\n"


async def test_the_text_ships_and_is_fit_for_slides(tmp_path: Path) -> None:
    output = await Harness(tmp_path).call(text, {})
    assert output["text"].startswith(f"# {output['title']}\n")
    assert output["text"].count("\n## ") >= 5
    assert output["word_count"] > 200
    assert await Harness(tmp_path).call(text, {}) == output


async def test_first_attempt_fails_kindly_and_the_second_goes_through(tmp_path: Path) -> None:
    context = Harness(tmp_path).context(attempt_number=1)
    with pytest.raises(PackError) as caught:
        await review.handler(context, review.input_model(markdown=DECK))
    failure = caught.value.failure
    assert "practice" in failure.message.lower()
    assert "on purpose" in failure.message
    assert f"packline resume {context.run_id}" in (failure.hint or "")
    assert failure.detail == {"practice": True}
    assert "practise Resume" in failure.likely_cause
    assert failure.first_remedy == "resume"

    again = await review.handler(Harness(tmp_path).context(attempt_number=2), review.input_model(markdown=DECK))
    assert again.markdown == DECK


async def test_the_practice_failure_can_be_switched_off(tmp_path: Path) -> None:
    output = await Harness(tmp_path).call(review, {"markdown": DECK, "practice_failure": False})
    assert output == {"markdown": DECK, "slide_count": 2, "word_count": 4, "remarks": []}


async def test_remarks_name_the_slide(tmp_path: Path) -> None:
    deck = "Only text\n\n---\n\n---\n\n# Full\n\n" + "word " * 100
    output = await Harness(tmp_path).call(review, {"markdown": deck, "practice_failure": False})
    assert output["slide_count"] == 3
    assert output["remarks"] == [
        "Slide 1 has no heading.",
        "Slide 2 is empty.",
        "Slide 3 has 101 words; 90 are plenty for one slide.",
    ]


@pytest.mark.parametrize(
    ("markdown", "slides"),
    [("# A", 1), ("---\n# A\n---\n# B", 3), ("---\nx: y\n---\n# A", 1), ("~~~\n---\n```\n---\n~~~\n---\nx", 2)],
)
def test_slides_are_what_stands_between_rules(markdown: str, slides: int) -> None:
    assert len(load_module("practice/review.py").split_slides(markdown)) == slides


async def test_a_draft_is_vouched_for_when_nothing_is_left_out(tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    draft = harness.add_artifact("notes.md", b"# Notes\n\n* Runs  RESUME\n* Agents work\n", "text/markdown")
    wanted = "- runs resume\n\n1. Agents work\n"
    output = await harness.call(verify, {"artifact": draft.artifact_id, "must_mention": wanted})
    assert output == {"checked": 2, "word_count": 8, "heading": "Notes"}


@pytest.mark.parametrize(
    ("draft", "message"),
    [
        (b"# Notes\n\n- Runs resume\n", "notes.md lacks “agents work”."),
        (b"Runs resume, agents work", "notes.md lacks “a heading”."),
        (b"", "notes.md lacks “a heading”, and 2 more."),
        (b"# \xff", "notes.md is not UTF-8 text."),
    ],
)
async def test_a_draft_that_lacks_something_stops_the_run(tmp_path: Path, draft: bytes, message: str) -> None:
    harness = Harness(tmp_path)
    ref = harness.add_artifact("notes.md", draft, "text/markdown")
    with pytest.raises(PackError) as caught:
        await harness.call(verify, {"artifact": ref.artifact_id, "must_mention": "Runs resume\nAgents work"})
    assert (caught.value.failure.code, caught.value.failure.message) == ("invalid_input", message)
