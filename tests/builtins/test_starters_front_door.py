"""Every starter end to end: a real server with all that ships, over loopback services that speak the real protocols."""

from __future__ import annotations

import io
import json
import re
import wave
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from tests.support.front_door import command, look, start, until_state
from tests.support.ghost_server import ADMIN_API_KEY, GhostDouble
from tests.support.git_server import GitServer
from tests.support.loopback_http import LoopbackHttp, Reply, loopback_http
from tests.support.loopback_sites import searxng
from tests.support.model_server import Asked, ModelServer, model_server
from tests.support.pack_harness import SAMPLES
from tests.support.product import product
from tests.support.scripted_http import serving
from tests.support.speech_server import tone
from tests.support.vaults import put

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.asyncio(loop_scope="module")]

FRESNEL = (
    "# Lenses\n\n## The first\n\nThe first Fresnel lens was used in 1823 in the Cordouan lighthouse. It was built by "
    "Augustin-Jean Fresnel.\n\n## What it does\n\nIt bends light into a beam. It weighs less than a solid lens of the "
    "same power.\n"
)
#: Short: a voice takes a tenth of a second for each word, and every second of film is pictures that are drawn.
SPOKEN = "# Lenses\n\nThe first Fresnel lens was used in 1823. It bends light into a beam.\n"
README = (
    "# Lamp\n\nLamp turns a light on and off at the times you tell it. It needs no network and no account. "
    "The timer asks the sun, and the sun answers slowly but always. Lamps that stand outside are told about rain.\n\n"
    "## Install\n\nYou copy one file to the machine that the lamp hangs on. Then you tell the file when night is. "
    "Nothing else has to be set up, and nothing has to be paid.\n"
)
BLOG = {"audience": "hobby sailors", "title": "Lights at sea"}
SHORT = {"duration_target_min": 0.5}


@dataclass
class World:
    """Packline and what is around it."""

    it: Product
    models: ModelServer | None
    web: LoopbackHttp
    git: GitServer
    ghost: GhostDouble

    async def run(self, key: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """A run of a starter that has ended; its artifacts' contents by media type."""
        started = await start(self.it, key, inputs)
        assert started["__typename"] == "StartRunSuccess", started
        return await self.ended(started["run"]["id"])

    async def ended(self, run_id: str) -> dict[str, Any]:
        """The run once it has."""
        await until_state(self.it, run_id, "SUCCEEDED")
        run: dict[str, Any] = await look(self.it, run_id, select=MORE)
        return run

    async def content(self, run: dict[str, Any], media_type: str) -> bytes:
        """The artifact of that type, downloaded as a browser would."""
        nodes = [node for node in run["artifacts"]["nodes"] if node["mediaType"].startswith(media_type)]
        assert nodes, [node["mediaType"] for node in run["artifacts"]["nodes"]]
        answer = await self.it.admin.http.get(self.it.url(nodes[-1]["downloadUrl"].removeprefix(self.it.url(""))))
        assert answer.status_code == 200
        return bytes(answer.content)


MORE = """
  output { json }
  artifacts(first: 20) { nodes { name mediaType sizeBytes downloadUrl } }
  cost { usage { input output } amountUsd }
"""


@pytest_asyncio.fixture(params=["model", "none"], scope="module", loop_scope="module")
async def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """With a writing model and without; for tests that start runs and look at these alone."""
    async with AsyncExitStack() as stack:
        yield await make_world(stack, tmp_path_factory.mktemp("world"), ["good"] if request.param == "model" else [])


async def make_world(stack: AsyncExitStack, folder: Path, writer: list[str], **settings: Any) -> World:
    routes = {
        "/search": searxng(),
        "/lens.html": Reply((SAMPLES / "fresnel-lens.html").read_bytes(), headers={"content-type": "text/html"}),
        "/paper.pdf": Reply((SAMPLES / "lighthouses.pdf").read_bytes(), headers={"content-type": "application/pdf"}),
        "/robots.txt": Reply(b"", 404),
    }
    web = await stack.enter_async_context(loopback_http(routes))
    models = await stack.enter_async_context(model_server()) if writer else None
    if models is not None:
        models.answer = post_or_default
    ghost = await stack.enter_async_context(serving(GhostDouble()))
    git = stack.enter_context(GitServer(folder / "git"))
    git.add_repository("lamp", {"README.md": README, "lamp/core.py": 'def shine(level):\n    """Makes light."""\n'})
    roles = models.settings(writer=writer) if models is not None else {}
    it = await stack.enter_async_context(
        product(
            folder,
            builtins=True,
            service_urls={"searxng": web.url("")},
            egress_allow=["127.0.0.1"],
            **roles,
            **settings,
        )
    )
    return World(it, models, web, git, ghost)


def post_or_default(asked: Asked) -> dict[str, Any] | None:
    """A post or a conversation of the sentences it was given; everything else as the double answers it."""
    fields = set(asked.schema["properties"]) if asked.schema is not None else set()
    sentences = re.findall(r"[A-Z][^.!?\n#<>:]{20,300}[.!?]", asked.prompt)
    if fields >= {"title", "turns"}:
        turns = [
            {"speaker": ("Host", "Guest")[number % 2], "text": text, "chapter": ""}
            for number, text in enumerate(sentences[:6])
        ]
        return {"title": "A talk", "turns": turns}
    if not fields >= {"markdown", "excerpt", "tags"}:
        return None
    words = " ".join(sentences).split()
    paragraphs = [" ".join(sentences)] * (1 + 300 // max(len(words), 1))
    return {"markdown": "## What it is\n\n" + "\n\n".join(paragraphs), "excerpt": sentences[0], "tags": ["lights"]}


def is_written(world: World) -> bool:
    return world.models is not None


def starters(inputs: dict[str, dict[str, Any]], *, sample: list[tuple[str, str]]) -> pytest.MarkDecorator:
    """Starters by key, in both worlds; those that are not in the sample are for `make sweeps`."""
    return pytest.mark.parametrize(
        ("world", "key", "inputs"),
        [
            pytest.param(
                world, key, given, marks=() if (world, key) in sample else pytest.mark.sweep, id=f"{world}-{key}"
            )
            for world in ("model", "none")
            for key, given in inputs.items()
        ],
        indirect=["world"],
    )


# ----------------------------------------------------------------------------------------------------- slides


@pytest.mark.parametrize("key", ["research-deck", "research-ground-deck"])
async def test_a_question_becomes_a_deck(world: World, key: str) -> None:
    run = await world.run(key, {"query": "Fresnel lens lighthouse", "max_slides": 6})
    assert (await world.content(run, "application/pdf")).startswith(b"%PDF-")
    spent = (run["cost"]["usage"] or {}).get("input")
    assert bool(spent) == is_written(world), "models are asked where there are any, and what they cost is told"


async def test_a_text_becomes_a_deck_with_sources(world: World) -> None:
    run = await world.run("grounded-deck", {"markdown": FRESNEL, "format": "html"})
    assert b"Fresnel" in await world.content(run, "text/html")


# -------------------------------------------------------------------------------------------------- narration


@starters(
    {
        "grounded-narrate": {"markdown": SPOKEN},
        "research-narrate": {"query": "Fresnel lens lighthouse"},
        "repo-presentation": {},
    },
    sample=[("none", "grounded-narrate"), ("model", "repo-presentation")],
)
async def test_narrated_starters_leave_a_spoken_video_with_captions(
    world: World, key: str, inputs: dict[str, Any]
) -> None:
    given = {"repo_url": world.git.url("lamp")} if key == "repo-presentation" else inputs
    run = await world.run(key, {**given, "max_slides": 6, "resolution": "720p"})
    output = run["output"]["json"]
    assert output["has_narration"]
    seconds, kinds = probe(await world.content(run, "video/mp4"))
    assert abs(seconds - output["duration_seconds"]) < 1
    assert {"video", "audio"} <= kinds
    captions = (await world.content(run, "application/x-subrip")).decode()
    assert "-->" in captions


# --------------------------------------------------------------------------------------------------- podcasts


@starters(
    {
        "grounded-podcast": {"markdown": SPOKEN},
        "research-podcast": {"query": "Fresnel lens lighthouse"},
        "repo-readme-podcast": {},
    },
    sample=[("none", "grounded-podcast"), ("model", "repo-readme-podcast")],
)
async def test_podcast_starters_leave_a_spoken_conversation(world: World, key: str, inputs: dict[str, Any]) -> None:
    given = {"repo_url": world.git.url("lamp")} if key == "repo-readme-podcast" else inputs
    run = await world.run(key, {**given, **SHORT})
    output = run["output"]["json"]
    assert output["has_narration"]
    assert len({speaker["voice"] for speaker in output["speakers"]}) == 2
    seconds, kinds = probe(await world.content(run, "audio/mpeg"))
    assert abs(seconds - output["duration_seconds"]) < 1
    assert kinds == {"audio"}


# ----------------------------------------------------------------------------------------------------- videos


TALK = "# Lights\n\nLenses bend light.\n"
HTML = (
    """<html data-duration="1"><body style="margin:0;background:#123"><div style="color:#fff">Hi</div></body></html>"""
)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("key", "inputs", "kinds"),
    [
        ("html-video", {"composition_html": HTML}, {"video"}),
        pytest.param("prompt-video", {"description": TALK}, {"video"}, marks=pytest.mark.sweep),
        ("prompt-narrated-video", {"description": TALK, **SHORT}, {"video", "audio"}),
        pytest.param(
            "scaffolded-narrated-video",
            {"description": TALK, "example": "explainer", **SHORT},
            {"video", "audio"},
            marks=pytest.mark.sweep,
        ),
    ],
)
async def test_video_starters_film_what_they_are_given(
    tmp_path: Path, key: str, inputs: dict[str, Any], kinds: set[str]
) -> None:
    async with AsyncExitStack() as stack:
        world = await make_world(stack, tmp_path, [])
        run = await world.run(key, inputs)
        output = run["output"]["json"]
        seconds, found = probe(await world.content(run, "video/mp4"))
        assert abs(seconds - output["duration_seconds"]) < 0.5
        assert found == kinds


@pytest.mark.browser
async def test_a_recording_of_ones_own_gets_its_pictures(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        world = await make_world(stack, tmp_path, [])
        sound = io.BytesIO()
        with wave.open(sound, "wb") as written:
            written.setnchannels(1)
            written.setsampwidth(2)
            written.setframerate(24_000)
            written.writeframes(tone("Some words of my own."))
        url = (await world.it.query("{ server { uploadUrl } }"))["server"]["uploadUrl"]
        answer = await world.it.admin.http.post(
            world.it.url(f"{urlsplit(url).path}?name=talk.wav"),
            content=sound.getvalue(),
            headers={"authorization": f"Bearer {world.it.token}", "content-type": "audio/wav"},
        )
        uploaded = answer.json()["artifact"]["id"]
        run = await world.run(
            "byo-audio-narrated-video",
            {"description": TALK, "audio_artifact_key": uploaded, "duration_seconds": 2},
        )
        _, kinds = probe(await world.content(run, "video/mp4"))
        assert kinds == {"video", "audio"}


# ------------------------------------------------------------------------------------------------------ posts


BLOGS = {
    "brief-rewrite-blog": {"brief": FRESNEL},
    "scrape-rewrite-blog": {"url": "/lens.html"},
    "doc-rewrite-blog": {"source_url": "/paper.pdf"},
    "research-rewrite-blog": {"query": "Fresnel lens lighthouse"},
}


def addressed(world: World, inputs: dict[str, Any]) -> dict[str, Any]:
    return {name: world.web.url(value) if value.startswith("/") else value for name, value in inputs.items()}


@pytest.mark.parametrize("key", BLOGS)
async def test_posts_are_written_where_a_model_is_and_refused_before_anything_is_spent_where_none_is(
    world: World, key: str
) -> None:
    inputs = addressed(world, BLOGS[key]) | BLOG | {"project_url": "https://lamps.example/"}
    if not is_written(world):
        world.web.requests.clear()
        refused = await start(world.it, key, inputs)
        assert refused["__typename"] == "UnavailableProblem"
        assert "model" in json.dumps(refused)
        assert world.web.requests == []
        return
    run = await world.run(key, inputs)
    post = (await world.content(run, "text/markdown")).decode()
    assert 'title: "Lights at sea"' in post
    assert "https://lamps.example/" in post


async def test_a_post_goes_to_ghost_once(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        world = await make_world(stack, tmp_path, ["good"])
        fields = {"url": world.ghost.http.url(""), "admin_api_key": ADMIN_API_KEY}
        await put(world.it, "ghost", "ghost", fields, grants=["blog.publish"])
        run = await world.run("brief-rewrite-blog", {"brief": FRESNEL, **BLOG, "target": "ghost"})
        assert run["output"]["json"]["target"] == "ghost"
        assert len(world.ghost.posts) == 1


# ---------------------------------------------------------------------------------------------- earlier names


@pytest.mark.parametrize("world", ["model"], indirect=True)
@pytest.mark.parametrize(
    ("alias", "inputs"),
    [
        ("grounded-blog", {"markdown": FRESNEL}),
        ("builtin.grounded-blog", {"markdown": FRESNEL}),
        ("scrape-ground-blog", {"url": "/lens.html"}),
        ("doc-ground-blog", {"source_url": "/paper.pdf"}),
        ("research-blog", {"query": "Fresnel lens"}),
    ],
)
async def test_earlier_names_take_the_inputs_of_then_and_name_what_is_newly_required(
    world: World, alias: str, inputs: dict[str, Any]
) -> None:
    given = addressed(world, inputs) | {"title": "Lights at sea"}
    refused = await start(world.it, alias, given)
    assert refused["__typename"] == "InvalidProblem"
    assert [issue["path"] for issue in refused["issues"]] == [["inputs", "audience"]]
    started = await start(world.it, alias, given | {"audience": "hobby sailors"})
    assert any(warning["rule"] == "earlier_name" for warning in started["warnings"]), started
    await world.ended(started["run"]["id"])


# ----------------------------------------------------------------------------------------------------- faults


FAULTY = {"brief": FRESNEL, **BLOG}


@pytest.mark.parametrize(
    ("model", "code", "retryable"),
    [  # each failure of a single step is in tests/runner/gateway/test_runs.py
        ("limited", "RATE_LIMITED", True),
        ("refused", "CREDENTIAL_INVALID", False),
        *(
            pytest.param(*row, marks=pytest.mark.sweep)
            for row in (
                ("limited-plain", "RATE_LIMITED", True),
                ("down", "UPSTREAM_UNAVAILABLE", True),
                ("dropped", "UPSTREAM_UNAVAILABLE", True),
                ("unknown", "INVALID_INPUT", False),
                ("cut", "INVALID_OUTPUT", False),
                ("misfit", "INVALID_OUTPUT", False),
                ("garbled", "UPSTREAM_UNAVAILABLE", True),
            )
        ),
    ],
)
async def test_a_models_failure_is_told_apart_and_only_what_is_transient_is_waited_for(
    tmp_path: Path, model: str, code: str, retryable: bool
) -> None:
    async with AsyncExitStack() as stack:
        world = await make_world(stack, tmp_path, [model])
        started = await start(world.it, "brief-rewrite-blog", FAULTY)
        run_id = started["run"]["id"]
        await until_state(world.it, run_id, "WAITING" if retryable else "FAILED")
        run = await look(world.it, run_id, select="steps { key state attempts { number failure { code } } }")
        rewrite = next(each for each in run["steps"] if each["key"] == "rewrite")
        assert [attempt["failure"]["code"] for attempt in rewrite["attempts"]] == [code]
        if retryable:
            await command(world.it, "cancelRun", id=run_id)
            await until_state(world.it, run_id, "CANCELLED")


async def test_the_next_model_of_a_role_answers_where_the_first_cannot(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        world = await make_world(stack, tmp_path, ["down", "anthropic:good"])
        run = await world.run("brief-rewrite-blog", FAULTY)
        assert run["state"] == "SUCCEEDED"
        assert world.models is not None
        assert {asked.protocol for asked in world.models.asked} == {"openai", "anthropic"}


def probe(content: bytes) -> tuple[float, set[str]]:
    """Length in seconds and kinds of streams."""
    import av

    with av.open(io.BytesIO(content)) as opened:
        assert opened.duration is not None
        return opened.duration / 1_000_000, {stream.type for stream in opened.streams}
