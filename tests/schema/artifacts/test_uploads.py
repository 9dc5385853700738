"""Uploads through the front door: sent, checked, used as an input, seen by nobody else."""

from __future__ import annotations

import asyncio
import errno
import hashlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import httpx2
import pytest
import pytest_asyncio
from pydantic import BaseModel

from packline import PackContext, pack
from store.database.dialects import Sql
from store.files.blobs import BlobStore
from tests.support.front_door import audit_rows, command, save, step
from tests.support.product import ADMIN_TOKEN, product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product


class ToRead(BaseModel):
    artifact: str


class Text(BaseModel):
    text: str


@pack("test.read", version="1.0.0", effects="none", repeatable=True)
async def read(ctx: PackContext, given: ToRead) -> Text:
    """Reads an artifact."""
    return Text(text=(await ctx.open_artifact(given.artifact)).path.read_text())


PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj <<>> endobj\n"


@pytest.fixture
async def it(tmp_path: Path) -> AsyncIterator[Product]:
    async with product(tmp_path, [read], upload_bytes=200_000) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def refusing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    """For what changes nothing."""
    async with product(tmp_path_factory.mktemp("refusing"), [read], upload_bytes=200_000) as running:
        yield running


def client_of(it: Product) -> httpx2.AsyncClient:
    headers = {"authorization": f"Bearer {ADMIN_TOKEN}"}
    return httpx2.AsyncClient(base_url=it.url(""), headers=headers, verify=False)


@pytest.fixture
async def http(it: Product) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(it) as client:
        yield client


def parts(it: Product) -> list[Path]:
    """What is kept or half written."""
    return [path for path in (it.folder / "blobs").rglob("*") if path.is_file() and path.name != ".lock"]


async def test_the_server_says_where_and_how_much(it: Product) -> None:
    data = await it.query("{ server { uploadUrl runLimits { uploadBytes } } }")
    assert data == {"server": {"uploadUrl": "/artifacts", "runLimits": {"uploadBytes": 200_000}}}


async def test_a_form_with_a_file_becomes_an_artifact(it: Product, http: httpx2.AsyncClient) -> None:
    answer = await http.post("/artifacts", data={"note": "mine"}, files={"file": ("Größe.pdf", PDF, "text/html")})

    assert answer.status_code == 201
    made = answer.json()["artifact"]
    assert answer.headers["location"] == f"/artifacts/{made['id']}"
    assert (made["name"], made["mediaType"], made["sizeBytes"]) == ("Größe.pdf", "application/pdf", len(PDF))
    assert made["digest"] == hashlib.sha256(PDF).hexdigest()
    assert made["expiresAt"] > made["createdAt"]
    listed = await it.query(
        "{ artifacts { nodes { name createdAt expiresAt status pinned run { id } producedBy { id } } } }"
    )
    times = {name: made[name] for name in ("createdAt", "expiresAt")}
    assert listed["artifacts"]["nodes"] == [
        {"name": "Größe.pdf", **times, "status": "STORED", "pinned": False, "run": None, "producedBy": None}
    ]
    assert (await http.get(made["downloadUrl"])).content == PDF
    (row,) = await audit_rows(it, "upload_artifact")
    assert (row["accepted"], row["target"]["id"]) == (True, made["id"])
    assert row["detail"]["name"] == "Größe.pdf"


async def test_the_file_itself_with_its_name_will_do(http: httpx2.AsyncClient) -> None:
    answer = await http.post("/artifacts", params={"name": "notes.md"}, content=b"# Tea\n")
    assert answer.json()["artifact"]["mediaType"] == "text/markdown"
    again = await http.post("/artifacts", params={"name": "copy.txt"}, content=b"# Tea\n")
    assert again.json()["artifact"]["digest"] == answer.json()["artifact"]["digest"]
    assert again.json()["artifact"]["id"] != answer.json()["artifact"]["id"]


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a/b", "a\\b", "..", ".", "", " ", "a\nb", "a\x00b", "x" * 201, "evil\u202efdp.exe"]
)
@pytest.mark.asyncio(loop_scope="module")
async def test_names_that_are_no_plain_file_names_are_refused(refusing: Product, name: str) -> None:
    before = parts(refusing)
    async with client_of(refusing) as http:
        answer = await http.post("/artifacts", params={"name": name}, content=b"x")
    assert answer.status_code == 400
    assert answer.json()["problem"]["code"] == "INVALID"
    assert parts(refusing) == before


async def test_the_limit_holds_whether_told_or_not(it: Product, http: httpx2.AsyncClient) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(10):
            yield b"x" * 50_000

    for content in (b"x" * 300_000, endless()):
        answer = await http.post("/artifacts?name=big.bin", content=content)
        assert answer.status_code == 413
        assert answer.json()["problem"] == {
            "code": "LIMITED",
            "message": answer.json()["problem"]["message"],
            "hint": "Send a smaller file, or have the server's PACKLINE_UPLOAD_BYTES raised.",
            "retryable": False,
        }
    assert parts(it) == []
    fits = await http.post("/artifacts?name=fits.bin", content=b"x" * 200_000)
    assert fits.status_code == 201
    assert not (await audit_rows(it, "upload_artifact"))[1]["accepted"]


async def test_a_body_that_is_cut_off_leaves_nothing(
    it: Product, http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, arrived, told = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    take = BlobStore._take

    def taking(*given: Any) -> None:
        take(*given)
        loop.call_soon_threadsafe(arrived.set)

    monkeypatch.setattr(BlobStore, "_take", taking)
    monkeypatch.setattr("app.http.uploads.log.info", lambda *_, **__: told.set())
    port = httpx2.URL(it.url()).port
    for head in (
        "POST /artifacts?name=a.bin HTTP/1.1\r\nContent-Length: 100000\r\n",
        "POST /artifacts?name=a.bin HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
    ):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{head}Host: 127.0.0.1\r\nAuthorization: Bearer {ADMIN_TOKEN}\r\n\r\n".encode())
        writer.write(b"x" * 20 if "Length" in head else b"14\r\n" + b"x" * 20 + b"\r\n")
        await writer.drain()
        await asyncio.wait_for(arrived.wait(), 20)
        assert parts(it) != []
        writer.close()
        await writer.wait_closed()
        await asyncio.wait_for(told.wait(), 20)
        assert parts(it) == []
        arrived.clear()
        told.clear()
    assert (await it.query("{ artifacts { totalCount } }"))["artifacts"]["totalCount"] == 0
    # The room of those is free again.
    assert (await http.post("/artifacts?name=b.bin", content=b"x")).status_code == 201


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b--\r\n", "has no file"),
        (b'--b\r\nContent-Disposition: form-data; name=a; filename="a.txt"\r\n\r\nx', "ends before"),
        (b"nothing of the kind", "cannot be read"),
        (b"", "has no file"),
        (b'--b\r\nContent-Disposition: form-data; name=a; filename="a"\r\n\r\n\r\n--b--\r\n', "is empty"),
        (
            b'--b\r\nContent-Disposition: form-data; name=a; filename="a"\r\n\r\nx\r\n'
            b'--b\r\nContent-Disposition: form-data; name=a; filename="b"\r\n\r\nx\r\n--b--\r\n',
            "more than one",
        ),
        (
            b"--b\r\nContent-Disposition: form-data; name=a\r\n\r\n" + b"x" * 70_000,
            "other fields of the form are longer than",
        ),
        (b"--b\r\nX-Long: " + b"y" * 70_000 + b"\r\n\r\n", "cannot be read"),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_forms_that_are_none_are_refused(refusing: Product, content: bytes, message: str) -> None:
    before, headers = parts(refusing), {"content-type": "multipart/form-data; boundary=b"}
    async with client_of(refusing) as http:
        answer = await http.post("/artifacts", content=content, headers=headers)
    assert answer.status_code == 400, answer.text
    assert message in answer.json()["problem"]["message"]
    if "is empty" not in message:  # the empty content is one like any other
        assert parts(refusing) == before


async def test_only_callers_with_the_scope_may(it: Product, http: httpx2.AsyncClient) -> None:
    url = it.url("/artifacts?name=a.txt")
    async with httpx2.AsyncClient(verify=False) as client:
        nobody = await client.post(url, content=b"x")
        assert (nobody.status_code, nobody.json()["problem"]["code"]) == (401, "FORBIDDEN")
        reader = await it.token_for("reader", "READ")
        refused = await client.post(url, content=b"x", headers={"authorization": f"Bearer {reader}"})
        assert refused.status_code == 403
        assert "`run`" in refused.json()["problem"]["message"]
    assert parts(it) == []
    assert not (await audit_rows(it, "upload_artifact"))[0]["accepted"]


async def test_a_browser_may_from_our_own_pages_only(it: Product) -> None:
    authenticator = it.application.authenticator
    assert authenticator is not None
    link = await authenticator.first_link()
    assert link is not None
    login = await authenticator.sign_in(link.plaintext, "127.0.0.1")
    assert login is not None
    cookie = {"cookie": f"{authenticator.cookie_name}={login.plaintext}"}
    url = it.url("/artifacts?name=a.txt")
    async with httpx2.AsyncClient(verify=False) as client:
        ours = await client.post(url, content=b"x", headers={**cookie, "origin": it.url("").rstrip("/")})
        assert ours.status_code == 201
        foreign = await client.post(url, content=b"x", headers={**cookie, "origin": "https://evil.example"})
        assert foreign.status_code == 403
        silent = await client.post(url, content=b"x", headers={**cookie, "sec-fetch-site": "cross-site"})
        assert silent.status_code == 401


async def test_a_full_disk_and_a_full_quota_are_told(it: Product, http: httpx2.AsyncClient, tmp_path: Path) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with patch("store.files.blobs.sync_file", full):
        answer = await http.post("/artifacts?name=a.txt", content=b"x")
    assert answer.status_code == 507
    assert "disk is full" in answer.json()["problem"]["message"]
    assert parts(it) == []
    async with product(tmp_path / "small", artifact_quota_bytes=10) as small:
        headers = {"authorization": f"Bearer {ADMIN_TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, verify=False) as client:
            refused = await client.post(small.url("/artifacts?name=a.txt"), content=b"x" * 11)
        assert refused.status_code == 507
        assert "PACKLINE_ARTIFACT_QUOTA_BYTES" in refused.json()["problem"]["message"]


async def test_a_flood_is_slowed_down(tmp_path: Path) -> None:
    async with product(tmp_path, uploads_per_minute=2) as it:
        headers = {"authorization": f"Bearer {ADMIN_TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, verify=False) as client:
            answers = [await client.post(it.url(f"/artifacts?name={n}.txt"), content=b"x") for n in range(4)]
    assert [answer.status_code for answer in answers] == [201, 201, 429, 429]
    assert int(answers[3].headers["retry-after"]) >= 1
    assert answers[3].json()["problem"]["retryable"] is True


async def test_an_upload_is_an_input_for_its_caller_alone(it: Product, http: httpx2.AsyncClient) -> None:
    made = (await http.post("/artifacts?name=tea.txt", content=b"Tea.")).json()["artifact"]
    mine = (await command(it, "runPack", pack="test.read", input={"artifact": made["id"]}, waitSeconds=20))["run"]
    assert mine["output"]["json"] == {"text": "Tea."}
    other = await it.token_for("eve", "READ", "RUN", "WRITE")
    unseen = await it.query(
        "query ($id: ID!) { artifactText(id: $id) { text } artifacts { totalCount } }", {"id": made["id"]}, token=other
    )
    assert unseen == {"artifactText": None, "artifacts": {"totalCount": 0}}
    refused = await command(it, "runPack", other, pack="test.read", input={"artifact": made["id"]}, waitSeconds=20)
    assert [(issue["rule"], issue["path"]) for issue in refused["issues"]] == [("artifact_gone", ["input", "artifact"])]
    # A definition may name a file that its runs cannot read: it is the step that is refused then.
    await save(it, "theirs", step("r", "test.read", artifact=made["id"]), token=other)
    failed = (await command(it, "runPipeline", other, pipeline="theirs", inputs={}, waitSeconds=20))["run"]
    assert failed["failure"]["code"] == "ARTIFACT_FAILED"
    assert "There is no artifact" in failed["failure"]["message"]


async def test_a_file_that_holds_a_secret_is_put_in_quarantine(it: Product, http: httpx2.AsyncClient) -> None:
    it.services.redactor.learn({"github.token": "a-secret-nobody-may-see"})
    answer = await http.post("/artifacts?name=notes.txt", content=b"The token is a-secret-nobody-may-see.")
    assert answer.status_code == 201
    made = answer.json()["artifact"]
    assert (made["status"], made["downloadUrl"]) == ("QUARANTINED", None)
    assert (await http.get(f"/artifacts/{made['id']}")).status_code == 403
    assert (await http.get(f"/artifacts/{made['id']}/preview")).status_code == 403
    listed = (await it.query("{ artifacts { nodes { preview previewUrl previewKind previewProblem } } }"))["artifacts"]
    assert listed["nodes"] == [
        {
            "preview": None,
            "previewUrl": None,
            "previewKind": "NONE",
            "previewProblem": "The content may not be shown.",
        }
    ]
    refused = await command(it, "runPack", pack="test.read", input={"artifact": made["id"]})
    assert [(issue["rule"], issue["path"]) for issue in refused["issues"]] == [
        ("artifact_quarantined", ["input", "artifact"])
    ]
    assert "is quarantined, because it seems to contain a secret." in refused["message"]
    # A definition may name it: it is the step that is refused then, and goes on once it is released.
    await save(it, "named", step("r", "test.read", artifact=made["id"]))
    failed = (await command(it, "runPipeline", pipeline="named", inputs={}, waitSeconds=20))["run"]
    assert "quarantine" in failed["failure"]["message"]
    await it.mutate("mutation ($id: ID!) { releaseArtifact(id: $id) { __typename } }", {"id": made["id"]})
    used = await command(it, "runPack", pack="test.read", input={"artifact": made["id"]}, waitSeconds=20)
    assert used["run"]["state"] == "SUCCEEDED"


async def test_a_dry_run_tells_of_files_that_cannot_be_read_as_a_start_does(
    it: Product, http: httpx2.AsyncClient
) -> None:
    it.services.redactor.learn({"github.token": "a-secret-nobody-may-see"})
    held = (await http.post("/artifacts?name=notes.txt", content=b"It is a-secret-nobody-may-see.")).json()["artifact"]
    mine = (await http.post("/artifacts?name=tea.txt", content=b"Tea.")).json()["artifact"]
    other = await it.token_for("eve", "READ", "RUN", "WRITE")
    document = {"key": "reads", "name": "Reads", "steps": [step("r", "test.read", artifact="${{ inputs.file }}")]}
    await it.mutate(
        "mutation ($d: JSON!) { createPipeline(definition: {document: $d}) { __typename } }", {"d": document}
    )
    asked = """query ($d: JSON!, $inputs: JSON) {
        checkPipeline(definition: {document: $d}, inputs: $inputs) { issues { path rule message hint } } }"""
    theirs = {**document, "key": "other"}

    async def told(artifact_id: str, token: str | None = None) -> Any:
        checked = await it.query(asked, {"d": theirs, "inputs": {"file": artifact_id}}, token=token)
        return checked["checkPipeline"]["issues"]

    for artifact_id, token, rule in (
        ("art_01J00000000000000000000000", None, "artifact_gone"),
        (mine["id"], other, "artifact_gone"),
        (held["id"], None, "artifact_quarantined"),
    ):
        issues = await told(artifact_id, token)
        assert [(issue["rule"], issue["path"]) for issue in issues] == [(rule, ["inputs", "file"])]
        for dry in (True, False):
            refused = await command(
                it, "runPipeline", token, pipeline="reads", inputs={"file": artifact_id}, dryRun=dry
            )
            assert [{key: issue[key] for key in issues[0]} for issue in refused["issues"]] == issues
    assert await told(mine["id"]) == []
    assert [issue["rule"] for issue in (await it.query(asked, {"d": theirs, "inputs": [1]}))["checkPipeline"]["issues"]]


async def test_an_upload_that_a_run_uses_lives_longer(it: Product, http: httpx2.AsyncClient) -> None:
    made = (await http.post("/artifacts?name=tea.txt", content=b"Tea.")).json()["artifact"]
    soon = datetime.now(UTC) + timedelta(hours=2)
    await it.services.store.write(
        lambda conn: conn.run(
            Sql("UPDATE artifact SET expires_at = :soon WHERE id = :id"), {"soon": soon, "id": made["id"]}
        )
    )
    await command(it, "runPack", pack="test.read", input={"artifact": made["id"]}, waitSeconds=20)
    nodes = (await it.query("{ artifacts { nodes { expiresAt } } }"))["artifacts"]["nodes"]
    assert datetime.fromisoformat(nodes[0]["expiresAt"]) > soon + timedelta(days=6)
