import io
import stat
from datetime import timedelta
from urllib.parse import unquote

import httpx2
import pikepdf
import pypdfium2
import pytest
from PIL import Image
from starlette.applications import Starlette

from app.auth.gate import AttemptGate
from app.auth.hosts import HostGuard
from app.auth.identity import Authenticator
from app.http.downloads import Downloads, signing_key
from app.settings.server import Settings
from runner.files.page_strips import CELL
from runner.files.previews import Previews
from store.access.callers import ensure_caller
from store.access.tokens import create_token
from store.database.engine import open_store
from store.files.artifacts import add_upload, change_status, erase_artifacts
from store.files.blobs import BlobStore
from store.states import ArtifactStatus, Scope
from tests.support.hostile_pdf import hostile_pdf

CONTENT = bytes(range(256)) * 4000


class House:
    def __init__(self, store, blobs, settings):
        self.store, self.blobs = store, blobs
        self.authenticator = Authenticator(store, settings)
        self.now = 1_000_000_000.0
        self.previews = Previews(store, blobs)
        self.downloads = Downloads(store, blobs, self.previews, self.authenticator, settings, clock=lambda: self.now)
        app = HostGuard(AttemptGate(Starlette(routes=self.downloads.routes()), self.authenticator))
        self.http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1")

    async def token(self, subject, *scopes):
        caller = await self.store.write(ensure_caller, subject, subject)
        token = await self.store.write(create_token, caller.id, name="t", scopes=scopes, expires_at=None)
        return caller, {"authorization": f"Bearer {token.plaintext}"}

    async def artifact(self, caller, name="deck.pdf", media_type="application/pdf", content=CONTENT):
        digest, size = await self.blobs.put(content)
        return await self.store.write(
            add_upload,
            caller_id=caller.id,
            name=name,
            media_type=media_type,
            size_bytes=size,
            digest=digest,
            keep_days=7,
        )


@pytest.fixture
async def house(tmp_path):
    settings = Settings.load({"data_dir": tmp_path / "data"})
    store = await open_store("sqlite", settings.data_dir, migrate=True)
    house = House(store, BlobStore(settings.data_dir), settings)
    await house.authenticator.start()
    yield house
    await house.http.aclose()
    await house.authenticator.stop()
    await store.close()


@pytest.fixture
async def ada(house):
    return await house.token("ada", Scope.READ)


async def test_a_download_is_whole_and_harmless(house, ada):
    caller, headers = ada
    artifact = await house.artifact(caller)

    answer = await house.http.get(f"/artifacts/{artifact}", headers=headers)

    assert answer.status_code == 200
    assert answer.content == CONTENT
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-length"] == str(len(CONTENT))
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["content-disposition"].startswith('attachment; filename="deck.pdf"')


@pytest.mark.parametrize(
    ("wanted", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=1023990-", 1_023_990, 1_024_000),
        ("bytes=-5", 1_023_995, 1_024_000),
        ("bytes=-99999999", 0, 1_024_000),
        ("bytes=1023999-9999999999", 1_023_999, 1_024_000),
        ("bytes=262100-262200", 262_100, 262_201),
    ],
)
async def test_ranges(house, ada, wanted, start, end):
    caller, headers = ada
    artifact = await house.artifact(caller)

    answer = await house.http.get(f"/artifacts/{artifact}", headers={**headers, "range": wanted})

    assert answer.status_code == 206
    assert answer.content == CONTENT[start:end]
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{len(CONTENT)}"
    assert answer.headers["content-length"] == str(end - start)


@pytest.mark.parametrize("wanted", ["bytes=1024000-", "bytes=9999999-99999999", "bytes=-0"])
async def test_ranges_outside_are_told(house, ada, wanted):
    caller, headers = ada
    artifact = await house.artifact(caller)
    answer = await house.http.get(f"/artifacts/{artifact}", headers={**headers, "range": wanted})
    assert answer.status_code == 416
    assert answer.headers["content-range"] == "bytes */1024000"


@pytest.mark.parametrize(
    "wanted", ["bytes=5-1", "bytes=0-1,5-6", "items=0-1", "bytes=a-b", "bytes=", "bytes=-", "x" * 5000, "bytes=--1"]
)
async def test_ranges_that_mean_nothing_are_ignored(house, ada, wanted):
    caller, headers = ada
    artifact = await house.artifact(caller)
    answer = await house.http.get(f"/artifacts/{artifact}", headers={**headers, "range": wanted})
    assert (answer.status_code, len(answer.content)) == (200, len(CONTENT))


async def test_if_range_if_none_match_and_head(house, ada):
    caller, headers = ada
    artifact = await house.artifact(caller)
    path = f"/artifacts/{artifact}"
    etag = (await house.http.head(path, headers=headers)).headers["etag"]

    same = await house.http.get(path, headers={**headers, "range": "bytes=0-3", "if-range": etag})
    other = await house.http.get(path, headers={**headers, "range": "bytes=0-3", "if-range": '"old"'})
    cached = await house.http.get(path, headers={**headers, "if-none-match": f'"x", W/{etag}'})
    head = await house.http.head(path, headers={**headers, "range": "bytes=0-3"})

    assert (same.status_code, len(same.content)) == (206, 4)
    assert (other.status_code, len(other.content)) == (200, len(CONTENT))
    assert (cached.status_code, cached.content) == (304, b"")
    assert (head.status_code, head.headers["content-length"], head.content) == (206, "4", b"")


async def test_an_empty_file(house, ada):
    caller, headers = ada
    artifact = await house.artifact(caller, "empty.txt", "text/plain", b"")
    whole = await house.http.get(f"/artifacts/{artifact}", headers=headers)
    part = await house.http.get(f"/artifacts/{artifact}", headers={**headers, "range": "bytes=0-0"})
    assert (whole.status_code, whole.content) == (200, b"")
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert part.status_code == 416


@pytest.mark.parametrize(
    ("name", "plain", "exact"),
    [
        ("Übersicht.pdf", "_bersicht.pdf", "%C3%9Cbersicht.pdf"),
        ("../../etc/passwd", "passwd", "passwd"),
        ('a";\r\nSet-Cookie: x=1.pdf', "a____Set-Cookie: x=1.pdf", "a%22%3B%0D%0ASet-Cookie%3A%20x%3D1.pdf"),
        ("c:\\x\\y.pdf", "y.pdf", "y.pdf"),
        ("folder/", "artifact", "artifact"),
    ],
)
async def test_names_cannot_break_out_of_the_header(house, ada, name, plain, exact):
    caller, headers = ada
    artifact = await house.artifact(caller, name)
    answer = await house.http.get(f"/artifacts/{artifact}", headers=headers)
    assert answer.headers["content-disposition"] == f"attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}"
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("media_type", "sent", "shown"),
    [
        ("text/html", "text/html; charset=utf-8", False),
        ("image/svg+xml", "image/svg+xml", False),
        ("image/png", "image/png", True),
        ("text/plain; charset=latin-1", "text/plain; charset=latin-1", True),
        ("text/html\r\nX-Evil: 1", "application/octet-stream", False),
        ("nonsense", "application/octet-stream", False),
    ],
)
async def test_only_harmless_types_are_shown(house, ada, media_type, sent, shown):
    caller, headers = ada
    artifact = await house.artifact(caller, "x", media_type, b"<script>")
    answer = await house.http.get(f"/artifacts/{artifact}", headers=headers)
    assert answer.headers["content-type"] == sent
    assert answer.headers["content-disposition"].startswith("inline" if shown else "attachment")
    saved = await house.http.get(f"/artifacts/{artifact}?download", headers=headers)
    assert saved.headers["content-disposition"].startswith("attachment")


# -------------------------------------------------------------------------------------------- who may


async def test_others_do_not_learn_that_it_exists(house, ada):
    caller, _ = ada
    artifact = await house.artifact(caller)
    _, stranger = await house.token("eve", Scope.READ, Scope.RUN, Scope.WRITE)
    _, observer = await house.token("olga", Scope.READ, Scope.OBSERVE)
    _, nothing = await house.token("ned", Scope.RUN)

    hidden = await house.http.get(f"/artifacts/{artifact}", headers=stranger)
    absent = await house.http.get("/artifacts/art_none", headers=stranger)

    assert (hidden.status_code, absent.status_code) == (404, 404)
    assert hidden.text == absent.text.replace("art_none", artifact)
    assert (await house.http.get(f"/artifacts/{artifact}", headers=observer)).status_code == 200
    assert (await house.http.get(f"/artifacts/{artifact}", headers=nothing)).status_code == 403
    assert (await house.http.get(f"/artifacts/{artifact}")).status_code == 401


@pytest.mark.parametrize("path", ["..%2f..%2fetc%2fpasswd", "art_x%00", "%2e%2e", "a" * 3000])
async def test_paths_lead_nowhere(house, ada, path):
    answer = await house.http.get(f"/artifacts/{path}", headers=ada[1])
    assert answer.status_code == 404


async def test_erased_quarantined_and_lost_contents_are_told_apart(house, ada):
    caller, headers = ada
    erased, quarantined = await house.artifact(caller), await house.artifact(caller)
    await house.store.write(erase_artifacts, [erased])
    await house.store.write(change_status, quarantined, ArtifactStatus.STORED, ArtifactStatus.QUARANTINED)

    gone = await house.http.get(f"/artifacts/{erased}", headers=headers)
    held = await house.http.get(f"/artifacts/{quarantined}", headers=headers)
    assert (gone.status_code, held.status_code) == (410, 403)
    assert "was erased at" in gone.text
    assert "quarantine" in held.text

    lost = await house.artifact(caller, content=b"once")
    digest, _ = await house.blobs.put(b"once")
    house.blobs.path(digest).unlink()
    assert (await house.http.get(f"/artifacts/{lost}", headers=headers)).status_code == 410


# ---------------------------------------------------------------------------------------- signed addresses


async def test_a_signed_address_needs_no_token_for_some_minutes(house, ada):
    caller, _ = ada
    artifact = await house.artifact(caller)
    address = house.downloads.sign(artifact, caller.id)

    assert address == house.downloads.sign(artifact, caller.id), "stable, so that browsers can cache"
    assert (await house.http.get(address)).content == CONTENT
    house.now += timedelta(minutes=14).total_seconds()
    assert (await house.http.get(address)).status_code == 200
    house.now += timedelta(minutes=3).total_seconds()
    expired = await house.http.get(address)
    assert expired.status_code == 403
    assert "expired" in expired.text


async def test_a_signed_address_cannot_be_changed(house, ada):
    caller, _ = ada
    one, other = await house.artifact(caller), await house.artifact(caller, "b")
    address = house.downloads.sign(one, caller.id)
    path, _, query = address.partition("?")
    longer = query.replace("expires=", "expires=9")

    for changed in (f"/artifacts/{other}?{query}", f"{path}?{longer}", address[:-1], f"{path}?signature="):
        assert (await house.http.get(changed)).status_code == 403


async def test_the_key_outlives_the_process_and_is_the_servers_own(house, tmp_path):
    folder = tmp_path / "fresh"
    key = signing_key(folder)
    assert len(key) == 32
    assert signing_key(folder) == key
    assert stat.S_IMODE((folder / "download.key").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == ["download.key"]


async def test_a_long_name_is_cut_at_a_whole_character(house, ada):
    caller, headers = ada
    artifact = await house.artifact(caller, name="ü" * 200 + ".pdf")
    told = (await house.http.get(f"/artifacts/{artifact}", headers=headers)).headers["content-disposition"]
    exact = told.partition("filename*=UTF-8''")[2]
    assert unquote(exact, errors="strict") == "ü" * 127


async def test_if_none_match_understands_any(house, ada):
    caller, headers = ada
    artifact = await house.artifact(caller)
    answer = await house.http.get(f"/artifacts/{artifact}", headers={**headers, "if-none-match": "*"})
    assert (answer.status_code, answer.content) == (304, b"")


async def test_a_web_page_is_shown_in_a_frame_with_its_looks_and_nothing_else(house, ada):
    caller, headers = ada
    page = await house.artifact(caller, "page.html", "text/html", b"<h1>Tea</h1>")

    saved = await house.http.get(f"/artifacts/{page}", headers=headers)
    framed = await house.http.get(f"/artifacts/{page}?frame", headers=headers)
    other = await house.http.get(
        f"/artifacts/{await house.artifact(caller, content=pdf((10, 10)))}?frame", headers=headers
    )

    assert saved.headers["content-disposition"].startswith("attachment")
    assert framed.headers["content-disposition"].startswith("inline")
    policy = framed.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "style-src 'unsafe-inline'" in policy
    assert "script" not in policy
    assert "http" not in policy
    assert "unsafe-inline" not in other.headers["content-security-policy"]


async def test_a_browser_that_goes_to_a_file_is_shown_the_page(house, ada, monkeypatch, tmp_path):
    caller, headers = ada
    artifact = await house.artifact(caller)
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    signed = house.downloads.sign(artifact, caller.id)
    monkeypatch.setattr("app.http.pages.BUILT_PAGE", tmp_path)
    assert (await house.http.get(f"/artifacts/{artifact}", headers=browser)).status_code == 401, "there is no page"

    (tmp_path / "index.html").write_text("<title>built</title>")
    assert (await house.http.get(f"/artifacts/{artifact}", headers=browser)).text == "<title>built</title>"
    assert (await house.http.get(f"/artifacts/{artifact}", headers=browser | headers)).content == CONTENT
    assert (await house.http.get(signed, headers=browser)).content == CONTENT
    assert (await house.http.get(f"/artifacts/{artifact}", headers={"accept": "*/*"})).status_code == 401


def pdf(*sizes):
    document = pypdfium2.PdfDocument.new()
    for width, height in sizes:
        document.new_page(width, height)
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


async def test_the_pages_of_a_document_are_one_picture_for_whoever_may_see_it(house, ada):
    caller, headers = ada
    artifact = await house.artifact(caller, content=pdf((960, 540), (595, 842), (595, 842)))
    address = f"{house.downloads.sign(f'{artifact}/preview', caller.id)}&pages"

    answer = await house.http.get(address)

    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    assert answer.headers["x-content-type-options"] == "nosniff"
    with Image.open(io.BytesIO(answer.content)) as strip:
        assert strip.size == (CELL[0], CELL[1] * 3)
        # A slide is wider than high, a sheet of paper stands: what is around each is left clear.
        alpha = strip.convert("RGBA").getchannel("A")
    at = [alpha.getpixel((place, CELL[1] * page + 72)) for page, place in ((0, 2), (1, 2), (1, 96))]
    assert at == [255, 0, 255]
    assert (await house.http.get(f"/artifacts/{artifact}/preview?pages", headers=headers)).content == answer.content
    assert (await house.http.get(f"/artifacts/{artifact}/preview?pages")).status_code == 401


async def test_a_list_asks_for_the_first_pages_only(house, ada):
    caller, headers = ada
    long = await house.artifact(caller, content=pdf(*[(960, 540)] * 6))
    short = await house.artifact(caller, content=pdf((960, 540)))
    for artifact, query, pages in (
        (long, "pages=first", 4),  # all that the page shows
        (long, "pages", 6),
        (short, "pages=first", 1),
    ):
        answer = await house.http.get(f"/artifacts/{artifact}/preview?{query}", headers=headers)
        assert answer.headers["cache-control"] == "private, max-age=600"
        with Image.open(io.BytesIO(answer.content)) as strip:
            assert strip.size == (CELL[0], CELL[1] * pages), query


@pytest.mark.parametrize(
    ("name", "media_type", "content", "reason"),
    [
        ("bad.pdf", "application/pdf", b"%PDF-1.7 nothing", "cannot be read"),
        ("talk.mp3", "audio/mpeg", b"ID3", "has no pages"),
    ],
)
async def test_what_has_no_pages_says_so_as_often_as_it_is_asked(house, ada, name, media_type, content, reason):
    caller, headers = ada
    artifact = await house.artifact(caller, name=name, media_type=media_type, content=content)
    for _ in range(2):
        answer = await house.http.get(f"/artifacts/{artifact}/preview?pages", headers=headers)
        assert answer.status_code == 404
        assert reason in answer.text


async def test_a_document_is_shown_without_what_acts_in_it_and_saved_as_it_is(house, ada):
    caller, headers = ada
    hostile = hostile_pdf()
    artifact = await house.artifact(caller, content=hostile)

    shown = await house.http.get(f"/artifacts/{artifact}?frame", headers=headers)
    part = await house.http.get(f"/artifacts/{artifact}?frame", headers={**headers, "range": "bytes=0-3"})
    saved = await house.http.get(f"/artifacts/{artifact}", headers=headers)

    assert (shown.status_code, shown.headers["content-type"]) == (200, "application/pdf")
    assert shown.headers["content-disposition"].startswith("inline")
    assert (part.status_code, part.content) == (206, b"%PDF")
    assert saved.content == hostile
    assert saved.headers["content-disposition"].startswith("attachment")
    plain = io.BytesIO()
    with pikepdf.open(io.BytesIO(shown.content)) as document:
        assert len(document.pages) == 2
        document.save(plain, qdf=True, object_stream_mode=pikepdf.ObjectStreamMode.disable)
    text = plain.getvalue()
    for word in (b"JavaScript", b"app.", b"javascript:", b"/Launch", b"/SubmitForm", b"/OpenAction", b"/AA", b"/XFA"):
        assert word not in text
    assert b"https://example.com/honest" in text
    assert b"/GoTo" in text


async def test_a_harmless_document_is_shown_as_it_is(house, ada):
    caller, headers = ada
    content = pdf((960, 540))
    artifact = await house.artifact(caller, content=content)
    assert (await house.http.get(f"/artifacts/{artifact}?frame", headers=headers)).content == content


async def test_a_cleaned_copy_that_was_pruned_is_made_again(house, ada):
    caller, headers = ada
    artifact = await house.artifact(caller, content=hostile_pdf())
    first = await house.http.get(f"/artifacts/{artifact}?frame", headers=headers)
    await house.blobs.discard([first.headers["etag"].strip('"')], grace_seconds=-1)
    again = await house.http.get(f"/artifacts/{artifact}?frame", headers=headers)
    assert (again.status_code, len(again.content)) == (200, len(first.content))


async def test_a_document_nobody_can_read_is_not_shown(house, ada):
    caller, headers = ada
    locked = io.BytesIO()
    with pikepdf.new() as document:
        document.add_blank_page()
        document.save(locked, encryption=pikepdf.Encryption(user="tea", owner="tea"))
    for content, why in ((b"%PDF-1.7 nothing", "damaged"), (locked.getvalue(), "password")):
        artifact = await house.artifact(caller, content=content)
        answer = await house.http.get(f"/artifacts/{artifact}?frame", headers=headers)
        assert (answer.status_code, why in answer.text) == (415, True)
