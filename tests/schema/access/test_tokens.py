"""Callers, their tokens, and the audit of what they do."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

CREATE = """mutation ($name: String!, $scopes: [Scope!]!, $subject: String, $expiresAt: DateTime) {
    createToken(name: $name, scopes: $scopes, subject: $subject, expiresAt: $expiresAt) { __typename
    ... on CreateTokenSuccess { plaintext
        token { id name beginning scopes expiresAt revokedAt caller { id subject name } } }
    ... on InvalidProblem { message issues { path rule } } ... on ForbiddenProblem { requires } } }"""
REVOKE = """mutation ($id: ID!) { revokeToken(id: $id) { __typename ... on RevokeTokenSuccess { token { id revokedAt } }
    ... on NotFoundProblem { ref } ... on ForbiddenProblem { requires } } }"""


async def test_a_token_is_told_once_and_stands_for_its_subject(tmp_path: Path) -> None:
    async with product(tmp_path) as it:
        made = await it.mutate(CREATE, {"name": "ci", "subject": "robot", "scopes": ["RUN", "READ"]})
        token, plaintext = made["token"], made["plaintext"]
        assert plaintext.startswith(token["beginning"])
        assert token["scopes"] == ["READ", "RUN"]
        assert token["caller"]["subject"] == "robot"
        viewer = await it.query("{viewer {id subject name scopes}}", token=plaintext)
        assert viewer["viewer"] == {**token["caller"], "scopes": ["READ", "RUN"]}
        second = await it.mutate(CREATE, {"name": "night", "subject": "robot", "scopes": ["OBSERVE"]})
        assert second["token"]["caller"]["id"] == token["caller"]["id"], "all tokens of one subject are one caller"
        listed = await it.answer(
            """query ($text: String) {callers(filter: {text: $text}) {nodes {subject scopes
                tokens {nodes {id name beginning scopes} pageInfo {hasNextPage}}}}}""",
            {"text": "ROB"},
        )
        assert plaintext not in str(listed.body)
        (robot,) = listed.data["callers"]["nodes"]
        assert robot["scopes"] == ["READ", "OBSERVE", "RUN"]
        assert [entry["name"] for entry in robot["tokens"]["nodes"]] == ["night", "ci"]
        own = await it.mutate(CREATE, {"name": "mine", "scopes": ["READ"]})
        assert own["token"]["caller"]["subject"] == "admin"
        database = b"".join(file.read_bytes() for file in it.folder.glob("*.db*"))
        assert database
        assert plaintext.encode() not in database, "only its hash is kept"


async def test_a_bad_token_is_refused_with_every_reason(tmp_path: Path) -> None:
    async with product(tmp_path) as it:
        past = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
        refused = await it.mutate(CREATE, {"name": " ", "subject": "", "scopes": [], "expiresAt": past})
        assert refused["__typename"] == "InvalidProblem"
        assert {tuple(issue["path"]) for issue in refused["issues"]} == {
            ("name",),
            ("subject",),
            ("scopes",),
            ("expiresAt",),
        }
        long = await it.mutate(CREATE, {"name": "x" * 201, "scopes": ["READ"]})
        assert long["issues"] == [{"path": ["name"], "rule": "too_long"}]
        for subject in (" ada", "ada\n", "a\u202eda"):
            alike = await it.mutate(CREATE, {"name": "x", "subject": subject, "scopes": ["READ"]})
            assert alike["issues"] == [{"path": ["subject"], "rule": "unreadable"}]
        lower = await it.token_for("ada", "READ", "WRITE", "RUN", "OBSERVE")
        no = await it.mutate(CREATE, {"name": "x", "scopes": ["READ"]}, token=lower)
        assert (no["__typename"], no["requires"]) == ("ForbiddenProblem", "MANAGE")
        for query in (
            "{callers {nodes {id}}}",
            "{audit {nodes {id}}}",
            "{settings {name}}",
            "{viewer {tokens {nodes {id}}}}",
        ):
            answer = await it.answer(query, token=lower)
            assert answer.codes == ["FORBIDDEN"], query
        assert (await it.query("{viewer {subject}}", token=lower))["viewer"]["subject"] == "ada"


async def test_a_revoked_token_ends_at_once_with_its_streams(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it:
        made = await it.mutate(CREATE, {"name": "ci", "subject": "robot", "scopes": ["READ"]})
        plaintext, token_id = made["plaintext"], made["token"]["id"]
        async with it.socket(plaintext) as socket:
            await socket.start("subscription {runChanges {more}}")
            assert (await socket.receive())["type"] == "next"
            revoked = await it.mutate(REVOKE, {"id": token_id})
            assert revoked["token"]["revokedAt"]
            async with asyncio.timeout(60):
                assert await socket.close_code() == 4403
        refused = await it.client(plaintext).execute("{viewer {id}}")
        assert refused.status == 401
        again = await it.mutate(REVOKE, {"id": token_id})
        assert again["token"]["revokedAt"] == revoked["token"]["revokedAt"], "twice is once"
        assert (await it.mutate(REVOKE, {"id": "tok_none"}))["__typename"] == "NotFoundProblem"
        seen = await it.query(
            "query ($id: ID!) {node(id: $id) {__typename ... on ApiToken {revokedAt}}}", {"id": token_id}
        )
        assert seen["node"]["__typename"] == "ApiToken"
        reader = await it.token_for("ada", "READ")
        hidden = await it.query("query ($id: ID!) {node(id: $id) {id}}", {"id": token_id}, token=reader)
        assert hidden["node"] is None


async def test_every_command_leaves_an_audit_row_refused_ones_too(tmp_path: Path) -> None:
    read = """query ($filter: AuditFilter, $first: Int, $after: Cursor) {
        audit(filter: $filter, first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor }
        nodes { id at action accepted actor { subject } onBehalfOf { id } detail target { __typename id } } } }"""
    async with product(tmp_path, Workbench().packs) as it:
        writer = await it.token_for("ada", "READ", "WRITE")
        reader = await it.token_for("bob", "READ")
        create = """mutation ($d: PipelineDefinitionInput!) { createPipeline(definition: $d) {
            __typename ... on PipelineSuccess { pipeline { id } } } }"""
        definition = {"yaml": '{"key": "ant", "name": "Ant", "steps": [{"id": "a", "pack": "test.echo"}]}'}
        made = await it.mutate(create, {"d": definition}, token=writer)
        assert (await it.mutate(create, {"d": definition}, token=reader))["__typename"] == "ForbiddenProblem"
        assert (await it.mutate(create, {"d": definition}, token=writer))["__typename"] == "ConflictProblem"
        clone = 'mutation {clonePipeline(pipeline: "ant", key: "bee") {__typename}}'
        assert (await it.mutate(clone, token=writer))["__typename"] == "PipelineSuccess"
        rows = (await it.query(read, {"filter": {"actions": ["create_pipeline"]}}))["audit"]
        told = [(row["actor"]["subject"], row["accepted"]) for row in rows["nodes"]]
        assert told == [("ada", False), ("bob", False), ("ada", True)], "newest first"
        assert rows["totalCount"] == 3
        assert rows["nodes"][0]["detail"]["problem"] == "CONFLICT"
        assert rows["nodes"][2]["target"] == {"__typename": "Pipeline", "id": made["pipeline"]["id"]}
        (cloned,) = (await it.query(read, {"filter": {"actions": ["clone_pipeline"]}}))["audit"]["nodes"]
        assert cloned["target"] == {"__typename": "Pipeline", "id": made["pipeline"]["id"]}
        me = (await it.query("{viewer {id}}", token=writer))["viewer"]["id"]
        mine = (await it.query(read, {"filter": {"actors": [me], "text": "bee"}}))["audit"]["nodes"]
        assert [row["action"] for row in mine] == ["clone_pipeline"]
        later = await it.query(
            read, {"filter": {"createdFrom": rows["nodes"][0]["at"], "createdBefore": "2100-01-01T00:00:00Z"}}
        )
        assert {row["action"] for row in later["audit"]["nodes"]} >= {"clone_pipeline"}
        first = (await it.query(read, {"first": 1}))["audit"]
        assert first["pageInfo"]["hasNextPage"]
        second = (await it.query(read, {"first": 1, "after": first["pageInfo"]["endCursor"]}))["audit"]
        assert second["nodes"][0]["id"] != first["nodes"][0]["id"]
        tokens = (await it.query(read, {"filter": {"actions": ["create_token"]}}))["audit"]["nodes"]
        assert [row["target"]["__typename"] for row in tokens] == ["ApiToken", "ApiToken"]
        assert writer not in str(tokens)
