"""Compose, lint and render through GraphQL on a real server with a real Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.builtins.video.films import needs_chromium
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.product import Product

pytestmark = pytest.mark.browser

RUN = """mutation ($pack: ID!, $input: JSON!) { runPack(pack: $pack, input: $input, waitSeconds: 50) {
    __typename ... on Problem { message }
    ... on StartRunSuccess { run { state output { json } failure { code message }
        artifacts { nodes { id mediaType } } } } } }"""


async def finished(it: Product, pack: str, given: dict[str, Any]) -> dict[str, Any]:
    answer = await it.mutate(RUN, {"pack": pack, "input": given})
    assert answer["__typename"] == "StartRunSuccess", answer
    return answer["run"]


async def test_a_description_becomes_a_film(tmp_path: Path) -> None:
    needs_chromium()
    av = pytest.importorskip("av")
    async with product(tmp_path, builtins=True) as it:
        composed = await finished(
            it,
            "video.compose",
            {"description": "Tea is ready. It took two minutes.", "duration_seconds": 2, "mode": "deterministic"},
        )
        assert composed["state"] == "SUCCEEDED", composed
        html = composed["output"]["json"]["composition_html"]
        linted = await finished(it, "video.lint", {"composition_html": html, "strict": True})
        assert linted["output"]["json"]["ok"], linted
        filmed = await finished(it, "video.render", {"composition_html": html})
        assert filmed["state"] == "SUCCEEDED", filmed
        assert {artifact["mediaType"] for artifact in filmed["artifacts"]["nodes"]} == {"video/mp4", "image/jpeg"}
        ref = filmed["output"]["json"]["artifact"]
        response = await it.admin.http.get(
            it.url(f"/artifacts/{ref['artifact_id']}"), headers={"authorization": f"Bearer {it.token}"}
        )
        film = tmp_path / "film.mp4"
        film.write_bytes(response.content)
        with av.open(str(film)) as opened:
            assert sum(1 for _ in opened.decode(video=0)) == 48
        endless = await finished(it, "video.render", {"composition_html": "<p>no length</p>"})
        assert endless["failure"]["code"] in ("INVALID_INPUT", "invalid_input")
        assert (await it.query("{ viewer { name } }"))["viewer"]
