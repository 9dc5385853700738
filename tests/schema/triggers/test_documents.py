"""Triggers in documents: applied with their pipelines, exported, and refused as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.vaults import put

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product

pytestmark = pytest.mark.asyncio(loop_scope="module")

APPLY = """mutation ($yaml: String!, $dry: Boolean!) { applyPipelines(yaml: $yaml, dryRun: $dry) { __typename
    ... on ApplyPipelinesSuccess { changes { action diff triggers { name action triggerId secret } } }
    ... on Problem { code message hint } ... on InvalidProblem { issues { path message hint } } } }"""
TRIGGERS = """query ($id: ID!) { pipeline(id: $id) { currentVersion { number yaml } exportYaml triggers { nodes {
    id name kind enabled version inputs nextAt owner { subject }
    schedule { cron timeZone overlap } webhook { preset events url } } } } }"""
DEFINITION = """\
# Mine.
key: {key}
name: Tea
inputs: {{required: [text], properties: {{text: {{type: string}}}}}}
steps:
  - id: say
    pack: test.echo
    input: {{text: "${{{{ inputs.text }}}}"}}
"""
LISTED = """\
triggers:
  - name: Mornings  # on weekdays
    schedule: {cron: 30 6 * * MON-FRI, time_zone: Europe/Berlin, overlap: queue}
    inputs: {text: "Tea of ${{ trigger.scheduled_at }}"}
  - name: Pushes
    webhook: {preset: github, events: [push]}
    inputs: {text: "${{ trigger.payload.who }}"}
"""


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]
)
async def it(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    async with product(tmp_path_factory.mktemp("documents"), Workbench().packs, database_url=request.param) as it:
        yield it


async def apply(it: Product, yaml: str, *, dry: bool = False, token: str | None = None) -> dict[str, Any]:
    return await it.mutate(APPLY, {"yaml": yaml, "dry": dry}, token=token)


async def only(it: Product, yaml: str, **given: Any) -> dict[str, Any]:
    (change,) = (await apply(it, yaml, **given))["changes"]
    return dict(change)


async def stored(it: Product, key: str, token: str | None = None) -> dict[str, Any]:
    found = (await it.query(TRIGGERS, {"id": key}, token=token))["pipeline"]
    return {**found, "triggers": {each["name"]: each for each in found["triggers"]["nodes"]}}


def actions(change: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["action"] for each in change["triggers"]}


async def test_a_new_pipeline_comes_with_its_triggers_and_applying_twice_changes_nothing(it: Product) -> None:
    text = DEFINITION.format(key="both") + "\n# When it runs.\n" + LISTED
    dry = await only(it, text, dry=True)
    assert (dry["action"], actions(dry)) == ("CREATE", {"Mornings": "CREATE", "Pushes": "CREATE"})
    assert "+triggers:" in dry["diff"]
    assert [each["secret"] for each in dry["triggers"]] == [None, None]
    assert (await it.query('{ pipeline(id: "both") { id } }'))["pipeline"] is None
    made = await only(it, text)
    ids, (none, secret) = zip(*((each["triggerId"], each["secret"]) for each in made["triggers"]), strict=True)
    assert (none, len(secret)) == (None, 32)

    found = await stored(it, "both")
    assert found["currentVersion"] == {"number": 1, "yaml": DEFINITION.format(key="both")}
    mornings, pushes = found["triggers"]["Mornings"], found["triggers"]["Pushes"]
    assert mornings["schedule"] == {"cron": "30 6 * * MON-FRI", "timeZone": "Europe/Berlin", "overlap": "QUEUE"}
    assert (pushes["webhook"]["preset"], pushes["webhook"]["events"]) == ("GITHUB", ["push"])
    assert {mornings["id"], pushes["id"]} == set(ids)
    assert secret not in found["exportYaml"]
    for again in (text, found["exportYaml"]):
        same = await only(it, again)
        assert (same["action"], same["diff"], set(actions(same).values())) == ("KEEP", "", {"KEEP"})
    assert await stored(it, "both") == found


async def test_the_list_is_complete_and_without_it_triggers_stay(it: Product) -> None:
    definition = DEFINITION.format(key="listed")
    await only(it, definition + LISTED)
    before = (await stored(it, "listed"))["triggers"]
    without = await only(it, definition.replace("Tea", "Teas"))
    assert (without["action"], without["triggers"]) == ("UPDATE", [])
    assert (await stored(it, "listed"))["triggers"] == before

    pushes = before["Pushes"]["id"]
    await it.mutate(f'mutation {{ pauseTrigger(id: "{pushes}") {{ __typename }} }}')
    changed = "triggers:\n  - {name: Pushes, webhook: {preset: github}, inputs: {text: x}}\n"
    dry = await only(it, definition + changed, dry=True)
    assert actions(dry) == {"Pushes": "UPDATE", "Mornings": "DELETE"}
    assert "-  - name: Mornings" in dry["diff"]
    assert (await stored(it, "listed"))["triggers"].keys() == before.keys()
    await only(it, definition + changed)
    after = (await stored(it, "listed"))["triggers"]
    assert after.keys() == {"Pushes"}
    assert (after["Pushes"]["id"], after["Pushes"]["inputs"]) == (pushes, {"text": "x"})
    assert after["Pushes"]["webhook"] == {**before["Pushes"]["webhook"], "events": []}
    assert after["Pushes"]["enabled"] is False, "what somebody paused stays paused"
    await only(it, definition + changed.replace("name:", "enabled: true, name:"))
    assert (await stored(it, "listed"))["triggers"]["Pushes"]["enabled"] is True
    assert actions(await only(it, definition + "triggers: []\n")) == {"Pushes": "DELETE"}
    assert (await stored(it, "listed"))["triggers"] == {}
    unclear = await apply(it, definition + "triggers:\n")
    assert unclear["__typename"] == "InvalidProblem", unclear


async def test_a_wrong_entry_refuses_everything_with_its_place(it: Product) -> None:
    await only(it, DEFINITION.format(key="whole") + LISTED)
    before = await stored(it, "whole")
    changed = DEFINITION.format(key="whole").replace("Tea", "Coffee") + LISTED.replace("30 6", "45 6")
    other = DEFINITION.format(key="wrong")
    for entry, path, says in (
        ("{name: T, schedule: {cron: '@daily'}, inputs: {txt: x}}", ["inputs", "txt"], "txt"),
        ("{name: T, schedule: {cron: '@daily'}}", ["inputs", "text"], "missing"),
        (
            "{name: T, schedule: {cron: '@daily'}, inputs: {text: '${{ trigger.payload }}'}}",
            ["inputs", "text"],
            "payload",
        ),
        ("{name: T, schedule: {cron: '@dayly'}, inputs: {text: x}}", ["schedule", "cron"], "@dayly"),
        ("{name: T, schedule: {cron: '@daily'}, inputs: {text: x}, version: 2}", ["version"], "2"),
        ("{name: T, webhook: {preset: github}, inputs: {text: '${{ trigger.pay }}'}}", ["inputs", "text"], "pay"),
    ):
        refused = await apply(it, f"{changed}---\n{other}triggers:\n  - {entry}\n")
        assert refused["__typename"] == "InvalidProblem", entry
        messages = {tuple(issue["path"]): issue["message"] for issue in refused["issues"]}
        assert says in messages["1", "triggers", "0", *path], entry
    both = await apply(it, other.replace("name:", "nmae:") + "triggers: [{name: T}]")
    assert [issue["path"] for issue in both["issues"]] == [["0", "nmae"], ["0", "triggers", "0"]]
    assert await stored(it, "whole") == before
    assert (await it.query('{ pipeline(id: "wrong") { id } }'))["pipeline"] is None


async def test_triggers_are_checked_against_the_definition_they_come_with(it: Product) -> None:
    old = DEFINITION.format(key="renamed")
    listed = "triggers:\n  - {name: T, schedule: {cron: '@daily'}, inputs: {text: x}}\n"
    await only(it, old + listed)
    new = (
        old.replace("inputs.text", "inputs.words").replace("[text]", "[words]").replace("{text: {type", "{words: {type")
    )
    refused = await apply(it, new + listed)
    assert refused["issues"][0]["path"] == ["0", "triggers", "0", "inputs", "text"]
    change = await only(it, new + listed.replace("text:", "words:"))
    assert (change["action"], actions(change)) == ("UPDATE", {"T": "UPDATE"})
    pinned = await only(it, new + listed.replace("{name", "{version: 1, name"))
    assert actions(pinned) == {"T": "UPDATE"}


async def test_kind_and_preset_of_a_trigger_stay(it: Product) -> None:
    definition = DEFINITION.format(key="kinds")
    await only(it, definition + LISTED)
    turned = LISTED.replace("preset: github", "preset: bearer")
    refused = await apply(it, definition + turned)
    assert refused["issues"][0]["path"] == ["0", "triggers", "1", "webhook", "preset"]
    assert "another name" in refused["issues"][0]["hint"]
    swapped = definition + "triggers: [{name: Pushes, schedule: {cron: '@daily'}, inputs: {text: x}}]"
    assert (await apply(it, swapped))["issues"][0]["path"] == ["0", "triggers", "0", "schedule"]


async def test_pipelines_whose_ends_fire_a_trigger_go_by_their_keys(it: Product) -> None:
    await only(it, DEFINITION.format(key="watched"))
    definition = DEFINITION.format(key="watcher")
    listed = "triggers: [{name: Ends, run_ended: {states: [failed], pipelines: [watched]}, inputs: {text: x}}]"
    assert actions(await only(it, definition + listed)) == {"Ends": "CREATE"}
    found = (await stored(it, "watcher"))["exportYaml"]
    assert "pipelines:\n        - watched\n" in found
    assert actions(await only(it, found)) == actions(await only(it, definition + listed)) == {"Ends": "KEEP"}
    more = await only(it, definition + listed.replace("[failed]", "[failed, cancelled]"))
    assert (actions(more), "+        - cancelled" in more["diff"]) == ({"Ends": "UPDATE"}, True)
    for wrong, path in (("[watcher]", ["pipelines", "0"]), ("[wached]", ["pipelines"])):
        (issue,) = (await apply(it, definition + listed.replace("[watched]", wrong)))["issues"]
        assert issue["path"] == ["0", "triggers", "0", "run_ended", *path]
    token = await it.token_for("dora", "READ", "RUN", "WRITE")
    alone = "key: watcher\n" + listed.replace("states:", "runs_of: all, states:")
    assert (await apply(it, alone, token=token))["code"] == "FORBIDDEN"


async def test_others_triggers_are_neither_shown_nor_touched(it: Product) -> None:
    """Each caller lists triggers of their own, also those of a pipeline that is not theirs."""
    definition = DEFINITION.format(key="shared")
    await only(it, definition + LISTED)
    mine = (await stored(it, "shared"))["triggers"]
    token = await it.token_for("bea", "READ", "RUN", "WRITE")
    alone = "key: shared\ntriggers:\n  - {name: Mornings, schedule: {cron: '@daily'}, inputs: {text: x}}\n"
    change = await only(it, alone, token=token)
    assert (change["action"], actions(change)) == ("KEEP", {"Mornings": "CREATE"})
    await only(it, definition.replace("Tea", "Teas"))
    assert actions(await only(it, alone, token=token)) == {"Mornings": "KEEP"}, "the version stays pinned"
    theirs = await stored(it, "shared", token)
    assert theirs["triggers"]["Mornings"]["version"] == 1
    assert "triggers:" not in theirs["exportYaml"], "bea could not apply the definition"
    assert actions(await only(it, definition.replace("Tea", "Teas") + LISTED)) == {"Mornings": "KEEP", "Pushes": "KEEP"}
    nodes = (await it.query(TRIGGERS, {"id": "shared"}))["pipeline"]["triggers"]["nodes"]
    assert len([each for each in nodes if each["name"] == "Mornings"]) == 2
    assert {each["id"] for each in mine.values()} < {each["id"] for each in nodes}
    (issue,) = (await apply(it, "key: sharde\ntriggers: []\n"))["issues"]
    assert (issue["path"], "`shared`" in issue["hint"]) == (["0", "key"], True)


async def test_only_a_caller_who_may_start_runs_creates_triggers(it: Product) -> None:
    token = await it.token_for("cleo", "READ", "WRITE")
    refused = await apply(it, DEFINITION.format(key="cleos") + LISTED, token=token)
    assert (refused["__typename"], "`run`" in refused["message"]) == ("ForbiddenProblem", True)
    assert (await only(it, DEFINITION.format(key="cleos"), token=token))["action"] == "CREATE"


async def test_a_secret_in_the_inputs_is_masked_in_an_export_and_kept_when_that_is_applied(it: Product) -> None:
    secret = "correct horse battery"
    await put(it, "key", "generic", {"secret": secret})
    listed = f"triggers:\n  - {{name: T, schedule: {{cron: '@daily'}}, inputs: {{text: {secret}}}}}\n"
    await only(it, DEFINITION.format(key="masked") + listed)
    exported = (await stored(it, "masked"))["exportYaml"]
    assert (secret in exported, "[redacted:key" in exported) == (False, True)
    assert actions(await only(it, exported)) == {"T": "KEEP"}
    assert actions(await only(it, exported.replace("@daily", "@hourly"))) == {"T": "UPDATE"}
    assert actions(await only(it, DEFINITION.format(key="masked") + listed.replace("@daily", "@hourly"))) == {
        "T": "KEEP"
    }
    refused = await apply(it, exported.replace("key: masked", "key: elsewhere"))
    assert (refused["issues"][0]["path"], "secret" in refused["issues"][0]["message"]) == (
        ["0", "triggers", "0", "inputs"],
        True,
    )


async def test_more_triggers_than_the_limit_are_refused_with_the_document(tmp_path: Path) -> None:
    """The whole document is refused, and a single trigger, too."""
    async with product(tmp_path, Workbench().packs, caller_triggers=1) as it:
        full = await apply(it, DEFINITION.format(key="full") + LISTED)
        assert (full["code"], full["message"]) == ("LIMITED", "You have as many triggers as the limit allows: 1.")
        assert "PACKLINE_CALLER_TRIGGERS" in full["hint"]
        assert (await it.query('{ pipeline(id: "full") { id } }'))["pipeline"] is None
        await only(it, DEFINITION.format(key="full") + LISTED[: LISTED.index("  - name: Pushes")])
        more = await it.mutate(
            """mutation { createTrigger(pipeline: "full", name: "More", schedule: {cron: "@daily"},
                inputs: {text: "x"}) { ... on Problem { code } } }"""
        )
        assert more["code"] == "LIMITED"
