"""Earlier names of starters: the file that lists them, and a start under such a name."""

from __future__ import annotations

from runner.definitions.aliases import AliasEntry, read_aliases, translated
from store.pipelines.aliases import Alias, dump_aliases, load_aliases

SCHEMA = {
    "type": "object",
    "required": ["brief", "audience"],
    "properties": {"brief": {"type": "string"}, "audience": {"type": "string"}},
}
ALIAS = Alias("grounded-blog", (("markdown", "brief"),), ("audience",))


def test_an_entry_tells_what_is_newly_required_and_what_leads_nowhere() -> None:
    entry = AliasEntry("grounded-blog", "brief-rewrite-blog", (("markdown", "brief"),))
    assert entry.of(SCHEMA) == (ALIAS, [])
    alias, wrong = AliasEntry("old", "new", (("a", "gone"),)).of(SCHEMA)
    assert alias.newly_required == ("brief", "audience")
    assert wrong == ["`old` maps `a` to `gone`, which is not an input of `new`."]


def test_what_is_wrong_with_the_file_is_told_and_left_out() -> None:
    text = "a: {key: x, inputs: {b: c}}\nb: x\nc: {key: x, more: 1}\nd: {key: x, inputs: {e: 1}}\n"
    found, problems = read_aliases(text, {"x"})
    assert [entry.name for entry in found] == ["a"]
    assert len(problems) == 3
    assert read_aliases("a: [", set())[1][0].startswith("It cannot be read")
    assert read_aliases("", {"x"}) == ([], [])


def test_inputs_of_then_get_their_names_of_now() -> None:
    values, issues = translated(ALIAS, "brief-rewrite-blog", {"markdown": "# A", "audience": "cooks"})
    assert values == {"brief": "# A", "audience": "cooks"}
    (told,) = issues
    assert told.severity == "warning"
    assert told.message == "`grounded-blog` is an earlier name of `brief-rewrite-blog`; `markdown` is `brief`."


def test_what_is_newly_required_and_missing_is_named() -> None:
    values, issues = translated(ALIAS, "brief-rewrite-blog", {"markdown": "# A"})
    assert values == {"brief": "# A"}
    assert [(issue.path, issue.rule) for issue in issues if issue.severity == "error"] == [
        (("audience",), "newly_required")
    ]


def test_an_input_under_both_names_is_refused_in_either_order() -> None:
    for given in ({"markdown": "a", "brief": "b"}, {"brief": "b", "markdown": "a"}):
        _, issues = translated(ALIAS, "brief-rewrite-blog", {**given, "audience": "x"})
        assert [issue.rule for issue in issues] == ["given_twice", "earlier_name"]


def test_what_is_no_object_is_left_to_the_check_of_inputs() -> None:
    assert translated(ALIAS, "k", ["markdown"]) == (["markdown"], [])


def test_a_row_keeps_them() -> None:
    assert load_aliases(dump_aliases([ALIAS])) == (ALIAS,)
    assert load_aliases(dump_aliases([])) == ()
