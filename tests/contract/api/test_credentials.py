"""Credentials and what they keep from leaking: what the operations on them promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.front_door import step
from tests.support.surfaces import Refused, states

if TYPE_CHECKING:
    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


@states("set_credential", "credentials", "credential_kinds", "test_credential", "delete_credential")
async def test_a_credential_is_stored_shared_listed_and_deleted(api: Api) -> None:
    kinds = {kind["name"]: kind for kind in await api.me.call("credential_kinds")}
    assert [field["name"] for field in kinds["github"]["fields"]] == ["token"]
    given = {"key": api.key, "kind": "generic", "fields": {"secret": f"the value of {api.key}"}}
    assert (await api.refusal("set_credential", **given)).code == "FORBIDDEN"

    made = (await api.admin.call("set_credential", **given, grants=[api.subject]))["credential"]

    assert (made["key"], made["fieldsSet"], made["readable"]) == (api.key, ["secret"], True)
    assert len(made["grants"]) == 1
    first = await api.admin.call("credentials", first=1)
    assert [node["key"] for node in first["nodes"]] == [api.key], "newest first"
    assert (await api.refusal("credentials", first=1)).code == "FORBIDDEN"
    with pytest.raises(Refused, match="UNAVAILABLE"):
        await api.admin.call("test_credential", id=made["id"])
    assert (await api.admin.call("delete_credential", id=made["id"]))["deletedId"] == made["id"]
    with pytest.raises(Refused, match="NOT_FOUND"):
        await api.admin.call("delete_credential", id=made["id"])


@states("set_credential", "run_pipeline", "get_artifact", "artifact_text", "release_artifact")
async def test_an_artifact_with_a_known_value_waits_for_a_manager(api: Api) -> None:
    value = f"only {api.key} knows this"
    given = {"key": api.key, "kind": "generic", "fields": {"secret": value}}
    await api.admin.call("set_credential", **given)
    await api.save(step("make", "test.artifact", name="leak.txt", content=f"It is: {value}."))
    run = (await api.me.call("run_pipeline", pipeline=api.key, waitSeconds=20))["run"]
    (made,) = run["steps"][0]["artifacts"]

    found = await api.me.call("get_artifact", id=made["id"])
    assert (found["status"], found["downloadUrl"]) == ("QUARANTINED", None)
    assert (await api.me.call("artifact_text", id=made["id"]))["text"] is None
    assert f"contains the secret {api.key}.secret" in run["steps"][0]["warnings"][0]
    assert (await api.refusal("release_artifact", id=made["id"])).code == "FORBIDDEN"

    assert (await api.admin.call("release_artifact", id=made["id"]))["artifact"]["status"] == "STORED"
    text = (await api.me.call("artifact_text", id=made["id"]))["text"]
    assert text == f"It is: [redacted:{api.key}.secret].", "shown text is masked all the same"
    found = await api.me.call("get_artifact", id=made["id"])
    fetched = await api.house.product.admin.http.get(api.house.product.url(found["downloadUrl"]))
    assert fetched.text == f"It is: {value}.", "and the file itself is never changed"
