import os
from pathlib import Path

import pytest

from app.addresses import is_loopback
from app.settings.client import ClientSettings
from app.settings.server import Settings, SettingsError
from app.settings.sources import PREFIX
from app.surfaces import transport_limits


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PACKLINE_DATA_DIR", str(tmp_path))


def source_of(settings, name):
    return next(info.source for info in settings.describe() if info.name == name)


def test_every_setting_has_a_description_and_a_default():
    infos = Settings.load().describe()

    assert len(infos) == len(Settings.model_fields)
    assert all(len(info.description) > 10 for info in infos)
    assert all(info.name.startswith(PREFIX) for info in infos)


def test_the_names_automation_relies_on_exist():
    names = {info.name for info in Settings.load().describe()}

    assert names >= {
        "PACKLINE_DATA_DIR",
        "PACKLINE_HOST",
        "PACKLINE_PORT",
        "PACKLINE_DATABASE_URL",
        "PACKLINE_PACK_PATH",
        "PACKLINE_BOOTSTRAP_TOKEN",
        "PACKLINE_EGRESS_ALLOW",
        "PACKLINE_CALLER_CONCURRENT_RUNS",
        "PACKLINE_RUN_DEADLINE_SECONDS",
        "PACKLINE_STEP_TIMEOUT_SECONDS",
        "PACKLINE_SESSION_IDLE_SECONDS",
    }


def test_command_line_beats_environment_beats_file_beats_default(monkeypatch, tmp_path):
    (tmp_path / "packline.toml").write_text("port = 1\nlanes = 2\nqueue_limit = 3\n")
    monkeypatch.setenv("PACKLINE_PORT", "10")
    monkeypatch.setenv("PACKLINE_LANES", "20")

    settings = Settings.load({"port": 100, "host": None})

    assert (settings.port, settings.lanes, settings.queue_limit, settings.host) == (100, 20, 3, "127.0.0.1")
    assert source_of(settings, "PACKLINE_PORT") == "command line"
    assert source_of(settings, "PACKLINE_LANES") == "environment"
    assert source_of(settings, "PACKLINE_QUEUE_LIMIT") == str(tmp_path / "packline.toml")
    assert source_of(settings, "PACKLINE_HOST") == "default"


def test_the_file_may_lie_elsewhere_and_must_then_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("PACKLINE_CONFIG", str(tmp_path / "other.toml"))
    with pytest.raises(SettingsError, match=r"PACKLINE_CONFIG names .*other\.toml, which does not exist"):
        Settings.load()

    (tmp_path / "other.toml").write_text('pack_path = ["/packs"]\negress_allow = ["a", "b"]\n')
    settings = Settings.load()
    assert settings.pack_path == (Path("/packs"),)
    assert settings.egress_allow == ("a", "b")


def test_lists_are_split_and_empty_variables_count_as_unset(monkeypatch):
    monkeypatch.setenv("PACKLINE_EGRESS_ALLOW", " one:80 , 10.0.0.0/8,")
    monkeypatch.setenv("PACKLINE_PACK_PATH", os.pathsep.join(["/a", "/b"]))
    monkeypatch.setenv("PACKLINE_PORT", "")

    settings = Settings.load()

    assert settings.egress_allow == ("one:80", "10.0.0.0/8")
    assert settings.pack_path == (Path("/a"), Path("/b"))
    assert settings.port == 8420


def test_services_are_gathered_from_their_variables_and_the_file(monkeypatch, tmp_path):
    (tmp_path / "packline.toml").write_text('[service_urls]\nsearxng = "http://one"\nwiki = "http://two"\n')
    monkeypatch.setenv("PACKLINE_SERVICE_SEARXNG_URL", "http://three:8080/")
    monkeypatch.setenv("PACKLINE_SERVICE_MY_MODEL_URL", "http://four")

    settings = Settings.load()

    assert settings.service_urls == {"searxng": "http://three:8080/", "wiki": "http://two", "my_model": "http://four"}
    assert settings.warnings == ()


def test_wrong_values_are_all_named_with_the_remedy(monkeypatch, tmp_path):
    (tmp_path / "packline.toml").write_text("lanes = 0\n")
    monkeypatch.setenv("PACKLINE_PORT", "http")
    monkeypatch.setenv("PACKLINE_DATABASE_URL", "mysql://root:hunter22@db/x")
    monkeypatch.setenv("PACKLINE_SERVICE_WIKI_URL", "file:///etc/passwd")
    monkeypatch.setenv("PACKLINE_PACK_RELOAD", "perhaps")

    with pytest.raises(SettingsError) as raised:
        Settings.load({"host": ""})

    text = str(raised.value)
    assert (
        "PACKLINE_PORT is `http`: it must be a whole number. Correct it, or unset it to use the default `8420`." in text
    )
    assert f"`lanes` in {tmp_path / 'packline.toml'} is `0`" in text
    assert "--host is ``" in text
    assert "PACKLINE_DATABASE_URL is `mysql://root:***@db/x`: use `sqlite`" in text
    assert "PACKLINE_SERVICE_WIKI_URL cannot be used: it must be an address such as" in text
    assert "PACKLINE_PACK_RELOAD is `perhaps`" in text
    assert "to use the default `true`." in text, "as the reference page writes it"
    assert "hunter22" not in text
    assert "pydantic" not in text


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('[agents.x]\npreset = "mock"\nenv = {MY_TOKEN = "hunter22"}', ["`agents.x.env` in", "it must be a list"]),
        ('[agents.x]\npreset = "mock"\nvariables = {"A B" = "hunter22"}', ["`agents.x.variables.A B`", "match"]),
        ('[agents.x]\nvariables = {A = "hunter22"}', ["`agents.x` in", "give `command`"]),
        ('[agents.x]\npreset = "mock"\nsecrets = "hunter22"', ["`agents.x.secrets`", "there is no such key"]),
        ('agents = "hunter22"', ["`agents` in", "it must be a table", "remove it"]),
        (
            '[mcp_servers.x]\nurl = "https://a.example"\nbearer = "hunter22"',
            ["`mcp_servers.x.bearer`", "credential.field"],
        ),
        ('[mcp_servers.x]\ncommand = ["uvx"]\nsecret_env = {A = "hunter22"}', ["`A` is not", "credential.field"]),
        ('[mcp_servers.x]\nurl = "https://hunter22@[::1"', ["`mcp_servers.x.url`", "https://host.example/mcp"]),
        (
            '[model_providers.x]\nbase_url = "https://me:hunter22@[::1"',
            ["`model_providers` in", "provider `x` needs an address"],
        ),
        ('egress_allow = [1, {a = "hunter22"}]', ["`egress_allow.1` in", "it must be text", "remove it"]),
    ],
)
def test_what_is_wrong_in_a_table_is_named_and_nothing_in_it_shown(tmp_path, table, told):
    (tmp_path / "packline.toml").write_text(f"{table}\n")

    with pytest.raises(SettingsError) as raised:
        Settings.load()

    text = str(raised.value)
    assert all(words in text for words in told), text
    assert "hunter22" not in text
    assert "tuple" not in text


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("PACKLINE_PORT", "99999", "it must be at most 65535"),
        ("PACKLINE_LANES", "0", "it must be at least 1"),
        ("PACKLINE_LOGIN_DAYS", "0", "it must be more than 0"),
        ("PACKLINE_SESSION_IDLE_SECONDS", "99999999999", "it must be at most 31536000"),
        ("PACKLINE_LOG_LEVEL", "loud", "it must be 'debug', 'info', 'warning' or 'error'"),
        ("PACKLINE_BASE_PATH", "/{x}", "it must be a path such as /tools/pipes, of letters, digits and . _ ~ -"),
    ],
)
def test_a_value_beyond_its_bounds_is_told_them(monkeypatch, variable, value, told):
    monkeypatch.setenv(variable, value)

    with pytest.raises(SettingsError) as raised:
        Settings.load()

    assert str(raised.value).startswith(f"{variable} is `{value}`: {told}. Correct it, or unset it")


@pytest.mark.parametrize("variable", ["PACKLINE_AGENTS", "PACKLINE_MCP_SERVERS"])
def test_a_table_in_a_variable_that_is_no_json_is_told_without_it(monkeypatch, variable):
    monkeypatch.setenv(variable, "{hunter22")

    with pytest.raises(SettingsError) as raised:
        Settings.load()

    assert str(raised.value) == (
        f"{variable} cannot be used: it must be a table; in a variable, write it as JSON. Correct it, or unset it."
    )


def test_a_variable_holds_a_table_as_json(monkeypatch):
    monkeypatch.setenv("PACKLINE_MCP_SERVERS", '{"time": {"command": ["uvx", "mcp-server-time"], "call_seconds": 5}}')

    time = Settings.load().mcp_servers["time"]

    assert (time.command, time.call_seconds) == (("uvx", "mcp-server-time"), 5)


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("PACKLINE_PUBLIC_URL", "http://a:99999/", "it must be an address such as https://host.example: "),
        ("PACKLINE_PUBLIC_URL", "http://[::1", "it must be an address such as https://host.example: "),
        ("PACKLINE_ALLOWED_ORIGINS", "https://a:x", "it must be an address such as https://host.example: "),
        ("PACKLINE_ALLOWED_HOSTS", "[::1", "`[::1` is not a host"),
        ("PACKLINE_ALLOWED_HOSTS", "pack.example:8420", "`pack.example:8420` is not a host"),
        ("PACKLINE_ALLOWED_HOSTS", "m\u00fcn chen.example", "`m\u00fcn chen.example` is not a host"),
        ("PACKLINE_ALLOWED_HOSTS", "fine.example,https://pack.example", "`https://pack.example` is not a host"),
        ("PACKLINE_ALLOWED_HOSTS", "pack.example:8420", "without scheme and port"),
    ],
)
def test_addresses_that_nobody_could_reach_are_refused(monkeypatch, variable, value, told):
    monkeypatch.setenv(variable, value)

    with pytest.raises(SettingsError) as raised:
        Settings.load()

    assert f"{variable} is `{value}`: " in str(raised.value)
    assert told in str(raised.value)


def test_hosts_are_names_and_addresses_of_both_kinds(monkeypatch):
    monkeypatch.setenv("PACKLINE_ALLOWED_HOSTS", "pack.example, 10.0.0.7, ::1, [FE80::1], my_host, München.example")

    assert Settings.load().allowed_hosts == (
        *("pack.example", "10.0.0.7", "::1", "fe80::1", "my_host"),
        "xn--mnchen-3ya.example",  # as browsers send it
    )


def test_unknown_variables_are_ignored_with_the_nearest_name(monkeypatch):
    monkeypatch.setenv("PACKLINE_PROT", "1")
    monkeypatch.setenv("PACKLINE_SERVER", "http://x")

    assert Settings.load().warnings == ("PACKLINE_PROT is not a setting and was ignored. Did you mean PACKLINE_PORT?",)


def test_unknown_keys_and_broken_files_are_refused(tmp_path):
    file = tmp_path / "packline.toml"
    file.write_text("prot = 1\n")
    with pytest.raises(SettingsError, match=r"sets `prot`, which is not a setting\. Did you mean `port`\?"):
        Settings.load()

    file.write_text("port = \n")
    with pytest.raises(SettingsError, match=r"packline\.toml cannot be read"):
        Settings.load()


def test_secrets_are_never_shown(monkeypatch):
    monkeypatch.setenv("PACKLINE_BOOTSTRAP_TOKEN", "correct horse battery")
    monkeypatch.setenv("PACKLINE_DATABASE_URL", "postgresql://me:hunter22@db/packline")

    settings = Settings.load()
    values = {info.name: info.value for info in settings.describe()}

    assert values["PACKLINE_BOOTSTRAP_TOKEN"] is None
    assert values["PACKLINE_DATABASE_URL"] == "postgresql://me:***@db/packline"
    assert "hunter22" not in repr(settings.describe())
    assert "correct horse" not in repr(settings)
    assert source_of(settings, "PACKLINE_BOOTSTRAP_TOKEN") == "environment"


def test_a_short_bootstrap_token_is_taken_and_warned_about(monkeypatch):
    monkeypatch.setenv("PACKLINE_BOOTSTRAP_TOKEN", "short")

    settings = Settings.load()

    assert settings.bootstrap_token is not None
    assert settings.bootstrap_token.get_secret_value() == "short"
    assert "easy to guess" in settings.warnings[0]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "::1", "[::1]", "0:0:0:0:0:0:0:1"])
def test_loopback(host):
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "10.0.0.1", "example.com", "127.0.0.1.example.com", "127.evil", "127.999.0.1"]
)
def test_not_loopback(host):
    assert not is_loopback(host)


def test_what_the_command_line_reads(monkeypatch):
    assert ClientSettings.load() == ClientSettings(server=None, token=None)
    monkeypatch.setenv("PACKLINE_SERVER", "http://127.0.0.1:9")
    monkeypatch.setenv("PACKLINE_TOKEN", "pkl_x")
    assert ClientSettings.load() == ClientSettings(server="http://127.0.0.1:9", token="pkl_x")


def test_a_request_may_take_as_long_as_it_may_wait_for_a_run():
    assert transport_limits(Settings.load()).request_seconds == 60
    assert transport_limits(Settings.load({"wait_seconds_max": 300})).request_seconds > 300
