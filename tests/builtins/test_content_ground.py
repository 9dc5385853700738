"""`content.ground` against search services on loopback: what it marks, what it leaves alone, what it never claims."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packline import PackError
from tests.support.loopback_http import LoopbackHttp, Reply, loopback_http
from tests.support.loopback_sites import LIGHTHOUSE_ARTICLES, mediawiki, searxng
from tests.support.pack_harness import SAMPLES, Harness, load_module, load_pack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ground = load_pack("content/ground.py")
claims = load_module("content/_claims.py")
citing = load_module("content/_citing.py")
passages = load_module("content/_passages.py")
parse = load_pack("doc/parse.py")

SMEATON = "John Smeaton designed the third Eddystone tower, which was lit in 1759."
FRESNEL = "Augustin-Jean Fresnel's lens was first used in 1823 at the Cordouan lighthouse."


@pytest.fixture
async def services() -> AsyncIterator[LoopbackHttp]:
    async with loopback_http({"/search": searxng(), "/w/api.php": mediawiki()}) as running:
        yield running


@pytest.fixture
def harness(tmp_path: Path, services: LoopbackHttp) -> Harness:
    return Harness(tmp_path, services={"searxng": services.url(""), "mediawiki": services.url("")})


def without_marks(text: str) -> str:
    """The text as it was before sources were added."""
    return re.sub(r" \[\d+\]", "", text.split(f"\n\n{citing.HEADING}\n")[0])


async def test_statements_get_a_mark_and_a_source(harness: Harness) -> None:
    text = f"# Lights\n\n{SMEATON} I think it is lovely.\n\n- {FRESNEL}\n"

    output = await harness.call(ground, {"text": text})

    assert output["grounded_text"] == (
        f"# Lights\n\n{SMEATON} [1] I think it is lovely.\n\n- {FRESNEL} [2]\n\n"
        "## Related sources\n\n"
        "Found by comparing words; nobody has checked that they support the text.\n\n"
        "1. [Eddystone Lighthouse](https://search.example/eddystone)\n"
        "2. [Fresnel lens](https://search.example/fresnel)\n"
    )
    assert output["mode"] == "lexical"
    assert output["provider"] == "searxng"
    assert output["coverage"] == "web"
    assert output["claims_considered"] == 2
    first = output["citations"][0]
    assert (first["number"], first["claim"], first["verdict"]) == (1, SMEATON, "related")
    assert "John Smeaton" in first["passage"]
    assert 0.4 <= first["coverage"] <= 1
    assert harness.warnings == []


async def test_a_source_is_listed_once_however_often_it_is_named(harness: Harness) -> None:
    text = f"{SMEATON} Smeaton, who revived hydraulic lime, built the Eddystone lighthouse off Cornwall."

    output = await harness.call(ground, {"text": text})

    assert [citation["number"] for citation in output["citations"]] == [1, 1]
    assert output["grounded_text"].count(" [1]") == 2
    assert output["grounded_text"].count("https://search.example/eddystone") == 1


async def test_a_page_that_only_shares_a_word_is_not_named(harness: Harness) -> None:
    text = "The Banana Republic store chain was founded in 1978 by Mel and Patricia Ziegler."

    output = await harness.call(ground, {"text": text})

    assert output["grounded_text"] == text
    assert output["citations"] == []
    assert output["claims_considered"] == 1
    assert harness.warnings == ["None of the pages found is close to one of the 1 statements; the text is unchanged."]


async def test_nothing_it_says_sounds_like_a_fact_check(harness: Harness) -> None:
    wrong = "John Smeaton designed the third Eddystone tower, which was lit in 1895."

    output = await harness.call(ground, {"text": wrong})

    assert {citation["verdict"] for citation in output["citations"]} == {"related"}
    assert not re.search(r"verified|supported|confirmed", str(output).replace(citing.NOTE, ""))


@pytest.mark.parametrize(
    "block",
    [
        f"# {SMEATON}",
        f"{SMEATON}\n=====",
        f"```\n{SMEATON}\n```",
        f"    {SMEATON}",
        f"> {SMEATON}",
        f"| Fact |\n| --- |\n| {SMEATON} |",
        f"<p>{SMEATON}</p>",
        f"---\ntitle: {SMEATON}\n---\n",
        f"See [{SMEATON}](https://a.example) for more.",
        SMEATON.replace(".", " [3]."),
        f"## References\n\n- {SMEATON}",
    ],
)
async def test_what_is_not_running_text_or_has_a_source_is_left_alone(harness: Harness, block: str) -> None:
    output = await harness.call(ground, {"text": block})

    assert output["grounded_text"] == block
    assert output["claims_considered"] == 0


async def test_marks_stay_out_of_code_and_links(harness: Harness) -> None:
    text = f"{SMEATON[:-1]} (see `a. B` and [one. Two](b.md))."

    assert (await harness.call(ground, {"text": text}))["grounded_text"].startswith(f"{text} [1]")


async def test_numbers_go_on_after_those_the_text_has(harness: Harness) -> None:
    text = f"Some statement with a source [4]. {SMEATON}"

    assert f"{SMEATON} [5]" in (await harness.call(ground, {"text": text}))["grounded_text"]


async def test_a_second_pass_continues_the_list(harness: Harness) -> None:
    once = (await harness.call(ground, {"text": SMEATON}))["grounded_text"]
    more = once.replace(SMEATON, f"{FRESNEL}\n\n{SMEATON}")

    twice = (await harness.call(ground, {"text": more}))["grounded_text"]

    assert twice.count(citing.HEADING) == 1
    assert twice.endswith(
        "1. [Eddystone Lighthouse](https://search.example/eddystone)\n2. [Fresnel lens](https://search.example/fresnel)\n"
    )


async def test_searches_are_short_since_engines_want_all_words(harness: Harness, services: LoopbackHttp) -> None:
    del harness.services["searxng"]

    output = await harness.call(ground, {"text": SMEATON})

    assert output["provider"] == "wikipedia"
    assert output["coverage"] == "encyclopedic"
    assert "gsrsearch=John+Smeaton+Eddystone+1759" in services.requests[0].path


async def test_an_encyclopedia_that_wants_all_words_is_asked_again_with_the_names(
    harness: Harness, services: LoopbackHttp
) -> None:
    strict = mediawiki()

    async def all_words(request: Any, writer: Any) -> Reply | None:
        if "1759" in request.path:
            return Reply(b'{"batchcomplete": true}', headers={"content-type": "application/json"})
        return await strict(request, writer)

    del harness.services["searxng"]
    services.routes["/w/api.php"] = all_words

    output = await harness.call(ground, {"text": SMEATON})

    assert len(output["citations"]) == 1
    assert len(services.requests) == 2


@pytest.mark.parametrize("reply", [Reply(status=503), Reply(status=403), Reply(b"<html>")])
async def test_without_a_search_the_text_passes_with_a_warning(
    harness: Harness, services: LoopbackHttp, reply: Reply
) -> None:
    services.routes["/search"] = services.routes["/w/api.php"] = reply

    output = await harness.call(ground, {"text": SMEATON})

    assert output["grounded_text"] == SMEATON
    assert output["citations"] == []
    assert output["provider"] is None
    assert output["claims_considered"] == 1
    assert len(harness.warnings) == 1
    assert "the text is unchanged and has no citations" in harness.warnings[0]


async def test_a_search_that_fails_half_way_keeps_what_was_found(harness: Harness, services: LoopbackHttp) -> None:
    working = services.routes["/search"]

    async def once(request: Any, writer: Any) -> Reply | None:
        return await working(request, writer) if len(services.requests) == 1 else Reply(status=500)

    services.routes["/search"] = once
    services.routes["/w/api.php"] = Reply(status=500)

    output = await harness.call(ground, {"text": f"{SMEATON} {FRESNEL}"})

    assert [citation["number"] for citation in output["citations"]] == [1]
    assert "only 1 sources were added" in harness.warnings[0]


async def test_a_text_without_statements_is_said_to_have_none(harness: Harness, services: LoopbackHttp) -> None:
    output = await harness.call(ground, {"text": "What a lovely day! Shall we go?"})

    assert output["claims_considered"] == 0
    assert services.requests == []
    assert harness.warnings == ["No sentence was found that states something to look up; the text is unchanged."]


async def test_the_shipped_paper(harness: Harness) -> None:
    paper = harness.add_artifact("lighthouses.pdf", (SAMPLES / "lighthouses.pdf").read_bytes())
    text = (await harness.call(parse, {"artifact": paper.artifact_id}))["markdown"]

    output = await harness.call(ground, {"text": text, "max_claims": 20})

    assert output["claims_considered"] == 20
    assert {citation["title"] for citation in output["citations"]} <= {article.title for article in LIGHTHOUSE_ARTICLES}
    assert without_marks(output["grounded_text"]) == text.rstrip()


@pytest.mark.parametrize("input", [{"text": ""}, {"text": "x", "rewrite": True}, {"text": "x", "max_claims": 21}])
async def test_bad_input(harness: Harness, input: dict[str, Any]) -> None:
    with pytest.raises(PackError) as caught:
        await harness.call(ground, input)

    assert caught.value.failure.code == "invalid_input"


class TestClaims:
    @pytest.mark.parametrize(
        "sentence",
        [
            SMEATON,
            FRESNEL,
            "Mount Everest is 8,849 metres high.",
            "According to NASA, the probe reached Pluto in July 2015.",
            "Skerryvore, lit in 1844, stands on a reef.",
            "In May 1940 the Dutch Army was defeated.",
            "The U.S. Congress established the service in 1789.",
        ],
    )
    def test_statements(self, sentence: str) -> None:
        assert [claim.text for claim in claims.find_claims(f"Well then. {sentence} So.", 5)] == [sentence]

    @pytest.mark.parametrize(
        "sentence",
        [
            "I think that Paris is the most beautiful city of France.",
            "Was the tower of London built in 1078?",
            "Please send the report to Mary by Monday 12 May.",
            "This should be easy for everyone.",
            "Short one in 1999.",
            "John Smeaton, A Narrative of the Building of Eddystone, 1791.",
            "The weather was nice and the water was warm.",
        ],
    )
    def test_other_sentences(self, sentence: str) -> None:
        assert claims.find_claims(sentence, 5) == []

    def test_the_best_are_taken_and_stay_in_order(self) -> None:
        weak = "The Romans built lighthouses from the Black Sea to Spain."
        text = f"{SMEATON} {weak} {FRESNEL}"

        assert [claim.text for claim in claims.find_claims(text, 2)] == [SMEATON, FRESNEL]

    def test_abbreviations_do_not_end_a_sentence(self) -> None:
        sentence = "Dr. J. Smith of St. Andrews published e.g. The Atlas in 1901."

        assert [claim.text for claim in claims.find_claims(sentence, 5)] == [sentence]

    @given(st.text(alphabet=st.sampled_from("Ab1. \n#`>|-[]()*<!?"), max_size=120))
    def test_any_text_is_survived_and_ends_lie_behind_a_sentence(self, text: str) -> None:
        source = f"{text}\n\n{SMEATON}\n\n{text}"

        for claim in claims.find_claims(source, 20):
            assert re.search(r"[.!?][\"')\]*_]*\Z", source[: claim.end])


class TestCiting:
    def test_hostile_titles_and_addresses_stay_inside_their_link(self) -> None:
        source = citing.Source("https://a.example/x) [y](javascript:1", "A] [b](c) `d`", (3,))

        text = citing.cite("Abc def.", [source], {source.url: 1})

        assert text.splitlines()[-1] == r"1. [A\] \[b\](c) \`d\`](https://a.example/x%29%20[y]%28javascript:1)"
        assert text.startswith("Abc [1] def.")

    @given(st.lists(st.sampled_from(["One was.", "Two [x](y).", "# Head", "```\ncode\n```"]), min_size=1), st.data())
    def test_nothing_but_marks_is_added(self, blocks: list[str], data: st.DataObject) -> None:
        text = "\n\n".join(blocks)
        ends = data.draw(st.lists(st.integers(0, len(text)), unique=True, max_size=4))
        sources = [citing.Source(f"https://a.example/{end}", "T", (end,)) for end in ends]

        assert without_marks(citing.cite(text, sources, citing.numbers_of(text, sources))) == text


def test_ranking_prefers_the_page_with_the_telling_words() -> None:
    hit = load_module("_search.py").Hit
    [claim] = claims.find_claims(SMEATON, 1)
    about = hit("https://a.example", "John Smeaton", "Smeaton designed the Eddystone tower. It was lit in 1759.")
    near = hit("https://b.example", "Towers", "John designed a tower in 1759. It was the third tower of the town.")

    assert passages.best_match(claim, [near, about]).hit is about
    assert passages.best_match(claim, [hit("https://c.example", "Lit", "")]) is None


@pytest.mark.parametrize(
    ("title", "text"),
    [
        # Three words of fifteen, a name among them.
        ("Smeaton", "Smeaton designed towers."),
        # Nearly all words, but none of its names and years.
        (
            "Third tower",
            "The third tower, a conical one covered with hydraulic lime mortar, was designed and lit again.",
        ),
    ],
)
def test_sharing_a_few_words_is_not_being_about_it(title: str, text: str) -> None:
    hit = load_module("_search.py").Hit
    sentence = (
        "John Smeaton designed the third conical tower, covered with hydraulic lime mortar and lit again in 1759."
    )
    [claim] = claims.find_claims(sentence, 1)

    assert passages.best_match(claim, [hit("https://a.example", title, text)]) is None
    assert passages.best_match(claim, [hit("https://a.example", title, f"{text} {sentence}")]) is not None


@pytest.mark.parametrize(
    "text", ["a. " * 50_000, "A-" * 50_000 + ". x was 3.", "[" * 100_000, "`" * 100_000, "St. " * 30_000]
)
def test_texts_built_to_be_slow_are_read_like_any_other(text: str) -> None:
    """With a step for each pair of characters these took minutes, which the test run's own limit would end."""
    assert [claim.text for claim in claims.find_claims(f"{SMEATON}\n\n{text}", 1)] == [SMEATON]
