"""Artifacts as agents get them: small pictures are shown, and a file that is not text says why."""

from __future__ import annotations

import base64

import httpx2
import pytest

from resolvers.artifacts.artifacts import PICTURE_BYTES
from store.files.artifacts import erase_artifacts
from tests.support.mcp_agent import MODES, agent, content_of
from tests.support.media_files import picture, png


async def uploaded(house, name: str, content: bytes) -> str:
    headers = {"authorization": f"Bearer {house.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60, verify=False) as http:
        answer = await http.post(house.url("/artifacts"), params={"name": name}, content=content)
    return answer.json()["artifact"]["id"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_small_picture_is_shown_beside_what_is_told_of_it(house, mode):
    shown = {"image/png": png(4, 4), "image/jpeg": picture(4, 4, "JPEG"), "image/webp": picture(4, 4, "WEBP")}
    large = png(4, 4) + bytes(PICTURE_BYTES)
    others = {"large.png": large, "wide.png": png(2_001, 1), "broken.png": png(4, 4)[:20]}
    others |= {"moving.gif": picture(4, 4, "GIF"), "note.txt": b"tea"}
    async with agent(house, mode) as client:
        for media_type, content in shown.items():
            artifact = await uploaded(house, f"tea.{media_type[6:]}", content)
            result = await client.call_tool("get_artifact", {"artifact_id": artifact})
            assert content_of(result)["media_type"] == media_type
            (block,) = [each for each in result.content if each.type == "image"]
            assert (base64.b64decode(block.data), block.mime_type) == (content, media_type)
        for name, content in others.items():
            artifact = await uploaded(house, name, content)
            result = await client.call_tool("get_artifact", {"artifact_id": artifact})
            assert [each.type for each in result.content] == ["text", "resource_link"], name


async def test_what_is_no_text_says_why(house):
    async with agent(house) as client:

        async def reason(artifact_id: str, **given: int) -> str:
            answer = content_of(await client.call_tool("get_artifact", {"artifact_id": artifact_id, **given}))
            assert "text" not in answer
            return answer["reason"]

        latin = await uploaded(house, "menu.csv", "Tee;süß\n".encode("latin-1") * 2000)
        assert await reason(latin) == "menu.csv is application/octet-stream, not text. Download it instead."
        broken = await uploaded(house, "log.txt", b"tea\n" * 5000 + b"\xff\n")  # what it is was seen by its beginning
        read = content_of(await client.call_tool("get_artifact", {"artifact_id": broken}))
        assert ("reason" in read, read["next_offset"]) == (False, 12_000)
        assert "is not UTF-8 text after byte 12000" in await reason(broken, offset=12_000)
        film = await uploaded(house, "tea.png", png(4, 4))
        assert await reason(film) == "tea.png is image/png, not text. Download it instead."
        await house.services.store.write(erase_artifacts, [film])
        assert "was erased" in await reason(film)


async def test_a_check_tells_of_files_that_do_not_exist(house):
    definition = {
        "key": "reads",
        "name": "Reads",
        "steps": [{"id": "a", "pack": "test.echo", "input": {"text": "${{ inputs.file }}"}}],
    }
    missing = "art_01J00000000000000000000000"
    async with agent(house) as client:

        async def issues(file: str) -> list[str]:
            given = {"definition": definition, "inputs": {"file": file}}
            return [issue["message"] for issue in content_of(await client.call_tool("check_pipeline", given))["issues"]]

        (message,) = await issues(missing)
        assert message.startswith(f"The artifact {missing}, which the step `a` gets as `file`, does not exist")
        assert await issues(await uploaded(house, "tea.txt", b"Tea.")) == []
