"""Values as the command line prints them."""

import time

import pytest

from app.cli.base.output import until


@pytest.fixture
def in_tokyo():
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


def test_an_expiry_is_a_local_time_with_its_zone(in_tokyo):
    assert until("2026-11-28T20:15:00.000Z") == "2026-11-29 05:15 JST"
    assert until(None) == "no expiry"
