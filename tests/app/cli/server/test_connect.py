"""`packline connect`: what is printed, and what becomes of a client's own file."""

import json
import stat
import tomllib

import pytest

from resolvers.agents.agent_clients import CLIENT_KEYS

TOKEN = "pkl_a_token_of_the_test"


def test_without_a_client_all_are_listed(packline):
    assert [line["key"] for line in packline("connect").lines] == list(CLIENT_KEYS)


@pytest.mark.parametrize("key", CLIENT_KEYS)
@pytest.mark.parametrize("way", [[], ["--stdio"]])
def test_every_client_has_its_configuration(packline, key, way):
    (told,) = packline("connect", key, *way, "--token", TOKEN, "--server", "http://127.0.0.1:9999").lines
    document = json.loads(told["text"]) if told["language"] == "json" else tomllib.loads(told["text"])
    assert "packline" in json.dumps(document)
    assert TOKEN in told["text"]
    assert "http://127.0.0.1:9999" in told["text"]
    (told,) = packline("connect", key, *way, "--server", "http://127.0.0.1:9999").lines
    assert "PACKLINE_TOKEN" in told["text"]
    assert told["command"] is None or "PACKLINE_TOKEN" in told["command"]


@pytest.mark.parametrize("key", CLIENT_KEYS)
def test_a_file_is_made_that_only_its_owner_reads(packline, tmp_path, key):
    file = tmp_path / "deep" / "config"
    done = packline("connect", key, "--token", TOKEN, "--write", "--file", str(file), "--text")
    assert done.status == 0, done.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert TOKEN in file.read_text()
    assert TOKEN not in done.out, "terminals are recorded"
    assert "has this entry" in packline("connect", key, "--token", TOKEN, "--write", "--file", str(file), "--text").out


def test_what_else_is_in_a_toml_file_stays_as_it_is_written(packline, tmp_path):
    file = tmp_path / "config.toml"
    before = '# mine\nmodel = "o9" # the big one\n\n[mcp_servers.other]\nurl = "https://other.example" # keep\n'
    file.write_text(before)
    file.chmod(0o640)
    for token in ("pkl_first", "pkl_second"):
        assert packline("connect", "codex", "--token", token, "--write", "--file", str(file)).status == 0
    after = file.read_text()
    assert after.startswith(before)
    assert tomllib.loads(after)["mcp_servers"]["packline"]["http_headers"] == {"Authorization": "Bearer pkl_second"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert (tmp_path / "config.toml.before-packline").read_text() == before
    assert "pkl_first" in (tmp_path / "config.toml.before-packline-1").read_text()


def test_what_else_is_in_a_json_file_stays(packline, tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{\n    "theme": "dark",\n    "mcpServers": {"other": {"url": "https://other.example"}}\n}\n')
    link = tmp_path / "link.json"
    link.symlink_to(file)
    (told,) = packline("connect", "cursor", "--token", TOKEN, "--write", "--file", str(link)).lines
    assert told["changed"] is True
    assert link.is_symlink()
    document = json.loads(file.read_text())
    assert document["theme"] == "dark"
    assert list(document["mcpServers"]) == ["other", "packline"]
    assert '\n    "theme"' in file.read_text(), "indented as it was"


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("gemini", '{ // mine\n "theme": "dark" }'),
        ("cursor", '{"mcpServers": ["what"]}'),
        ("cursor", '["what"]'),
        ("codex", "= what"),
        ("codex", 'mcp_servers = "what"'),
    ],
)
def test_a_file_that_cannot_be_merged_is_left_alone(packline, tmp_path, client, text):
    file = tmp_path / "settings.json"
    file.write_text(text)
    done = packline("connect", client, "--token", TOKEN, "--write", "--file", str(file))
    assert done.status == 2
    assert "by hand" in done.err
    assert file.read_text() == text
    assert [found.name for found in tmp_path.iterdir()] == ["settings.json"]


def test_wrong_usage_is_told(packline):
    assert "claude-code, codex" in packline("connect", "emacs").err
    assert "cannot be combined" in packline("connect", "codex", "--token", "t", "--make-token").err
    assert "cannot be combined" in packline("connect", "codex", "--author", "--read-only").err


def test_which_tools_are_shown_is_chosen_over_both_ways(packline):
    (http,) = packline("connect", "cursor", "--author", "--server", "http://127.0.0.1:9999").lines
    assert "/mcp?toolsets=author" in http["text"]
    (stdio,) = packline("connect", "cursor", "--author", "--stdio", "--server", "http://127.0.0.1:9999").lines
    assert json.loads(stdio["text"])["mcpServers"]["packline"]["args"][-2:] == ["--toolsets", "author"]
    (stdio,) = packline("connect", "codex", "--read-only", "--stdio", "--server", "http://127.0.0.1:9999").lines
    assert "--read-only" in stdio["text"]
