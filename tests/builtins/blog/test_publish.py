"""`blog.publish`: Markdown with front matter, cleaned pages, refused blanks."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from packline import PackError
from tests.support.pack_harness import Harness, load_module, load_pack

if TYPE_CHECKING:
    from pathlib import Path

publish = load_pack("blog/publish.py")
module = load_module("blog/publish.py")
front = load_module("blog/_front_matter.py")
words = load_module("blog/_words.py")
writing = load_module("_writing.py")


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)


async def post(harness: Harness, **given: Any) -> tuple[dict[str, Any], str]:
    output = await harness.call(publish, {"title": "Lights at sea", "body": "One two three.", **given})
    return output, harness.read_artifact(output["artifact"]["artifact_id"]).decode()


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    _, matter, body = text.split("---\n", 2)
    return YAML(typ="safe").load(matter), body


async def test_a_markdown_post_carries_its_front_matter(harness: Harness) -> None:
    output, text = await post(
        harness, body="Fire, *then* glass.", author="Ada Example", tags=["optics", "sea", "optics"], excerpt="Short."
    )
    matter, body = front_matter(text)
    assert matter == {
        "title": "Lights at sea",
        "slug": "lights-at-sea",
        "author": "Ada Example",
        "excerpt": "Short.",
        "tags": ["optics", "sea"],
    }
    assert body == "\nFire, *then* glass.\n"
    assert output["slug"] == "lights-at-sea"
    assert output["artifact"]["name"] == "lights-at-sea.md"
    assert output["word_count"] == 3
    assert output["url"] is None
    assert output["target"] == "artifact"
    assert harness.warnings == []


async def test_the_title_is_not_said_twice_nor_front_matter_kept_as_text(harness: Harness) -> None:
    _, text = await post(harness, body="---\ntitle: Old\ntags: [a]\n---\n\n# Lights at Sea\n\nWords.")
    matter, body = front_matter(text)
    assert matter["title"] == "Lights at sea"
    assert body == "\nWords.\n"
    _, text = await post(harness, body="# Another heading\n\nWords.")
    assert "# Another heading" in text
    _, text = await post(harness, body="Words.\n\n---\n\nMore: words.\n\n---\n\nEnd.")
    assert text.endswith("Words.\n\n---\n\nMore: words.\n\n---\n\nEnd.\n")


@given(st.text(min_size=1, max_size=60).filter(lambda t: " ".join(t.split()).strip("\x00") and t.isprintable()))
def test_front_matter_reads_back_whatever_the_title(title: str) -> None:
    given_input = module.Input(title=title, body="x")
    clean = " ".join(title.split())
    matter, _ = front_matter(front.markdown_post(given_input, clean, words.make_slug(clean)))
    assert matter["title"] == clean


async def test_a_page_stands_alone_and_is_cleaned(harness: Harness) -> None:
    body = (
        '<h1>Lights at sea</h1><p onclick="x()">Fire <b>then</b> glass.</p><script>alert(1)</script>'
        '<style>p{color:red}</style><iframe src="https://evil.example"></iframe><a href="javascript:alert(1)">a</a>'
        '<a href="https://example.org">b</a><img src="https://example.org/x.png" onerror="y()">'
        "<table><tr><td>1</td></tr></table>"
    )
    output, page = await post(harness, format="html", body=body, author="A & B", tags=["<t>"], excerpt='Say "hi"')
    assert output["artifact"]["name"] == "lights-at-sea.html"
    assert page.startswith("<!doctype html>")
    assert page.count("<h1>") == 1
    content = page.split("<body>")[1]
    assert not re.search(r"<(?:script|style|iframe)|onclick|onerror|javascript:|alert\(1\)|color:red", content)
    assert '<a href="https://example.org" rel="noopener noreferrer">b</a>' in content
    assert '<img src="https://example.org/x.png">' in content
    assert "<td>1</td>" in content
    assert "A &amp; B" in content
    assert "&lt;t&gt;" in content
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in page
    (warning,) = harness.warnings
    for name in ("<script>", "<style>", "<iframe>", "event handlers"):
        assert name in warning


async def test_a_clean_page_brings_no_warning_and_counts_only_what_is_read(harness: Harness) -> None:
    output, _ = await post(
        harness, format="html", body="<p>Two words</p><p>and&nbsp;more</p><script>let a = 1</script>"
    )
    assert output["word_count"] == 4
    await post(harness, format="html", body="<p>Clean</p>")
    assert len(harness.warnings) == 1


@pytest.mark.parametrize(
    "title",
    [
        "{{TITLE}}",
        "{{ title }}",
        "${TITLE}",
        "${{ inputs.title }}",
        "<TITLE>",
        "[Title here]",
        "[INSERT TITLE]",
        "Untitled",
        "Your title here",
        "your blog title",
        "TODO",
        "tbd",
        "Title",
        "Insert title here",
        "Lorem ipsum dolor",
        "null",
        "   ",
    ],
)
async def test_titles_that_were_never_filled_in_are_refused(harness: Harness, title: str) -> None:
    with pytest.raises(PackError) as caught:
        await post(harness, title=title)
    failure = caught.value.failure
    assert (failure.code, failure.field) == ("invalid_input", "title")
    assert failure.hint
    assert harness.artifacts == {}


@pytest.mark.parametrize(
    "title",
    [
        "Title fights of the century",
        "The {{ syntax }} of templates",
        "Untitled: a painter's life",
        "TODO lists considered",
        "Null Island",
        "[Solved] Lights out",
        "<b> or <strong>?",
        "日本の灯台",
    ],
)
async def test_titles_that_only_look_odd_are_fine(harness: Harness, title: str) -> None:
    output, _ = await post(harness, title=title)
    assert output["artifact"]["size_bytes"] > 0


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Über die Straße: Café & Crème!", "uber-die-strasse-cafe-creme"),
        ("What's new?", "whats-new"),
        ("../../etc/passwd", "etc-passwd"),
        ("日本の灯台", "日本の灯台"),
        ("🎉🎉", "post"),
        ("word " * 40, "-".join(["word"] * 16)),
    ],
)
async def test_slugs_and_file_names(harness: Harness, title: str, slug: str) -> None:
    output, _ = await post(harness, title=title)
    assert output["slug"] == slug
    assert output["artifact"]["name"] == f"{slug}.md"


@pytest.mark.parametrize("body", ["", "  \n", "<p> </p>", "***"])
async def test_a_post_without_words_is_refused(harness: Harness, body: str) -> None:
    with pytest.raises(PackError) as caught:
        await post(harness, body=body, format="html" if "<" in body else "markdown")
    assert (caught.value.failure.code, caught.value.failure.field) == ("invalid_input", "body")


@pytest.mark.parametrize(
    "change",
    [{"target": "wordpress"}, {"format": "docx"}, {"tags": ["x" * 61]}, {"tags": ["t"] * 21}, {"status": "sent"}],
)
async def test_input_outside_the_contract_is_refused(harness: Harness, change: dict[str, Any]) -> None:
    with pytest.raises(PackError) as caught:
        await post(harness, **change)
    assert caught.value.failure.code == "invalid_input"


def test_words_are_counted_in_every_script() -> None:
    assert writing.count_words("It's a well-known fact: 3 words") == 6
    assert writing.count_words("日本の灯台 and more") == 7
    assert writing.count_words("— … !") == 0
