"""What is told while a call waits: fractions that grow, and lines that say what the step says of itself."""

from __future__ import annotations

from typing import Any

from app.mcp.tools.waiting import wait_for_run


def run(state: str, progress: float, step: float | None, **more: Any) -> dict[str, Any]:
    current = {"key": "film", "state": "RUNNING"} | ({} if step is None else {"progress": step})
    return {"run_id": "run_1", "state": state, "progress": progress, "current_step": current, **more}


async def heard(*states: dict[str, Any]) -> list[tuple[float, str]]:
    said: list[tuple[float, str]] = []
    first, *later = states

    async def tell(fraction: float, line: str) -> None:
        said.append((fraction, line))

    async def once(_seconds: int) -> dict[str, Any]:
        return later.pop(0)

    assert (await wait_for_run(first, 50, once, tell, None))["state"] == "SUCCEEDED"
    return said


async def test_a_line_tells_how_far_the_step_is():
    said = await heard(run("RUNNING", 0.5, None), run("RUNNING", 0.5, 0.25), run("SUCCEEDED", 1.0, None))
    assert [line for _, line in said] == ["running: step film", "running: step film, 25%"]
    assert [round(fraction, 2) for fraction, _ in said] == [0.5, 0.5]
    assert said[0][0] < said[1][0], "fractions grow"


async def test_the_run_of_a_single_pack_is_as_far_as_its_step():
    said = await heard(run("RUNNING", 0.0, 0.25, pack="video.render"), run("SUCCEEDED", 1.0, None))
    assert said == [(0.25, "running: step film, 25%")]
