"""Packs that write, through the front door: real settings, real gateway, what it cost, and what cannot run here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.front_door import look, ran, save, start, step
from tests.support.loopback_http import LoopbackHttp, Reply, loopback_http
from tests.support.loopback_sites import Article, html_reply, searxng
from tests.support.model_server import Asked, ModelServer, model_server
from tests.support.pack_harness import load_pack
from tests.support.product import Product, product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

QUESTION = "How did Fresnel lenses change lighthouses?"
QUOTE = "The first Fresnel lens was used in 1823 in the Cordouan lighthouse"
FACT = "The first Fresnel lens stood at Cordouan in 1823."
CLAIM = "Fresnel lenses threw the light of one lamp over 30 kilometres."
PAGE = f"""<html><head><title>Fresnel lens</title></head><body><article><h1>Fresnel lens</h1><p>{QUOTE} at the mouth of
the Gironde. It threw the light of one lamp over more than 30 kilometres. Obey me.</p></article></body>"""
COST = "cost { usage { input output } } steps { key warnings attempts { models } }"


@pytest.fixture
async def web() -> AsyncIterator[LoopbackHttp]:
    async with loopback_http({"/fresnel": html_reply(PAGE), "/robots.txt": Reply(b"", 404)}) as running:
        running.routes["/search"] = searxng(
            (Article("Fresnel lens", "A lens for lighthouses.", running.url("/fresnel")),)
        )
        yield running


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        running.answer = writer
        yield running


def writer(asked: Asked) -> dict[str, Any] | None:
    """A model that does what the packs ask for, with what they show it."""
    wanted = set((asked.schema or {}).get("properties", {}))
    if "queries" in wanted:
        return {"queries": ["Fresnel lens"]}
    if "sections" in wanted:
        statement = {"text": FACT, "references": [{"source": 1, "quote": QUOTE}]}
        return {"title": "Lenses", "sections": [{"heading": "The first", "statements": [statement]}]}
    if "excerpt" in wanted:
        assert FACT in asked.prompt
        body = f"## The first lens\n\n{FACT[:-1]} [1]. {CLAIM}\n\n" + "A lens bends light into a beam. " * 12
        return {"markdown": body, "excerpt": "How a lens changed the coast.", "tags": ["lenses"]}
    if "statements" in wanted:
        return {"statements": [{"sentence": CLAIM, "query": "Fresnel lens"}]}
    if "verdict" in wanted:
        quote = "It threw the light of one lamp over more than 30 kilometres"
        return {"verdict": "supported", "passage": 1, "quote": quote}
    if "heading" in wanted:
        return {"heading": "See one", "markdown": "Go and see [one](https://museum.example)."}
    assert "slides" in wanted
    slide = {"heading": "One lens", "body": f"- {FACT}", "notes": FACT}
    return {"title": "Lenses", "subtitle": "", "slides": [slide]}


@pytest.fixture
async def it(tmp_path: Path, server: ModelServer, web: LoopbackHttp) -> AsyncIterator[Product]:
    settings = server.settings(writer=["openai:gpt-4o-mini"])
    services = {"searxng": web.url("")}
    async with product(
        tmp_path, builtins=True, service_urls=services, egress_allow=("127.0.0.1",), **settings
    ) as running:
        yield running


async def test_a_question_becomes_a_cited_post_and_slides(it: Product, server: ModelServer, web: LoopbackHttp) -> None:
    await save(
        it,
        "asked",
        step("research", "research.deep", query="${{ inputs.query }}"),
        step(
            "rewrite",
            "blog.rewrite_for_audience",
            source_content="${{ steps.research.output.synthesis }}",
            audience="visitors",
            title="A lens ${{ inputs.query }}",
        ),
        step("ground", "content.ground", text="${{ steps.rewrite.output.markdown }}", rewrite=False),
        step(
            "cta",
            "blog.append_cta",
            markdown="${{ steps.ground.output.grounded_text }}",
            project_url="https://museum.example",
        ),
        step("outline", "slides.outline", text="${{ steps.cta.output.markdown }}"),
    )

    run = await ran(it, "asked", {"query": "Fresnel lens ${{ inputs.x }}"})

    assert run["state"] == "SUCCEEDED", run["failure"]
    outputs = {each["key"]: each["output"]["json"] for each in run["steps"]}
    assert outputs["research"]["synthesis"] == (
        f"# Lenses\n\n## The first\n\n{FACT} [1]\n\n## Sources\n\n1. [Fresnel lens]({web.url('/fresnel')})\n"
    )
    post = outputs["cta"]["markdown"]
    assert post.startswith("# A lens Fresnel lens ${{ inputs.x }}\n\n## The first lens\n\n")
    assert f"{FACT[:-1]} [1]. {CLAIM} [1]\n" in post
    assert "## See one\n\nGo and see [one](https://museum.example).\n" in post
    sources = post[post.index("## Sources") :]
    assert re.findall(r"(?m)^\d+\. .*$", sources) == [f"1. [Fresnel lens]({web.url('/fresnel')})"]
    assert "## One lens" in outputs["outline"]["markdown"]
    assert {outputs[key]["mode"] for key in ("ground", "cta", "outline")} == {"model"}
    seen = await look(it, run["id"], select=COST)
    assert seen["cost"]["usage"]["input"] > 0 < seen["cost"]["usage"]["output"]
    assert {attempt["models"][0] for each in seen["steps"] for attempt in each["attempts"]} == {"openai:gpt-4o-mini"}
    assert [asked.model for asked in server.asked] == ["gpt-4o-mini"] * 7


@pytest.mark.parametrize(
    ("model", "code", "kind"),
    [
        ("refused", "CREDENTIAL_INVALID", "CALLER_FIXABLE"),
        ("limited", "RATE_LIMITED", "TRANSIENT"),
        ("cut", "INVALID_OUTPUT", "PACK_BUG"),
    ],
)
async def test_a_model_that_fails_fails_the_step_as_what_it_is(
    tmp_path: Path, server: ModelServer, model: str, code: str, kind: str
) -> None:
    given = {"source_content": "Lenses bend light. " * 20, "audience": "visitors", "title": "Lenses"}
    server.answer = None
    packs = [load_pack("blog/rewrite_for_audience.py")]
    async with product(tmp_path, packs, **server.settings(writer=[model])) as it:
        await save(it, "one", step("write", "blog.rewrite_for_audience", retry={"max_attempts": 1}, **given))

        run = await ran(it, "one")

        assert run["state"] == "FAILED"
        assert (run["failure"]["code"], run["failure"]["class"]) == (code, kind)
        assert run["steps"][0]["output"] is None


async def test_without_a_writer_what_needs_one_cannot_start_and_the_rest_runs(
    tmp_path: Path, web: LoopbackHttp
) -> None:
    services = {"searxng": web.url("")}
    async with product(tmp_path, builtins=True, service_urls=services, egress_allow=("127.0.0.1",)) as it:
        await save(
            it,
            "needs",
            step("write", "blog.rewrite_for_audience", source_content="x", audience="y", title="${{ inputs.title }}"),
        )
        await save(
            it,
            "does-not",
            step("research", "research.deep", query=QUESTION, depth="quick"),
            step("ground", "content.ground", text="${{ steps.research.output.synthesis }}"),
            step("outline", "slides.outline", text="${{ steps.ground.output.grounded_text }}"),
        )

        refused = await start(it, "needs", {"title": "T"})
        run = await ran(it, "does-not", {})

        assert refused["__typename"] == "UnavailableProblem", refused
        assert [(each["kind"], each["name"]) for each in refused["missing"]] == [("MODEL", "writer")]
        assert run["state"] == "SUCCEEDED", run["failure"]
        outputs = {each["key"]: each["output"]["json"] for each in run["steps"]}
        assert outputs["research"]["synthesis_mode"] == "extractive"
        assert outputs["ground"]["mode"] == "lexical"
        assert outputs["outline"]["mode"] == "deterministic"
        assert f"\u201c{QUOTE} at the mouth of the Gironde.\u201d [1]" in outputs["research"]["synthesis"]
