"""What a proposal may be called, and which issues a wrong one has."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from catalog.routing.gaps import Proposal

_TEXTS = {"summary": "Posts.", "integration_pattern": "An API.", "why_useful": "Reach."}
_PACK: dict[str, Any] = {
    **_TEXTS,
    "action": "propose_pack",
    "name": "social.post",
    "input_schema": {},
    "output_schema": {},
}
_PIPELINE = {**_PACK, "action": "draft_pipeline", "name": "read-and-post", "packs": ["doc.parse"]}


def _issues(fields: dict[str, Any]) -> list[tuple[object, ...]]:
    with pytest.raises(ValidationError) as refused:
        Proposal.model_validate(fields)
    return [found["loc"] for found in refused.value.errors()]


def test_a_pack_and_a_pipeline_are_named_as_they_could_be_created():
    for name in ("social.post", "social.post_2", "a.b.c"):
        assert Proposal.model_validate({**_PACK, "name": name}).name == name
    for name in ("read-and-post", "read", "read_and-post"):
        assert Proposal.model_validate({**_PIPELINE, "name": name}).name == name


@pytest.mark.parametrize("name", ["a-b.c", "a.b-c", "post", "read-and-post", "a.2", "Social.post", "a.b\n", ""])
def test_a_name_that_no_pack_can_have_is_refused(name: str):
    assert _issues({**_PACK, "name": name}) == [("name",)]


@pytest.mark.parametrize("name", ["a.b", "a-", "-a", "a--b", "2-a", "Read", "a b", "a-b\n", ""])
def test_a_name_that_no_pipeline_should_have_is_refused(name: str):
    assert _issues({**_PIPELINE, "name": name}) == [("name",)]


@pytest.mark.parametrize("fields", [_PACK, _PIPELINE])
def test_a_missing_or_wrong_action_is_the_only_issue(fields: dict[str, Any]):
    assert _issues({**fields, "action": "wait"}) == [("action",)]
    assert _issues({key: value for key, value in fields.items() if key != "action"}) == [("action",)]
