"""The ranking of the catalog, as a pure function."""

from __future__ import annotations

from catalog.search import Entry, EntryKind, by_kinds, placed
from packline import Metadata


def entry(id: str, kind: EntryKind = "pack", *, name: str = "", description: str = "", **told: object) -> Entry[str]:
    return Entry(id, id, kind, name or id, description, Metadata.model_validate(told))


ENTRIES = [
    entry("web.scrape", description="Reads a page.", accepts=["url"], produces=["markdown"]),
    entry("slides.render", accepts=["outline_markdown"], produces=["slide_deck"], intent_keywords=["slide deck"]),
    entry("scrape-deck", "pipeline", name="Web page to deck", accepts=["url"], example_intents=["Page into slides"]),
    entry("doc.parse", description="Reads documents such as a deck in PDF.", accepts=["pdf"], produces=["markdown"]),
]


def found(text: str | None, entries: list[Entry[str]] = ENTRIES) -> list[str]:
    return [item.entry.ref for item in placed(entries, text)]


def test_without_words_everything_is_there_by_name() -> None:
    assert found(None) == ["doc.parse", "slides.render", "scrape-deck", "web.scrape"]
    assert found("  ,.! ") == found(None)


def test_where_a_word_stands_decides() -> None:
    assert found("deck")[:2] == ["scrape-deck", "slides.render"], "in its name, in its keywords"
    assert found("deck")[-1] == "doc.parse", "only in its description"


def test_an_entry_needs_half_of_the_words() -> None:
    assert "doc.parse" not in found("web page slides deck")
    assert found("zebra") == []
    assert found("zebra crossing deck") == []


def test_words_are_found_by_beginning_plural_and_case() -> None:
    assert "slides.render" in found("SLIDE")
    assert "slides.render" in found("slid")
    assert found("sl") == [], "too short to be a beginning"


def test_words_that_say_nothing_do_not_count() -> None:
    assert found("please make me a deck") == found("deck")
    assert found("help me with this deck today, thanks") == found("deck")
    assert found("what was this about") == [], "when there are no other words, they do"


def test_rare_words_weigh_more() -> None:
    many = [entry(f"text.copy{number}", description="Reads text.") for number in range(9)]
    rare = entry("text.sign", description="Reads text and signs it.")
    assert found("reads sign", [*many, rare])[0] == "text.sign"


def test_kinds_narrow_by_either_of_several() -> None:
    assert {item.ref for item in by_kinds(ENTRIES, accepts=["url"])} == {"web.scrape", "scrape-deck"}
    assert {item.ref for item in by_kinds(ENTRIES, accepts=["url", "pdf"], produces=["markdown"])} == {
        "web.scrape",
        "doc.parse",
    }
    assert by_kinds(ENTRIES, produces=[]) == []


def test_the_order_is_the_same_each_time_and_places_are_unique() -> None:
    places = [item.place for item in placed(ENTRIES[::-1], "page deck")]
    assert places == [item.place for item in placed(ENTRIES, "page deck")]
    assert len(set(places)) == len(places)
    assert places == sorted(places)
