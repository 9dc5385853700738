from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.github_server import TOKEN, GitHubDouble, Repository
from tests.support.pack_harness import Harness
from tests.support.scripted_http import serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def github() -> AsyncIterator[GitHubDouble]:
    async with serving(GitHubDouble()) as service:
        yield service


@pytest.fixture
def lights(github: GitHubDouble) -> Repository:
    return github.add("octo/lights", branches={"main", "fix-lamp"})


@pytest.fixture
def harness(tmp_path: Path, github: GitHubDouble) -> Harness:
    return Harness(
        tmp_path, services={"github": github.http.url("")}, allow="", credentials={"github": {"token": TOKEN}}
    )
