from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from ulid import ULID

from store.ids import new_id


def test_an_id_is_a_prefix_and_a_ulid_of_now():
    before = time.time()
    made = new_id("run")
    prefix, _, text = made.partition("_")
    parsed = ULID.from_str(text)
    assert (prefix, str(parsed), len(made)) == ("run", text, 30)
    assert int(before * 1000) <= parsed.milliseconds <= int(time.time() * 1000)


def test_ids_are_ordered_by_time_and_never_the_same():
    early = new_id("att")
    time.sleep(0.002)  # ids of one millisecond are in no order
    many = {new_id("att") for _ in range(20_000)}
    assert len(many) == 20_000
    assert all(early < each for each in many)


def test_every_digit_is_used_and_no_other():
    digits = set("".join(new_id("run").removeprefix("run_")[10:] for _ in range(500)))
    assert digits == set("0123456789ABCDEFGHJKMNPQRSTVWXYZ")


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_threads_and_forks_never_share_an_id():
    with ThreadPoolExecutor(4) as threads:
        made = [made for many in threads.map(lambda _: [new_id("att") for _ in range(5000)], range(4)) for made in many]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, new_id("att").encode())
        os._exit(0)
    os.waitpid(child, 0)
    made += [new_id("att"), os.read(reading, 100).decode()]
    os.close(reading)
    os.close(writing)
    ends = [each[14:] for each in made]
    assert len(set(ends)) == len(ends)
