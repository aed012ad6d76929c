"""Which hosts are this machine itself."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether a host is this machine.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("192.0.2.1")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
