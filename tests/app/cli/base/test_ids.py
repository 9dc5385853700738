"""Ids as people type them, against a server of canned answers."""

import pytest

from app.cli.commands import tree

#: Two runs of one second, and an older one.
FIRST, SECOND, OLD = (
    "run_01KAV00000AAAAAAAAAAAAAAAA",
    "run_01KAV00000BBBBBBBBBBBBBBBB",
    "run_01KAT00000CCCCCCCCCCCCCCCC",
)
REFUSED = {
    "result": {"__typename": "WrongStateProblem", "code": "WRONG_STATE", "message": "It has ended.", "hintParts": None}
}


def page(*nodes, more=False):
    return {"found": {"nodes": [*nodes], "pageInfo": {"hasNextPage": more, "endCursor": "e"}}}


def a_run(id):
    return {"id": id, "title": f"Title of {id[-1]}", "createdAt": "2025-11-24T00:00:00.000Z"}


@pytest.fixture
def runs(server):
    server.answers["CliRunIds"] = page(*map(a_run, (SECOND, FIRST, OLD)))
    server.answers["CliCancelRun"] = REFUSED
    return server


def test_a_unique_prefix_names_a_run(packline, runs):
    assert packline("cancel", FIRST[:18]).err == "packline: It has ended.\n"
    (asked,) = runs.asked_for("CliRunIds")
    assert asked["before"].startswith("2025-11-24T"), "later runs are not even listed"
    assert runs.asked_for("CliCancelRun")[0]["id"] == FIRST


def test_a_whole_id_and_what_no_id_begins_with_cost_no_search(packline, runs):
    for given in (FIRST, "run_9", "deck", f"{FIRST}X"):
        packline("cancel", given)
    assert [asked["id"] for asked in runs.asked_for("CliCancelRun")] == [FIRST, "run_9", "deck", f"{FIRST}X"]
    assert runs.asked_for("CliRunIds") == []


def test_the_search_ends_where_older_ids_begin(packline, runs):
    runs.answers["CliRunIds"] = page(a_run(SECOND), a_run(OLD), more=True)
    packline("cancel", SECOND[:18])
    assert len(runs.asked_for("CliRunIds")) == 1
    packline("cancel", f"{FIRST[:17]}9")
    assert runs.asked_for("CliCancelRun")[-1]["id"] == f"{FIRST[:17]}9", "the server says that there is none"


def test_an_ambiguous_prefix_is_refused_with_the_candidates(packline, runs):
    refused = packline("cancel", "run_01KAV")
    assert (refused.status, runs.asked_for("CliCancelRun")) == (2, [])
    first, *candidates = refused.err.splitlines()
    assert first == "packline: `run_01KAV` is ambiguous. Type more of one:"
    assert [line.split(",")[0] for line in candidates] == [f"  {id}  Title of {id[-1]}" for id in (SECOND, FIRST)]
    runs.answers["CliRunIds"] = page(*(a_run(f"{FIRST[:-2]}{n}A") for n in range(10, 40)))
    assert packline("cancel", "run_01K").err.splitlines()[-1] == "  and more; `packline runs` lists them"


def test_last_is_the_newest_run_of_the_caller_or_its_one_artifact(packline, runs):
    files = [{"id": "art_1", "name": "deck.pdf"}, {"id": "art_2", "name": "notes.md"}]
    runs.answers["CliViewer"] = {"viewer": {"id": "call_1"}}
    runs.answers["CliNewestRun"] = lambda _: {"runs": {"nodes": [{"id": FIRST, "artifacts": {"nodes": made}}]}}
    runs.answers["CliPinArtifact"] = REFUSED
    made = files[:1]
    packline("cancel", "@last")
    assert runs.asked_for("CliCancelRun")[0]["id"] == FIRST
    assert runs.asked_for("CliNewestRun") == [{"caller": "call_1"}]
    packline("artifact", "pin", "@last")
    assert runs.asked_for("CliPinArtifact")[0]["id"] == "art_1"

    made = files
    assert packline("artifact", "pin", "@last").err.splitlines() == [
        f"packline: Your newest run, {FIRST}, has several artifacts. Type more of one:",
        "  art_1  deck.pdf",
        "  art_2  notes.md",
    ]
    made = []
    assert "has no artifact." in packline("artifact", "pin", "@last").err
    runs.answers["CliNewestRun"] = {"runs": {"nodes": []}}
    assert "you have none. `packline run sample` starts one." in packline("show", "@last").err
    assert packline("run", "@last").err == (
        "packline: `@last` means your newest run, not a pipeline. `packline pipelines` lists what you can name.\n"
    )


def test_a_misspelt_last_is_recognised(packline, server):
    for typed in ("@lst", "@Last", "@latest"):
        assert packline("show", typed).err == f"packline: `{typed}` is unknown. Did you mean `@last`?\n"
    server.answers["CliGrant"] = REFUSED
    assert "Did you mean" not in packline("credential", "grant", "key", "@ada").err


def test_other_ids_are_completed_too(packline, server):
    end = "01KAV00000AAAAAAAAAAAAAAAA"
    server.answers["CliPipelineIds"] = page({"id": f"pipe_{end}", "key": "deck"})
    server.answers["CliTokenIds"] = page({"tokens": {"nodes": [{"id": f"tok_{end}", "name": "ci"}]}})
    server.answers["CliArtifactIds"] = page({"id": f"art_{end}", "name": "deck.pdf"})
    server.answers["CliMemoryIds"] = page({"id": f"mem_{end}", "target": "deck", "at": None})
    server.answers |= {"CliExport": {"pipeline": None}, "CliRevokeToken": REFUSED, "CliPinArtifact": REFUSED}
    server.answers["CliForget"] = REFUSED
    packline("export", "pipe_01K", "deck")
    packline("token", "revoke", "tok_01KAV")
    packline("artifact", "unpin", "art_01K")
    packline("memory", "forget", "entry:mem_01K")
    assert server.asked_for("CliExport")[0]["id"] == f"pipe_{end}"
    assert server.asked_for("CliRevokeToken")[0]["id"] == f"tok_{end}"
    assert server.asked_for("CliPinArtifact")[0]["id"] == f"art_{end}"
    assert server.asked_for("CliForget")[0]["scope"] == f"entry:mem_{end}"


def test_a_key_is_no_prefix_of_an_id(packline, server):
    """Of a credential, or of a pipeline that is called as ids begin."""
    server.answers["CliExport"] = {"pipeline": None}
    packline("export", "pipe_01", "deck")
    assert server.asked_for("CliExport")[0]["id"] == "pipe_01"
    assert server.asked_for("CliPipelineIds") == []


def test_the_server_that_is_named_is_asked(packline, runs, monkeypatch):
    monkeypatch.setenv("PACKLINE_SERVER", "http://127.0.0.1:1")
    assert packline("cancel", FIRST[:18], "--server", runs.url).err == "packline: It has ended.\n"


#: Metavariables and names of arguments and options that take ids.
TAKE_IDS = ("RUN", "ARTIFACT", "TOKEN", "PIPELINE", "TARGET")
NAMED = ("pipeline", "include", "caller")


def test_no_command_leaves_an_id_as_it_was_typed():
    for command in _commands(tree):
        for parameter in command.params:
            if any(word in (parameter.metavar or "") for word in TAKE_IDS) or parameter.name in NAMED:
                assert parameter.callback is not None, (command.name, parameter.name)


def _commands(group):
    for command in group.commands.values():
        yield from _commands(command) if hasattr(command, "commands") else [command]
