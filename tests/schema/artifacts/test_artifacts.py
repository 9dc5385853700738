"""Artifacts through the front door: found, read, downloaded, pinned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from tests.support.front_door import command, ran, save, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product

TOKEN = "ghp_" + "a1B2" * 9
_TEXT = """
    query ($id: ID!, $offset: Long!, $limit: Int!) { artifactText(id: $id, offset: $offset, limitBytes: $limit) {
        text nextOffset artifact { name sizeBytes } } }
"""


@pytest.fixture
async def it(tmp_path: Path) -> AsyncIterator[Product]:
    async with product(tmp_path, Workbench().packs) as running:
        yield running


async def make(it: Product, content: str, name: str = "note.txt", media_type: str = "text/plain") -> str:
    """Makes an artifact; its id."""
    given = {"name": name, "content": content, "media_type": media_type}
    run = (await command(it, "runPack", pack="test.artifact", input=given, waitSeconds=20))["run"]
    return str(run["steps"][0]["artifacts"][0]["id"])


async def text_of(it: Product, artifact: str, offset: int = 0, limit: int = 20_000) -> Any:
    return (await it.query(_TEXT, {"id": artifact, "offset": offset, "limit": limit}))["artifactText"]


async def test_an_artifact_knows_where_it_came_from(it: Product) -> None:
    await save(it, "file", step("only", "test.artifact", name="tea.txt", content="Tea."))
    run = await ran(it, "file")
    data = await it.query(
        """query ($id: ID!) { run(id: $id) { artifacts { totalCount nodes {
            id name mediaType sizeBytes digest status createdAt expiresAt pinned downloadUrl
            run { id } producedBy { id runStep { key } artifacts { id } } } } } }""",
        {"id": run["id"]},
    )
    assert data["run"]["artifacts"]["totalCount"] == 1
    artifact = data["run"]["artifacts"]["nodes"][0]
    assert (artifact["name"], artifact["mediaType"], artifact["sizeBytes"]) == ("tea.txt", "text/plain", 4)
    assert len(artifact["digest"]) == 64
    assert (artifact["status"], artifact["pinned"]) == ("STORED", False)
    assert artifact["createdAt"] < artifact["expiresAt"]
    assert artifact["run"]["id"] == run["id"]
    assert artifact["producedBy"]["runStep"]["key"] == "only"
    assert artifact["producedBy"]["artifacts"] == [{"id": artifact["id"]}]
    node = await it.query("query ($id: ID!) { node(id: $id) { __typename id } }", {"id": artifact["id"]})
    assert node["node"] == {"__typename": "Artifact", "id": artifact["id"]}


async def test_its_address_serves_ranges_without_a_token(it: Product) -> None:
    artifact = await make(it, "0123456789")
    data = await it.query("query ($id: ID!) { node(id: $id) { ... on Artifact { downloadUrl } } }", {"id": artifact})
    address = it.url(data["node"]["downloadUrl"])
    async with httpx2.AsyncClient(trust_env=False, verify=False) as http:
        whole = await http.get(address)
        part = await http.get(address, headers={"range": "bytes=2-5"})
        forged = await http.get(address.replace("signature=", "signature=0"))
    assert (whole.status_code, whole.text) == (200, "0123456789")
    assert (part.status_code, part.text) == (206, "2345")
    assert part.headers["content-range"] == "bytes 2-5/10"
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in whole.headers["content-security-policy"]
    assert forged.status_code == 403


async def test_its_text_is_read_in_parts_of_whole_characters(it: Product) -> None:
    content = "Tee: süß, 茶, 🍵. " * 3
    artifact = await make(it, content)
    read, offset = "", 0
    while offset is not None:
        part = await text_of(it, artifact, offset, 7)
        assert 0 < len(part["text"].encode()) <= 7
        read += part["text"]
        offset = part["nextOffset"]
    assert read == content
    assert part["artifact"] == {"name": "note.txt", "sizeBytes": len(content.encode())}
    assert (await text_of(it, artifact, content.encode().index("🍵".encode()), 1))["text"] == "🍵"
    # Somebody else's offset may point into a character: its rest is left out.
    assert (await text_of(it, artifact, content.encode().index("ü".encode()) + 1, 4))["text"] == "ß,"
    assert await text_of(it, artifact, 10_000) == {
        "text": "",
        "nextOffset": None,
        "artifact": part["artifact"],
    }


async def test_a_secret_in_a_text_is_masked_wherever_it_is_cut(it: Product) -> None:
    content = f"before {TOKEN} and {TOKEN}, after"
    artifact = await make(it, content)
    assert (await text_of(it, artifact))["text"] == "before [redacted:github_token] and [redacted:github_token], after"
    for size in (4, 20, 45):
        offset: int | None = 0
        while offset is not None:
            part = await text_of(it, artifact, offset, size)
            shown = part["text"].replace("[redacted:github_token]", "")
            assert "a1B2" not in shown, (size, offset, shown)
            assert "1B2a" not in shown, (size, offset, shown)
            offset = part["nextOffset"]


async def test_what_is_no_text_is_told(it: Product) -> None:
    artifact = await make(it, "a\tb")
    assert (await text_of(it, artifact))["text"] == "a\tb"
    assert await it.query('{ artifactText(id: "art_01J00000000000000000000000") { text } }') == {"artifactText": None}
    for offset, limit in ((-1, 10), (0, 0), (0, 200_001)):
        answer = await it.answer(_TEXT, {"id": artifact, "offset": offset, "limit": limit})
        assert answer.codes == ["INVALID"]


async def test_artifacts_are_listed_and_filtered(it: Product) -> None:
    await save(it, "file", step("only", "test.artifact", name="Tea list.md", media_type="text/markdown"))
    await ran(it, "file")
    page = await make(it, "<p>", "page.html", "text/html")
    image = await make(it, "x", "tea.png", "image/png")
    await command(it, "pinArtifact", id=image)

    async def listed(**wanted: Any) -> list[str]:
        data = await it.query(
            "query ($filter: ArtifactFilter) { artifacts(filter: $filter) { totalCount nodes { name } } }",
            {"filter": wanted},
        )
        names = [node["name"] for node in data["artifacts"]["nodes"]]
        assert data["artifacts"]["totalCount"] == len(names)
        return names

    assert await listed() == ["tea.png", "page.html", "Tea list.md"]
    assert await listed(text="TEA") == ["tea.png", "Tea list.md"]
    assert await listed(mediaTypes=["text/*"]) == ["page.html", "Tea list.md"]
    assert await listed(mediaTypes=["text/html", "image/png"]) == ["tea.png", "page.html"]
    assert await listed(pipelines=["file"]) == ["Tea list.md"]
    assert await listed(pipelines=["nothing"]) == []
    assert await listed(pinned=True) == ["tea.png"]
    assert await listed(pinned=False) == ["page.html", "Tea list.md"]
    assert await listed(statuses=["QUARANTINED"]) == []
    created = (await it.query(f'{{ node(id: "{page}") {{ ... on Artifact {{ createdAt }} }} }}'))["node"]["createdAt"]
    assert await listed(createdFrom=created) == ["tea.png", "page.html"]
    assert await listed(createdBefore=created) == ["Tea list.md"]
    largest = "{ artifacts(orderBy: LARGEST, first: 1) { nodes { sizeBytes } pageInfo { endCursor } } }"
    by_size = (await it.query(largest))["artifacts"]
    rest = "query ($after: Cursor) { artifacts(orderBy: LARGEST, after: $after) { nodes { sizeBytes } } }"
    others = (await it.query(rest, {"after": by_size["pageInfo"]["endCursor"]}))["artifacts"]
    sizes = [node["sizeBytes"] for node in by_size["nodes"] + others["nodes"]]
    assert len(sizes) == 3
    assert sizes == sorted(sizes, reverse=True)
    assert (await it.answer(rest, {"after": "bm90IG9uZQ"})).codes == ["INVALID"]
    data = await it.query("{ artifacts(first: 1) { nodes { id } pageInfo { endCursor hasNextPage } } }")
    assert data["artifacts"]["nodes"] == [{"id": image}]
    cursor = data["artifacts"]["pageInfo"]["endCursor"]
    data = await it.query(f'{{ artifacts(first: 1, after: "{cursor}") {{ nodes {{ id }} }} }}')
    assert data["artifacts"]["nodes"] == [{"id": page}]


async def test_an_artifact_is_pinned_and_let_go_again(it: Product) -> None:
    artifact = await make(it, "x")
    pinned = (await command(it, "pinArtifact", id=artifact))["artifact"]
    assert (pinned["pinned"], pinned["expiresAt"]) == (True, None)
    assert (await command(it, "pinArtifact", id=artifact))["artifact"]["pinned"] is True
    freed = (await command(it, "pinArtifact", id=artifact, pinned=False))["artifact"]
    assert freed["pinned"] is False
    assert freed["expiresAt"] is not None
    missing = await command(it, "pinArtifact", id="art_01J00000000000000000000000")
    assert missing["__typename"] == "NotFoundProblem"


async def test_what_is_erased_is_neither_handed_out_nor_pinned(it: Product) -> None:
    from store.files.artifacts import erase_artifacts

    artifact = await make(it, "x")
    await it.services.store.write(erase_artifacts, [artifact])
    data = await it.query("query ($id: ID!) { node(id: $id) { ... on Artifact { downloadUrl } } }", {"id": artifact})
    assert data["node"]["downloadUrl"] is None
    assert (await text_of(it, artifact))["text"] is None
    refused = await command(it, "pinArtifact", id=artifact)
    assert (refused["__typename"], refused["ref"]) == ("NotFoundProblem", artifact)
    assert (await it.query("{ artifacts { nodes { id } } }"))["artifacts"]["nodes"] == []


async def test_the_loss_of_an_artifact_shows_in_the_preview_of_a_resume(it: Product) -> None:
    from store.files.artifacts import erase_artifacts

    await save(
        it,
        "file",
        step("make", "test.artifact", name="tea.txt"),
        step("use", "test.switch", text="${{ steps.make.output.artifact_id }}"),
    )
    run = await ran(it, "file")
    select = "{ run(id: $id) { resumePreview { allowed steps { action reason } } } }"
    plan = (await it.query(f"query ($id: ID!) {select}", run))["run"]["resumePreview"]
    assert [part["action"] for part in plan["steps"]] == ["REUSE", "RUN"]
    await it.services.store.write(erase_artifacts, [run["steps"][0]["artifacts"][0]["id"]])
    plan = (await it.query(f"query ($id: ID!) {select}", run))["run"]["resumePreview"]
    assert [part["action"] for part in plan["steps"]] == ["RUN_AGAIN", "RUN"]
    assert run["steps"][0]["artifacts"][0]["id"] in plan["steps"][0]["reason"]


async def test_packs_name_files_as_people_may(it: Product) -> None:
    for name, kept in (
        ("ok\u202egpj.exe", "okgpj.exe"),
        (" e\u0301tude.pdf ", "étude.pdf"),
        (" ", None),
        ("\u200f", None),
        ("a/b", None),
    ):
        answer = await command(it, "runPack", pack="test.artifact", input={"name": name}, waitSeconds=20)
        run = answer["run"]
        if kept is None:
            assert (run["failure"]["code"], run["failure"]["hint"][:10]) == ("INVALID_OUTPUT", "Use a name")
        else:
            assert run["output"]["json"]["name"] == kept
