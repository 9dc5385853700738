"""Pipelines through the front door: check, save, change, copy, delete, apply, list, look up."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from resolvers import applying
from tests.support.front_door import command, statements
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product

DECK = """\
# The comment stays.
key: shout
name: Shout twice
description: Says it, then says it again.
inputs:
  type: object
  required: [words]
  properties: {words: {type: string, description: What to say.}}
deadline_seconds: 60
steps:
  - id: first
    pack: test.echo
    input: {text: "${{ inputs.words }}"}
    retry: {max_attempts: 2}
  - id: second
    pack: test.slow
    version: "1"
    input: {text: "again: ${{ steps.first.output.text }}"}
    timeout_seconds: 5
metadata:
  intent_keywords: [shout]
  typical_use: Use this to say something twice.
"""
PROBLEM = "... on Problem { code message hint retryable }"
PIPELINE = "id key name description builtin currentVersion { id number digest note } actions"
SAVED = f"__typename ... on PipelineSuccess {{ newVersion warnings {{ rule }} pipeline {{ {PIPELINE} }} }} {PROBLEM}"
CREATE = f"""mutation ($definition: PipelineDefinitionInput!, $note: String) {{
    createPipeline(definition: $definition, note: $note) {{ {SAVED} ... on InvalidProblem {{ issues {{ path rule
    severity message }} }} ... on ConflictProblem {{ current {{ id }} }} ... on ForbiddenProblem {{ requires }} }} }}"""
UPDATE = f"""mutation ($pipeline: ID!, $change: PipelineChangeInput!, $ifVersion: Int!, $note: String) {{
    updatePipeline(pipeline: $pipeline, change: $change, ifVersion: $ifVersion, note: $note) {{ {SAVED}
    ... on NotFoundProblem {{ ref suggestion }} ... on InvalidProblem {{ issues {{ path rule message }} }}
    ... on ConflictProblem {{ current {{ __typename ... on Pipeline {{ currentVersion {{ number }} }} }} }} }} }}"""
CLONE = f"mutation ($p: ID!, $key: Key) {{ clonePipeline(pipeline: $p, key: $key) {{ {SAVED} }} }}"
DELETE = f"""mutation ($p: ID!, $key: Key!) {{ deletePipeline(pipeline: $p, confirmKey: $key) {{
    __typename ... on DeleteSuccess {{ deletedId }} {PROBLEM} }} }}"""
APPLY = f"""mutation ($yaml: String!, $dry: Boolean!) {{ applyPipelines(yaml: $yaml, dryRun: $dry) {{ __typename
    ... on ApplyPipelinesSuccess {{ changes {{ key action diff pipeline {{ id currentVersion {{ number }} }} }} }}
    {PROBLEM} ... on InvalidProblem {{ issues {{ path rule }} }} }} }}"""


@asynccontextmanager
async def running(folder: Path, **options: Any) -> AsyncIterator[Product]:
    async with product(folder, Workbench().packs, **options) as it:
        yield it


async def create(it: Product, text: str, *, token: str | None = None) -> dict[str, Any]:
    saved = await it.mutate(CREATE, {"definition": {"yaml": text}, "note": None}, token=token)
    assert saved["__typename"] == "PipelineSuccess", saved
    pipeline = saved["pipeline"]
    assert isinstance(pipeline, dict)
    return pipeline


def named(key: str, **changes: Any) -> str:
    """A small definition, as JSON, which is YAML too."""
    document = {"key": key, "name": key.title(), "steps": [{"id": "say", "pack": "test.echo", "input": {"text": key}}]}
    return json.dumps({**document, **changes})


async def test_applying_keeps_what_means_the_same_and_no_line_break_that_matters_is_lost(tmp_path: Path) -> None:
    step = "key: tea\nname: Tea\nsteps:\n  - id: say\n    pack: test.echo\n    input:\n      text: "
    async with running(tmp_path) as it:

        async def applied(text: str) -> tuple[str, int]:
            (change,) = (await it.mutate(APPLY, {"yaml": step + text, "dry": False}))["changes"]
            return change["action"], change["pipeline"]["currentVersion"]["number"]

        assert [await applied(text) for text in ("tea", "tea\n")] == [("CREATE", 1), ("KEEP", 1)]
        behind = ("|\n        tea", "|\n        tea\n", "|\n        tea\n")
        assert [await applied(text) for text in behind] == [("UPDATE", 2), ("UPDATE", 3), ("KEEP", 3)]
        separators = ('"te\u2028a"\n', '"te\na"\n')
        assert [await applied(text) for text in separators] == [("UPDATE", 4), ("UPDATE", 5)]


async def test_inputs_are_served_in_their_authors_order_whatever_the_digest(tmp_path: Path) -> None:
    properties = {"zebra": {"type": "string"}, "apple": {"type": "string"}, "mango": {"type": "string"}}
    step = {"id": "say", "pack": "test.echo", "input": {"text": "${{ inputs.zebra? }}"}}
    read = (
        "query ($id: ID!) { pipeline(id: $id) { inputSchema currentVersion { document } } "
        "version: pipeline(id: $id) { currentVersion { inputSchema } } }"
    )
    async with running(tmp_path) as it:
        for key, names in (("one", ["zebra", "apple", "mango"]), ("two", ["mango", "zebra", "apple"])):
            inputs = {"type": "object", "properties": {name: properties[name] for name in names}}
            await create(it, named(key, inputs=inputs, steps=[step]))
            found = await it.query(read, {"id": key})
            assert list(found["pipeline"]["inputSchema"]["properties"]) == names
            assert list(found["version"]["currentVersion"]["inputSchema"]["properties"]) == names
            assert list(found["pipeline"]["currentVersion"]["document"]["inputs"]["properties"]) == names


async def test_a_definition_is_saved_and_read_back_as_it_was_written(tmp_path: Path) -> None:
    async with running(tmp_path) as it:
        saved = await it.mutate(CREATE, {"definition": {"yaml": DECK}, "note": "The first."})
        pipeline = saved["pipeline"]
        assert pipeline["key"] == "shout"
        assert pipeline["currentVersion"]["number"] == 1
        assert pipeline["currentVersion"]["note"] == "The first."
        assert pipeline["actions"] == ["RUN", "UPDATE", "CLONE", "DELETE"]
        read = await it.query(
            """query ($id: ID!) { pipeline(id: $id) {
                owner { subject } inputSchema aliases latestRun { id } usage { runs failed medianDurationSeconds }
                metadata { accepts produces intentKeywords typicalUse supersedes derived }
                availability { usable missing { name } checkedAt }
                currentVersion { yaml document deadlineSeconds inputSchema createdBy { subject } pipeline { key } }
                steps { __typename key position timeoutSeconds retry { maxAttempts jitter }
                    references { path expression sourceStep sourcePath }
                    ... on PackStep { packName packVersion input pack { id version } } }
                versions { nodes { number } } versionByNumber(number: 1) { number }
                none: versionByNumber(number: 9) { id }
            } }""",
            {"id": "shout"},
        )
        found = read["pipeline"]
        assert found["owner"]["subject"] == "admin"
        version = found["currentVersion"]
        assert version["yaml"] == DECK
        assert version["document"]["steps"][0]["retry"] == {"max_attempts": 2}
        assert version["deadlineSeconds"] == 60.0
        assert version["inputSchema"] == found["inputSchema"]
        assert found["inputSchema"]["required"] == ["words"]
        assert version["createdBy"]["subject"] == "admin"
        first, second = found["steps"]
        assert (first["__typename"], first["key"], first["position"]) == ("PackStep", "first", 1)
        assert first["retry"] == {"maxAttempts": 2, "jitter": 0.2}
        assert first["references"] == [
            {
                "path": ["text"],
                "expression": "${{ inputs.words }}",
                "sourceStep": None,
                "sourcePath": "words",
            }
        ]
        assert first["timeoutSeconds"] == 600.0, "the server's"
        assert second["timeoutSeconds"] == 5.0, "its own"
        assert second["packVersion"] == "1"
        assert second["pack"] == {"id": "test.slow", "version": "1.0.0"}
        assert second["references"][0]["sourceStep"] == "first"
        assert found["metadata"] == {
            "accepts": ["text"],
            "produces": ["markdown"],
            "intentKeywords": ["shout"],
            "typicalUse": "Use this to say something twice.",
            "supersedes": ["test.echo", "test.slow"],
            "derived": ["accepts", "produces", "supersedes"],
        }
        assert found["availability"]["usable"]
        assert found["usage"] == {"runs": 0, "failed": 0, "medianDurationSeconds": None}
        assert found["versions"]["nodes"] == [{"number": 1}]
        assert found["none"] is None
        assert found["versionByNumber"] == {"number": 1}


async def test_what_is_wrong_with_a_definition_is_told_all_at_once_and_nothing_is_saved(tmp_path: Path) -> None:
    async with running(tmp_path) as it:
        bad = DECK.replace("test.slow", "test.slwo").replace("inputs.words", "inputs.wrds")
        refused = await it.mutate(CREATE, {"definition": {"yaml": bad}})
        assert (refused["__typename"], refused["code"]) == ("InvalidProblem", "INVALID")
        rules = {issue["rule"] for issue in refused["issues"] if issue["severity"] == "ERROR"}
        assert len(rules) >= 2, refused["issues"]
        assert any("test.slow" in (refused["hint"] or "") or "slwo" in issue["message"] for issue in refused["issues"])
        for odd in ("- a list", "key: [", "steps: &a [*a]", "x: !!python/object:os.system y", "a: 1\na: 2"):
            refused = await it.mutate(CREATE, {"definition": {"yaml": odd}})
            assert refused["__typename"] == "InvalidProblem", odd
        for document in ([], "text", 5):
            refused = await it.mutate(CREATE, {"definition": {"document": document}})
            assert refused["__typename"] == "InvalidProblem", document
        both = await it.answer(CREATE, {"definition": {"yaml": DECK, "document": {}}})
        assert both.errors
        assert (await it.query("{pipelines {totalCount}}"))["pipelines"]["totalCount"] == 0


async def test_a_check_saves_nothing_and_tells_what_is_missing_here(tmp_path: Path) -> None:
    check = """query ($definition: PipelineDefinitionInput!, $inputs: JSON) {
        checkPipeline(definition: $definition, inputs: $inputs) { valid inputSchema
            issues { path argument rule severity message hint line } steps { key }
            preflight { usable missing { kind name steps hint } } } }"""
    async with running(tmp_path) as it:
        good = (await it.query(check, {"definition": {"yaml": DECK}, "inputs": {"word": "x"}}))["checkPipeline"]
        assert good["valid"]
        assert [step["key"] for step in good["steps"]] == ["first", "second"]
        assert good["preflight"] == {"usable": True, "missing": []}
        assert ["inputs", "word"] in [issue["path"] for issue in good["issues"]], "inputs are checked along with it"
        without = DECK.replace("pack: test.slow", "retry: {}")
        unknown = (await it.query(check, {"definition": {"yaml": without}}))["checkPipeline"]
        assert [issue["rule"] for issue in unknown["issues"]] == ["required"]
        assert unknown["preflight"]["missing"] == []
        unreadable = (await it.query(check, {"definition": {"yaml": "key: ["}}))["checkPipeline"]
        assert not unreadable["valid"]
        assert unreadable["issues"][0]["message"].count("line 1") == 1
        assert unreadable["issues"][0]["line"] == 1
        assert unreadable["inputSchema"] is None
        refused = await it.mutate(APPLY, {"yaml": "a: &a 1", "dry": True})
        assert refused["message"].count("(line 1, column 4)") == 1
        assert unreadable["steps"] == []
        document = (await it.query(check, {"definition": {"document": [1]}}))["checkPipeline"]
        assert not document["valid"]
        assert (await it.query("{pipelines {totalCount}}"))["pipelines"]["totalCount"] == 0


async def test_a_check_warns_of_a_retry_that_is_ignored(tmp_path: Path) -> None:
    retry = {"max_attempts": 3}
    packs = {"test.external": retry, "test.once": retry, "test.keyed": retry, "test.echo": retry}
    steps = [{"id": name.removeprefix("test."), "pack": name, "retry": retry} for name in packs]
    steps += [{"id": "no-second", "pack": "test.external", "retry": {"max_attempts": 1}}]
    steps += [{"id": "not-said", "pack": "test.external"}]
    definition = {"document": {"name": "Retried", "steps": steps}}
    async with running(tmp_path) as it:
        checked = await it.query(
            """query ($definition: PipelineDefinitionInput!) {
                checkPipeline(definition: $definition) { valid issues { path rule severity message } } }""",
            {"definition": definition},
        )
    assert checked["checkPipeline"]["valid"]
    ignored = [issue for issue in checked["checkPipeline"]["issues"] if issue["rule"] == "never_retried"]
    assert [issue["path"] for issue in ignored] == [["steps", "0", "retry"], ["steps", "1", "retry"]]
    assert ignored[0]["message"].startswith("`test.external` is never retried")
    assert {issue["severity"] for issue in ignored} == {"WARNING"}


async def test_a_change_is_saved_as_a_version_unless_somebody_was_faster(tmp_path: Path) -> None:
    async with running(tmp_path) as it:
        await create(it, DECK)

        async def update(change: dict[str, Any], if_version: int) -> dict[str, Any]:
            return await it.mutate(UPDATE, {"pipeline": "shout", "change": change, "ifVersion": if_version})

        renamed = await update({"fields": {"name": "Shout", "description": None}}, 1)
        assert renamed["newVersion"]
        assert renamed["pipeline"]["name"] == "Shout"
        assert renamed["pipeline"]["description"] == ""
        assert renamed["pipeline"]["currentVersion"]["number"] == 2
        stale = await update({"fields": {"name": "Late"}}, 1)
        assert stale["__typename"] == "ConflictProblem"
        assert stale["current"]["currentVersion"] == {"number": 2}, "the change can be made again from this"
        text = DECK.replace("Shout twice", "Shout")
        same = await update({"yaml": text}, 2)
        assert same["newVersion"], "the text changed: its comment is back"
        again = await update({"yaml": text}, 3)
        assert not again["newVersion"]
        assert again["pipeline"]["currentVersion"]["number"] == 3
        gone = await it.mutate(UPDATE, {"pipeline": "shot", "change": {"yaml": text}, "ifVersion": 1})
        assert (gone["__typename"], gone["ref"], gone["suggestion"]) == ("NotFoundProblem", "shot", "shout")
        odd = await update({"fields": [1]}, 3)
        assert odd["__typename"] == "InvalidProblem"
        unknown = await update({"fields": {"stepz": []}}, 3)
        assert unknown["__typename"] == "InvalidProblem"
        old = await it.query(
            '{pipeline(id: "shout") {versions(first: 2) {nodes {number} pageInfo {hasNextPage}} last: '
            "versions(last: 1) {nodes {number}} versionByNumber(number: 1) {yaml}}}"
        )
        assert old["pipeline"]["versions"] == {
            "nodes": [{"number": 3}, {"number": 2}],
            "pageInfo": {"hasNextPage": True},
        }
        assert old["pipeline"]["last"]["nodes"] == [{"number": 1}]
        assert old["pipeline"]["versionByNumber"]["yaml"] == DECK, "a version never changes"


async def test_only_owner_and_manager_may_change_and_everybody_may_see_and_copy(tmp_path: Path) -> None:
    async with running(tmp_path) as it:
        ada = await it.token_for("ada", "READ", "WRITE", "RUN")
        bob = await it.token_for("bob", "READ", "WRITE")
        reader = await it.token_for("carol", "READ")
        await create(it, DECK, token=ada)
        seen = await it.query('{pipeline(id: "shout") {actions owner {name}}}', token=bob)
        assert seen["pipeline"] == {"actions": ["CLONE"], "owner": {"name": "ada"}}
        change = {"pipeline": "shout", "change": {"fields": {"name": "Mine"}}, "ifVersion": 1}
        assert (await it.mutate(UPDATE, change, token=bob))["__typename"] == "ForbiddenProblem"
        assert (await it.mutate(DELETE, {"p": "shout", "key": "shout"}, token=bob))["code"] == "FORBIDDEN"
        copy = await it.mutate(CLONE, {"p": "shout"}, token=bob)
        assert copy["pipeline"]["key"] == "shout-copy"
        assert copy["pipeline"]["name"] == "Copy of Shout twice"
        assert copy["pipeline"]["actions"] == ["UPDATE", "CLONE", "DELETE"]
        at_once = await asyncio.gather(*(it.mutate(CLONE, {"p": "shout"}, token=bob) for _ in range(4)))
        assert len({made["pipeline"]["key"] for made in at_once}) == 4
        taken = await it.mutate(CLONE, {"p": "shout", "key": "shout-copy"}, token=ada)
        assert taken["__typename"] == "ConflictProblem"
        refused = await it.mutate(CREATE, {"definition": {"yaml": named("other")}}, token=reader)
        assert (refused["__typename"], refused["requires"]) == ("ForbiddenProblem", "WRITE")
        assert (await it.mutate(UPDATE, change))["pipeline"]["name"] == "Mine", "the administrator may"


async def test_deleting_asks_for_the_key_and_keeps_runs_and_versions(tmp_path: Path) -> None:
    async with running(tmp_path) as it:
        pipeline = await create(it, named("brief"))
        run = await it.mutate(
            'mutation {runPipeline(pipeline: "brief", waitSeconds: 20) {... on StartRunSuccess {run {id state}}}}'
        )
        assert run["run"]["state"] == "SUCCEEDED"
        wrong = await it.mutate(DELETE, {"p": "brief", "key": "breif"})
        assert wrong["__typename"] == "InvalidProblem"
        deleted = await it.mutate(DELETE, {"p": "brief", "key": "brief"})
        assert deleted["deletedId"] == pipeline["id"]
        kept = await it.query(
            """query ($run: ID!, $id: ID!, $version: ID!) { run(id: $run) {
                pipeline { id deletedAt actions } version { number yaml } }
            pipeline(id: $id) { id } node(id: $id) { id } version: node(id: $version) { __typename }
            pipelines { totalCount } }""",
            {"run": run["run"]["id"], "id": pipeline["id"], "version": pipeline["currentVersion"]["id"]},
        )
        assert kept["run"]["pipeline"]["id"] == pipeline["id"]
        assert kept["run"]["pipeline"]["deletedAt"]
        assert kept["run"]["pipeline"]["actions"] == []
        assert kept["run"]["version"]["number"] == 1
        assert kept["pipeline"] is None
        assert kept["node"] is None
        assert kept["version"] == {"__typename": "PipelineVersion"}
        assert kept["pipelines"]["totalCount"] == 0
        again = await it.mutate(
            'mutation {runPipeline(pipeline: "brief") {__typename}}',
        )
        assert again["__typename"] == "NotFoundProblem"
        assert (await create(it, named("brief")))["id"] != pipeline["id"], "its key is free again"


async def test_documents_are_applied_all_or_none_and_twice_changes_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as it:
        both = f"{DECK}---\n{named('other')}\n"
        dry = await it.mutate(APPLY, {"yaml": both, "dry": True})
        assert [(change["action"], change["pipeline"]) for change in dry["changes"]] == [("CREATE", None)] * 2
        assert "+key: shout" in dry["changes"][0]["diff"]
        assert (await it.query("{pipelines {totalCount}}"))["pipelines"]["totalCount"] == 0
        made = await it.mutate(APPLY, {"yaml": both, "dry": False})
        assert [change["pipeline"]["currentVersion"]["number"] for change in made["changes"]] == [1, 1]
        same = await it.mutate(APPLY, {"yaml": both, "dry": False})
        assert [(change["action"], change["diff"]) for change in same["changes"]] == [("KEEP", "")] * 2
        broken = f"{DECK.replace('Shout twice', 'Shout thrice')}---\n{named('other', steps=[])}\n"
        refused = await it.mutate(APPLY, {"yaml": broken, "dry": False})
        assert refused["__typename"] == "InvalidProblem"
        assert refused["issues"][0]["path"][0] == "1", "the second document"
        assert (await it.query('{pipeline(id: "shout") {name}}'))["pipeline"]["name"] == "Shout twice"


async def test_applying_what_was_exported_together_changes_nothing(tmp_path: Path) -> None:
    """Each keeps its author's words and comments, with or without a line break at its end or a byte order mark."""
    texts = [
        f"# {name}, by hand\nkey: {name}\nname: {name}  # short\n"
        "steps: [{id: a, pack: test.echo, input: {text: hi}}]"
        for name in ("one", "two", "three")
    ]
    async with running(tmp_path) as it:
        for text in (texts[0], "\ufeff" + texts[1] + "\n", "---\n" + texts[2]):
            await it.mutate(APPLY, {"yaml": text, "dry": False})
        data = await it.query("{ pipelines(filter: {builtin: false}) { nodes { currentVersion { yaml } } } }")
        exported = [node["currentVersion"]["yaml"].removesuffix("\n") for node in data["pipelines"]["nodes"]]
        assert sorted(exported) == sorted(texts)
        again = await it.mutate(APPLY, {"yaml": "\n---\n".join(exported), "dry": False})
        assert [change["action"] for change in again["changes"]] == ["KEEP"] * 3
        longer = texts[0].replace("hi", "ho") + "\nmetadata: {}"
        (change,) = (await it.mutate(APPLY, {"yaml": longer, "dry": True}))["changes"]
        assert [line[0] for line in change["diff"].splitlines()[3:]] == [" ", " ", " ", "-", "+", "+"]


async def test_a_difference_that_no_line_shows_is_told_in_words(tmp_path: Path) -> None:
    text = "key: one\nname: One\nsteps:\n- id: a\n  pack: test.echo\n  input:\n    text: |\n      hi"
    async with running(tmp_path) as it:
        await it.mutate(APPLY, {"yaml": text, "dry": False})
        for dry in (True, False):
            (change,) = (await it.mutate(APPLY, {"yaml": text + "\n", "dry": dry}))["changes"]
            assert change["action"] == "UPDATE"
            assert change["diff"] == "\\ Only a line break differs, such as the last one of a text after `|`.\n"
        (same,) = (await it.mutate(APPLY, {"yaml": text + "\n", "dry": False}))["changes"]
        assert (same["action"], same["diff"]) == ("KEEP", "")


ORDERS = ["RECENTLY_CHANGED", "RECENTLY_RUN", "NAME", "MOST_USED"]


@pytest.mark.parametrize("meanwhile", ["changed", "deleted"])
async def test_what_happens_to_a_pipeline_while_it_is_applied_is_a_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    async with running(tmp_path) as it:
        saved = await create(it, DECK)
        write_all = applying._write_all

        async def overtaken(*given: Any) -> Any:
            if meanwhile == "deleted":
                await it.mutate(DELETE, {"p": saved["id"], "key": "shout"})
            else:
                change = {
                    "pipeline": saved["id"],
                    "change": {"fields": {"name": "Other"}},
                    "ifVersion": 1,
                    "note": None,
                }
                await it.mutate(UPDATE, change)
            return await write_all(*given)

        monkeypatch.setattr(applying, "_write_all", overtaken)
        answer = await it.mutate(APPLY, {"yaml": DECK.replace("Shout twice", "Shout"), "dry": False})

        assert (answer["__typename"], answer["code"]) == ("ConflictProblem", "CONFLICT")
        assert "nothing was saved" in answer["message"]


@pytest.mark.parametrize("order", ORDERS)
async def test_lists_are_paged_both_ways_in_every_order(tmp_path: Path, order: str) -> None:
    page = """query ($order: PipelineOrder!, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
        pipelines(orderBy: $order, first: $first, after: $after, last: $last, before: $before) {
            nodes { key } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
    async with running(tmp_path) as it:
        for key in ("ant", "bee", "cow", "dog", "eel"):
            await create(it, named(key))
        whole = (await it.query(page, {"order": order}))["pipelines"]
        keys = [node["key"] for node in whole["nodes"]]
        assert sorted(keys) == ["ant", "bee", "cow", "dog", "eel"]
        assert whole["totalCount"] == 5
        if order == "NAME":
            assert keys == sorted(keys)
        if order == "RECENTLY_CHANGED":
            assert keys == sorted(keys, reverse=True)
        forwards: list[str] = []
        cursor = None
        while True:
            part = (await it.query(page, {"order": order, "first": 2, "after": cursor}))["pipelines"]
            forwards += [node["key"] for node in part["nodes"]]
            cursor = part["pageInfo"]["endCursor"]
            if not part["pageInfo"]["hasNextPage"]:
                break
        assert forwards == keys
        backwards: list[str] = []
        cursor = None
        while True:
            part = (await it.query(page, {"order": order, "last": 2, "before": cursor}))["pipelines"]
            backwards = [node["key"] for node in part["nodes"]] + backwards
            cursor = part["pageInfo"]["startCursor"]
            if not part["pageInfo"]["hasPreviousPage"]:
                break
        assert backwards == keys
        foreign = await it.answer(page, {"order": ORDERS[ORDERS.index(order) - 1], "after": cursor})
        assert foreign.codes == ["INVALID"], "a cursor belongs to its order"


async def test_what_a_caller_ran_last_comes_first(tmp_path: Path) -> None:
    listed = "{pipelines(orderBy: RECENTLY_RUN) {nodes {key}}}"
    async with running(tmp_path) as it:
        for key in ("ant", "bee", "cow"):
            await create(it, named(key))
        for key in ("cow", "bee"):
            await command(it, "runPipeline", pipeline=key)
        ben = await it.token_for("ben", "READ", "RUN")
        await command(it, "runPipeline", pipeline="ant", token=ben)

        async def keys(token: str | None = None) -> list[str]:
            given = {} if token is None else {"token": token}
            return [node["key"] for node in (await it.query(listed, **given))["pipelines"]["nodes"]]

        assert await keys() == ["ant", "bee", "cow"]
        assert (await keys(ben))[0] == "ant"
        await command(it, "runPipeline", pipeline="cow")
        assert (await keys(), (await keys(ben))[0]) == (["cow", "ant", "bee"], "ant")


async def test_the_most_used_pipelines_tell_nothing_of_what_others_run(tmp_path: Path) -> None:
    listed = "{pipelines(orderBy: MOST_USED) {nodes {key}}}"
    async with running(tmp_path) as it:
        for key in ("ant", "bee"):
            await create(it, named(key))
        ben = await it.token_for("ben", "READ", "RUN")
        await command(it, "runPipeline", pipeline="ant", token=ben)
        for _ in range(2):
            await command(it, "runPipeline", pipeline="bee", waitSeconds=20)
        assert (await it.query(listed))["pipelines"]["nodes"][0]["key"] == "bee"
        assert (await it.query(listed, token=ben))["pipelines"]["nodes"][0]["key"] == "ant"


async def test_lists_are_narrowed_by_words_owner_and_whether_they_can_run(tmp_path: Path) -> None:
    narrowed = "query ($filter: PipelineFilter) {pipelines(filter: $filter, first: 2) {nodes {key} totalCount}}"
    async with running(tmp_path) as it:
        ada = await it.token_for("ada", "READ", "WRITE")
        await create(it, DECK, token=ada)
        for key in ("ant", "bee", "cow"):
            await create(it, named(key))

        async def keys(**wanted: Any) -> tuple[list[str], int]:
            found = (await it.query(narrowed, {"filter": wanted}))["pipelines"]
            return [node["key"] for node in found["nodes"]], found["totalCount"]

        assert await keys(text="TWICE") == (["shout"], 1)
        me = (await it.query("{viewer {id}}", token=ada))["viewer"]["id"]
        assert await keys(owner=me) == (["shout"], 1)
        assert await keys(builtin=True) == ([], 0)
        assert await keys(usable=True) == (["cow", "bee"], 4)
        assert await keys(accepts=["text"], produces=["markdown", "pdf"]) == (["shout"], 1)
        assert await keys(accepts=["pdf"]) == ([], 0)
        assert await keys(produces=["markdown"], text="nothing like it") == ([], 0)
        # A pack goes away: whatever needs it stays visible, with the reason.
        registry = it.services.registry
        source = next(source for source in registry.sources() if source.kind == "user_folder")
        registry.put(source, [("x", pack) for pack in Workbench().packs if pack.name != "test.slow"])
        assert await keys(usable=False) == (["shout"], 1)
        assert await keys(usable=True) == (["cow", "bee"], 3)
        lacking = await it.query(
            '{pipeline(id: "shout") {availability {usable missing {kind name steps hint}} '
            "steps {... on PackStep {packName pack {id}}}}}"
        )
        missing = lacking["pipeline"]["availability"]["missing"]
        assert [(lack["kind"], lack["name"], lack["steps"]) for lack in missing] == [("PACK", "test.slow", ["second"])]
        assert lacking["pipeline"]["steps"][1]["pack"] is None


async def test_runs_of_a_pipeline_and_its_use_are_told(tmp_path: Path) -> None:
    async with running(tmp_path) as it:
        await create(it, named("ant"))
        await create(it, named("bee"))
        for _ in range(2):
            await it.mutate('mutation {runPipeline(pipeline: "ant", waitSeconds: 20) {__typename}}')
        told = await it.query(
            """{pipelines(orderBy: MOST_USED) {nodes {key usage {runs failed lastRunAt medianDurationSeconds}
                latestRun {id state} runs(first: 1, filter: {states: [SUCCEEDED]}) {totalCount nodes {id}}}}}"""
        )
        ant, bee = told["pipelines"]["nodes"]
        assert (ant["key"], ant["usage"]["runs"], ant["usage"]["failed"]) == ("ant", 2, 0)
        assert ant["usage"]["medianDurationSeconds"] >= 0
        assert ant["latestRun"]["state"] == "SUCCEEDED"
        assert ant["runs"]["totalCount"] == 2
        assert ant["runs"]["nodes"] == [{"id": ant["latestRun"]["id"]}]
        assert bee == {
            "key": "bee",
            "usage": {"runs": 0, "failed": 0, "lastRunAt": None, "medianDurationSeconds": None},
            "latestRun": None,
            "runs": {"totalCount": 0, "nodes": []},
        }
        other = await it.token_for("ada", "READ")
        unseen = await it.query('{pipeline(id: "ant") {latestRun {id} runs {totalCount}}}', token=other)
        assert unseen["pipeline"] == {"latestRun": None, "runs": {"totalCount": 0}}


async def test_the_last_runs_of_all_pipelines_of_a_list_are_one_statement(tmp_path: Path) -> None:
    async with running(tmp_path) as it:
        names = ("ant", "bee", "cat")
        for name in names:
            await create(it, named(name))
            for _ in range(3):
                await it.mutate(f'mutation {{runPipeline(pipeline: "{name}", waitSeconds: 20) {{__typename}}}}')

        async def told(arguments: str) -> dict[str, Any]:
            asked = f"runs({arguments}) {{nodes {{id}} pageInfo {{hasNextPage hasPreviousPage startCursor endCursor}}}}"
            nodes = (await it.query(f"{{pipelines {{nodes {{key {asked}}}}}}}"))["pipelines"]["nodes"]
            return {node["key"]: node["runs"] for node in nodes}

        with statements() as seen:
            batched = await told("first: 2")
        assert len([statement for statement in seen if "ORDER BY run.id DESC" in statement]) == 1
        assert {len(page["nodes"]) for page in batched.values()} == {2}
        # An empty filter takes the way of any other list.
        assert await told("first: 2, filter: {}") == batched
        assert await told("first: 3") == await told("first: 3, filter: {}")


async def test_the_number_of_steps_is_a_setting_that_saved_pipelines_survive(tmp_path: Path) -> None:
    def steps(count: int) -> str:
        return named(
            "long", steps=[{"id": f"s{at}", "pack": "test.echo", "input": {"text": "x"}} for at in range(count)]
        )

    async with running(tmp_path, steps_max=66) as it:
        refused = await it.mutate(CREATE, {"definition": {"yaml": steps(67)}})
        assert [issue["rule"] for issue in refused["issues"]] == ["too_many_steps"]
        await create(it, steps(66))
    async with running(tmp_path, steps_max=2) as it:
        ran = await it.mutate('mutation {runPipeline(pipeline: "long", dryRun: true) {__typename}}')
        assert ran["__typename"] == "StartRunSuccess"
