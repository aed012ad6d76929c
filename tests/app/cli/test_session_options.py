"""What commands share: a session that plans cannot answer."""

import pytest

from deniable.app.cli import session_options
from deniable.errors import EngineFailed


def test_a_session_that_plans_cannot_answer(hospital):
    with session_options.open_planner(session_options.POLICY, "planning") as session:
        assert "cost" in session.policy.tables["visits"].columns
        with pytest.raises(EngineFailed):
            session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
