from deniable.app.server import rate_limits
from deniable.app.server.rate_limits import AddressLimits


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_bucket_refills_over_an_hour():
    clock = Clock()
    limits = AddressLimits(60, clock=clock)
    assert [limits.allow("192.0.2.1") for _ in range(61)] == [True] * 60 + [False]
    clock.now = 59
    assert not limits.allow("192.0.2.1")
    clock.now = 125
    assert [limits.allow("192.0.2.1") for _ in range(3)] == [True, True, False]
    assert limits.wait("192.0.2.1") == 55
    clock.now += 55
    assert limits.allow("192.0.2.1")
    clock.now = 10**6
    assert [limits.allow("192.0.2.1") for _ in range(61)] == [True] * 60 + [False]


def test_addresses_are_apart_but_not_within_a_network():
    limits = AddressLimits(1)
    assert limits.allow("192.0.2.1")
    assert limits.allow("192.0.2.2")
    assert not limits.allow("::ffff:192.0.2.1")
    assert limits.allow("2001:db8::1")
    assert not limits.allow("2001:db8::2")
    assert limits.allow("2001:db8:0:1::2")
    assert limits.allow("not an address")
    assert not limits.allow("not an address")


def test_no_address_is_kept():
    limits = AddressLimits(1)
    limits.allow("192.0.2.77")
    assert b"\xc0\x00\x02M" not in b"".join(limits._buckets)
    other = AddressLimits(1)
    other.allow("192.0.2.77")
    assert limits._buckets.keys() != other._buckets.keys()  # each process has its own key


def test_many_addresses_fill_no_memory(monkeypatch):
    monkeypatch.setattr(rate_limits, "_MOST_ADDRESSES", 10)
    clock = Clock()
    limits = AddressLimits(2, clock=clock)
    for number in range(100):
        clock.now += 1
        limits.allow(f"192.0.2.{number}")
        assert len(limits._buckets) <= 10
    assert limits.allow("192.0.2.99")
    assert not limits.allow("192.0.2.99")  # the latest are remembered
    clock.now += 3600
    limits.allow("192.0.2.200")
    assert len(limits._buckets) <= 2  # full buckets are dropped first
