"""Chromium for pictures of foreign pages: found, started without a window, fenced in, gone afterwards.

It is driven over a pipe, so no port is open. A page reaches nothing: requests are answered by us (`_stage`), names do
not resolve, the proxy does not exist, and where bubblewrap works the browser has no network and sees no file of the
host but programs and fonts.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from packline import Missing, PackError, Service, excerpt

from ._devtools import BrowserGoneError, DevTools

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chromium-headless-shell",
    "chrome-headless-shell",
    "headless_shell",
)
#: Data memory of each of its processes, by the kernel: a page that takes more dies alone.
MEMORY_BYTES = 3 * 1024**3
#: Largest file it may write, into a folder that goes with it.
FILE_BYTES = 256 * 1024**2
END_SECONDS = 5.0
#: Fonts that ship: the ones decks use, and one for each script that many machines have none for.
FONTS = Path(__file__).parent.parent / "slides" / "fonts"

_ARGUMENTS = (
    "--headless",
    "--remote-debugging-pipe",
    # Frames come as fast as they are asked for, and look the same on every machine.
    "--disable-gpu",
    "--disable-frame-rate-limit",
    "--disable-gpu-vsync",
    "--disable-lcd-text",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--blink-settings=imageAnimationPolicy=2",
    "--disable-checker-imaging",
    "--lang=en-US",
    "--mute-audio",
    "--autoplay-policy=document-user-activation-required",
    # A background page must not be slowed.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--disable-hang-monitor",
    # Nothing is reached, neither for the page nor for the browser itself.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-notifications",
    "--disable-print-preview",
    "--disable-speech-api",
    "--disable-3d-apis",
    "--no-pings",
    "--no-first-run",
    "--no-default-browser-check",
    "--use-mock-keychain",
    "--password-store=basic",
    "--disable-dev-shm-usage",
    "--disk-cache-size=1",
    "--js-flags=--max-old-space-size=768",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,AutofillServerCommunication",
)
#: Sets limits and puts the pipes where the browser looks for them (3 and 4); then becomes the browser.
_LAUNCH = """
import os, resource, sys
reader, writer, data, size = map(int, sys.argv[1:5])
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for limit, value in ((resource.RLIMIT_DATA, data), (resource.RLIMIT_FSIZE, size)):
    hard = resource.getrlimit(limit)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (value, value))
first, second = (os.dup(reader), os.dup(writer)) if {reader, writer} & {3, 4} else (reader, writer)
while first in (3, 4): first = os.dup(first)
while second in (3, 4): second = os.dup(second)
os.dup2(first, 3); os.dup2(second, 4)
os.execvp(sys.argv[5], sys.argv[5:])
"""


def find_chromium() -> str | None:
    """Path of a Chromium or Chrome on PATH; the program itself where a distribution puts a script before it."""
    for name in _NAMES:
        found = shutil.which(name)
        if found is None:
            continue
        if _is_script(found):
            # Debian's script adds its own flags, extensions and environment.
            for folder in (name, "chromium"):
                direct = Path("/usr/lib") / folder / name
                if os.access(direct, os.X_OK):
                    return str(direct)
        return found
    return None


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _probe() -> Missing | None:
    if find_chromium() is not None:
        return None
    return Missing(
        "There is no Chromium or Chrome on PATH, which draws a video's frames.",
        "Install it with the system's package manager, such as `apt-get install chromium`, and start the server again.",
    )


#: What draws frames.
CHROMIUM = Service("chromium", _probe)


@dataclass(frozen=True, slots=True)
class Chromium:
    """A running browser.

    Attributes:
        devtools: Its connection.
        is_isolated: Whether it runs in a namespace without network and files.
    """

    devtools: DevTools
    is_isolated: bool


@contextlib.contextmanager
def started_chromium(*, isolate: bool = True) -> Iterator[Chromium]:
    """A browser with an empty profile for the length of the block; its processes and files are gone afterwards.

    Args:
        isolate: Whether to put it into a bubblewrap namespace where that works.

    Raises:
        PackError: `not_found` when there is none, `handler_failed` when it does not start.
    """
    program = find_chromium()
    if program is None:
        missing = _probe()
        assert missing is not None, "nothing was found"
        raise PackError("not_found", missing.message, hint=missing.hint)
    with tempfile.TemporaryDirectory(prefix="packline-video-", ignore_cleanup_errors=True) as folder:
        wrapper = _namespace(program, folder) if isolate and _can_isolate() else []
        argv = [*wrapper, program, *_ARGUMENTS, f"--user-data-dir={folder}/profile"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            argv.append("--no-sandbox")  # Chromium refuses its own sandbox to root
        argv.append("about:blank")
        errors = Path(folder) / "stderr.txt"
        process, devtools = _launch(argv, folder, errors)
        try:
            try:
                devtools.call("Browser.getVersion", seconds=60)
            except BrowserGoneError as error:
                said = errors.read_bytes().decode("utf-8", "replace")
                raise PackError(
                    "handler_failed",
                    f"Chromium ({program}) does not start.",
                    hint="Run it by hand with --headless to see what it lacks; its sandbox needs user namespaces.",
                    detail={"stderr": excerpt(said, 1500, from_end=True)},
                ) from error
            yield Chromium(devtools, bool(wrapper))
        finally:
            devtools.close()
            _end(process)


def _launch(argv: list[str], folder: str, errors: Path) -> tuple[subprocess.Popen[bytes], DevTools]:
    its_reader, our_writer = os.pipe()
    our_reader, its_writer = os.pipe()
    limits = [str(its_reader), str(its_writer), str(MEMORY_BYTES), str(FILE_BYTES)]
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": folder,
        "TMPDIR": folder,
        "XDG_CONFIG_HOME": folder,
        "XDG_CACHE_HOME": folder,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "FONTCONFIG_FILE": _font_configuration(folder),
    }
    with errors.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LAUNCH, *limits, *argv],
            pass_fds=(its_reader, its_writer),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            cwd=folder,
            env=environment,
        )
    os.close(its_reader)
    os.close(its_writer)
    return process, DevTools(our_writer, our_reader)


def _font_configuration(folder: str) -> str:
    """A file for fontconfig that adds the fonts that ship to those of the machine; its path."""
    path = Path(folder) / "fonts.conf"
    path.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n<fontconfig>\n'
        '  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>\n'
        f"  <dir>{escape(str(FONTS))}</dir>\n</fontconfig>\n",
        "utf-8",
    )
    return str(path)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Waits a moment for the browser to follow its closed pipe, then kills it; the worker's end takes the rest."""
    try:
        process.wait(0.5)
    except subprocess.TimeoutExpired:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)


def _namespace(program: str, folder: str) -> list[str]:
    """A bubblewrap command line that leaves the browser programs, libraries, fonts and its own folder."""
    argv = ["bwrap", "--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--proc", "/proc", "--dev", "/dev"]
    argv += ["--tmpfs", "/tmp"]
    homes = [Path.home() / ".fonts", Path.home() / ".local/share/fonts"]
    shown = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/fonts", "/etc/alternatives", "/etc/chromium"]
    shown += [
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/var/cache/fontconfig",
        str(Path(program).resolve().parent),
        str(FONTS),
    ]
    for path in [*shown, *map(str, homes)]:
        argv += ["--ro-bind-try", path, path]
    return [*argv, "--bind", folder, folder, "--chdir", folder, "--"]


def _can_isolate() -> bool:
    """Whether bubblewrap works here; some systems forbid user namespaces, so it is tried."""
    if shutil.which("bwrap") is None:
        return False
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    try:
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
