import sys

import pytest

from tests.support.pack_folders import pack_source, write_pack_folder

ECHO = pack_source("text.echo")


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")


def shown(result):
    return result.out.splitlines()


def test_packs_that_load_work(tmp_path, packline):
    folder = write_pack_folder(tmp_path / "mine", {"text/echo.py": ECHO, "text/_shared.py": "x = 1\n"})
    result = packline("check-pack", str(folder), "--text")
    assert (result.status, shown(result)) == (0, ["text.echo 1.0.0: works"])
    file = folder / "packs" / "text" / "echo.py"
    (line,) = packline("check-pack", str(file)).lines
    assert line == {
        "type": "pack",
        "name": "text.echo",
        "version": "1.0.0",
        "file": str(file),
        "line": 17,
        "missing": [],
        "warnings": [],
    }


def test_errors_name_file_and_line_and_fail_the_check(tmp_path, packline):
    files = {"text/broken.py": "\ndef broken(:\n", "text/echo.py": ECHO, "text/odd.py": ECHO.replace('"none"', '"no"')}
    folder = write_pack_folder(tmp_path / "mine", files)
    result = packline("check-pack", str(folder), "--text")
    assert result.status == 1
    works, broken, odd = shown(result)
    assert works == "text.echo 1.0.0: works"
    assert broken == f"{folder}/packs/text/broken.py:2: error: Syntax error: invalid syntax"
    assert odd.startswith(f"{folder}/packs/text/odd.py:17: error: Pack text.echo: effects is 'no'")
    one = packline("check-pack", str(folder / "packs" / "text" / "echo.py"), "--text")
    assert (one.status, shown(one)) == (0, [works])
    first, second, third = packline("check-pack", str(folder)).lines
    assert [first["type"], second["type"], third["type"]] == ["pack", "error", "error"]
    assert (second["line"], second["packs"]) == (2, ["text.broken"])


def test_the_name_of_a_built_in_pack_is_taken(tmp_path, packline):
    folder = write_pack_folder(tmp_path / "mine", {"web/scrape.py": pack_source("web.scrape")})
    result = packline("check-pack", str(folder), "--text")
    assert result.status == 1
    assert "error: Pack web.scrape 1.0.0 is already loaded from " in result.out


def test_what_the_machine_lacks_is_no_error(tmp_path, packline):
    source = ECHO.replace("PackContext, pack", "Metadata, PackContext, pack, program").replace(
        "repeatable=True", 'repeatable=True, services=[program("nonesuch")], metadata=Metadata(accepts=["txet"])'
    )
    folder = write_pack_folder(tmp_path / "mine", {"text/echo.py": source})
    result = packline("check-pack", str(folder), "--text")
    place = f"{folder}/packs/text/echo.py:17"
    warning, missing, said = shown(result)
    assert result.status == 0
    assert warning == f"{place}: warning: accepts names `txet`, which does not exist; did you mean `text`?"
    assert missing.startswith(f"{place}: missing service nonesuch: The program `nonesuch` is not on PATH.")
    assert said == "text.echo 1.0.0: loads, but cannot run on this machine"


def test_requirements_that_are_not_met_are_named(tmp_path, packline, monkeypatch):
    folder = write_pack_folder(tmp_path / "mine", {"text/echo.py": ECHO})
    file = folder / "requirements.txt"
    file.write_text(
        "# what the packs import\n"
        "pydantic>=2  # is there\n"
        "no-such-distribution >= 1.0 \\\n    --hash=sha256:00\n"
        'pydantic<1; python_version < "3"\n'
        "pydantic<1\n"
        "-r other.txt\n./wheels/a.whl\nhttps://packs.example/a.zip\n"
        "httpx ==\n"
    )
    result = packline("check-pack", str(folder), "--text")
    first, second, third, install, works = shown(result)
    assert first == f"{file}:3: warning: no-such-distribution>=1.0 is not installed."
    assert second.startswith(f"{file}:6: warning: pydantic 2.")
    assert second.endswith(" is installed, not pydantic<1.")
    assert third == f"{file}:10: warning: `httpx ==` is not a requirement."
    assert f"`{sys.executable} -m pip install -r {file}`" in install
    assert (result.status, works) == (0, "text.echo 1.0.0: works")

    monkeypatch.setenv("PACKLINE_PACK_PATH", str(folder))
    found = [one for one in packline("doctor").lines if one.get("what", "").startswith("requirements of ")]
    (finding,) = found
    assert finding["what"] == f"requirements of {folder}"
    assert "Line 3: no-such-distribution>=1.0 is not installed. Line 6: pydantic" in finding["message"]


def test_what_a_pack_prints_when_it_is_imported_is_no_part_of_the_answer(tmp_path, packline):
    folder = write_pack_folder(tmp_path / "mine", {"text/echo.py": ECHO + "\nprint('loaded')\n"})
    result = packline("check-pack", str(folder), "--json")
    assert [line["name"] for line in result.lines] == ["text.echo"]
    assert "loaded" in result.err


def test_what_is_no_pack_is_refused(tmp_path, packline):
    folder = write_pack_folder(tmp_path / "mine", {"text/_shared.py": "", "text/notes.txt": ""})
    reasons = {
        folder: "has no packs",
        folder / "packs" / "text" / "_shared.py": "files and folders whose names start with `_`",
        folder / "packs" / "text" / "notes.txt": "is not a pack file",
        tmp_path / "nowhere": "There is no file or folder",
        "/etc/passwd": "is not a pack file",
    }
    for path, reason in reasons.items():
        result = packline("check-pack", str(path))
        assert (result.status, reason in result.err) == (2, True), result.err
    result = packline("check-pack", str(folder / "packs"), "--text")
    assert (result.status, "There is no folder" in result.out) == (1, True)


def test_an_area_may_be_a_link(tmp_path, packline):
    write_pack_folder(tmp_path / "source", {"text/echo.py": ECHO})
    (tmp_path / "mine" / "packs").mkdir(parents=True)
    (tmp_path / "mine" / "packs" / "words").symlink_to(tmp_path / "source" / "packs" / "text")
    for path in (tmp_path / "mine", tmp_path / "mine" / "packs" / "words" / "echo.py"):
        result = packline("check-pack", str(path), "--text")
        assert (result.status, shown(result)) == (0, ["text.echo 1.0.0: works"])
