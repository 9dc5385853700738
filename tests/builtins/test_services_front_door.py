"""GitHub, Ghost and mail through the front door: credential stored and granted, run started, service looked at."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.front_door import command, look, ran, save, start, step, until_state
from tests.support.ghost_server import ADMIN_API_KEY, SECRET, GhostDouble
from tests.support.github_server import TOKEN, GitHubDouble
from tests.support.pack_harness import load_pack
from tests.support.product import product
from tests.support.scripted_http import cut_off, serving, status
from tests.support.smtp_server import DROP, PASSWORD, USERNAME, SmtpDouble, serving_mail
from tests.support.vaults import put, tried

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product

PACKS = [
    load_pack(f"{name}.py")
    for name in ("github/get_issue", "github/create_issue", "github/post_comment", "blog/publish", "email/send")
]
AT_ONCE = {"max_attempts": 3, "initial_seconds": 0.01, "jitter": 0}
ISSUE = {"repo": "octo/lights", "title": "Lamp flickers", "body": "At night."}


@dataclass
class World:
    """Packline and the services around it."""

    it: Product
    github: GitHubDouble
    ghost: GhostDouble
    mail: SmtpDouble

    async def call(self, pack: str, **given: Any) -> dict[str, Any]:
        """A run of a single pack, or the problem."""
        answer = await command(self.it, "runPack", pack=pack, input=given, waitSeconds=20)
        told: dict[str, Any] = answer.get("run") or answer
        return told


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        github = await stack.enter_async_context(serving(GitHubDouble()))
        ghost = await stack.enter_async_context(serving(GhostDouble()))
        mail = await stack.enter_async_context(serving_mail(SmtpDouble()))
        it = await stack.enter_async_context(
            product(
                tmp_path,
                PACKS,
                service_urls={"github": github.http.url("")},
                egress_allow=[f"127.0.0.1:{ghost.http.port}"],
            )
        )
        github.add("octo/lights", branches={"main", "fix-lamp"})
        yield World(it, github, ghost, mail)


async def grant(world: World, kind: str, *packs: str) -> dict[str, Any]:
    fields = {
        "github": {"token": TOKEN},
        "ghost": {"url": world.ghost.http.url(""), "admin_api_key": ADMIN_API_KEY},
        "smtp": {
            "host": "127.0.0.1",
            "port": world.mail.port,
            "security": "none",
            "username": USERNAME,
            "password": PASSWORD,
            "from": "Packline <packline@example.org>",
        },
    }[kind]
    return await put(world.it, kind, kind, fields, grants=list(packs))


# --------------------------------------------------------------------------------------------------------- GitHub


async def test_an_issue_is_opened_with_the_stored_token(world: World) -> None:
    made = await grant(world, "github", "github.create_issue")
    assert (await tried(world.it, made["id"]))["lastTest"]["accepted"]

    run = await world.call("github.create_issue", **ISSUE)

    assert run["state"] == "SUCCEEDED", run
    output = run["output"]["json"]
    assert (output["number"], output["author"], output["created"]) == (1, "packline-bot", True)
    assert world.github.writes == 1
    assert run["steps"][0]["milestones"][-1]["message"] == "Issue 1 of octo/lights"
    assert TOKEN not in json.dumps(run)


async def test_without_a_grant_nothing_is_asked(world: World) -> None:
    await grant(world, "github", "github.post_comment")
    told = await world.call("github.create_issue", **ISSUE)
    assert told.get("state") != "SUCCEEDED"
    assert "github" in json.dumps(told)
    assert world.github.http.requests == []


async def test_reading_does_without(world: World) -> None:
    world.github.add_issue(world.github.repositories["octo/lights"], "Lamp flickers")
    run = await world.call("github.get_issue", repo="octo/lights", issue_number=1)
    assert run["state"] == "SUCCEEDED", run
    assert "authorization" not in world.github.http.requests[0].headers


async def test_a_lost_answer_is_retried_and_opens_one_issue(world: World) -> None:
    await grant(world, "github", "github.create_issue")
    world.github.faults.add(cut_off, method="POST", after=True)
    await save(world.it, "report", step("open", "github.create_issue", retry=AT_ONCE, **ISSUE))

    run = await ran(world.it, "report")

    assert run["state"] == "SUCCEEDED", run["failure"]
    (opened,) = run["steps"]
    assert [attempt["state"] for attempt in opened["attempts"]] == ["FAILED", "SUCCEEDED"]
    assert opened["attempts"][0]["failure"]["code"] == "UPSTREAM_UNAVAILABLE"
    assert not opened["output"]["json"]["created"]
    assert world.github.writes == 1


async def test_the_wait_github_asks_for_is_stored(world: World) -> None:
    await grant(world, "github", "github.create_issue")
    world.github.faults.add(status(429, retry_after=40), method="POST")
    await save(world.it, "report", step("open", "github.create_issue", retry=AT_ONCE, **ISSUE))
    before = datetime.now(UTC)

    started = (await start(world.it, "report"))["run"]
    run = await until_state(world.it, started["id"], "WAITING")

    assert datetime.fromisoformat(run["wait"]["until"]) >= before + timedelta(seconds=40)
    await command(world.it, "cancelRun", id=run["id"])
    assert world.github.writes == 0


async def test_a_resumed_step_keeps_its_mark(world: World) -> None:
    await grant(world, "github", "github.create_issue")
    world.github.faults.add(status(401, {"message": "Bad credentials"}), method="POST", after=True)
    await save(world.it, "report", step("open", "github.create_issue", retry=AT_ONCE, **ISSUE))
    failed = await ran(world.it, "report")
    assert failed["failure"]["code"] == "CREDENTIAL_INVALID"
    assert failed["failure"]["safeToRepeat"]

    resumed = (await command(world.it, "resumeRun", id=failed["id"], waitSeconds=20))["run"]

    assert resumed["state"] == "SUCCEEDED", resumed["failure"]
    assert not resumed["output"]["json"]["created"]
    assert world.github.writes == 1


# ---------------------------------------------------------------------------------------------------------- Ghost


async def test_a_post_is_published_once_although_its_answer_was_lost(world: World) -> None:
    made = await grant(world, "ghost", "blog.publish")
    assert (await tried(world.it, made["id"]))["lastTest"]["accepted"]
    world.ghost.faults.add(status(502), method="POST", after=True)
    post = {"title": "Lights at sea", "body": "Fire, then glass.", "target": "ghost", "status": "published"}
    await save(world.it, "post", step("publish", "blog.publish", retry=AT_ONCE, **post))

    run = await ran(world.it, "post")

    assert run["state"] == "SUCCEEDED", run["failure"]
    (stored,) = world.ghost.posts.values()
    output = run["output"]["json"]
    assert output["url"] == stored["url"] == world.ghost.http.url("/lights-at-sea/")
    assert len(run["steps"][0]["attempts"]) == 2
    assert run["steps"][0]["artifacts"]
    told = json.dumps(await look(world.it, run["id"]))
    assert SECRET not in told


async def test_a_file_needs_no_credential_and_is_retried_as_before(world: World) -> None:
    run = await world.call("blog.publish", title="Lights at sea", body="Fire, then glass.")
    assert run["state"] == "SUCCEEDED", run
    assert run["output"]["json"]["status"] == "saved"
    refused = await world.call("blog.publish", title="Lights at sea", body="Fire.", target="ghost")
    assert refused["failure"]["code"] == "CREDENTIAL_INVALID"
    assert world.ghost.http.requests == []


# ----------------------------------------------------------------------------------------------------------- mail


async def test_mail_is_sent_with_what_an_earlier_step_made(world: World) -> None:
    made = await grant(world, "smtp", "email.send")
    assert (await tried(world.it, made["id"]))["lastTest"]["accepted"]
    await save(
        world.it,
        "mail",
        step("post", "blog.publish", title="Lights at sea", body="Fire, then glass."),
        step(
            "send",
            "email.send",
            to=["ada@example.org"],
            subject="${{ steps.post.output.slug }}",
            markdown="*Attached.*",
            attachments=["${{ steps.post.output.artifact.artifact_id }}"],
        ),
    )

    run = await ran(world.it, "mail")

    assert run["state"] == "SUCCEEDED", run["failure"]
    (mail,) = world.mail.mails
    (attachment,) = mail.message.iter_attachments()
    assert attachment.get_filename() == "lights-at-sea.md"
    assert b"Fire, then glass." in attachment.get_payload(decode=True)
    assert mail.message["Message-ID"] == run["output"]["json"]["message_id"]
    assert PASSWORD not in json.dumps(run)


async def test_mail_whose_fate_is_unknown_is_not_sent_again_by_itself(world: World) -> None:
    await grant(world, "smtp", "email.send")
    world.mail.script["MESSAGE"], world.mail.keep_when_scripted = DROP, True
    sending = step("send", "email.send", retry=AT_ONCE, to=["ada@example.org"], subject="Hello", text="Hello.")
    await save(world.it, "mail", sending)

    run = await ran(world.it, "mail")

    assert run["failure"]["code"] == "OUTCOME_UNKNOWN"
    assert not run["failure"]["safeToRepeat"]
    assert len(run["steps"][0]["attempts"]) == 1
    world.mail.script.clear()
    resumed = (await command(world.it, "resumeRun", id=run["id"], waitSeconds=20))["run"]
    assert resumed["state"] == "SUCCEEDED", resumed["failure"]
    first, second = world.mail.mails
    assert first.message["Message-ID"] == second.message["Message-ID"]
