"""What commands share: a session that plans cannot answer."""

import pytest

from deniable.app.cli import session_options
from deniable.errors import Unsupported


def test_a_session_that_plans_cannot_answer(hospital):
    with session_options.open_planner(session_options.POLICY, "planning") as session:
        assert "cost" in session.policy.tables["visits"].columns
        with pytest.raises(Unsupported, match="only make plans"):
            session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
        assert session.ledger.entries == ()
