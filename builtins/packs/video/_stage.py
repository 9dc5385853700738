"""A composition on stage: loaded into a fenced-in page, moved through time, photographed."""

from __future__ import annotations

import base64
import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packline import PackError, excerpt

from ._chromium import FONTS, started_chromium
from ._devtools import BrowserGoneError, BrowserSlowError, DevToolsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ._devtools import DevTools

_HERE = Path(__file__).parent
#: Where the page believes to be; no request for it leaves this process.
ORIGIN = "https://composition.packline.invalid"
#: Until the page is loaded: its scripts have run, its pictures and fonts are decoded.
LOAD_SECONDS = 20.0
#: For one step of time, and for one picture.
STEP_SECONDS = 15.0
#: CSS pixels by aspect ratio; a larger resolution draws the same page with finer pixels.
STAGES: dict[str, tuple[int, int]] = {"16:9": (1280, 720), "9:16": (720, 1280), "1:1": (720, 720)}
SCALES: dict[str, float] = {"720p": 1.0, "1080p": 1.5}

#: Families every composition may use without bringing them along.
_FACES = (
    ("Inter", 400, "normal", "Inter-Regular.otf"),
    ("Inter", 400, "italic", "Inter-Italic.otf"),
    ("Inter", 600, "normal", "Inter-SemiBold.otf"),
    ("Inter", 700, "normal", "Inter-Bold.otf"),
    ("JetBrains Mono", 400, "normal", "JetBrainsMono-Regular.ttf"),
    ("JetBrains Mono", 700, "normal", "JetBrainsMono-Bold.ttf"),
)
#: No network, no frames, no workers; `sandbox` also takes away pop-ups, dialogs, downloads, forms and storage.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'unsafe-inline' 'unsafe-eval'",
        "style-src 'unsafe-inline'",
        f"img-src data: blob: {ORIGIN}",
        f"font-src data: {ORIGIN}",
        "base-uri 'none'",
        "form-action 'none'",
        "webrtc 'block'",
        "sandbox allow-scripts",
    )
)
_REFERENCE = re.compile(r"artifact:(art_[0-9A-Za-z]{1,40})")


@dataclass(frozen=True, slots=True)
class Asset:
    """A file a composition may show.

    Attributes:
        path: Where it lies.
        media_type: Such as `image/png`.
    """

    path: str
    media_type: str


def referenced_artifacts(html: str) -> list[str]:
    """Ids of the artifacts a composition names as `artifact:art_…`, each once, in order."""
    return list(dict.fromkeys(_REFERENCE.findall(html)))


@dataclass
class Stage:
    """A loaded composition.

    Attributes:
        devtools: The browser's connection.
        width: Of the stage, in CSS pixels.
        height: Likewise.
        blocked: Addresses outside that the page asked for, at most 50, in order.
        is_isolated: Whether the browser runs in its own namespace.
        left_for: Where the page went instead of staying; None while it stays.
        has_crashed: Whether its process died.
    """

    devtools: DevTools
    width: int
    height: int
    is_isolated: bool
    target: str = ""
    session: str = ""
    blocked: list[str] = field(default_factory=list)
    left_for: str | None = None
    has_crashed: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether the page died or went elsewhere."""
        return self.has_crashed or self.left_for is not None

    def evaluate(self, expression: str, *, seconds: float | None = None) -> Any:  # noqa: ANN401
        """The JSON value of a JavaScript expression, awaited.

        Raises:
            PackError: `timeout` when scripts do not come to an end, `resource_exhausted` when the page died,
                `invalid_input` when the expression fails because of what the page did.
        """
        seconds = STEP_SECONDS if seconds is None else seconds
        with self._blamed(seconds):
            answer = self.devtools.call(
                "Runtime.evaluate",
                self.session,
                expression=expression,
                awaitPromise=True,
                returnByValue=True,
                seconds=seconds,
            )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            text = str(details.get("exception", {}).get("description") or details.get("text"))
            raise PackError(
                "invalid_input",
                f"A script of the composition fails: {excerpt(text, 300).splitlines()[0]}",
                field="composition_html",
                hint="Open the composition in a browser and look at its console.",
            )
        return answer["result"].get("value")

    def seek(self, seconds: float) -> bool:
        """Moves to an instant; whether the picture may look different from the instant before."""
        self._check()
        changed = self.evaluate(
            f"(async t => await __packlineClock.advance(t * 1000) + __packlinePlayer.seek(t)"
            f" + await __packlineStill())({seconds!r})"
        )
        return bool(changed)

    def report(self) -> tuple[list[str], list[str]]:
        """Addresses the page asked for in vain, and what failed in its scripts, each once."""
        report = self.evaluate("__packlineClock.report()")
        refused = [str(address) for address in report["refused"] if ":" in str(address)]
        return list(dict.fromkeys([*self.blocked, *refused])), [str(text) for text in report["failed"]]

    def look(self) -> dict[str, Any]:
        """What can be seen now, as `inspect.js` tells it."""
        seen: dict[str, Any] = self.evaluate((_HERE / "inspect.js").read_text("utf-8"))
        return seen

    def picture(self) -> bytes:
        """The stage as it looks now, a JPEG."""
        with self._blamed(STEP_SECONDS):
            answer = self.devtools.call(
                "Page.captureScreenshot", self.session, format="jpeg", quality=95, seconds=STEP_SECONDS
            )
        return base64.b64decode(answer["data"])

    def _check(self) -> None:
        if self.left_for is not None:
            raise PackError(
                "invalid_input",
                f"The composition leaves its page for {excerpt(self.left_for, 200)}.",
                field="composition_html",
                hint="Take out links, refreshes and scripts that navigate: a composition is one page.",
            )

    @contextlib.contextmanager
    def _blamed(self, seconds: float) -> Iterator[None]:
        """Turns what the browser did into a failure that says what the page did."""
        try:
            yield
        except BrowserSlowError:
            if self.has_crashed:
                raise _crashed() from None
            raise _endless(seconds) from None
        except BrowserGoneError:
            raise _crashed() from None
        except DevToolsError as error:
            # Why may arrive a little later than the refusal.
            with contextlib.suppress(BrowserSlowError, BrowserGoneError):
                self.devtools.wait(lambda: self.is_lost, 1.0, "its reason")
            if self.has_crashed:
                raise _crashed() from None
            self._check()
            raise PackError("handler_failed", f"Chromium refused a command: {error}") from error


def _crashed() -> PackError:
    return PackError(
        "resource_exhausted",
        "The composition brought the browser down.",
        field="composition_html",
        hint="It most likely takes too much memory: use fewer elements, smaller pictures, less data.",
    )


def _endless(seconds: float) -> PackError:
    return PackError(
        "timeout",
        f"A script of the composition, or drawing it, took more than {seconds:g} seconds without a pause.",
        field="composition_html",
        hint="Look for a loop without end in its scripts, or for more elements than can be drawn.",
    )


@contextlib.contextmanager
def open_stage(
    html: str, aspect_ratio: str, scale: float, assets: Mapping[str, Asset], *, isolate: bool = True
) -> Iterator[Stage]:
    """Loads a composition and shows its first instant; the browser is gone after the block.

    Args:
        html: The document.
        aspect_ratio: A key of `STAGES`.
        scale: Pixels of the picture for a CSS pixel.
        assets: Files it may show, by artifact id.
        isolate: As in `started_chromium`.

    Raises:
        PackError: as of `Stage.evaluate`, and those of `started_chromium`.
    """
    width, height = STAGES[aspect_ratio]
    with started_chromium(isolate=isolate) as chromium:
        devtools = chromium.devtools
        stage = Stage(devtools, width, height, chromium.is_isolated)
        with stage._blamed(LOAD_SECONDS):
            _prepare(stage, scale)
            _serve(stage, html, assets)
            devtools.tell("Page.navigate", stage.session, url=f"{ORIGIN}/")
            loaded: list[bool] = []
            devtools.on("Page.loadEventFired", lambda _params, _session: loaded.append(True))
            devtools.wait(lambda: bool(loaded) or stage.is_lost, LOAD_SECONDS, "load")
        if stage.has_crashed:
            raise _crashed()
        stage._check()
        _watch_leaving(stage)
        stage.evaluate(_STILL, seconds=LOAD_SECONDS)
        stage.seek(0.0)
        yield stage


#: Waits until fonts and pictures are there, since a photograph does not; pictures added later are waited for as well.
_STILL = """
(async () => {
  const pictures = new WeakSet();
  const still = async () => {
    let changed = 0;
    const wanted = [...document.images].filter((image) => !pictures.has(image));
    for (const image of wanted) {
      pictures.add(image);
      changed += 1;
      await Promise.race([image.decode().catch(() => null), new Promise((done) => image.complete && done())]);
    }
    if (document.fonts.status === "loading") { changed += 1; await document.fonts.ready; }
    return changed;
  };
  Object.defineProperty(window, "__packlineStill", { value: still });
  const faces = [...document.fonts].filter((face) => face.family.replace(/"/g, "").match(/^(Inter|JetBrains Mono)$/));
  await Promise.all(faces.map((face) => face.load().catch(() => null)));
  await document.fonts.ready;
  await still();
  return true;
})()
"""


def _prepare(stage: Stage, scale: float) -> None:
    """Makes the page and everything that is to happen before its first script."""
    devtools = stage.devtools
    devtools.on("Target.attachedToTarget", lambda params, _session: _turn_away(stage, params))
    devtools.on("Inspector.targetCrashed", lambda _params, _session: _set_crashed(stage))
    devtools.on("Target.targetCrashed", lambda _params, _session: _set_crashed(stage))
    devtools.on(
        "Page.javascriptDialogOpening",
        lambda _params, session: devtools.tell("Page.handleJavaScriptDialog", session, accept=False),
    )
    devtools.call("Browser.setDownloadBehavior", behavior="deny")
    pages = devtools.call("Target.getTargets")["targetInfos"]
    stage.target = next(target["targetId"] for target in pages if target["type"] == "page")
    stage.session = devtools.call("Target.attachToTarget", targetId=stage.target, flatten=True)["sessionId"]
    devtools.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
    session = stage.session
    devtools.call("Target.setAutoAttach", session, autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
    devtools.call("Page.enable", session)
    devtools.call("Inspector.enable", session)
    devtools.call(
        "Emulation.setDeviceMetricsOverride",
        session,
        width=stage.width,
        height=stage.height,
        deviceScaleFactor=scale,
        mobile=False,
    )
    for name in ("clock.js", "player.js"):
        source = (_HERE / name).read_text("utf-8")
        devtools.call("Page.addScriptToEvaluateOnNewDocument", session, source=source)


def _set_crashed(stage: Stage) -> None:
    stage.has_crashed = True


def _turn_away(stage: Stage, params: dict[str, Any]) -> None:
    """Closes windows the page opens; workers and frames stay stopped before their first instruction."""
    target = params["targetInfo"]
    if target["targetId"] != stage.target and target["type"] == "page":
        stage.devtools.tell("Target.closeTarget", targetId=target["targetId"])


def _watch_leaving(stage: Stage) -> None:
    def navigated(params: dict[str, Any], _session: str | None) -> None:
        frame = params["frame"]
        if "parentId" not in frame:
            stage.left_for = str(frame.get("url"))

    stage.devtools.on("Page.frameNavigated", navigated)


def _serve(stage: Stage, html: str, assets: Mapping[str, Asset]) -> None:
    """Answers every request of the page: the document, fonts and assets; nothing else is let out."""
    devtools = stage.devtools
    document = _REFERENCE.sub(rf"{ORIGIN}/artifact/\1", _with_fonts(html)).encode("utf-8", "replace")
    given = False

    def paused(params: dict[str, Any], session: str | None) -> None:
        nonlocal given
        url = str(params["request"]["url"])
        path = url.removeprefix(ORIGIN)
        if url == f"{ORIGIN}/" and not given:
            given = True
            answer(params, session, document, "text/html; charset=utf-8")
        elif url.startswith(f"{ORIGIN}/artifact/") and (asset := assets.get(path.rpartition("/")[2])) is not None:
            answer(params, session, Path(asset.path).read_bytes(), asset.media_type)
        elif url.startswith(f"{ORIGIN}/font/") and path.rpartition("/")[2] in {face[3] for face in _FACES}:
            answer(params, session, (FONTS / path.rpartition("/")[2]).read_bytes(), "font/otf")
        elif url.startswith(("data:", "blob:")):
            devtools.tell("Fetch.continueRequest", session, requestId=params["requestId"])
        else:
            if len(stage.blocked) < 50 and url != f"{ORIGIN}/favicon.ico":
                stage.blocked.append(url[:500])
            if params.get("resourceType") == "Document":
                if params.get("frameId") == stage.target:
                    stage.left_for = url
                # An empty answer keeps the page where it is; a failed one would show an error page.
                devtools.tell("Fetch.fulfillRequest", session, requestId=params["requestId"], responseCode=204)
            else:
                devtools.tell(
                    "Fetch.failRequest", session, requestId=params["requestId"], errorReason="BlockedByClient"
                )

    def answer(params: dict[str, Any], session: str | None, body: bytes, media_type: str) -> None:
        headers = {
            "Content-Type": media_type,
            "Content-Security-Policy": _POLICY,
            "Access-Control-Allow-Origin": "*",
            "X-Content-Type-Options": "nosniff",
            "X-DNS-Prefetch-Control": "off",
        }
        devtools.tell(
            "Fetch.fulfillRequest",
            session,
            requestId=params["requestId"],
            responseCode=200,
            responseHeaders=[{"name": name, "value": value} for name, value in headers.items()],
            body=base64.b64encode(body).decode(),
        )

    devtools.on("Fetch.requestPaused", paused)
    devtools.call("Fetch.enable", stage.session, patterns=[{"urlPattern": "*"}])


def _with_fonts(html: str) -> str:
    """The document with the bundled fonts declared before its own content."""
    faces = "".join(
        f"@font-face{{font-family:'{family}';font-weight:{weight};font-style:{style};src:url('{ORIGIN}/font/{file}')}}"
        for family, weight, style, file in _FACES
    )
    tag = f"<style>{faces}</style>"
    start = re.search(r"<head[^>]*>", html, re.IGNORECASE) or re.search(r"<html[^>]*>", html, re.IGNORECASE)
    if start is None:
        start = re.search(r"<!doctype[^>]*>", html, re.IGNORECASE)
    at = start.end() if start is not None else 0
    return html[:at] + tag + html[at:]
