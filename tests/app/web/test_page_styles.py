"""A page may use its one stylesheet, and nothing else."""

import base64
import hashlib

from deniable.app.web.page_styles import RESULTS_POLICY, RESULTS_STYLE, content_policy


def test_the_policy_names_the_stylesheet_and_no_other():
    digest = base64.b64encode(hashlib.sha256(RESULTS_STYLE.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}';" in RESULTS_POLICY
    assert "unsafe" not in RESULTS_POLICY
    assert "script-src" not in RESULTS_POLICY  # so default-src 'none' holds for scripts
    assert content_policy("a{}") != content_policy("b{}")
