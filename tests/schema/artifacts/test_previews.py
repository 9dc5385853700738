"""Previews through the front door: uploaded, asked for, looked at; and files that do not want to be looked at."""

from __future__ import annotations

import asyncio
import hashlib
import io
import random
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio
from PIL import Image

from runner.failures import PackError
from runner.files.previews import Previews
from runner.processes.processes import run_in_process
from store.files.previews import PreviewKind, find_previews
from tests.support import media_files, office_files, worker_functions
from tests.support.product import ADMIN_TOKEN, product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product

LOOK = """{ artifacts(first: 1) { nodes {
    previewUrl previewKind previewProblem pageCount width height durationSeconds waveform
    preview(limitBytes: 300) } } }"""


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def it(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    async with product(tmp_path_factory.mktemp("product"), uploads_per_minute=1000) as running:
        yield running


@asynccontextmanager
async def as_caller(it: Product, token: str = ADMIN_TOKEN) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=it.url(""), headers=headers, timeout=60, verify=False) as client:
        yield client


async def upload(it: Product, name: str, content: bytes, token: str = ADMIN_TOKEN) -> str:
    async with as_caller(it, token) as http:
        answer = await http.post("/artifacts", params={"name": name}, content=content)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["artifact"]["id"])


async def fetch(it: Product, artifact: str, token: str = ADMIN_TOKEN) -> httpx2.Response:
    async with as_caller(it, token) as http:
        return await http.get(f"/artifacts/{artifact}/preview")


async def looked(it: Product, name: str, content: bytes) -> dict[str, Any]:
    """What the API tells of an upload once it has been looked at."""
    await fetch(it, await upload(it, name, content))
    node: dict[str, Any] = (await it.query(LOOK))["artifacts"]["nodes"][0]
    return node


async def shown(it: Product, node: dict[str, Any]) -> Image.Image:
    """The picture behind a signed address, fetched by somebody without a token."""
    async with httpx2.AsyncClient(base_url=it.url(""), verify=False) as nobody:
        answer = await nobody.get(node["previewUrl"])
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "image/webp"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("sandbox;")
        part = await nobody.get(node["previewUrl"], headers={"range": "bytes=0-3"})
        assert (part.status_code, part.content) == (206, b"RIFF")
    return Image.open(io.BytesIO(answer.content)).convert("RGB")


def near(pixel: Any, colour: tuple[int, int, int]) -> bool:
    return all(abs(one - other) < 25 for one, other in zip(pixel, colour, strict=True))


async def test_the_first_page_of_a_pdf(it: Product) -> None:
    node = await looked(it, "deck.pdf", media_files.pdf(pages=3))
    assert (node["previewKind"], node["pageCount"], node["width"]) == ("PAGE", 3, None)
    picture = await shown(it, node)
    assert picture.size == (960, 480)
    assert near(picture.getpixel((480, 240)), (255, 0, 0))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "AVIF", "BMP", "TIFF"])
async def test_pictures_are_made_smaller(it: Product, kind: str) -> None:
    node = await looked(it, "a.bin", media_files.picture(2000, 1000, kind))
    assert (node["previewKind"], node["width"], node["height"]) == ("PICTURE", 2000, 1000)
    picture = await shown(it, node)
    assert picture.size == (960, 480)
    assert near(picture.getpixel((3, 3)), (200, 30, 60))


async def test_a_photograph_stands_upright(it: Product) -> None:
    node = await looked(it, "photo.jpg", media_files.picture(400, 200, "JPEG", orientation=6))
    assert (node["width"], node["height"]) == (200, 400)
    assert (await shown(it, node)).size == (200, 400)


async def test_a_frame_of_a_video(it: Product, tmp_path: Path) -> None:
    node = await looked(it, "film.mp4", media_files.video(tmp_path / "film.mp4"))
    assert (node["previewKind"], node["width"], node["height"]) == ("FRAME", 320, 180)
    assert node["durationSeconds"] == pytest.approx(2.0, abs=0.15)
    assert near((await shown(it, node)).getpixel((160, 90)), (240, 120, 20)), "not the black it begins with"


async def test_the_waveform_of_a_sound(it: Product) -> None:
    node = await looked(it, "tone.wav", media_files.wav(3.0))
    assert (node["previewKind"], node["previewUrl"]) == ("WAVEFORM", None)
    assert node["durationSeconds"] == pytest.approx(3.0, abs=0.01)
    waveform = node["waveform"]
    assert 200 <= len(waveform) <= 240
    assert waveform[0] < 0.05
    assert waveform[-1] == pytest.approx(0.5, abs=0.05)
    assert waveform[len(waveform) // 2] == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.md", b"# Tea\n\nGreen.", "# Tea\n\nGreen."),
        ("a.html", "<h1>Tée</h1>".encode(), "<h1>Tée</h1>"),
        ("a.csv", b"a,b\n" * 200, ("a,b\n" * 200)[:300]),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "<svg xmlns='http://www.w3.org/2000/svg'/>"),
    ],
)
async def test_text_is_shown_as_text(it: Product, name: str, content: bytes, text: str) -> None:
    node = await looked(it, name, content)
    assert (node["previewKind"], node["preview"], node["previewUrl"]) == ("TEXT", text, None)


async def test_office_documents_are_shown_as_text(it: Product) -> None:
    slides = office_files.pptx([("First", ["one", "two"], ""), ("Second", ["x < y & z"], "")])
    node = await looked(it, "deck.pptx", slides)
    assert (node["previewKind"], node["pageCount"]) == ("TEXT", 2)
    assert node["preview"].startswith("First\none\ntwo")
    assert "x < y & z" in node["preview"]


async def test_a_preview_is_made_once_for_all_copies_and_counted(it: Product) -> None:
    content = media_files.png(1500, 1500)
    first = await upload(it, "a.png", content)
    second = await upload(it, "b.png", content)
    one, other = await fetch(it, first), await fetch(it, second)
    assert one.headers["etag"] == other.headers["etag"]
    again = await fetch_with(it, first, {"if-none-match": one.headers["etag"]})
    assert again.status_code == 304
    digest = hashlib.sha256(content).hexdigest()
    known = await find_previews(it.services.store, [digest])
    assert known[digest].kind is PreviewKind.PICTURE
    kept = {path.parent.name + path.name for path in (it.folder / "blobs").glob("??/*")}
    assert {digest, known[digest].image_digest} <= kept


async def fetch_with(it: Product, artifact: str, headers: dict[str, str]) -> httpx2.Response:
    async with as_caller(it) as http:
        return await http.get(f"/artifacts/{artifact}/preview", headers=headers)


async def test_only_those_who_see_the_artifact_see_its_preview(it: Product) -> None:
    artifact = await upload(it, "a.png", media_files.png(10, 10))
    eve = await it.token_for("eve", "READ")
    async with httpx2.AsyncClient(base_url=it.url(""), verify=False) as http:
        path = f"/artifacts/{artifact}/preview"
        assert (await http.get(path)).status_code == 401
        assert (await http.get(path, headers={"authorization": f"Bearer {eve}"})).status_code == 404
        # The signature of the file is not that of its preview, nor the other way round.
        nodes = (await it.query("{ artifacts(first: 1) { nodes { previewUrl downloadUrl } } }"))["artifacts"]["nodes"]
        query = httpx2.URL(nodes[0]["downloadUrl"]).query.decode()
        assert (await http.get(f"{path}?{query}")).status_code == 403


HOSTILE = {
    "a PNG of 50,000 x 50,000 pixels": ("bomb.png", lambda: media_files.png_bomb(50_000, 50_000), "pixels"),
    "a PNG that is cut off": ("cut.png", lambda: media_files.png(500, 500)[:60], "could not be read"),
    "a PDF of nothing but its name": ("empty.pdf", lambda: b"%PDF-1.7\n", "could not be read|no pages"),
    "a PDF that refers to itself": (
        "loop.pdf",
        lambda: media_files.pdf().replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]"),
        "",
    ),
    "a WAV of nothing": ("a.wav", lambda: media_files.wav(0), ""),
    "an MP4 of noise": ("a.mp4", lambda: b"\0\0\0\x18ftypmp42" + random.Random(7).randbytes(5000), "could not be read"),
    "a program": ("run.exe", lambda: b"MZ" + bytes(1000), "no type of file"),
    "a ZIP": ("a.zip", lambda: b"PK\x03\x04" + bytes(100), "`application/zip` have no preview"),
    "noise that is named like a document": ("a.docx", lambda: random.Random(7).randbytes(500), "no type of file"),
    "a Word document that is no archive": ("a.docx", lambda: b"PK\x03\x04word/" + bytes(100), "could not be read"),
}


@pytest.mark.parametrize("what", HOSTILE)
async def test_files_that_cannot_be_shown_are_told(it: Product, what: str) -> None:
    name, make, reason = HOSTILE[what]
    node = await looked(it, name, make())
    assert node["previewKind"] == "NONE"
    assert node["previewUrl"] is None
    assert re.fullmatch(r"[A-Z][^\n]+\.", node["previewProblem"]), node
    if reason:
        assert any(word in node["previewProblem"] for word in reason.split("|")), node


async def test_a_document_bomb_costs_its_beginning_only(it: Product) -> None:
    node = await looked(it, "bomb.docx", media_files.zip_bomb())
    assert node["previewKind"] == "TEXT"
    assert node["preview"] == "a" * 300


async def test_a_truncated_video_shows_what_there_is_or_says_why(it: Product, tmp_path: Path) -> None:
    whole = media_files.video(tmp_path / "film.mp4", seconds=4)
    node = await looked(it, "film.mp4", whole[: len(whole) // 2])
    assert node["previewKind"] == "NONE"
    assert "could not be read" in node["previewProblem"]


async def test_fuzzed_pdfs_never_cost_more_than_their_worker(it: Product) -> None:
    chance = random.Random(11)
    whole = media_files.pdf(pages=2)
    for number in range(15):
        broken = bytearray(whole)
        for _ in range(chance.randint(1, 40)):
            broken[chance.randrange(8, len(broken))] = chance.randrange(256)
        answer = await fetch(it, await upload(it, f"{number}.pdf", bytes(broken)))
        assert answer.status_code in (200, 404), answer.text
    assert (await it.query("{ server { accepting } }"))["server"]["accepting"]


async def test_what_kills_or_holds_its_worker_is_remembered(it: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    async def killed(_function: Any, *given: Any, **options: Any) -> Any:
        calls.append(given)
        return await run_in_process(worker_functions.fail, "segfault", **options)

    monkeypatch.setattr("runner.files.previews.run_in_process", killed)
    artifact = await upload(it, "a.png", media_files.png(10, 11))
    first = await fetch(it, artifact)
    assert first.status_code == 404
    assert "crashed the process" in first.text
    assert (await fetch(it, artifact)).text == first.text
    assert len(calls) == 1


async def test_a_preview_that_is_not_ready_says_so_and_goes_on(it: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    go = asyncio.Event()
    run = Previews._draw

    async def held(self: Previews, artifact: Any) -> Any:
        await go.wait()
        return await run(self, artifact)

    monkeypatch.setattr(Previews, "_draw", held)
    monkeypatch.setattr("app.http.downloads.PREVIEW_SECONDS", 0.01)
    monkeypatch.setattr("resolvers.artifacts.artifacts.PREVIEW_SECONDS", 0.01)
    artifact = await upload(it, "a.png", media_files.png(10, 12))
    answer = await fetch(it, artifact)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    node = (await it.query(LOOK))["artifacts"]["nodes"][0]
    assert (node["previewKind"], node["width"]) == (None, None)
    assert node["previewUrl"] is not None
    go.set()
    monkeypatch.setattr("app.http.downloads.PREVIEW_SECONDS", 20)
    assert (await fetch(it, artifact)).status_code == 200


async def test_one_callers_many_files_do_not_keep_anothers_waiting(
    it: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, go = asyncio.Event(), asyncio.Event()
    drawn: list[str] = []
    run = Previews._draw

    async def held(self: Previews, artifact: Any) -> Any:
        drawn.append(artifact.name)
        first.set()
        await go.wait()
        return await run(self, artifact)

    monkeypatch.setattr(Previews, "_draw", held)
    monkeypatch.setattr("runner.files.previews.WAITING", 4)
    monkeypatch.setattr("app.http.downloads.PREVIEW_SECONDS", 60)
    token = await it.token_for("somebody else", "READ", "RUN", "WRITE")
    mine = [await upload(it, f"{number}.png", media_files.png(20, 20 + number)) for number in range(6)]
    await first.wait()
    theirs = await upload(it, "theirs.png", media_files.png(21, 20), token)
    go.set()

    assert (await fetch(it, theirs, token)).status_code == 200
    assert drawn.index("theirs.png") <= 2
    for artifact in mine:
        assert (await fetch(it, artifact)).status_code == 200


async def test_a_missing_library_is_not_held_against_the_file(it: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    async def lacking(*_: Any) -> Any:
        raise PackError("not_found", "Previews of image/png need a library that is not installed: PIL.")

    with monkeypatch.context() as patched:
        patched.setattr(Previews, "_draw", lacking)
        artifact = await upload(it, "a.png", media_files.png(10, 13))
        answer = await fetch(it, artifact)
        assert answer.status_code == 404
        assert "not installed" in answer.text
    assert (await fetch(it, artifact)).status_code == 200
