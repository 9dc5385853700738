"""Much output: what of it is kept while the database is slow, and how little memory it takes meanwhile."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import orjson
import psutil
import pytest

from runner.agents.formats import MAX_BLOCKS
from runner.agents.streams import MAX_LINE, reader_for
from runner.agents.transcript import FLUSH_BYTES, Transcript
from runner.secrets.redaction import Redactor

if TYPE_CHECKING:
    from runner.agents.profiles import StreamFormat
    from store.database.engine import Store
    from store.runs.transcripts import Chunk

pytestmark = pytest.mark.slow

#: 100 MB of output may take this much, the database's own pages not counted.
MEMORY_BYTES = 30_000_000
KEEP_BYTES = 8 << 20
PART = 65_536


class SlowStore:
    """Notes which chunks a database would keep, each after a while, but not what is in them: that takes memory."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.chunks: dict[int, tuple[int, int, bool]] = {}  # by first sequence: the last, bytes, whether of the tail

    async def write(
        self, _unit: object, _attempt_id: str, chunk: Chunk, *, is_tail: bool, dropped: tuple[int, ...]
    ) -> None:
        """Takes a chunk and gives up others."""
        for _ in range(self.turns):
            await asyncio.sleep(0)
        for first in dropped:
            del self.chunks[first]
        lines = chunk.lines.encode()
        told = [orjson.loads(line)["sequence"] for line in lines.split(b"\n")]
        assert told == list(range(chunk.first, chunk.last + 1))
        self.chunks[chunk.first] = chunk.last, len(lines), is_tail

    def sequences(self) -> list[int]:
        """Every entry kept, in order."""
        return [number for first in sorted(self.chunks) for number in range(first, self.chunks[first][0] + 1)]

    def size(self, *, is_tail: bool) -> int:
        """Bytes kept of the head or the tail."""
        return sum(size for _, size, of_tail in self.chunks.values() if of_tail is is_tail)


async def flood(stream: StreamFormat, block: bytes, megabytes: int = 100, turns: int = 5) -> SlowStore:
    """Has a program print a block over and over, a pipe's part at a time, while the database is slow."""
    store, redactor = SlowStore(turns), Redactor({"a.b": "correct-horse-battery"})
    transcript = Transcript(cast("Store", store), redactor, "att_1", keep_bytes=KEEP_BYTES)
    reader = reader_for(stream, transcript, redactor)
    for _ in range(-(-megabytes * 1_000_000 // len(block))):
        for start in range(0, len(block), PART):
            reader.feed(block[start : start + PART])
            await asyncio.sleep(0)
    reader.close()
    await transcript.close()
    return store


def _claude(*blocks: dict[str, Any]) -> bytes:
    return orjson.dumps({"type": "assistant", "message": {"content": list(blocks)}}) + b"\n"


#: Programs that print as awkwardly as they can: format and what is printed over and over.
BLOCKS: dict[str, tuple[StreamFormat, bytes]] = {
    "text": ("raw", (b"x" * 99 + b"\n") * 10_000),
    "no_end_of_line": ("claude", b"x" * 1_000_000),
    "long_lines": ("claude", _claude({"type": "text", "text": "word " * ((MAX_LINE - 200) // 5)})),
    "many_blocks": ("claude", _claude(*[{"type": "text", "text": "a"}] * (MAX_BLOCKS * 100))),
}


@pytest.mark.parametrize(
    "name", ["text", *(pytest.param(each, marks=pytest.mark.sweep) for each in ("no_end_of_line", "long_lines"))]
)
def test_100_mb_take_little_memory(name: str) -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", f"from tests.runner.agents.test_flood import grown; print(grown({name!r}))"],
        cwd=root,
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert int(done.stdout) < MEMORY_BYTES


def grown(name: str) -> int:
    """How much larger this process has ever been than before, in bytes."""
    asyncio.run(flood("raw", b"A few words.\n", megabytes=1))
    status = Path("/proc/self/status")
    before = psutil.Process().memory_info().rss
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far (proc(5))
    asyncio.run(flood(*BLOCKS[name]))
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) * 1024 - before


@pytest.mark.parametrize("turns", [0, 5, 2_000])
async def test_the_beginning_and_the_end_are_kept_however_slow_the_database_is(turns: int) -> None:
    store = await flood("raw", (b"y" * 99 + b"\n") * 10_000, megabytes=40, turns=turns)
    sequences = store.sequences()
    assert sequences == sorted(set(sequences))
    gaps = [second - first for first, second in pairwise(sequences) if second != first + 1]
    assert len(gaps) == 1, "one gap, in the middle"
    assert sequences[0] == 1
    assert abs(store.size(is_tail=False) - KEEP_BYTES) <= FLUSH_BYTES
    assert KEEP_BYTES - 2 * FLUSH_BYTES <= store.size(is_tail=True) <= KEEP_BYTES


async def test_a_line_of_many_parts_becomes_few_entries() -> None:
    store = await flood(*BLOCKS["many_blocks"], megabytes=1)
    assert len(store.sequences()) < 100
