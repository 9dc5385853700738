"""Pipelines, packs and the catalog: what every operation on them promises."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.front_door import step
from tests.support.surfaces import Refused, states

if TYPE_CHECKING:
    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")

ECHO = step("say", "test.echo", text="${{ inputs.words }}")


def document(key: str, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"key": key, "name": key.title(), "steps": list(steps or (ECHO,)), **more}


@states("check_pipeline", "pipeline")
async def test_a_check_tells_all_issues_and_saves_nothing(api: Api) -> None:
    good = await api.me.call("check_pipeline", definition={"document": document(api.key)})
    assert (good["valid"], good["preflight"]["usable"]) == (True, True)
    assert list(good["inputSchema"]["properties"]) == ["words"]

    wrong = document(api.key, step("say", "test.ecko"), step("say", "test.echo", text="${{ steps.later.output }}"))
    bad = await api.me.call("check_pipeline", definition={"document": wrong})
    assert bad["valid"] is False
    assert len({issue["rule"] for issue in bad["issues"] if issue["severity"] == "ERROR"}) >= 3
    assert await api.me.call("pipeline", id=api.key) is None


@states("create_pipeline", "update_pipeline", "check_pipeline", "pipeline")
async def test_a_definition_keeps_no_url_with_credentials(api: Api) -> None:
    secret = "https://me:s3cr3t@git.example/a.git"
    saying = step("say", "test.echo", text="${{ inputs.words }}")

    def defaulted(default: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"words": {"type": "string", "default": default}}}

    for wrong, path in (
        (document(api.key, saying, inputs=defaulted(secret)), ["inputs", "properties", "words", "default"]),
        (document(api.key, step("say", "test.echo", text=" BOB:s3cr3t @host/x")), ["steps", "0", "input", "text"]),
        (
            document(api.key, step("say", "test.echo", text="https://${{ inputs.name }}:s3cr3t@${{ inputs.host }}/")),
            ["steps", "0", "input", "text"],
        ),
    ):
        refused = await api.refusal("create_pipeline", definition={"document": wrong})
        paths = [issue["path"] for issue in refused.details["issues"] if issue["rule"] == "url_credentials"]
        assert [path] == paths, refused.details
        checked = await api.me.call("check_pipeline", definition={"document": wrong})
        assert [issue["rule"] for issue in checked["issues"]].count("url_credentials") == 1
        assert "s3cr3t" not in json.dumps([refused.details, str(refused), checked["issues"]])
    assert await api.me.call("pipeline", id=api.key) is None

    built = step("say", "test.echo", text="https://x:${{ inputs.words }}@git.example/a.git")
    await api.me.call("create_pipeline", definition={"document": document(api.key, built)})
    change = {"fields": {"inputs": defaulted(secret)}}
    assert (await api.refusal("update_pipeline", pipeline=api.key, change=change, ifVersion=1)).code == "INVALID"


@states("create_pipeline", "update_pipeline", "pipeline")
async def test_each_save_is_a_version_and_a_stale_one_is_refused(api: Api) -> None:
    made = await api.me.call("create_pipeline", definition={"document": document(api.key)}, note="first")
    assert made["newVersion"] is True
    first = made["pipeline"]["currentVersion"]
    assert (first["number"], first["note"]) == (1, "first")
    again = await api.refusal("create_pipeline", definition={"document": document(api.key)})
    assert (again.code, again.details["current"]["id"]) == ("CONFLICT", made["pipeline"]["id"])

    changed = await api.me.call(
        "update_pipeline", pipeline=api.key, change={"fields": {"description": "Says it."}}, ifVersion=1, note="second"
    )
    assert changed["pipeline"]["currentVersion"]["number"] == 2
    assert changed["pipeline"]["currentVersion"]["digest"] != first["digest"]
    stale = await api.refusal("update_pipeline", pipeline=api.key, change={"fields": {"name": "N"}}, ifVersion=1)
    assert stale.code == "CONFLICT"
    other = await api.as_caller("other", "READ", "WRITE")
    seen = await other.call("pipeline", id=api.key)
    assert [(version["number"], version["note"]) for version in seen["versions"]["nodes"]] == [
        (2, "second"),
        (1, "first"),
    ]
    assert seen["versions"]["nodes"][0]["createdBy"]["subject"] == api.subject


@states("clone_pipeline", "delete_pipeline", "pipelines", "run_pipeline", "get_run")
async def test_a_clone_stands_alone_and_a_deleted_pipeline_keeps_its_runs(api: Api) -> None:
    await api.save(ECHO)
    run = (await api.me.call("run_pipeline", pipeline=api.key, inputs={"words": "hi"}, waitSeconds=20))["run"]
    clone = (await api.me.call("clone_pipeline", pipeline=api.key, key=f"{api.key}-copy"))["pipeline"]

    assert (await api.refusal("delete_pipeline", pipeline=api.key, confirmKey="another")).code == "INVALID"
    other = await api.as_caller("other", "READ", "WRITE")
    with pytest.raises(Refused, match="FORBIDDEN"):
        await other.call("delete_pipeline", pipeline=api.key, confirmKey=api.key)
    assert "deletedId" in await api.me.call("delete_pipeline", pipeline=api.key, confirmKey=api.key)

    listed = await api.me.call("pipelines", filter={"text": api.key}, orderBy="NAME")
    assert [pipeline["key"] for pipeline in listed["nodes"]] == [clone["key"]]
    assert (await api.refusal("run_pipeline", pipeline=api.key, inputs={"words": "x"})).code == "NOT_FOUND"
    assert (await api.me.call("get_run", id=run["id"]))["state"] == "SUCCEEDED"
    assert (await api.me.call("pipelines", first=1, filter={"text": "pipeline"}))["pageInfo"]["endCursor"]


@states("apply_pipelines", "pipeline")
async def test_applying_is_all_or_nothing_and_applying_twice_changes_nothing(api: Api) -> None:
    both = "\n---\n".join(json.dumps(document(f"{api.key}-{name}")) for name in ("a", "b"))

    dry = await api.me.call("apply_pipelines", yaml=both, dryRun=True)
    assert [change["action"] for change in dry["changes"]] == ["CREATE", "CREATE"]
    assert await api.me.call("pipeline", id=f"{api.key}-a") is None
    for actions in (["CREATE", "CREATE"], ["KEEP", "KEEP"]):
        applied = await api.me.call("apply_pipelines", yaml=both)
        assert [change["action"] for change in applied["changes"]] == actions

    broken = (
        json.dumps(document(f"{api.key}-a", name="New name"))
        + "\n---\n"
        + json.dumps(document("c", step("x", "no.pack")))
    )
    assert (await api.refusal("apply_pipelines", yaml=broken)).code == "INVALID"
    assert (await api.me.call("pipeline", id=f"{api.key}-a"))["currentVersion"]["number"] == 1


@states("pack", "catalog", "run_pack")
async def test_packs_and_pipelines_are_found_by_words_and_kinds(api: Api) -> None:
    # One word: a search for two finds entries that have one of them.
    word = api.key.replace("-", "")
    await api.save(ECHO, metadata={"accepts": ["text"], "produces": ["text"], "intent_keywords": [word]})
    await api.me.call("run_pack", pack="test.echo", input={"text": "hi"}, waitSeconds=20)

    echo = await api.me.call("pack", id="test.echo")
    assert (echo["version"], echo["effects"], echo["availability"]["usable"]) == ("1.0.0", "NONE", True)
    assert "text" in echo["inputSchema"]["properties"]
    assert echo["usage"]["runs"] >= 1
    assert await api.me.call("pack", id="test.none") is None
    found = await api.me.call("catalog", filter={"text": word, "kind": "PIPELINE"})
    assert [entry["name"] for entry in found["nodes"]] == [api.key]
    makers = await api.me.call("catalog", filter={"kind": "PACK", "produces": ["document"]}, first=50)
    assert [entry["id"] for entry in makers["nodes"]] == ["test.artifact"]
