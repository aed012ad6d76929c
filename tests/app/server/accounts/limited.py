"""One worker of several that share limits: asks until it is refused, and says how often."""

import sys

from deniable.app.server.accounts.account_stores import open_store
from deniable.app.server.accounts.shared_limits import SharedAddressLimits, SharedLimits


def main(kind: str, where: str, most: int) -> None:
    store = open_store(where)
    if kind == "people":
        limits = SharedLimits(store, "requests", most, seconds=60, clock=lambda: 6e4)
    else:
        limits = SharedAddressLimits(
            store, "logins", most, seconds=3600, key=b"k" * 32, clock=lambda: 6e4
        )
    print("ready", flush=True)
    sys.stdin.readline()
    allowed = 0
    while allowed < 2 * most and limits.allow("192.0.2.7"):
        allowed += 1
    print(allowed, flush=True)
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
