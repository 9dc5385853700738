"""`packline credential` against a real server, each its own process, and on the data folder without one."""

import json
import os
import stat

import pytest

from tests.support.machine import Machine

SECRET = "correct horse/battery?staple"
PASSPHRASE = "a passphrase of some length"


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    made = Machine(tmp_path_factory.mktemp("machine"))
    (made.folder / "secret").write_text(SECRET + "\n")
    (made.folder / "passphrase").write_text(PASSPHRASE + "\n")
    return made


def refused(machine, *arguments, text=None):
    done = machine.run("credential", *arguments, text=text)
    assert done.returncode == 2, done
    assert SECRET not in done.stdout + done.stderr
    return done.stderr


def test_a_credential_from_the_first_to_the_last_command(machine):
    with machine.up():
        kinds = {line["name"]: line for line in machine.lines("credential", "kinds")}
        assert kinds["smtp"]["testable"]
        assert machine.lines("credential", "list") == []
        (stored,) = machine.lines(
            "credential", "set", "github", "--kind", "github", "--field", f"token=@{machine.folder / 'secret'}"
        )
        assert stored["fieldsSet"] == ["token"]
        assert stored["grants"] == []
        piped = machine.run(
            "credential", "set", "other", "--kind", "generic", "--from-stdin", text=json.dumps({"a_b": SECRET})
        )
        assert piped.returncode == 0, piped.stderr
        piped = machine.run(
            "credential", "set", "github", "--from-stdin", "--grant", "slides.render", text=SECRET + "\n"
        )
        (again,) = (json.loads(line) for line in piped.stdout.splitlines())
        assert again["fingerprint"] == stored["fingerprint"], "the line break at the end is none of it"

        (granted,) = machine.lines("credential", "grant", "github", "admin", "sample")
        assert {grant["__typename"] for grant in granted["grants"]} == {"Pack", "Caller", "Pipeline"}
        assert "is stored and granted to " in machine.run("credential", "set", "github", "--days", "9", "--text").stdout
        (left,) = machine.lines("credential", "revoke", "github", "admin", "slides.render")
        assert [grant["key"] for grant in left["grants"]] == ["sample"]
        assert "is not granted to `admin`" in refused(machine, "revoke", "github", "admin")

        shown = machine.run("credential", "list", "--text").stdout
        assert "sample" in shown
        assert SECRET not in shown + json.dumps(machine.lines("credential", "list"))
        untestable = machine.run("credential", "test", "other").stderr
        assert "Credentials of kind generic cannot be tested." in untestable
        assert "missing" not in untestable

        assert "Did you mean `github`?" in refused(machine, "test", "githb")
        assert "Did you mean `github`?" in refused(machine, "set", "x", "--kind", "githib")
        assert "every user of this machine" in refused(
            machine, "set", "x", "--kind", "github", "--field", f"token={SECRET}"
        )
        assert "Did you mean `token`?" in refused(
            machine,
            "set",
            "x",
            "--kind",
            "github",
            "--field",
            "tokn=",
            "--from-stdin",
            text='{"token": "' + SECRET + '"}',
        )
        assert "--from-stdin" in refused(machine, "set", "x", "--kind", "github", text="")
        assert "add `--kind`" in refused(machine, "set", "x")
        assert refused(machine, "rotate-key") == (
            f"packline: A Packline server uses the data folder {machine.folder / 'data'}. "
            "Stop it, repeat this command, then start it again.\n"
        )
        assert machine.lines("credential", "delete", "other")[0]["key"] == "other"

    data = machine.folder / "data"
    assert stat.S_IMODE((data / "vault.key").stat().st_mode) == 0o600
    before = (data / "vault.key").read_text()
    assert machine.lines("credential", "rotate-key") == [{"type": "rotated", "credentials": 1}]
    assert (data / "vault.key").read_text() != before
    file = machine.folder / "credentials.json"
    passphrase = ("--passphrase-file", str(machine.folder / "passphrase"))
    (exported,) = machine.lines("credential", "export", "-o", str(file), *passphrase)
    assert exported["credentials"] == ["github"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert SECRET not in file.read_text()
    assert "exists" in refused(machine, "export", "-o", str(file), *passphrase)

    (data / "vault.key").rename(data / "lost.key")
    with machine.up():
        assert "locked" in machine.run("credential", "list", "--text").stdout
        done = machine.run("doctor", "--text")
        assert "the vault is locked" in done.stdout.lower(), done.stdout
    assert "--yes" in refused(machine, "reset")
    assert machine.lines("credential", "reset", "--yes") == [{"type": "reset", "credentials": 1}]
    with machine.up():
        wrong = machine.folder / "wrong"
        wrong.write_text("quite another passphrase")
        assert "passphrase is wrong" in refused(machine, "import", str(file), "--passphrase-file", str(wrong))
        assert machine.lines("credential", "import", str(file), *passphrase) == [
            {"type": "imported", "key": "github", "done": "stored"}
        ]
        (kept,) = machine.lines("credential", "import", str(file), *passphrase)
        assert kept["done"] == "kept as it is"
        (back,) = machine.lines("credential", "list")
        assert (back["key"], back["readable"]) == ("github", True)


def test_a_key_of_the_environment_is_rotated_to_one_that_is_given(tmp_path):
    machine = Machine(tmp_path)
    machine.environment["PACKLINE_VAULT_KEY"] = os.urandom(32).hex()
    with machine.up():
        machine.run("credential", "set", "a", "--kind", "generic", "--from-stdin", text='{"secret": "long enough"}')
    assert "openssl rand" in refused(machine, "rotate-key")
    assert "is not a vault key" in refused(machine, "rotate-key", "--from-stdin", text="nonsense")
    new = os.urandom(32).hex()
    done = machine.run("credential", "rotate-key", "--from-stdin", "--text", text=new)
    assert "Set PACKLINE_VAULT_KEY to the new key now" in done.stdout
    machine.environment["PACKLINE_VAULT_KEY"] = new
    with machine.up():
        assert machine.lines("credential", "list")[0]["readable"]
    assert not (tmp_path / "data" / "vault.key").exists()
    machine.run("backup", str(tmp_path / "packline.tar"))
    machine.environment["PACKLINE_DATA_DIR"] = str(tmp_path / "restored")
    assert machine.run("restore", str(tmp_path / "packline.tar")).returncode == 0
    with machine.up():
        assert machine.lines("credential", "list")[0]["readable"], "with its key, a backup has the values, too"
    machine.environment["PACKLINE_VAULT_KEY"] = "nonsense-nonsense"
    done = machine.run("up")
    assert done.returncode == 2
    assert "PACKLINE_VAULT_KEY is set" in done.stderr
    assert "nonsense-nonsense" not in done.stderr
