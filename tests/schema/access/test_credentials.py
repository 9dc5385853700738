"""Credentials through the front door: stored, shared, used, refused; a value comes out nowhere."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.support.front_door import audit_rows, command, ended, look, ran, save, start, step
from tests.support.loopback_http import Reply, loopback_http
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.vaults import SECRET, Patient, credentials, leaker, opener, put, reader, tried

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product

#: Any of these would do to find the value in part, in any form that is not masked.
TELLTALES = ("battery", "horse/", "horse%2F", "62617474657279", "YmF0dGVyeQ", "JhdHRlcn", "iYXR0ZXJ5")
#: Made by `ssh-keygen -t ed25519` with a passphrase; it opens nothing.
LOCKED_KEY = """-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABAcaLscOK
FeA7iP87tAkp4MAAAAEAAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAICgbJ4SY1swr5YGI
3n1lSJaJxDEZ9eXetVQRLs3vIDqvAAAAkLfCm9LXUfUasqJsjKlm4q7pi1ZxJZSd9yC3R0
7X2GGipRZk4a4qG+vNT4+N2GQzAfHInz/4Fj4yJVEFcQQTNOtqmD6P8WerzhDA1b7SK/LI
B6GnnLdGdKNMJ6/Zh78U24vYnP74liKLRk8LQjm2WDisI15kwWUwl1k0cfcZ94KCSNnAYb
SEKlRTEnPBiX1wrg==
-----END OPENSSH PRIVATE KEY-----
"""
READ = step("read", "test.reader")
PATIENT = Patient()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def refusing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    """For what changes nothing."""
    async with product(tmp_path_factory.mktemp("refusing"), Workbench().packs) as running:
        yield running


@pytest.fixture
async def it(tmp_path: Path) -> AsyncIterator[Product]:
    PATIENT.reset()
    async with product(
        tmp_path, [*Workbench().packs, reader(), leaker(), optional(), opener(), PATIENT.pack()]
    ) as running:
        yield running


def optional() -> Any:
    return reader(required=False, name="test.optional")


def clean(answer: object) -> None:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    assert [mark for mark in TELLTALES if mark.lower() in text.lower()] == [], text


async def store(it: Product, *grants: str, **more: Any) -> dict[str, Any]:
    return await put(it, "key", "generic", {"secret": SECRET}, grants=list(grants), **more)


async def call(it: Product, pack: str = "test.reader", token: str | None = None, **given: Any) -> dict[str, Any]:
    answer = await command(it, "runPack", token, pack=pack, input=given, waitSeconds=20)
    told: dict[str, Any] = answer.get("run", answer)
    return told


# ------------------------------------------------------------------------------------------ storing


async def test_a_credential_is_stored_and_told_without_its_value(it: Product) -> None:
    made = await store(it, "test.reader", description="For tests")
    assert (made["key"], made["kind"], made["description"]) == ("key", "generic", "For tests")
    assert made["fieldsSet"] == ["secret"]
    assert made["readable"]
    assert made["grants"] == [{"__typename": "Pack", "id": "test.reader"}]
    assert {pack["name"] for pack in made["neededBy"]} == {
        *("test.reader", "test.leaker", "test.optional", "test.patient")
    }
    assert (await it.query("query ($id: ID!) { node(id: $id) { __typename id } }", {"id": made["id"]}))["node"] == {
        "__typename": "Credential",
        "id": made["id"],
    }
    same = await put(it, "twin", "generic", {"secret": SECRET})
    other = await put(it, "other", "generic", {"secret": SECRET + "!"})
    assert same["fingerprint"] == made["fingerprint"] != other["fingerprint"]
    assert same["grants"] == [], "nobody by default"
    clean(await credentials(it))
    clean(await audit_rows(it))


async def test_an_absent_field_stays_and_null_removes(it: Product) -> None:
    made = await put(it, "mail", "smtp", {"host": "mail.example", "username": "me", "password": "long enough"})
    again = await put(it, "mail", "smtp", {"username": None, "port": 2525}, description="Mail")
    assert again["id"] == made["id"]
    assert again["fieldsSet"] == ["host", "password", "port"]
    assert again["fingerprint"] != made["fingerprint"]
    unchanged = await put(it, "mail", "smtp", grants=["test.reader"])
    assert (unchanged["fingerprint"], unchanged["updatedAt"]) == (again["fingerprint"], again["updatedAt"])
    assert unchanged["description"] == "Mail"
    assert (await put(it, "mail", "smtp", expiresAt="2040-01-01T00:00:00Z"))["grants"] == unchanged["grants"]
    assert (await credentials(it))["mail"]["expiresAt"] == "2040-01-01T00:00:00.000Z"


async def test_grants_given_at_once_all_stay(it: Product) -> None:
    await store(it, "test.reader")
    await asyncio.gather(
        put(it, "key", "generic", addGrants=["test.leaker"]),
        put(it, "key", "generic", addGrants=["test.optional"]),
        put(it, "key", "generic", removeGrants=["test.reader", "nobody"]),
        put(it, "key", "generic", description="Shared"),
    )
    found = (await credentials(it))["key"]
    assert [grant["id"] for grant in found["grants"]] == ["test.leaker", "test.optional"]
    assert found["description"] == "Shared"
    refused = await put(it, "key", "generic", grants=[], addGrants=["test.reader"])
    assert refused["issues"][0]["rule"] == "given_twice"
    assert (await put(it, "key", "generic", addGrants=["nobody"]))["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("kind", "fields", "path", "rule"),
    [
        ("githup", {"token": SECRET}, ["kind"], "unknown_kind"),
        ("github", {"tokn": SECRET}, ["fields", "tokn"], "unknown_field"),
        ("github", {"token": "short"}, ["fields", "token"], "too_short"),
        ("generic", {"pin": "1234"}, ["fields", "pin"], "too_short"),
        ("github", {}, ["fields", "token"], "required"),
        ("github", None, ["fields", "token"], "required"),
        ("generic", {}, ["fields"], "empty"),
        ("generic", {"Bad Name": SECRET}, ["fields", "Bad Name"], "bad_name"),
        ("github", {"token": {"a": 1}}, ["fields", "token"], "wrong_type"),
        ("github", {"token": f"{SECRET}\nmore"}, ["fields", "token"], "line_break"),
        ("ghost", {"url": "blog.example", "admin_api_key": SECRET}, ["fields", "url"], "wrong_value"),
        ("ghost", {"url": "https://blog.example", "admin_api_key": SECRET}, ["fields", "admin_api_key"], "wrong_value"),
        ("smtp", {"host": "m", "port": "70000"}, ["fields", "port"], "wrong_value"),
        ("smtp", {"host": "m", "security": "ssl"}, ["fields", "security"], "wrong_value"),
        ("git", {"url": "https://git.example/team", "token": SECRET}, ["fields", "url"], "wrong_value"),
        ("git", {"url": "git.example", "token": SECRET}, ["fields", "url"], "wrong_value"),
        ("ssh", {"host": "git@git.example"}, ["fields", "host"], "wrong_value"),
        ("ssh", {"host": "git.example:99999"}, ["fields", "host"], "wrong_value"),
        ("ssh", {"known_hosts": "ssh-ed25519 AAAA"}, ["fields", "known_hosts"], "wrong_value"),
        ("ssh", {"private_key": SECRET}, ["fields", "private_key"], "wrong_value"),
        ("ssh", {"private_key": LOCKED_KEY}, ["fields", "private_key"], "wrong_value"),
        ("ssh", {"private_key": LOCKED_KEY.replace("A", "B")}, ["fields", "private_key"], "wrong_value"),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_what_does_not_fit_is_refused_without_telling_the_value(
    refusing: Product, kind: str, fields: dict[str, Any] | None, path: list[str], rule: str
) -> None:
    refused = await put(refusing, "key", kind, fields)
    assert refused["__typename"] == "InvalidProblem", refused
    assert path in [issue["path"] for issue in refused["issues"]]
    assert rule in [issue["rule"] for issue in refused["issues"]]
    clean(refused)
    clean(await audit_rows(refusing))
    assert await credentials(refusing) == {}


@pytest.mark.asyncio(loop_scope="module")
async def test_misspellings_get_the_nearest_name(refusing: Product) -> None:
    refused = await put(refusing, "key", "githup", {"token": SECRET})
    assert refused["issues"][0]["hint"] == "Did you mean `github`?"
    refused = await put(refusing, "key", "github", {"tokn": SECRET})
    assert refused["issues"][0]["hint"] == "Did you mean `token`?"


async def test_grants_are_names_people_use_and_must_exist(it: Product) -> None:
    pipeline = await save(it, "reads", READ)
    await it.token_for("anna", "READ")
    made = await store(it, "test.reader", "reads", "anna")
    kinds = {grant["__typename"]: grant["id"] for grant in made["grants"]}
    assert kinds["Pack"] == "test.reader"
    assert kinds["Pipeline"] == pipeline
    assert kinds["Caller"].startswith("call_")
    refused = await store(it, "nobody")
    assert (refused["__typename"], refused["ref"]) == ("NotFoundProblem", "nobody")


async def test_only_managers_have_to_do_with_credentials(it: Product) -> None:
    made = await store(it)
    token = await it.token_for("anna", "READ", "OBSERVE", "RUN", "WRITE")
    assert (await put(it, "mine", "generic", {"secret": SECRET}, token=token))["code"] == "FORBIDDEN"
    assert (await it.answer("{ credentials { nodes { key } } }", token=token)).codes == ["FORBIDDEN"]
    node = await it.query("query ($id: ID!) { node(id: $id) { id } }", {"id": made["id"]}, token=token)
    assert node == {"node": None}
    row = (await audit_rows(it, "set_credential"))[0]
    assert (row["accepted"], row["actor"]["subject"]) == (False, "anna")
    assert row["detail"].keys() == {"key", "kind", "problem", "message"}
    clean(row)


async def test_fields_that_are_no_object_are_neither_audited_nor_repeated(it: Product) -> None:
    anna = await it.token_for("anna", "READ", "WRITE")
    for token, code in ((None, "INVALID"), (anna, "FORBIDDEN")):
        refused = await put(it, "mine", "generic", SECRET, token=token)
        assert refused["code"] == code
        row = (await audit_rows(it, "set_credential"))[0]
        assert (row["accepted"], row["target"], row["detail"]["key"]) == (False, None, "mine")
        assert "fields" not in row["detail"]
        clean([refused, row])


async def test_an_error_of_an_argument_does_not_repeat_the_secret(it: Product) -> None:
    for kind, key in (("String", "mine"), ("String!", "No key")):
        answer = await it.answer(
            f"mutation ($key: Key!, $kind: {kind}, $fields: JSON) "
            "{ setCredential(key: $key, kind: $kind, fields: $fields) { __typename } }",
            {"key": key, "fields": {"secret": SECRET}},
        )
        assert answer.errors
        clean(answer.body)


async def test_deleting_takes_it_away_at_once(it: Product) -> None:
    made = await store(it, "test.reader")
    assert (await call(it))["state"] == "SUCCEEDED"
    answer = await it.mutate(
        "mutation ($id: ID!) { deleteCredential(id: $id) { ... on DeleteSuccess { deletedId } } }", {"id": made["id"]}
    )
    assert answer == {"deletedId": made["id"]}
    assert (await call(it))["code"] == "UNAVAILABLE"
    again = await it.mutate(
        "mutation ($id: ID!) { deleteCredential(id: $id) { ... on Problem { code } } }", {"id": made["id"]}
    )
    assert again == {"code": "NOT_FOUND"}


# ------------------------------------------------------------------------------------------ use


async def test_what_is_missing_is_told_before_a_run_starts(it: Product) -> None:
    refused = await call(it)
    (missing,) = refused["missing"]
    assert (missing["kind"], missing["name"]) == ("CREDENTIAL", "key")
    assert "packline credential set key --kind generic" in missing["hint"]
    await store(it)
    (missing,) = (await call(it))["missing"]
    assert missing["message"].startswith("The credential `key` is not granted to the pack test.reader")
    assert "`packline credential grant key test.reader`" in missing["hint"]
    usable = "{ pack(id: %s) { credentials availability { usable missing { kind } } } }"
    told = (await it.query(usable % '"test.reader"'))["pack"]
    assert told == {"credentials": ["key"], "availability": {"usable": False, "missing": [{"kind": "CREDENTIAL"}]}}
    told = (await it.query(usable % '"test.optional"'))["pack"]
    assert told["availability"]["usable"], "what a pack can do without keeps nothing from running"
    assert await it.query("{ runs { totalCount } }") == {"runs": {"totalCount": 0}}


async def test_a_grant_to_the_pack_the_pipeline_or_the_caller_is_enough(it: Product) -> None:
    await save(it, "reads", READ)
    anna = await it.token_for("anna", "READ", "RUN")
    ben = await it.token_for("ben", "READ", "RUN")
    for grant, may in (
        ("test.reader", {"anna": True, "ben": True, "call": True}),
        ("reads", {"anna": True, "ben": True, "call": False}),
        ("anna", {"anna": True, "ben": False, "call": True}),
    ):
        await store(it, grant)
        for token, name in ((anna, "anna"), (ben, "ben")):
            answer = await start(it, "reads", wait=20, token=token, title=f"{grant} {name}")
            assert (answer.get("run", {}).get("state") == "SUCCEEDED") is may[name], (grant, name, answer)
        assert ((await call(it, token=anna)).get("state") == "SUCCEEDED") is may["call"], grant


async def test_each_use_is_noted_once_an_attempt(it: Product) -> None:
    made = await store(it, "test.reader")
    assert made["lastUsedAt"] is None
    run = await call(it, times=5)
    assert run["output"]["json"] == {"names": ["secret"], "matches": True}
    (row,) = await audit_rows(it, "use_credential")
    assert (row["accepted"], row["target"]) == (True, {"__typename": "Credential", "id": made["id"]})
    assert row["detail"] == {
        "credential": "key",
        "pack": "test.reader",
        "run": run["id"],
        "attempt": run["steps"][0]["attempts"][0]["id"],
    }
    assert (await credentials(it))["key"]["lastUsedAt"] is not None


async def test_a_pack_can_do_without_an_optional_one(it: Product) -> None:
    for stored in (False, True):
        if stored:
            await store(it)
        run = await call(it, "test.optional", optional=True)
        assert run["output"]["json"] == {"names": None, "matches": False}
    (refused,) = await audit_rows(it, "use_credential")
    assert not refused["accepted"], "what is there and not granted is a refusal; what is not there is none"
    await store(it, "test.optional")
    assert (await call(it, "test.optional", optional=True))["output"]["json"]["matches"]


async def test_a_refused_use_says_which_of_all_reasons_it_is(it: Product) -> None:
    run = await call(it, "test.optional", key="another")
    assert run["failure"]["code"] == "CREDENTIAL_INVALID"
    assert run["failure"]["message"] == "test.optional asks for the credential `another`, which it does not declare."
    assert "holds no credential `key`" in (await call(it, "test.optional"))["failure"]["message"]
    await store(it)
    assert "not granted to the pack test.optional" in (await call(it, "test.optional"))["failure"]["message"]
    await put(it, "key", "github", {"token": SECRET}, grants=["test.optional"])
    failure = (await call(it, "test.optional"))["failure"]
    assert failure["message"] == "The credential `key` is of kind github; test.optional needs one of kind generic."
    assert not failure["retryable"]
    refused = await audit_rows(it, "use_credential")
    assert [row["accepted"] for row in refused] == [False] * 4


async def test_an_expired_one_is_of_no_use(it: Product, tmp_path: Path) -> None:
    await store(it, "test.reader", "test.optional", expiresAt="2040-01-01T00:00:00Z")
    with closing(sqlite3.connect(tmp_path / "data" / "packline.db")) as raw:
        raw.execute("UPDATE credential SET expires_at = '2020-01-01 00:00:00.000000'")
        raw.commit()
    assert it.application.services is not None
    await it.application.services.vault_sync.refresh()
    assert "expired on 2020-01-01" in (await call(it))["missing"][0]["message"]
    assert "expired on 2020-01-01" in (await call(it, "test.optional"))["failure"]["message"]
    refused = await store(it, expiresAt="2020-01-01T00:00:00Z")
    assert refused["issues"][0]["rule"] == "past"


# ------------------------------------------------------------------------------------------ nothing leaks


@pytest.mark.parametrize("way", ["output", "fail", "raise"])
async def test_a_pack_that_tells_its_credential_everywhere_tells_nobody(
    it: Product, tmp_path: Path, way: str, capfd: pytest.CaptureFixture[str]
) -> None:
    await store(it, "test.leaker")
    await save(it, "leak", step("leak", "test.leaker", way=way), step("echo", "test.echo", text="done"))
    run = await ran(it, "leak")
    clean(await look(it, run["id"]))
    events = (
        "__typename ... on RunStateChanged { reason } ... on StepStateChanged { reason } "
        "... on StepProgressed { milestone { message } } ... on ArtifactChanged { artifact { name } artifactStatus }"
    )
    data = await it.query(
        f"""query ($id: ID!) {{ run(id: $id) {{
            events(first: 500) {{ nodes {{ {events} }} }}
            steps {{ warnings attempts {{ log {{ nodes {{ text }} }} }} }}
            artifacts {{ nodes {{ name status downloadUrl }} }} }} }}""",
        {"id": run["id"]},
    )
    clean(data)
    artifacts = data["run"]["artifacts"]["nodes"]
    assert len(artifacts) == (6 if way == "output" else 0) or artifacts
    for artifact in artifacts:
        is_clean = artifact["name"] == "clean.txt"
        assert artifact["status"] == ("STORED" if is_clean else "QUARANTINED"), artifact
        assert (artifact["downloadUrl"] is not None) is is_clean
    if way == "output":
        assert any("quarantine" in warning for warning in data["run"]["steps"][0]["warnings"])
    clean(await audit_rows(it))
    clean(await credentials(it))
    captured = capfd.readouterr()
    clean(captured.out + captured.err)
    with closing(sqlite3.connect(tmp_path / "data" / "packline.db")) as raw:
        clean("\n".join(line for line in raw.iterdump()))


async def test_a_value_that_was_replaced_stays_masked(it: Product) -> None:
    await store(it, "test.leaker")
    await put(it, "key", "generic", {"secret": "quite another value"})
    run = await call(it, "test.echo", text=f"still {SECRET}")
    assert run["output"]["json"]["text"] == "still [redacted:key.secret]"
    run = await call(it, "test.echo", text="and quite another value")
    assert run["output"]["json"]["text"] == "and [redacted:key.secret]"


async def test_no_field_of_the_api_tells_a_value(it: Product) -> None:
    """Every field of every credential type, as introspection lists them."""
    await store(it, "test.reader")
    fields = (
        await it.query(
            '{ __type(name: "Credential") { fields { name type { kind ofType { kind ofType { kind } } } } } }'
        )
    )["__type"]["fields"]
    assert {field["name"] for field in fields} == {
        *("id", "key", "kind", "description", "fieldsSet", "fingerprint", "readable", "grants", "neededBy"),
        *("createdAt", "updatedAt", "expiresAt", "lastUsedAt", "lastTest"),
    }, "look whether the new field can tell a value"
    clean(await credentials(it))
    settings = await it.query("{ settings { name value } }")
    assert {row["name"]: row["value"] for row in settings["settings"]}["PACKLINE_VAULT_KEY"] is None


async def test_generic_credentials_have_no_test_and_say_so(it: Product) -> None:
    made = await store(it)
    refused = await tried(it, made["id"])
    assert (refused["__typename"], refused["message"], refused["missing"], refused["retryable"]) == (
        "UnavailableProblem",
        "Credentials of kind generic cannot be tested.",
        [],
        False,
    )


async def test_an_artifact_leaves_quarantine_only_through_a_manager(it: Product) -> None:
    await store(it, "test.leaker")
    await save(it, "leak", step("leak", "test.leaker"))
    run = await ran(it, "leak")
    artifact = run["steps"][0]["artifacts"][0]["id"]
    release = """mutation ($id: ID!) { releaseArtifact(id: $id) { __typename
        ... on ArtifactSuccess { artifact { status downloadUrl } } ... on Problem { code } } }"""
    token = await it.token_for("admin", "READ", "RUN", "WRITE")
    assert (await it.mutate(release, {"id": artifact}, token=token))["code"] == "FORBIDDEN"
    released = await it.mutate(release, {"id": artifact})
    assert released["artifact"]["status"] == "STORED"
    assert released["artifact"]["downloadUrl"] is not None
    assert (await it.mutate(release, {"id": artifact}))["code"] == "CONFLICT"
    rows = await audit_rows(it, "release_artifact")
    assert [row["accepted"] for row in rows] == [False, True, False]


async def test_a_later_step_cannot_open_what_is_in_quarantine(it: Product) -> None:
    await store(it, "test.leaker")
    await save(
        it,
        "leak",
        step("leak", "test.leaker"),
        step("open", "test.opener", artifact_id="${{ steps.leak.output.artifacts[0] }}"),
    )
    run = await ran(it, "leak")
    assert run["failure"]["code"] == "ARTIFACT_FAILED"
    assert "is quarantined, because it contains a secret" in run["failure"]["message"]


async def test_a_grant_taken_back_while_the_step_runs_counts_at_once(it: Product) -> None:
    await store(it, "test.patient")
    run = (await command(it, "runPack", pack="test.patient", input={}))["run"]
    await PATIENT.first.wait()
    await store(it)
    PATIENT.go_on.set()
    ended_run = await ended(it, run["id"])
    assert ended_run["failure"]["code"] == "CREDENTIAL_INVALID"
    assert "not granted to the pack test.patient" in ended_run["failure"]["message"]
    assert [row["accepted"] for row in await audit_rows(it, "use_credential")] == [False, True]


# ------------------------------------------------------------------------------------------ a wrong key


async def test_with_a_wrong_key_the_server_runs_and_says_what_does_not(tmp_path: Path) -> None:
    packs = [*Workbench().packs, reader()]
    async with product(tmp_path, packs) as it:
        await store(it, "test.reader")
        assert (await call(it))["state"] == "SUCCEEDED"
        assert (tmp_path / "data" / "vault.key").stat().st_mode & 0o777 == 0o600
    right = (tmp_path / "data" / "vault.key").read_text()
    async with product(tmp_path, packs, vault_key="00" * 32) as it:
        health = {
            check["name"]: check for check in (await it.query("{server{health{name ok message}}}"))["server"]["health"]
        }
        assert not health["vault key"]["ok"]
        assert "the key in PACKLINE_VAULT_KEY is not the one" in health["vault key"]["message"]
        (missing,) = (await call(it))["missing"]
        assert missing["message"].startswith("The vault is locked")
        assert "PACKLINE_VAULT_KEY" in missing["hint"]
        assert (await call(it, "test.echo", text="the rest runs"))["state"] == "SUCCEEDED"
        assert not (await credentials(it))["key"]["readable"]
        refused = await store(it)
        assert (refused["__typename"], refused["code"]) == ("UnavailableProblem", "UNAVAILABLE")
        assert (await tried(it, (await credentials(it))["key"]["id"]))["code"] == "UNAVAILABLE"
        granted = await put(it, "key", "generic", grants=[])
        assert granted["grants"] == [], "what needs no key can be done"
    async with product(tmp_path, packs, vault_key=right.strip()) as it:
        assert (await credentials(it))["key"]["readable"]
        await store(it, "test.reader")
        assert (await call(it))["output"]["json"]["matches"]


async def test_a_key_of_a_model_provider_is_tested_where_it_is_used(tmp_path: Path) -> None:
    async with loopback_http({"/v1/models": Reply(b'{"data": []}')}) as proxy:
        settings: dict[str, Any] = {"model_providers": {"openai": {"base_url": proxy.url("/v1")}}}
        async with product(tmp_path, [reader()], **settings) as it:
            made = await put(it, "openai", "openai", {"api_key": SECRET})
            assert (await tried(it, made["id"]))["lastTest"]["accepted"]
    assert [request.path for request in proxy.requests] == ["/v1/models"]
