"""Sample deliveries in the form of each preset's sender, shortened from the examples in its documentation.

Sources: GitHub's "Webhook events and payloads", Stripe's "Event object", and the payload that the Standard Webhooks
specification recommends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from runner.triggers.webhooks import Preset

if TYPE_CHECKING:
    from datetime import datetime

    from runner.failures import JSONValue

#: The event of a sample for a webhook that fires for all events.
USUAL_EVENTS = {
    Preset.GITHUB: "push",
    Preset.STANDARD_WEBHOOKS: "contact.created",
    Preset.TIMESTAMPED: "invoice.paid",
    Preset.BEARER: "test",
}

_HOME = "https://github.com/octocat/hello-world"
_SHA = "6113728f27ae82c7b1a177c8d03f9e96e0adf246"
_BEFORE = "59b20b8d5c6ff8d09518454d4dd8b7b30f095ab5"
_OCTOCAT: JSONValue = {"id": 1, "login": "octocat", "type": "User", "html_url": "https://github.com/octocat"}
_ACTIONS = {"pull_request": "opened", "issues": "opened", "release": "published", "issue_comment": "created"}


def sample_payload(preset: Preset, event: str, *, delivery_id: str, now: datetime) -> JSONValue:
    """Return the payload of a sample; each has another id where the sender's payloads have one."""
    at = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    match preset:
        case Preset.GITHUB:
            return _of_github(event, at)
        case Preset.STANDARD_WEBHOOKS:
            return {"type": event, "timestamp": at, "data": {"id": delivery_id, "name": "Ann"}}
        case Preset.TIMESTAMPED:
            return _of_stripe(event, delivery_id, int(now.timestamp()))
        case Preset.BEARER:
            return {"id": delivery_id, "type": event, "test": True}
        case _:
            assert_never(preset)


def _of_stripe(event: str, delivery_id: str, seconds: int) -> JSONValue:
    kind = event.rpartition(".")[0] or event
    return {
        "id": delivery_id,
        "object": "event",
        "api_version": "2024-06-20",
        "created": seconds,
        "type": event,
        "livemode": False,
        "pending_webhooks": 1,
        "request": {"id": None, "idempotency_key": None},
        "data": {
            "object": {
                "id": "obj_test",
                "object": kind.rpartition(".")[2],
                "amount": 2000,
                "amount_paid": 2000,
                "currency": "eur",
                "customer": "cus_test",
                "created": seconds,
                "livemode": False,
                "metadata": {},
                "status": "paid",
            }
        },
    }


def _of_github(event: str, at: str) -> JSONValue:
    common: dict[str, JSONValue] = {"repository": _repository(at), "sender": _OCTOCAT}
    if event in _ACTIONS:
        common = {"action": _ACTIONS[event], **common}
    match event:
        case "push":
            return {**_push(at), **common}
        case "pull_request":
            return {"number": 2, "pull_request": {**_issue(2, "pull", at), **_BRANCHES}, **common}
        case "issues":
            return {"issue": _issue(1, "issues", at), **common}
        case "issue_comment":
            comment: JSONValue = {
                "id": 1,
                "body": "You are totally right!",
                "html_url": f"{_HOME}/issues/1#issuecomment-1",
                "user": _OCTOCAT,
                "created_at": at,
            }
            return {"issue": _issue(1, "issues", at), "comment": comment, **common}
        case "release":
            release: JSONValue = {
                "id": 1,
                "tag_name": "v1.0.0",
                "target_commitish": "main",
                "name": "First release",
                "body": "What is new.",
                "draft": False,
                "prerelease": False,
                "html_url": f"{_HOME}/releases/tag/v1.0.0",
                "author": _OCTOCAT,
                "created_at": at,
                "published_at": at,
                "assets": [],
            }
            return {"release": release, **common}
        case "ping":
            return {"zen": "Keep it logically awesome.", "hook_id": 1, "hook": {"type": "Repository"}, **common}
    return common


def _push(at: str) -> dict[str, JSONValue]:
    person: JSONValue = {"name": "The Octocat", "email": "octocat@github.example", "username": "octocat"}
    commit: JSONValue = {
        "id": _SHA,
        "tree_id": _BEFORE,
        "distinct": True,
        "message": "Correct the spelling in the README file",
        "timestamp": at,
        "url": f"{_HOME}/commit/{_SHA}",
        "author": person,
        "committer": person,
        "added": [],
        "removed": [],
        "modified": ["README.md"],
    }
    return {
        "ref": "refs/heads/main",
        "before": _BEFORE,
        "after": _SHA,
        "base_ref": None,
        "created": False,
        "deleted": False,
        "forced": False,
        "compare": f"{_HOME}/compare/59b20b8d5c6f...6113728f27ae",
        "commits": [commit],
        "head_commit": commit,
        "pusher": {"name": "octocat", "email": "octocat@github.example"},
    }


def _issue(number: int, kind: str, at: str) -> dict[str, JSONValue]:
    return {
        "id": number,
        "number": number,
        "title": "Spelling error in the README file",
        "body": "It looks like you accidentally spelled a word wrong.",
        "state": "open",
        "draft": False,
        "html_url": f"{_HOME}/{kind}/{number}",
        "user": _OCTOCAT,
        "labels": [{"id": 1, "name": "bug", "color": "d73a4a"}],
        "assignees": [],
        "comments": 0,
        "created_at": at,
        "updated_at": at,
        "closed_at": None,
    }


_BRANCHES: dict[str, JSONValue] = {
    "head": {"ref": "changes", "sha": _SHA, "label": "octocat:changes"},
    "base": {"ref": "main", "sha": _BEFORE, "label": "octocat:main"},
    "merged": False,
    "merged_at": None,
}


def _repository(at: str) -> JSONValue:
    return {
        "id": 1,
        "name": "hello-world",
        "full_name": "octocat/hello-world",
        "private": False,
        "owner": _OCTOCAT,
        "html_url": _HOME,
        "description": "My first repository",
        "fork": False,
        "url": "https://api.github.com/repos/octocat/hello-world",
        "clone_url": f"{_HOME}.git",
        "ssh_url": "git@github.com:octocat/hello-world.git",
        "default_branch": "main",
        "language": "Python",
        "topics": [],
        "created_at": at,
        "pushed_at": at,
    }
