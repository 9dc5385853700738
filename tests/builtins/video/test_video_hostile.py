"""Compositions that mean harm: each fails alone or harmlessly, nothing is reached, nothing is left running."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from packline import PackError
from runner.processes.processes import run_in_process
from tests.builtins.video.films import needs_chromium, page
from tests.support.loopback_http import LoopbackHttp, Reply, loopback_http
from tests.support.pack_harness import Harness, load_module, load_pack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = [pytest.mark.browser]
render = load_pack("video/render.py")
stage = load_module("video/_stage.py")
browser = load_module("video/_chromium.py")
progress = load_module("video/_progress.py")


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    needs_chromium()
    return Harness(tmp_path)


@pytest.fixture
async def target() -> AsyncIterator[LoopbackHttp]:
    async with loopback_http({"/": Reply(b"XYZZY"), "/secret": Reply(b"XYZZY")}) as running:
        yield running


async def film(harness: Harness, html: str) -> dict[str, Any]:
    return await harness.call(render, {"composition_html": html})


REACHING = {
    "fetch": "fetch('URL').then(r => r.text()).then(t => document.body.textContent = t).catch(() => 0)",
    "xhr": "const x = new XMLHttpRequest(); x.open('GET', 'URL'); try { x.send() } catch (e) {}",
    "image": "document.body.innerHTML += '<img src=URL>'",
    "style": "document.head.innerHTML += '<link rel=stylesheet href=URL><style>@import url(URL)</style>'",
    "preload": "document.head.innerHTML += '<link rel=preconnect href=URL><link rel=prefetch href=URL>'",
    "frame": "document.body.innerHTML += '<iframe src=URL></iframe><object data=URL></object><embed src=URL>'",
    "media": "document.body.innerHTML += '<video autoplay src=URL></video><audio autoplay src=URL></audio>'",
    "script": "const s = document.createElement('script'); s.src = 'URL'; document.body.append(s)",
    "module": "import('URL').catch(() => 0)",
    "socket": "try { new WebSocket('URL'.replace('http', 'ws')) } catch (e) {}",
    "stream": "try { new EventSource('URL') } catch (e) {}",
    "beacon": "navigator.sendBeacon('URL', 'x')",
    "worker": "try { new Worker(URL_OF_BLOB) } catch (e) {} try { new Worker('URL') } catch (e) {}",
    "service-worker": "try { navigator.serviceWorker.register('URL').catch(() => 0) } catch (e) {}",
    "popup": "try { window.open('URL') } catch (e) {}",
    "form": "document.body.innerHTML += '<form id=f action=URL method=post></form>'; f.submit()",
    "webrtc": "try { const p = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:PORT'}]});"
    " p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o)) } catch (e) {}",
    "file": "document.body.innerHTML += '<img src=file:///etc/passwd><iframe src=file:///etc/passwd></iframe>'",
    "dialog": "alert(1); confirm(2); prompt(3); print()",
}
LEAVING = {
    "download": "const a = document.createElement('a'); a.href = 'URL'; a.download = 'x'; a.click()",
    "location": "location.href = 'URL'",
    "late": "setTimeout(() => location.replace('URL'), 200)",
    "refresh": "document.head.innerHTML += '<meta http-equiv=refresh content=\"0;url=URL\">'",
}


def aimed(script: str, target: LoopbackHttp) -> str:
    """The script with the server's address in it."""
    address = target.url("/secret")
    script = script.replace("URL_OF_BLOB", f"URL.createObjectURL(new Blob(['fetch(`{target.url('/blob')}`)']))")
    for before, after in (("'", "'"), ("=", ""), ("(", ")"), (";url=", "")):
        script = script.replace(f"{before}URL{after}", f"{before}{address}{after}")
    return f"<script>{{{script.replace('PORT', str(target.port))}}}</script>"


async def test_nothing_is_reached(harness: Harness, target: LoopbackHttp) -> None:
    """All at once, in the browser's own fences alone and then in the namespace as well."""
    scripts = "".join(aimed(script, target) for script in REACHING.values())
    html = page(f"<p>Still here</p>{scripts}")
    for isolate in (False, True):
        text, _ = await asyncio.to_thread(_shown, html, isolate)
        assert "Still here" in text
        assert "root:" not in text
        assert "XYZZY" not in text
    assert target.connections == 0
    output = await film(harness, html)
    assert output["frames"] == 24
    assert any("no network" in warning for warning in output["warnings"])
    assert target.connections == 0


@pytest.mark.parametrize(
    "how", [how if how == "location" else pytest.param(how, marks=pytest.mark.sweep) for how in LEAVING]
)
async def test_a_page_that_leaves_is_told_so(harness: Harness, target: LoopbackHttp, how: str) -> None:
    with pytest.raises(PackError, match="leaves its page") as caught:
        await film(harness, page(f"<p>x</p>{aimed(LEAVING[how], target)}"))
    assert caught.value.failure.code == "invalid_input"
    assert target.connections == 0


def _shown(html: str, isolate: bool) -> tuple[str, list[str]]:
    with stage.open_stage(html, "16:9", 1.0, {}, isolate=isolate) as opened:
        for number in range(24):
            opened.seek(number / 24)
        return opened.evaluate("document.body.textContent"), opened.blocked


def test_the_fence_holds_without_the_page_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that the page's policy would stop are refused by the renderer, too."""
    needs_chromium()
    monkeypatch.setattr(stage, "_POLICY", "script-src 'unsafe-inline'")
    html = page("<img src=http://10.0.0.1/a><script>fetch('http://169.254.169.254/latest').catch(() => 0)</script>")
    _, blocked = _shown(html, False)
    assert {"http://10.0.0.1/a", "http://169.254.169.254/latest"} <= set(blocked)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("for (;;) {}", marks=pytest.mark.sweep, id="at once"),
        pytest.param("addEventListener('load', () => { for (;;) {} })", marks=pytest.mark.sweep, id="once loaded"),
        pytest.param("setTimeout(() => { for (;;) {} }, 300)", id="while filmed"),
    ],
)
async def test_a_loop_without_end_fails_the_step(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(stage, "LOAD_SECONDS", 3.0)
    monkeypatch.setattr(stage, "STEP_SECONDS", 3.0)
    with pytest.raises(PackError, match="without a pause") as caught:
        await film(harness, page(f"<p>x</p><script>{script}</script>"))
    assert caught.value.failure.code == "timeout"
    assert caught.value.failure.field == "composition_html"


@pytest.mark.sweep
async def test_timers_without_end_fail_the_step(harness: Harness) -> None:
    endless = "<script>function go() { for (let i = 0; i < 9; i++) setTimeout(go, 0) } go()</script>"
    with pytest.raises(PackError) as caught:
        await film(harness, page(endless))
    assert caught.value.failure.code in ("invalid_input", "timeout", "resource_exhausted")


@pytest.mark.sweep
async def test_too_much_memory_fails_the_step(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "MEMORY_BYTES", 700 * 1024**2)
    grab = "<script>const kept = []; for (let i = 0; i < 64; i++) kept.push(new Uint8Array(64 << 20).fill(i))</script>"
    # An allocation that is refused leaves the page alive, which is as good.
    code = ""
    with contextlib.suppress(PackError):
        try:
            assert (await film(harness, page(f"<p>x</p>{grab}")))["frames"] == 24
        except PackError as error:
            code = error.failure.code
            raise
    assert code in ("", "resource_exhausted", "invalid_input", "timeout")
    assert (await film(harness, page("<p>next</p>")))["frames"] == 24


@pytest.mark.sweep
async def test_a_huge_page_fails_or_is_filmed(harness: Harness) -> None:
    html = page("<script>document.body.innerHTML = '<b>x</b>'.repeat(100000)</script>", seconds=0.1)
    output = await film(harness, html)
    assert output["frames"] == 3


@pytest.mark.sweep
async def test_a_page_that_goes_nowhere_is_told_so(harness: Harness) -> None:
    with pytest.raises(PackError, match="leaves its page") as caught:
        await film(harness, page("<script>setTimeout(() => { location.href = 'about:blank' }, 100)</script>"))
    assert caught.value.failure.code == "invalid_input"


@pytest.mark.sweep
async def test_a_page_cannot_break_the_clock(harness: Harness) -> None:
    html = page(
        "<p>x</p><script>try { window.__packlineClock = null } catch (e) {} try { delete window.__packlinePlayer }"
        " catch (e) {} Object.prototype.toJSON = () => 'x'; document.getAnimations = null;</script>"
    )
    with contextlib.suppress(PackError):
        await film(harness, html)
    assert (await film(harness, page("<p>next</p>")))["frames"] == 24


def _film_for_ever(html: str, pipe: str) -> None:
    with stage.open_stage(html, "16:9", 1.0, {}) as opened:
        progress.ToldProgress(pipe).tell(0.5, "open")
        opened.evaluate("new Promise(() => 0)", seconds=60)


async def test_nothing_is_left_running_after_cancellation(tmp_path: Path) -> None:
    needs_chromium()
    before = _browsers()
    is_open = asyncio.Event()
    with progress.heard_progress(tmp_path, lambda _fraction, _message: is_open.set()) as pipe:
        work = asyncio.create_task(run_in_process(_film_for_ever, page("<p>x</p>"), pipe))
        async with asyncio.timeout(90):
            await is_open.wait()
        assert _browsers() - before
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work
    assert _browsers() - before == set()


def _browsers() -> set[int]:
    """Chromium processes below this test's own."""
    found = set()
    for child in psutil.Process(os.getpid()).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "chrom" in child.name() and child.status() != psutil.STATUS_ZOMBIE:
                found.add(child.pid)
    return found
