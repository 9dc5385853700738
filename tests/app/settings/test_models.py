"""Who serves models and which serve a role, as the settings say it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from app.settings.models import given_keys, providers_of, roles_of
from app.settings.server import Settings, SettingsError
from runner.gateway.providers import BUILTIN_PROVIDERS

if TYPE_CHECKING:
    from pathlib import Path

FILE = """
[model_providers.groq]
kind = "openai"
base_url = "https://groq.example/openai/v1"
api_key_env = "GROQ_KEY"

[model_roles]
writer = ["groq:llama", "ollama:qwen3:8b"]
critic = ["groq:other"]
"""


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith("PACKLINE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PACKLINE_DATA_DIR", str(tmp_path))


def test_the_file_and_the_environment_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "packline.toml").write_text(FILE)
    monkeypatch.setenv("PACKLINE_MODEL_WRITER", "anthropic:claude, groq:llama")
    monkeypatch.setenv("PACKLINE_PROVIDER_GROQ_CREDENTIAL", "groq-team")
    monkeypatch.setenv("PACKLINE_PROVIDER_OPENAI_URL", "http://proxy.internal:8080/v1/")
    settings = Settings.load()
    roles = {role: [str(ref) for ref in chain] for role, chain in roles_of(settings.model_roles).items()}
    assert roles == {"writer": ["anthropic:claude", "groq:llama"], "critic": ["groq:other"]}
    providers = providers_of(settings.model_providers)
    groq, openai = providers["groq"], providers["openai"]
    assert (groq.kind, groq.base_url, groq.credential, groq.needs_key) == (
        "openai",
        "https://groq.example/openai/v1",
        "groq-team",
        True,
    )
    assert (openai.base_url, openai.needs_key, openai.api_key_env) == (
        "http://proxy.internal:8080/v1",
        False,
        "OPENAI_API_KEY",
    )
    assert providers["anthropic"] == BUILTIN_PROVIDERS["anthropic"]
    assert settings.warnings == ()
    sources = {info.name: info.source for info in settings.describe()}
    assert sources["PACKLINE_MODEL_<ROLE>"] == "environment"


def test_keys_come_from_the_variables_providers_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "ELEVENLABS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", " sk-one ")
    monkeypatch.setenv("GROQ_KEY", "gsk-two")
    providers = providers_of({"groq": {"base_url": "https://groq.example/v1", "api_key_env": "GROQ_KEY"}})
    assert given_keys(providers) == {"openai": "sk-one", "groq": "gsk-two"}


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("PACKLINE_MODEL_WRITER", "gpt-5", ["writer", "`gpt-5`", "openai:gpt-5-mini"]),
        ("PACKLINE_MODEL_PRICES", "0.5", ["PACKLINE_MODEL_PRICES"]),
        ("PACKLINE_MODEL_PRICES", "{own", ["PACKLINE_MODEL_PRICES", "not JSON", '{"groq:llama']),
        ("PACKLINE_MODEL_PRICES", '{"gpt": {"input": 1, "output": 1}}', ["`gpt`", "openai:gpt-5-mini"]),
        ("PACKLINE_MODEL_PRICES", '{"own:x": {"input": 1}}', ["`own:x`", "`output`"]),
        ("PACKLINE_MODEL_PRICES", '{"own:x": {"input": 1, "output": -2}}', ["`own:x`", "-2", "`output`"]),
        ("PACKLINE_MODEL_PRICES", '{"own:x": {"input": 1, "output": 2, "thinking": 3}}', ["`thinking`", "cached"]),
        ("PACKLINE_BUDGET_RUN_USD", "-1", ["PACKLINE_BUDGET_RUN_USD", "-1"]),
        ("PACKLINE_BUDGET_MONTH_TOKENS", "lots", ["PACKLINE_BUDGET_MONTH_TOKENS", "lots"]),
        ("PACKLINE_MODEL_WRITER", "nobody:x", ["writer", "`nobody`", "PACKLINE_PROVIDER_NOBODY_URL"]),
        ("PACKLINE_MODEL_WRITER", "offline:heart", ["writer", "voice"]),
        ("PACKLINE_MODEL_WRITER", ",", ["writer", "no model"]),
        ("PACKLINE_PROVIDER_MINE_URL", "ftp://x", ["`mine`", "https://"]),
        ("PACKLINE_PROVIDER_MINE_URL", "https://me:pw@x.example", ["`mine`", "password"]),
        ("PACKLINE_PROVIDER_OPENAI_KIND", "grok", ["`openai`", "`grok`", "anthropic"]),
        ("PACKLINE_PROVIDER_MINE_CREDENTIAL", "x", ["`mine`", "PACKLINE_PROVIDER_MINE_URL"]),
        ("PACKLINE_PROVIDER_OFFLINE_URL", "https://x.example", ["`offline`"]),
        ("PACKLINE_MODEL_CALL_SECONDS", "0", ["PACKLINE_MODEL_CALL_SECONDS"]),
    ],
)
def test_what_cannot_be_used_is_told_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, words: list[str]
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as caught:
        Settings.load()
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "pw@" not in str(caught.value)
