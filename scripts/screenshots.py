#!/usr/bin/env python3
"""Takes the pictures of `docs/page.md`: every page in both themes, from a real server with real runs.

Run it after a change to how the page looks; it needs Chromium and the built page (`make ui`):

    .venv/bin/python scripts/screenshots.py [NAME…]

It starts a separate server on a free port, with its data in a temporary folder. Its runs are starters
on the documents of `builtins/samples`. What its agent says is written down here: a model would say something else each
time.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import shutil
import socket
import sys
import tempfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.make_run import DEMOS, LOOPBACK, LocalServers, Running
from scripts.tools_check import CHROMIUM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from playwright.async_api import Browser, Page

PAGES = ROOT / "docs" / "images" / "pages"
#: In whose dark corners small text stays readable.
QUALITY = 66
DESKTOP = (1280, 800)
PHONE = (390, 844)

#: Nothing is still loading, and what is in view of the pictures in the page has been drawn.
_IS_WHOLE = """() => !document.body.innerText.includes('Loading…')
  && [...document.images].every(image => image.complete || !image.checkVisibility()
    || image.getBoundingClientRect().top > innerHeight)"""

Theme = Literal["light", "dark"]

#: What the agent of the pictures prints, as `claude -p --output-format stream-json` does.
SAID: tuple[dict[str, Any], ...] = (
    {"type": "system", "subtype": "init", "model": "sonnet"},
    {
        "type": "assistant",
        "message": {"content": [{"type": "text", "text": "I will read the list of changes, then write the notes."}]},
    },
    {
        "type": "assistant",
        "message": {
            "content": [{"type": "tool_use", "id": "1", "name": "Read", "input": {"file_path": "changes.md"}}],
        },
    },
    {
        "type": "user",
        "message": {
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "1",
                    "content": "- Runs resume from the step that failed\n- Agents work behind a sandbox",
                }
            ]
        },
    },
    {
        "type": "assistant",
        "message": {
            "content": [{"type": "tool_use", "id": "2", "name": "Bash", "input": {"command": "git log --oneline -5"}}]
        },
    },
    {
        "type": "user",
        "message": {
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "2",
                    "content": "Permission to use Bash with the command git log has been denied.",
                    "is_error": True,
                }
            ]
        },
    },
    {
        "type": "assistant",
        "message": {
            "content": [{"type": "tool_use", "id": "3", "name": "Write", "input": {"file_path": "release-notes.md"}}]
        },
    },
    {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "3", "content": "The file was written."}]},
    },
    {
        "type": "result",
        "result": "The notes are in release-notes.md: one bullet for each change, in the words of the list.",
        "usage": {"input_tokens": 4210, "output_tokens": 388},
        "total_cost_usd": 0.0231,
        "num_turns": 4,
        "permission_denials": [{"tool_name": "Bash"}],
    },
)
#: Profiles: one that answers at once, one that is still at work when its picture is taken.
SECONDS = {"reader": 0.6, "careful-reader": 3600}


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture.

    Attributes:
        name: Of the file, before the theme.
        path: Address on the server.
        press: Button or key to press once the page is there; it opens a dialog.
        wait: Text that comes last, unless the dialog does.
        size: Of the window.
        signed_in: Whether by somebody who is signed in.
    """

    name: str
    path: str
    press: str | None = None
    wait: str | None = None
    size: tuple[int, int] = DESKTOP
    signed_in: bool = True


def add_agents(folder: Path) -> None:
    """Declares the agents of the pictures in the settings file of a data folder."""
    said = "".join(json.dumps(event) + "\n" for event in SAID)
    tables = []
    for name, seconds in SECONDS.items():
        script = folder / f"{name}.json"
        answer = {"say": said, "files": {"release-notes.md": "# Release notes\n\n${file:changes.md}\n"}}
        script.write_text(json.dumps({"answers": [{**answer, "seconds": seconds}]}), "utf-8")
        tables.append(f'[agents.{name}]\npreset = "mock"\nstream = "claude"\nscript = {json.dumps(str(script))}\n')
    (folder / "packline.toml").write_text("\n".join(tables), "utf-8")


class SampleData:
    """Fills a fresh server with realistic data through the API."""

    def __init__(self, servers: LocalServers, running: Running) -> None:
        self._servers = servers
        self._running = running
        self._token = (servers.data / "cli-token").read_text("utf-8").strip()

    def ask(
        self, query: str, variables: Mapping[str, Any] | None = None, *, token: str | None = None
    ) -> dict[str, Any]:
        """Send an operation with one root field and return that field."""
        request = urllib.request.Request(
            f"{self._running.url}/graphql",
            json.dumps({"query": query, "variables": dict(variables or {})}).encode(),
            {
                "content-type": "application/json",
                "authorization": f"Bearer {token or self._token}",
                "x-packline-client": "web page" if token is None else "reading-agent 1.4",
            },
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=60) as answer:
            said = json.load(answer)
        if said.get("errors"):
            raise RuntimeError(said["errors"])
        found: dict[str, Any] = next(iter(said["data"].values()))
        if str(found.get("__typename", "")).endswith("Problem"):
            raise RuntimeError(found)
        return found

    def token(self, name: str, subject: str) -> str:
        """A new token of a caller."""
        made = self.ask(
            """mutation ($name: String!, $scopes: [Scope!]!, $subject: String) {
                createToken(name: $name, scopes: $scopes, subject: $subject) {
                    __typename ... on CreateTokenSuccess { plaintext } ... on Problem { message } } }""",
            {"name": name, "subject": subject, "scopes": ["READ", "RUN"]},
        )
        return str(made["plaintext"])

    def run(
        self, pipeline: str, inputs: Mapping[str, Any], title: str | None = None, *, token: str | None = None
    ) -> dict[str, Any]:
        """Run a pipeline until it ends or waits for a retry."""
        given = {"target": pipeline, "inputs": inputs, "title": title}
        call = "runPipeline(pipeline: $target, inputs: $inputs, title: $title, waitSeconds: 45)"
        return self._started(f"($target: ID!, $inputs: JSON!, $title: String) {{ started: {call}", given, token)

    def draft(self, agent: str, title: str, wait_seconds: int) -> dict[str, Any]:
        """A run in which an agent drafts release notes."""
        call = 'runPipeline(pipeline: "agent-propose-verify", agent: $target, inputs: $inputs, title: $title, '
        given = {"target": agent, "inputs": {}, "title": title}
        command = f"($target: String!, $inputs: JSON!, $title: String) {{ started: {call}waitSeconds: {wait_seconds})"
        return self._started(command, given, None)

    def propose(self, request: str) -> None:
        """Save the proposals for a request."""
        found = self.ask(
            """query ($request: String!) { route(userIntent: $request) { gapWarnings { missingCapability
                whyMissing proposal { action name summary packs inputSchema outputSchema integrationPattern whyUseful }
                } } }""",
            {"request": request},
        )
        for gap in found["gapWarnings"]:
            self.ask(
                """mutation ($request: String!, $gap: GapWarningInput!) {
                    saveGapProposal(userIntent: $request, gap: $gap) { __typename ... on Problem { message } } }""",
                {"request": request, "gap": gap},
            )

    def call(self, pack: str, given: Mapping[str, Any]) -> None:
        """Run a single pack until it ends."""
        call = "runPack(pack: $target, input: $inputs, waitSeconds: 45)"
        self._started(f"($target: ID!, $inputs: JSON!) {{ started: {call}", {"target": pack, "inputs": given}, None)

    def _started(self, command: str, variables: Mapping[str, Any], token: str | None) -> dict[str, Any]:
        started = self.ask(
            f"""mutation {command} {{ __typename ... on Problem {{ message }} ... on StartRunSuccess {{
                run {{ id state artifacts(first: 5) {{ nodes {{ id }} }} }} }} }} }}""",
            variables,
            token=token,
        )
        run: dict[str, Any] = started["run"]
        return run

    def resume(self, run: str) -> None:
        """Resume a failed run."""
        self.ask(
            "mutation ($id: ID!) { resumeRun(id: $id, waitSeconds: 45) { __typename ... on Problem { message } } }",
            {"id": run},
        )

    def copy(self, pipeline: str, key: str, name: str) -> None:
        """Copy a starter and change the copy once."""
        self.ask(
            """mutation ($pipeline: ID!, $key: Key!, $name: String!) {
                clonePipeline(pipeline: $pipeline, key: $key, name: $name) {
                    __typename ... on Problem { message } } }""",
            {"pipeline": pipeline, "key": key, "name": name},
        )
        fields = {
            "description": "The keeper's reading of the week, as slides for Monday's meeting.",
            "deadline_seconds": 300,
        }
        self.ask(
            """mutation ($pipeline: ID!, $fields: JSON!, $note: String!) {
                updatePipeline(pipeline: $pipeline, change: {fields: $fields}, ifVersion: 1, note: $note) {
                    __typename ... on Problem { message } } }""",
            {"pipeline": key, "fields": fields, "note": "Says what it is for, and stops after five minutes."},
        )

    def credential(self, key: str, kind: str, fields: Mapping[str, str], description: str) -> str:
        """A stored credential; its id."""
        made = self.ask(
            """mutation ($key: Key!, $kind: String!, $fields: JSON, $description: String) {
                setCredential(key: $key, kind: $kind, fields: $fields, description: $description) {
                    __typename ... on Problem { message } ... on CredentialSuccess { credential { id } } } }""",
            {"key": key, "kind": kind, "fields": fields, "description": description},
        )
        return str(made["credential"]["id"])

    def create(self) -> list[Shot]:
        """Create all data; return the pictures to take."""
        samples = f"http://{LOOPBACK}:{self._running.samples_port}"
        agent = self.token("Reading agent", "reading-agent")
        self.token("Ada's laptop", "ada")
        self.copy(DEMOS[0].pipeline, "monday-reading", "Monday reading")
        github = self.credential("github", "github", {"token": "ghp_" + "a1b2" * 9}, "Reads and comments on issues.")
        self.credential("newsletter", "generic", {"secret": "correct-horse-battery"}, "Sends the weekly letter.")
        sample = self.run("sample", {})
        self.resume(sample["id"])
        paper = {"source_url": f"{samples}/lighthouses.pdf"}
        for theme, audience in (("dark", "the board"), ("dark", "the board"), ("light", "keepers")):
            slides = {"markdown": "# Lights at sea\n\nA lens bends what a lamp wastes.\n", "theme": theme}
            self.call("slides.render", slides)
            done = self.run("monday-reading", {**paper, "audience": audience}, f"Lights at sea, for {audience}")
        page = self.run("scrape-deck", {"url": f"{samples}/fresnel-lens.html"}, "How a Fresnel lens works", token=agent)
        again = self.run(
            "monday-reading", {**paper, "audience": "new engineers"}, "Lights at sea, for new engineers", token=agent
        )
        missing = self.run(
            "scrape-deck", {"url": f"{samples}/fresnel-lenses.html"}, "Fresnel lenses compared", token=agent
        )
        drafted = self.draft("reader", "Release notes, drafted by an agent", 45)
        self.propose("Fax this contract to our notary")
        live = self.draft("careful-reader", "Release notes of the week", 2)
        failed = self.run("sample", {})
        assert drafted["state"] == "SUCCEEDED", drafted
        assert missing["state"] == failed["state"] == "FAILED", (missing, failed)
        deck = done["artifacts"]["nodes"][0]["id"]
        run = f"/runs/{failed['id']}"
        return [
            Shot("home", "/", wait="Needs attention"),
            Shot("runs", "/runs", wait="Fresnel lenses compared"),
            Shot("run-failed", run, wait="What happened"),
            Shot("run-resume", run, press="Resume from step 3", wait="Will run"),
            Shot("run-succeeded", f"/runs/{page['id']}?step=render", wait="made by Render"),
            Shot("run-wrong-input", f"/runs/{missing['id']}", wait="What happened"),
            Shot("run-transcript", f"/runs/{drafted['id']}?step=draft&tab=transcript", wait="Denied"),
            Shot("run-live", f"/runs/{live['id']}", wait="Write the file"),
            Shot("run-as-pipeline", f"/pipelines/new?run={done['id']}", press="Save…"),
            Shot("runs-compared", f"/runs/compare?a={done['id']}&b={again['id']}", wait="same as the first"),
            Shot("pipelines", "/pipelines", wait="made here"),
            Shot("pipeline", "/pipelines/monday-reading", wait="Last runs"),
            Shot("editor", "/pipelines/monday-reading/edit?step=render", wait="Test this step…"),
            Shot("editor-yaml", "/pipelines/monday-reading/edit?view=yaml", wait="No problems."),
            Shot("versions", "/pipelines/monday-reading/versions?a=1&b=2", wait="What differs"),
            Shot("run-form", "/pipelines/monday-reading/run", wait="from 2 of your last 3 runs"),
            Shot("catalog", "/catalog?accepts=document", wait="5 entries"),
            Shot("pack", "/catalog/slides.render", wait="Use it when"),
            Shot("artifacts", "/artifacts", wait="10 files"),
            Shot("artifact", f"/artifacts/{deck}", wait="14 pages"),
            Shot("memory", "/memory", wait="3 successful uses"),
            Shot("proposals", "/proposals", wait="1 proposal"),
            Shot("connect", "/connect?client=claude-code", wait="or, in a shell"),
            Shot("credentials", "/credentials", wait="2 credentials"),
            Shot("credential", f"/credentials/{github}", wait="Who may use it"),
            Shot("tokens", "/tokens", wait="never called"),
            Shot("audit", "/audit", wait="entries"),
            Shot("settings", "/settings", wait="About this server"),
            Shot("palette", "/runs", press="Control+k"),
            Shot("sign-in", "/", wait="Sign in", signed_in=False),
            Shot("phone-home", "/", wait="Needs attention", size=PHONE),
            Shot("phone-runs", "/runs", wait="Fresnel lenses compared", size=PHONE),
            Shot("phone-more", "/memory", press="More", size=PHONE),
            Shot("phone-run", run, wait="What happened", size=PHONE),
        ]


async def take(
    browser: Browser, servers: LocalServers, running: Running, shots: list[Shot], theme: Theme, folder: Path
) -> None:
    """Takes every picture in one theme."""
    tabs: dict[tuple[bool, bool], Page] = {}
    for shot in shots:
        kind = (shot.signed_in, shot.size == PHONE)
        if (page := tabs.get(kind)) is None:
            page = tabs[kind] = await _tab(browser, theme, phone=shot.size == PHONE)
            if shot.signed_in:
                await page.goto(servers.login_link(running))
                await page.wait_for_url(f"{running.url}/")
        await page.set_viewport_size({"width": shot.size[0], "height": shot.size[1]})
        await page.goto(running.url + shot.path)
        await _settle(page, shot)
        file = folder / f"{shot.name}-{theme}.webp"
        # Playwright itself writes no WebP, which is half the size here.
        session = await page.context.new_cdp_session(page)
        taken = await session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
        await session.detach()
        file.write_bytes(base64.b64decode(taken["data"]))
        print(f"{file}  {file.stat().st_size / 1000:.0f} kB", flush=True)
    for page in tabs.values():
        await page.context.close()


async def _tab(browser: Browser, theme: Theme, *, phone: bool) -> Page:
    context = await browser.new_context(color_scheme=theme, reduced_motion="reduce", has_touch=phone, is_mobile=phone)
    page = await context.new_page()
    page.set_default_timeout(60_000)
    return page


async def _settle(page: Page, shot: Shot) -> None:
    await page.locator("main h1").first.wait_for()
    if shot.press is not None:
        if "+" in shot.press:
            await page.keyboard.press(shot.press)
        else:
            await page.get_by_role("button", name=shot.press).first.click()
        await page.get_by_role("dialog").wait_for()
    if shot.wait is not None:
        await page.get_by_text(shot.wait).filter(visible=True).first.wait_for()
    await page.wait_for_function(_IS_WHOLE)
    # A picture of a document renders in a separate process.
    await page.wait_for_timeout(700)


async def photograph(servers: LocalServers, running: Running, shots: list[Shot], folder: Path) -> None:
    """Takes every picture in both themes."""
    from playwright.async_api import async_playwright

    # The headless shell shows no PDF.
    whole = [name for name in CHROMIUM if name != "chromium-headless-shell"]
    chromium = next(filter(None, map(shutil.which, whole)), None)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        await take(browser, servers, running, shots, "light", folder)
        await take(browser, servers, running, shots, "dark", folder)
        await browser.close()


def main() -> int:
    """Returns the exit status of the process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="pictures to take; all when left out")
    parser.add_argument("--into", type=Path, default=PAGES, metavar="FOLDER", help="where to put them")
    parser.add_argument("--wait", action="store_true", help="keep the server until Enter is pressed")
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="packline-pictures-") as folder:
        add_agents(Path(folder))
        servers = LocalServers({**os.environ, "PACKLINE_DATA_DIR": folder, "PACKLINE_PORT": str(port)})
        running, _ = servers.open()
        try:
            shots = SampleData(servers, running).create()
            wanted = [shot for shot in shots if not given.names or shot.name in given.names]
            asyncio.run(photograph(servers, running, wanted, given.into.resolve()))
            if given.wait:
                input(f"{servers.login_link(running)} — Enter ends it. ")
        finally:
            servers.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
