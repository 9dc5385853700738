"""Commands of the tests that run as forks: one that goes wrong must not break the next."""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING

import pytest

from tests.support.forks import fork
from tests.support.ports import free_port

if TYPE_CHECKING:
    from pathlib import Path


def test_a_test_that_gives_up_leaves_the_next_a_working_parent(tmp_path: Path) -> None:
    environment = {**os.environ, "PACKLINE_DATA_DIR": str(tmp_path)}
    with fork(["up", "--port", str(free_port())], environment) as given_up:
        with pytest.raises(TimeoutError, match="has not ended within 0 s"):
            given_up.wait(0)
        ended = os.pidfd_open(given_up.pid)
    given_up.terminate()
    assert select.select([ended], [], [], 60)[0]
    os.close(ended)
    with fork(["--help"], environment) as after:
        assert "packline" in after.stdout.read()
        assert after.wait() == 0
        after.terminate()
