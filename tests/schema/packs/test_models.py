"""Models and roles through the front door."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from packline import CredentialNeed, ModelNeed, PackContext, pack
from tests.support.model_server import ModelServer, model_server
from tests.support.packs import Echoed, Text
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

MODEL = "key kind name provider labels availability { usable missing { kind name message hint } }"


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        yield running


async def test_roles_tell_what_they_resolve_to_now(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ELEVENLABS_API_KEY", raising=False)
    settings = server.settings(
        writer=["gpt-4o-mini", "ollama:qwen3:8b"], image=["openai:gpt-image-1"], voice=["elevenlabs:rachel"]
    )
    async with product(tmp_path, **settings) as it:
        data = await it.query(f"{{ modelRoles {{ role chain {{ {MODEL} }} }} models {{ {MODEL} }} }}")
        roles = {role["role"]: role["chain"] for role in data["modelRoles"]}
        keys = {role: [model["key"] for model in chain] for role, chain in roles.items()}
        assert keys["writer"] == keys["router"] == ["openai:gpt-4o-mini", "ollama:qwen3:8b"]
        assert (keys["vision"], keys["image"]) == ([], ["openai:gpt-image-1"])
        assert keys["voice"][0] == "elevenlabs:rachel"
        assert all(model["availability"]["usable"] for model in roles["writer"])
        rachel = roles["voice"][0]["availability"]
        assert rachel["usable"] is False
        [missing] = rachel["missing"]
        assert (missing["kind"], missing["name"]) == ("MODEL", "elevenlabs:rachel")
        assert "ELEVENLABS_API_KEY" in missing["hint"]

        models = {(model["kind"], model["key"]) for model in data["models"]}
        assert ("TEXT", "openai:gpt-4o-mini") in models
        assert ("IMAGE", "openai:gpt-image-1") in models
        assert len(models) == len(data["models"])
        only = await it.query("{ models(kinds: [VOICE]) { kind } }")
        assert {model["kind"] for model in only["models"]} == {"VOICE"}
    assert server.asked == [], "listing asks nobody"


async def test_a_pack_tells_its_needs_and_what_it_costs(tmp_path: Path) -> None:
    @pack(
        "test.paid",
        version="1.0.0",
        effects="none",
        repeatable=True,
        models=[ModelNeed("writer"), ModelNeed("vision", required=False)],
        credentials=[CredentialNeed("github", "github")],
        cost="One writer call.",
    )
    async def paid(ctx: PackContext, input: Text) -> Echoed:
        """Costs."""
        return Echoed(text=input.text)

    @pack("test.free", version="1.0.0", effects="none", repeatable=True)
    async def free(ctx: PackContext, input: Text) -> Echoed:
        """Costs nothing."""
        return Echoed(text=input.text)

    async with product(tmp_path, [paid, free]) as it:
        fields = "modelRoles credentials costEstimate"
        data = await it.query(
            f'{{ paid: pack(id: "test.paid") {{ {fields} }} free: pack(id: "test.free") {{ {fields} }} }}'
        )
        assert data["paid"] == {
            "modelRoles": ["writer", "vision"],
            "credentials": ["github"],
            "costEstimate": "One writer call.",
        }
        assert data["free"] == {"modelRoles": [], "credentials": [], "costEstimate": None}
