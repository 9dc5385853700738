from __future__ import annotations

import contextlib
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner import yaml_documents as document
from runner.json_values import MAX_DEPTH, DocumentError, canonical_json, digest, forbidden_text
from runner.yaml_documents import dump_yaml, load_document, load_documents, load_written
from tests.support.effort import at_most

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)


def refused(text: str) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        load_document(text)
    return caught.value


class TestLoading:
    def test_follows_the_yaml_12_core_schema(self):
        document = load_document(
            "day: 2026-01-31\nstamp: 2026-01-31T10:00:00Z\nyes: yes\non: on\noctal: 0o17\nzero: 017\nhex: 0x1F\n"
            "time: 1:30\nfloat: 1e3\nempty:\ntilde: ~\nbool: True\nquoted: '12'\ntagged: !!str 12\nunder: 1_000\n"
        )
        assert document == {
            "day": "2026-01-31",
            "stamp": "2026-01-31T10:00:00Z",
            "yes": "yes",
            "on": "on",
            "octal": 15,
            "zero": 17,
            "hex": 31,
            "time": "1:30",
            "float": 1000.0,
            "empty": None,
            "tilde": None,
            "bool": True,
            "quoted": "12",
            "tagged": "12",
            "under": "1_000",
        }

    @pytest.mark.parametrize(
        ("text", "said", "place"),
        [
            ("a: 1\nb: &x [1]\n", "anchor `&x`", (2, 4)),
            ("a: *x\n", "alias", (1, 4)),
            ("a: 1\na: 2\n", "occurs twice", (2, 1)),
            ("a:\n  <<: {b: 1}\n", "merge key", (2, 3)),
            ("? [1]\n: 2\n", "A key is text", (1, 3)),
            ("1: 2\n", "The key `1` is not text", (1, 1)),
            ("true: 2\n", "The key `true` is not text", (1, 1)),
            ("a: .nan\n", "not finite", (1, 4)),
            ("a: -.inf\n", "not finite", (1, 4)),
            ("a: 1e999\n", "not finite", (1, 4)),
            ("a: 18446744073709551616\n", "64 bits", (1, 4)),
            ("a: " + "9" * 5000, "64 bits", (1, 4)),
            ("a: !!python/object:os.system x\n", "tag", (1, 4)),
            ("a: !!binary aGk=\n", "tag", (1, 4)),
            ('a: "\\0"\n', "U+0000", (1, 4)),
            ('a: "\\ud800"\n', "lone surrogate", (1, 4)),
            ("a: \ud800\n", "lone surrogate", (1, 4)),
            ("a: b\n  \x07\n", "U+0007", (2, 3)),
            ("a: [1\nb: 2\n", "the [ in line 1 is not closed, or a comma is missing", (2, 2)),
            ("a: {b: ${{ inputs.c }}}\n", 'put a reference in quotes: "${{ … }}"', (1, 9)),
            ("a: [${{ inputs.c }}]\n", 'put a reference in quotes: "${{ … }}"', (1, 6)),
            ("a:\n  b: 1\n c: 2\n", "this line's indentation fits no line above", (3, 2)),
            ("a:\n  b: 1\n   c: 2\n", "this line's indentation fits no line above", (3, 5)),
            ("a:\n\tb: 1\n", "indent with spaces", (2, 1)),
            ("a: b: c\n", "a value with a colon and a space after it needs quotes", (1, 5)),
            ("a: @b\n", "a value cannot begin with @; put it in quotes", (1, 4)),
            ("a: b\n]\n", "not YAML", (2, 1)),
            ("- 1\n", "mapping", (1, 1)),
            ("", "no document", (None, None)),
            ("a: 1\n---\nb: 2\n", "2 documents", (None, None)),
        ],
    )
    def test_refuses_and_names_the_place(self, text, said, place):
        error = refused(text)
        assert said in str(error)
        assert (error.line, error.column) == place

    def test_reads_several_documents(self):
        assert load_documents("a: 1\n---\n# empty\n---\nb: 2\n...\n") == [{"a": 1}, {"b": 2}]

    def test_tells_which_part_of_a_text_each_document_was_read_from(self):
        text = "# first\n---\na: |+\n  x\n\n--- # second\nb: 2 # two\n---\n---\n{c: 3}"
        assert [written.text for written in load_written(text)] == [
            "# first\na: |+\n  x\n\n",
            " # second\nb: 2 # two\n",
            "{c: 3}",
        ]
        for written in load_written(text):
            assert written.text is not None
            assert load_document(written.text) == written.document
        assert load_written("a: 1\r\n---\r\nb: 2\r\n")[0].text == "a: 1\r\n"
        for concerns_others in ("%YAML 1.2\n---\na: 1\n", "a: 1\n...\n---\nb: 2\n"):
            assert {written.text for written in load_written(concerns_others)} == {None}

    def test_looks_through_the_text_once_however_many_documents_it_holds(self, monkeypatch):
        """Once for each, thousands of small ones took half a minute, and nobody else was answered meanwhile."""
        looks = Mock(wraps=document._CONCERNS_OTHERS)
        monkeypatch.setattr(document, "_CONCERNS_OTHERS", looks)
        assert len(load_written("---\n{}\n" * 50)) == 50
        assert looks.search.call_count == 1

    @given(st.lists(st.dictionaries(TEXTS, JSON, min_size=1, max_size=3), min_size=1, max_size=3))
    def test_each_part_reads_as_its_document(self, documents):
        found = load_written("---\n".join(dump_yaml(document) for document in documents))
        assert [written.document for written in found] == documents
        for written in found:
            assert written.text is None or load_document(written.text) == written.document

    def test_a_byte_order_mark_is_no_part_of_the_text(self):
        assert load_written("\ufeffa: 1\n") == [({"a": 1}, "a: 1\n")]

    def test_allows_64_levels_and_no_more(self):
        def nested(levels):
            return "a: " + "[" * (levels - 1) + "]" * (levels - 1)

        load_document(nested(MAX_DEPTH))
        assert "deeper than 64" in str(refused(nested(MAX_DEPTH + 1)))

    @pytest.mark.parametrize(
        "text",
        [
            "a: " + "[" * 10_000,
            "{" * 10_000,
            "- " * 10_000,
            "? " * 10_000,
            "".join(f"{' ' * depth}a:\n" for depth in range(700)),
            "a: &a [x]\n"
            + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20)),
            "a: &a [*a]\n",
            "x" * 10_000_000,
            "[" + "1," * 120_000,
            "a:\n" * 80_000,
        ],
        ids=["flow", "maps", "lists", "keys", "block", "laughs", "cycle", "10MB", "many", "repeated"],
    )
    def test_hostile_texts_are_refused_with_bounded_work(self, text):
        with at_most(calls=10_000_000):
            refused(text)

    @given(st.text(max_size=60))
    def test_any_text_is_read_or_refused(self, text):
        with contextlib.suppress(DocumentError):
            assert forbidden_text(load_document(text)) == []


class TestDumping:
    def test_writes_keys_in_order_and_long_texts_as_blocks(self):
        written = dump_yaml(
            {
                "steps": [{"id": "a", "input": {"prompt": "One\nTwo\n", "version": "1.0", "day": "2026-01-31"}}],
                "metadata": {"accepts": ["url"]},
                "name": "Deck",
                "key": "deck",
            }
        )
        assert written == (
            "key: deck\nname: Deck\nsteps:\n  - id: a\n    input:\n      prompt: |\n        One\n        Two\n"
            '      version: "1.0"\n      day: "2026-01-31"\nmetadata:\n  accepts:\n    - url\n'
        )

    @given(st.dictionaries(TEXTS, JSON, max_size=5))
    def test_what_is_written_reads_back_unchanged(self, document):
        again = load_document(dump_yaml(document))
        assert again == document
        assert digest(canonical_json(again)) == digest(canonical_json(document))
