from __future__ import annotations

import pytest

from catalog.routing.facts import address_kinds, read_facts


@pytest.mark.parametrize(
    ("address", "first"),
    [
        ("https://example.org/post", "url"),
        ("https://example.org/paper.pdf", "pdf"),
        ("https://example.org/page.html", "url"),
        ("https://github.com/acme/web", "repo_url"),
        ("https://git.example.org/tool.git", "repo_url"),
        ("https://github.com/acme/web/issues/7", "issue_number"),
        ("https://github.com/acme", "url"),
    ],
)
def test_addresses_tell_their_kind(address, first):
    assert address_kinds(address)[0] == first


@pytest.mark.parametrize("text", ["https://[::1", "https://[", "http://a\u2100b.com/", "www.[abcd", "http://a:0/"])
def test_what_cannot_be_read_as_an_address_is_none(text):
    assert address_kinds(text) == ()
    for facts in (read_facts(f"slides of {text} please"), read_facts("slides", {"inputs": {"url": text}})):
        assert not any({"url", "source_url", "repo_url"} & set(fact.kinds) for fact in facts.facts)
    addresses = [fact.value for fact in read_facts(f"{text} and https://example.org/a").facts if "url" in fact.kinds]
    assert addresses == ["https://example.org/a"]


@pytest.mark.parametrize(
    ("request_text", "address"),
    [
        ("Read http://m\u00fcnchen.example/M\u00fcnchen.", "http://m\u00fcnchen.example/M\u00fcnchen"),
        ("Read (https://a.example/wiki/Lens_(optics)).", "https://a.example/wiki/Lens_(optics)"),
        ("Read https://a.example/wiki/Lens_(optics)", "https://a.example/wiki/Lens_(optics)"),
        ("Read (see https://a.example/x)", "https://a.example/x"),
        ("Read \u201chttps://a.example/x\u201d\u2026", "https://a.example/x"),
    ],
)
def test_an_address_ends_where_its_sentence_goes_on(request_text, address):
    assert [fact.value for fact in read_facts(request_text).facts] == [address]


def test_what_a_request_names_is_found_and_replaced_by_its_kind():
    facts = read_facts("mail report.pdf and https://example.org/a, to jo@example.org; see acme/web#12")
    assert [(fact.kinds[0], fact.value) for fact in facts.facts] == [
        ("url", "https://example.org/a"),
        ("email", "jo@example.org"),
        ("pdf", "report.pdf"),
        ("repo_name", "acme/web"),
        ("issue_number", "12"),
    ]
    assert "example.org" not in facts.text
    assert "report" not in facts.text


def test_a_context_names_files_inputs_and_earlier_runs():
    facts = read_facts(
        "as before",
        {
            "inputs": {"title": "T"},
            "files": [{"name": "a.docx"}, {"name": "x", "media_type": "audio/wav", "id": "art_1"}, "b.png", 7],
            "runs": [{"pipeline": "builtin.scrape-deck"}, "x"],
        },
    )
    assert [fact.kinds[0] for fact in facts.facts] == ["docx", "audio", "image"]
    assert facts.facts[1].artifact == "art_1"
    assert facts.inputs == {"title": "T"}
    assert facts.targets == ("builtin.scrape-deck",)


@pytest.mark.parametrize("odd", ["", "and/or", "he/she 1/2", "...", "https://", "www.", "a@b", "#", "x" * 100_000])
def test_odd_texts_are_read(odd):
    assert len(read_facts(odd, odd).text) <= 4_100


def test_long_texts_are_read_at_both_ends():
    facts = read_facts("see https://a.example/1 " + "x " * 50_000 + " https://b.example/2")
    assert {fact.value for fact in facts.facts} == {"https://a.example/1", "https://b.example/2"}
