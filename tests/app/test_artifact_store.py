"""A server that keeps artifacts in a bucket, through the front door."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx2
import pytest
from pydantic import BaseModel

from app.cli.server.doctor import examine
from app.settings.server import Settings, SettingsError
from packline import PackContext, pack
from store.files.blobs import BlobStore
from tests.support import media_files
from tests.support.front_door import command, save, start, step
from tests.support.product import ADMIN_TOKEN, product
from tests.support.s3_server import BUCKET, SECRET, Fault, S3Server, s3_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class ToCopy(BaseModel):
    artifact: str


class Copied(BaseModel):
    artifact_id: str
    size: int


@pack("test.copy", version="1.0.0", effects="none", repeatable=True)
async def copy(ctx: PackContext, given: ToCopy) -> Copied:
    """Makes an artifact of another's content."""
    found = await ctx.open_artifact(given.artifact)
    content = found.path.read_bytes()
    made = await ctx.save_artifact("copy.png", content, "image/png")
    return Copied(artifact_id=made.artifact_id, size=len(content))


@pytest.fixture
async def server() -> AsyncIterator[S3Server]:
    async with s3_server() as running:
        yield running


async def test_uploads_runs_previews_and_downloads_by_way_of_a_bucket(server: S3Server, tmp_path: Path) -> None:
    content = media_files.png(300, 200)
    headers = {"authorization": f"Bearer {ADMIN_TOKEN}"}
    async with product(tmp_path, [copy], **server.settings()) as it:
        async with httpx2.AsyncClient(base_url=it.url(""), headers=headers, timeout=60, verify=False) as http:
            made = (await http.post("/artifacts?name=a.png", content=content)).json()["artifact"]
            # As if another server had taken it.
            cache = BlobStore(it.folder / "artifact-cache")
            cache.path(made["digest"]).unlink()
            run = (await command(it, "runPack", pack="test.copy", input={"artifact": made["id"]}, waitSeconds=20))[
                "run"
            ]
            assert run["output"]["json"]["size"] == len(content)
            copied = run["output"]["json"]["artifact_id"]
            whole = await http.get(f"/artifacts/{copied}")
            assert whole.content == content
            part = await http.get(f"/artifacts/{copied}", headers={"range": "bytes=5-9"})
            assert (part.status_code, part.content) == (206, content[5:10])
            picture = await http.get(f"/artifacts/{copied}/preview")
            assert (picture.status_code, picture.headers["content-type"]) == (200, "image/webp")
            server.faults = [Fault("HEAD", times=99)]
            away = await http.get(f"/artifacts/{copied}")
            assert (away.status_code, away.headers["retry-after"]) == (503, "5")
            assert "could not look for" in away.text
            server.faults = []
        health = (await it.query("{ server { health { name ok message } } }"))["server"]["health"]
        told = next(check for check in health if check["name"] == "artifacts")
        assert told["ok"]
        assert f"s3://{BUCKET}/art" in told["message"]
        settings = (await it.query("{ settings { name value } }"))["settings"]
        assert {"name": "PACKLINE_ARTIFACT_STORE_SECRET", "value": None} in settings
    assert not (tmp_path / "data" / "blobs").exists()
    assert len(server.objects) == 2, "the content and its picture"


async def test_a_content_the_bucket_has_lost_is_told_by_the_step(server: S3Server, tmp_path: Path) -> None:
    headers = {"authorization": f"Bearer {ADMIN_TOKEN}"}
    async with (
        product(tmp_path, [copy], **server.settings()) as it,
        httpx2.AsyncClient(base_url=it.url(""), headers=headers, timeout=60, verify=False) as http,
    ):
        made = (await http.post("/artifacts?name=a.png", content=b"\x89PNG\r\n\x1a\n")).json()["artifact"]
        BlobStore(it.folder / "artifact-cache").path(made["digest"]).unlink()
        server.objects.clear()
        refused = await command(it, "runPack", pack="test.copy", input={"artifact": made["id"]}, waitSeconds=20)
        assert [issue["rule"] for issue in refused["issues"]] == ["artifact_gone"]
        await save(it, "copies", step("c", "test.copy", artifact=made["id"]))  # what is no input is not looked for
        failure = (await start(it, "copies", wait=20))["run"]["failure"]
        assert failure["code"] == "ARTIFACT_FAILED"
        assert "PACKLINE_ARTIFACT_STORE" in failure["message"]


@pytest.mark.parametrize(
    ("changed", "state", "says"),
    [
        ({}, "works", f"s3://{BUCKET}/art"),
        ({"artifact_store_secret": "guessed"}, "missing", "PACKLINE_ARTIFACT_STORE_SECRET"),
        ({"artifact_store": "s3://nowhere"}, "missing", "no bucket nowhere"),
    ],
)
async def test_the_doctor_tells_what_is_wrong_with_a_bucket(
    server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], state: str, says: str
) -> None:
    for name, value in (server.settings() | changed).items():
        monkeypatch.setenv(f"PACKLINE_{name.upper()}", value)
    found = await asyncio.to_thread(lambda: list(examine(tmp_path, "http://127.0.0.1:1")))
    (finding,) = [finding for finding in found if finding.what == "artifacts"]
    assert finding.state == state
    assert says in finding.message
    assert SECRET not in finding.message


@pytest.mark.parametrize("value", ["s3://", "disc", "https://bucket"])
def test_a_place_that_is_none_is_refused_at_start(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingsError, match="is not a bucket"):
        Settings.load({"data_dir": tmp_path, "artifact_store": value})
