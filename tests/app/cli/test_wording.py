"""Refusals are told in the words of the command line, whatever the API calls things."""

from pathlib import Path

from app.cli.wording import _WORDS, in_own_words
from tests.app.cli.test_whole import Machine

RESOLVERS = Path(__file__).parents[3] / "resolvers"


def test_every_wording_is_one_of_the_servers():
    said = "".join(file.read_text("utf-8") for file in RESOLVERS.glob("*.py"))
    assert [theirs for theirs in _WORDS if theirs not in said] == []
    assert in_own_words("Try again.") == "Try again."


def test_hints_and_kinds_against_a_real_server(tmp_path):
    broken = tmp_path / "mine" / "packs" / "text" / "broken.py"
    broken.parent.mkdir(parents=True)
    broken.write_text("import nothing_of_this_name\n")
    machine = Machine(tmp_path)
    machine.environment["PACKLINE_PACK_PATH"] = str(tmp_path / "mine")
    why = "The pack `text.broken` could not be loaded from packs/text/broken.py: ModuleNotFoundError"
    with machine.up():
        for arguments, told in (
            (("token", "revoke", "nope"), "`packline token list` shows those there are."),
            (("memory", "forget", "entry:nope", "--yes"), "`packline memory entries` lists those there are."),
            (("memory", "defaults", "--caller", "nope"), "`packline token list` shows those there are."),
            (("run", "slides_outline", "--input", "text=x"), "There is no pipeline"),
            (("run", "text.broken"), why),
            (("run", "builtin.grounded-blog", "--dry-run", "-i", "markdown=x"), "leads to `brief-rewrite-blog` now"),
            (("export", "text.broken"), why),
            (("export", "slides.outline"), "`slides.outline` is a pack: `packline run` calls it"),
            (("packs", "--accepts", "markdwon"), "There is no kind `markdwon`. Did you mean `markdown`?"),
            (("packs", "--produces", "bogus", "--json"), "no kind `bogus`. `packline packs` shows those there are."),
        ):
            refused = machine.run(*arguments)
            assert refused.returncode == 2, (arguments, refused.stdout)
            assert told in refused.stderr, (arguments, refused.stderr)
            assert "{" not in refused.stderr
        assert "No packs match" not in machine.run("packs", "--accepts", "markdown").stderr
