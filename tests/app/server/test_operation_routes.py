from fastapi.testclient import TestClient

import deniable as dp
from deniable.app.server.application import make_application
from deniable.app.server.operation_routes import operation_router


def test_health_and_readiness():
    failing, now, runs = [], [0.0], []

    def check():
        runs.append(1)
        if failing:
            raise dp.LedgerUnavailable("the secret reason")

    router = operation_router([check], clock=lambda: now[0])
    with TestClient(make_application(router, https=True)) as client:
        assert client.get("/ready").json() == {"ready": True}
        failing.append(1)
        assert client.get("/ready").status_code == 200  # kept for a second
        assert len(runs) == 1
        now[0] = 1.0
        answer = client.get("/ready")
        assert (answer.status_code, answer.json()) == (503, {"ready": False})
        assert client.get("/health").json() == {"healthy": True}
        failing.clear()
        now[0] = 2.0
        assert client.get("/ready").status_code == 200
