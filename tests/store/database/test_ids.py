from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from ulid import ULID

from store.database.ids import new_id, with_prefix


def test_an_id_is_a_prefix_and_a_ulid_of_now():
    before = time.time()
    made = new_id("run")
    prefix, _, text = made.partition("_")
    parsed = ULID.from_str(text)
    assert (prefix, str(parsed), len(made)) == ("run", text, 30)
    assert int(before * 1000) <= parsed.milliseconds <= int(time.time() * 1000)


def test_ids_are_in_the_order_they_were_made():
    made = [new_id("att") for _ in range(20_000)]
    assert made == sorted(set(made))


def test_threads_never_share_an_id():
    with ThreadPoolExecutor(4) as threads:
        made = [made for many in threads.map(lambda _: [new_id("att") for _ in range(5000)], range(4)) for made in many]
    assert len(set(made)) == len(made)


def test_an_id_of_another_differs_in_its_prefix_alone():
    step = new_id("step")
    assert with_prefix("att", step) == f"att_{step.removeprefix('step_')}"
