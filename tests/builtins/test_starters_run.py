"""Each starter that needs no model, step by step with its real packs, over documents that ship and loopback servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from packline import PackError
from runner.definitions.inputs import check_inputs, declared_optional, with_defaults
from runner.packs.registry import builtins_folder
from runner.templates.templating import compile_template
from runner.yaml_documents import load_document
from tests.support.git_server import GitServer
from tests.support.loopback_http import LoopbackHttp, Reply, loopback_http
from tests.support.loopback_sites import searxng
from tests.support.pack_harness import SAMPLES, Harness, load_pack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

FRESNEL = "# Lenses\n\n## The first\n\nThe first Fresnel lens was used in 1823 in the Cordouan lighthouse.\n\n" + (
    "## What it does\n\nIt bends light into a beam. It weighs less than a solid lens of the same power.\n"
)


@pytest.fixture
async def web() -> AsyncIterator[LoopbackHttp]:
    routes = {
        "/search": searxng(),
        "/lens.html": Reply((SAMPLES / "fresnel-lens.html").read_bytes(), headers={"content-type": "text/html"}),
        "/paper.pdf": Reply((SAMPLES / "lighthouses.pdf").read_bytes(), headers={"content-type": "application/pdf"}),
        "/robots.txt": Reply(b"", 404),
    }
    async with loopback_http(routes) as running:
        yield running


@pytest.fixture
def harness(tmp_path: Path, web: LoopbackHttp) -> Harness:
    return Harness(tmp_path / "harness", services={"searxng": web.url("")})


async def run(harness: Harness, key: str, inputs: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """Content of the file the last step made, and all outputs."""
    document: Any = load_document((builtins_folder() / "pipelines" / f"{key}.yaml").read_text(encoding="utf-8"))
    assert check_inputs(document["inputs"], inputs) == []
    given = with_defaults(document["inputs"], inputs)
    outputs: dict[str, Any] = {}
    for step in document["steps"]:
        resolved: Any = compile_template(step["input"]).resolve(given, outputs, declared_optional(document["inputs"]))
        outputs[step["id"]] = await harness.call(load_pack(f"{step['pack'].replace('.', '/')}.py"), resolved.value)
        harness.session = harness.sessions[-1] if harness.sessions else None
    last = outputs[document["steps"][-1]["id"]]
    return harness.read_artifact(last["artifact"]["artifact_id"]), outputs


async def test_sample_makes_a_pdf_and_fails_once(harness: Harness) -> None:
    with pytest.raises(PackError, match="on purpose"):
        await run(harness, "sample", {})
    made, outputs = await run(harness, "sample", {"practice_failure": False})
    assert made.startswith(b"%PDF-")
    assert outputs["render"]["pages"] == outputs["outline"]["slide_count"] == outputs["review"]["slide_count"] >= 8
    assert outputs["review"]["remarks"] == []
    assert harness.warnings == []


async def test_scrape_deck(harness: Harness, web: LoopbackHttp) -> None:
    made, outputs = await run(harness, "scrape-deck", {"url": web.url("/lens.html"), "format": "html"})
    assert made.startswith(b"<!doctype html>")
    assert "Fresnel" in outputs["outline"]["title"]


async def test_doc_deck_from_an_address_and_from_an_upload(harness: Harness, web: LoopbackHttp) -> None:
    made, _ = await run(harness, "doc-deck", {"source_url": web.url("/paper.pdf"), "title": "Lights", "theme": "dark"})
    assert made.startswith(b"%PDF-")
    upload = harness.add_artifact("paper.pdf", (SAMPLES / "lighthouses.pdf").read_bytes(), "application/pdf")
    made, outputs = await run(harness, "doc-deck", {"artifact": upload.artifact_id, "format": "pptx"})
    assert made.startswith(b"PK")
    assert outputs["outline"]["title"] == "Lights at Sea"


async def test_grounded_deck_shows_its_sources(harness: Harness) -> None:
    made, outputs = await run(harness, "grounded-deck", {"markdown": FRESNEL, "format": "html"})
    assert [each["url"] for each in outputs["ground"]["citations"]] == ["https://search.example/fresnel"]
    assert b"search.example/fresnel" in made


async def test_repo_deck_shows_readme_docs_and_map(harness: Harness, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "README.md": "# Lamp\n\nLamp turns a light on and off. It needs no network.\n\n## Install\n\n- Run it\n",
        "docs/index.md": "# How it works\n\nA timer asks the sun. The sun answers slowly.\n",
        "lamp/core.py": 'def shine(level):\n    """Makes light."""\n',
    }
    with GitServer(tmp_path / "server") as server:
        server.add_repository("lamp", files)
        _, outputs = await run(harness, "repo-deck", {"repo_url": server.url("lamp"), "format": "html"})
    slides = outputs["outline"]["markdown"]
    assert outputs["outline"]["title"] == "Lamp"
    for text in ("It needs no network", "shine(level)", "A timer asks the sun"):
        assert text in slides


async def test_blog_starters_keep_the_words(harness: Harness, web: LoopbackHttp) -> None:
    made, outputs = await run(harness, "scrape-blog", {"url": web.url("/lens.html"), "title": "A lens"})
    text = made.decode()
    assert outputs["scrape"]["markdown"].strip() in text
    assert text.rstrip().endswith(f"Source: <{web.url('/lens.html')}>")

    made, outputs = await run(
        harness, "doc-blog", {"source_url": web.url("/paper.pdf"), "title": "Lights", "tags": ["sea"], "author": "Ada"}
    )
    assert outputs["parse"]["markdown"].strip() in made.decode()
    assert 'title: "Lights"' in made.decode()
