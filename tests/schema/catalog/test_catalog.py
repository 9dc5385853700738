"""The catalog and packs through the front door."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from packline import Missing, Service
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

SEARCH = """query ($filter: CatalogFilter, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
    catalog(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
        totalCount nodes { __typename id name } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
SAY = {
    "key": "say-it",
    "name": "Say it back",
    "description": "Repeats what it hears.",
    "steps": [{"id": "say", "pack": "test.echo", "input": {"text": "${{ inputs.words }}"}}],
    "metadata": {"intent_keywords": ["parrot"], "produces": ["text", "audio"]},
}


async def save(it: Any, document: dict[str, Any]) -> None:
    create = """mutation ($d: PipelineDefinitionInput!) {
        createPipeline(definition: $d) {__typename ... on Problem {message}}}"""
    answer = await it.mutate(create, {"d": {"document": document}})
    assert answer["__typename"] == "PipelineSuccess", answer


async def test_entries_are_found_by_words_kinds_and_whether_they_can_run(tmp_path: Path) -> None:
    bench = Workbench()
    absent = Service("gramophone", lambda: Missing("There is no gramophone.", "Buy one."))
    packs = [replace(pack, services=(absent,)) if pack.name == "test.slow" else pack for pack in bench.packs]
    async with product(tmp_path, packs) as it:
        await save(it, SAY)

        async def ids(**wanted: Any) -> list[str]:
            found = (await it.query(SEARCH, {"filter": wanted, "first": 100}))["catalog"]
            assert found["totalCount"] == len(found["nodes"])
            return [node["id"] if node["__typename"] == "Pack" else node["name"] for node in found["nodes"]]

        everything = await ids()
        assert len(everything) == len(packs) + 1
        assert everything == sorted(everything, key=str.casefold)
        assert await ids(text="parrot") == ["Say it back"]
        assert (await ids(text="echo"))[0] == "test.echo", "the best match comes first"
        assert await ids(text="zebra") == []
        assert await ids(kind="PIPELINE") == ["Say it back"]
        assert await ids(kind="PACK", text="repeat") == ["test.echo"]
        assert await ids(produces=["audio"]) == ["Say it back"]
        assert await ids(accepts=["text"], produces=["document", "markdown"]) == ["test.artifact", "test.slow"]
        assert await ids(usable=False) == ["test.slow"]
        assert "test.slow" not in await ids(usable=True)
        assert await ids(source="BUILTIN_FOLDER") == []
        assert "Say it back" not in await ids(source="USER_FOLDER")


async def test_a_search_is_paged_both_ways(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it:
        for text in (None, "test"):
            whole = [node["id"] for node in (await it.query(SEARCH, {"filter": {"text": text}}))["catalog"]["nodes"]]
            assert len(whole) == len(Workbench().packs)
            forwards: list[str] = []
            cursor = None
            while len(forwards) < len(whole):
                part = (await it.query(SEARCH, {"filter": {"text": text}, "first": 4, "after": cursor}))["catalog"]
                forwards += [node["id"] for node in part["nodes"]]
                assert part["pageInfo"]["hasNextPage"] == (len(forwards) < len(whole))
                cursor = part["pageInfo"]["endCursor"]
            backwards: list[str] = []
            cursor = None
            while len(backwards) < len(whole):
                part = (await it.query(SEARCH, {"filter": {"text": text}, "last": 4, "before": cursor}))["catalog"]
                backwards = [node["id"] for node in part["nodes"]] + backwards
                assert part["pageInfo"]["hasPreviousPage"] == (len(backwards) < len(whole))
                cursor = part["pageInfo"]["startCursor"]
            assert forwards == backwards == whole


async def test_a_pack_tells_its_contract_its_source_and_who_uses_it(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it:
        await save(it, SAY)
        await save(it, {**SAY, "key": "quoting", "name": "Quotes", "description": '"pack":"test.slow"'})
        ran = await it.mutate(
            """mutation {runPack(pack: "test.echo", input: {text: "x"}, waitSeconds: 20) {
                ... on StartRunSuccess {run {state pack {id}}} ... on Problem {message}}}"""
        )
        assert ran["run"] == {"state": "SUCCEEDED", "pack": {"id": "test.echo"}}
        pack = await it.query(
            """{pack(id: "test.echo") {id name version installedVersions description inputSchema outputSchema effects
                    atMostOnce takesIdempotencyKey repeatable preservesSession timeoutSeconds services postConditions
                    availability {usable} source {kind location packCount loadErrors {origin}}
                    usedBy {totalCount nodes {key}} usage {runs}
                    metadata {accepts exampleIntents typicalUse derived supersedes}}
                slow: pack(id: "test.slow") {usedBy {nodes {key}}} none: pack(id: "test.none") {id}
                node(id: "test.echo") {__typename id}}"""
        )
        echo = pack["pack"]
        assert echo["installedVersions"] == ["1.0.0"]
        assert echo["inputSchema"]["properties"]["text"]["description"] == "Any text."
        assert echo["inputSchema"]["additionalProperties"] is False
        assert echo["outputSchema"]["properties"].keys() == {"text", "call"}
        assert (echo["effects"], echo["repeatable"], echo["atMostOnce"]) == ("NONE", True, False)
        assert echo["timeoutSeconds"] == 600.0
        assert (echo["source"]["kind"], echo["source"]["packCount"]) == ("USER_FOLDER", len(Workbench().packs))
        assert [node["key"] for node in echo["usedBy"]["nodes"]] == ["quoting", "say-it"]
        assert echo["usage"]["runs"] == 1
        assert echo["metadata"]["accepts"] == ["text"]
        assert pack["slow"]["usedBy"]["nodes"] == [], "a text that looks like a step is none"
        assert pack["none"] is None
        assert pack["node"] == {"__typename": "Pack", "id": "test.echo"}


async def test_what_ships_is_listed_with_whether_it_can_run_here(tmp_path: Path) -> None:
    async with product(tmp_path, builtins=True) as it:
        told = await it.query(
            """{catalog(first: 100) {nodes {__typename id availability {usable missing {message hint}}
                metadata {produces exampleIntents limitations typicalUse}
                ... on Pipeline {key builtin owner {id} actions currentVersion {yaml createdBy {id}}}}}
            server {packSources {kind loadErrors {origin message}}}}"""
        )
        entries = told["catalog"]["nodes"]
        assert [source["loadErrors"] for source in told["server"]["packSources"]] == [[], []]
        packs = {entry["id"] for entry in entries if entry["__typename"] == "Pack"}
        starters = {entry["key"]: entry for entry in entries if entry["__typename"] == "Pipeline"}
        assert {"doc.parse", "web.scrape", "slides.render"} <= packs
        assert {"sample", "scrape-deck"} <= starters.keys()
        for entry in entries:
            assert entry["metadata"]["produces"], entry["id"]
            assert len(entry["metadata"]["exampleIntents"]) >= 8, entry["id"]
            assert entry["availability"]["usable"] or entry["availability"]["missing"][0]["hint"], entry["id"]
        sample = starters["sample"]
        assert (sample["id"], sample["builtin"], sample["owner"]) == ("builtin.sample", True, None)
        assert sample["actions"] == ["RUN", "CLONE"]
        assert sample["currentVersion"]["createdBy"] is None
        read_only = await it.mutate(
            """mutation {updatePipeline(pipeline: "sample", change: {fields: {name: "x"}}, ifVersion: 1) {
                __typename ... on ConflictProblem {message hint current {id}}}}"""
        )
        assert read_only["__typename"] == "ConflictProblem"
        assert read_only["current"] == {"id": "builtin.sample"}
        copied = await it.mutate(
            'mutation {clonePipeline(pipeline: "builtin.sample", key: "my-sample") {... on PipelineSuccess '
            "{pipeline {id key builtin currentVersion {document}}}}}"
        )
        assert not copied["pipeline"]["builtin"]
        assert json.dumps(copied["pipeline"]["currentVersion"]["document"])


async def test_what_can_run_here_comes_before_what_matches_nearly_as_well_and_cannot(tmp_path):
    """Without mail set up, a word about summaries leads to what can be run; who asks for mail is still told of it."""
    ask = """query ($text: String!) { catalog(filter: {text: $text}, first: 20) { nodes {
        id availability { usable } } } }"""
    async with product(tmp_path, builtins=True) as it:
        report = (await it.query(ask, {"text": "turn a pdf report into a short summary"}))["catalog"]["nodes"]
        mail = (await it.query(ask, {"text": "send an email"}))["catalog"]["nodes"]
    assert [node["availability"]["usable"] for node in report[:2]] == [True, True]
    assert "email.send" in [node["id"] for node in report if not node["availability"]["usable"]]
    assert (mail[0]["id"], mail[0]["availability"]["usable"]) == ("email.send", False)
