from app.auth.throttle import ADDRESSES_MAX, Throttle


class Ticks:
    now = 0.0

    def __call__(self):
        return self.now


def test_an_address_waits_after_too_many_failures_and_no_other_does():
    ticks = Ticks()
    throttle = Throttle(3, ticks)
    for _ in range(2):
        throttle.failed("10.0.0.1")
    assert throttle.wait_seconds("10.0.0.1") == 0
    throttle.failed("10.0.0.1")

    assert throttle.wait_seconds("10.0.0.1") == 20
    assert throttle.wait_seconds("10.0.0.2") == 0
    ticks.now += 20
    assert throttle.wait_seconds("10.0.0.1") == 0
    ticks.now += 40
    assert throttle.failed("10.0.0.1"), "a minute later nothing is held against it"


def test_only_the_first_failure_of_a_burst_is_told():
    throttle = Throttle(10, Ticks())
    assert [throttle.failed("a") for _ in range(3)] == [True, False, False]


def test_one_ipv6_network_is_one_address():
    throttle = Throttle(1, Ticks())
    throttle.failed("2001:db8::1")
    assert throttle.wait_seconds("2001:db8::ffff") > 0
    assert throttle.wait_seconds("2001:db8:0:1::1") == 0


def test_memory_is_bounded():
    throttle = Throttle(1, Ticks())
    for number in range(ADDRESSES_MAX + 10):
        throttle.failed(f"host-{number}")
    assert throttle.wait_seconds("host-0") == 0
    assert throttle.wait_seconds(f"host-{ADDRESSES_MAX + 9}") > 0
