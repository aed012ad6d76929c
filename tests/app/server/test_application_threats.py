"""Which test and which mutant stand for each threat to a server: nothing here is only words."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SERVER = "tests/app/server"
HOSTILE = f"{SERVER}/questions/test_question_routes_hostile.py"
# For each threat the tests that try it, and what a mutant takes away so that one of them fails.
THREATS = {
    "missing authorization, foreign objects": (
        (
            f"{SERVER}/accounts/test_access_gate.py::test_every_route_by_every_role",
            f"{SERVER}/accounts/test_access_gate.py::test_a_route_without_a_row_does_not_start",
            f"{SERVER}/questions/test_question_routes.py::test_a_foreign_answer_does_not_exist",
        ),
        (
            "a route is let through whatever the role",
            "an analyst reads the answers of others",
            "a token opens all tables of its policies",
            "the tables that a token does not open are listed in a refusal",
        ),
    ),
    "requests from other pages": (
        (
            f"{SERVER}/accounts/test_access_gate.py::test_other_origins_change_nothing",
            f"{SERVER}/accounts/test_account_routes.py::test_looking_changes_nothing",
        ),
        (
            "other pages change something with a session",
            "a form of another page is taken",
            "all sessions share a form's token",
        ),
    ),
    "script in texts of others": (
        (
            f"{SERVER}/console/test_console_in_browser.py::test_200_hostile_texts_run_nowhere",
            f"{SERVER}/surveys/test_survey_console_in_browser.py"
            "::test_hostile_texts_of_a_survey_run_nowhere",
            "tests/app/web/console/test_console_templates.py"
            "::test_no_template_trusts_a_value_or_holds_script_or_style",
            "tests/app/web/console/test_answer_notebook.py"
            "::test_text_of_others_is_neither_run_nor_a_heading",
        ),
        (
            "templates trust what they show",
            "texts of a questionnaire are markup on the page",
        ),
    ),
    "formulas in files": (
        (f"{HOSTILE}::test_a_spreadsheet_runs_no_formula",),
        ("a spreadsheet runs a formula of an answer",),
    ),
    "fixed or stolen sessions": (
        (
            f"{SERVER}/accounts/test_account_routes.py"
            "::test_the_session_is_new_at_login_whatever_was_there",
            f"{SERVER}/accounts/test_browser_sessions.py::test_a_logout_is_for_all_workers",
        ),
        (
            "a planted session lives on after the log-in",
            "a log-out ends nothing",
            "a script may read a session",
        ),
    ),
    "leaked tokens": (
        (
            f"{HOSTILE}::test_a_token_leaves_no_trace",
            f"{SERVER}/accounts/test_identity.py::test_the_token_itself_is_not_stored",
        ),
        ("a token is stored as it is",),
    ),
    "guessed passwords, known names": (
        (
            f"{SERVER}/accounts/test_password_login_timing.py"
            "::test_known_and_unknown_names_take_as_long",
            f"{SERVER}/accounts/test_account_routes.py::test_the_eleventh_try_is_429",
            "tests/app/cli/serving/test_serve.py::test_an_address_has_one_limit_for_all_workers",
        ),
        (
            "passwords are guessed without end",
            "a password is not hashed for an unknown name",
            "each worker counts the log-ins of an address by itself",
            "each worker of a server has limits of its own",
        ),
    ),
    "names of files, and uploads": (
        (
            f"{SERVER}/surveys/test_survey_desk.py::test_no_name_leads_out_of_the_folder",
            f"{HOSTILE}::test_no_name_in_an_address_leads_to_a_file",
            f"{HOSTILE}::test_a_large_body_is_refused_and_not_kept",
        ),
        ("the name of a survey leads to any file", "bodies have no limit"),
    ),
    "frames, and stored pages": (
        (
            f"{SERVER}/test_application.py::test_every_response_has_the_headers",
            f"{SERVER}/accounts/test_account_routes.py::test_every_answer_is_private",
            f"{SERVER}/console/test_console_caches.py::test_a_cache_keeps_nothing_of_anybody",
        ),
        ("failures have no security headers", "answers have no security headers"),
    ),
    "addresses that a visitor names": (
        (
            f"{SERVER}/accounts/test_account_routes.py"
            "::test_no_address_of_a_visitor_is_ever_opened",
            f"{SERVER}/accounts/test_oidc_login.py::test_addresses_that_are_not_https_are_refused",
            f"{SERVER}/accounts/test_oidc_login.py"
            "::test_a_provider_names_no_address_that_is_internal_by_its_spelling",
            f"{SERVER}/console/test_console_forms_addresses.py"
            "::test_no_address_in_any_field_is_opened",
        ),
        (
            "a provider may describe itself as another",
            "a provider leads the server into the owner's network",
        ),
    ),
    "exhausted resources": (
        (
            f"{HOSTILE}::test_a_large_body_is_refused_and_not_kept",
            f"{HOSTILE}::test_slow_sockets_and_hostile_plans_do_not_hold_up_others",
            f"{SERVER}/test_connection_limits.py::test_a_request_that_does_not_end_is_closed",
            f"{SERVER}/test_connection_limits.py::test_one_address_leaves_room_for_others",
            f"{SERVER}/accounts/test_access_gate.py"
            "::test_requests_of_a_person_are_limited_by_all_tokens_and_sessions_together",
            f"{SERVER}/children/test_turns.py::test_who_waits_holds_no_thread",
            f"{SERVER}/accounts/test_request_places.py"
            "::test_accounts_with_many_long_requests_leave_threads_to_others",
            f"{SERVER}/accounts/test_request_places.py"
            "::test_accounts_with_long_pages_leave_threads_to_others",
        ),
        (
            "a body that says that it is large is read",
            "bodies have no limit",
            "one address may hold all connections",
            "a person sends any number of requests",
            "a request may come without end",
            "a rehearsal may run without end",
            "a question about made-up rows runs without end",
            "long pages may take the threads of short requests",
            "one person may have everything planned at once",
            "who waits to plan holds a thread of those who serve",
            "a person may have any number of requests served at once",
            "connections of threads that have ended stay open",
            "any number of passwords is hashed at once",
            "a person may have any number of questions in the queue",
            "any number of questions may wait",
            "a child that does not read holds up the server",
            "a child may take any memory",
        ),
    ),
    "errors that tell": (
        (
            f"{HOSTILE}::test_a_failure_says_nothing_but_a_reference",
            f"{SERVER}/test_application.py::test_an_error_is_one_fixed_sentence",
        ),
        (
            "the log holds what a failure says",
            "a failure of an engine is told in its own words",
        ),
    ),
    "time": (
        (
            f"{SERVER}/questions/test_slots_timing.py::test_with_slots_the_time_tells_nothing",
            f"{SERVER}/questions/test_slots_timing.py::test_without_slots_it_cries_out",
            f"{SERVER}/questions/test_slots_late.py"
            "::test_an_answer_that_is_signed_after_its_slot_is_a_failure",
        ),
        (
            "an answer is handed over before its slot ends",
            "a failure is told before its slot ends",
            "an answer that was signed after its slot is handed over",
            "who was late too often learns from questions that wait",
            "a place is free when its engine is ready",
            "a repeat of a running question has a slot of its own",
        ),
    ),
    "a forged host": (
        (
            f"{HOSTILE}::test_no_link_follows_a_forged_host",
            f"{SERVER}/test_serving.py::test_only_a_proxy_may_name_an_address",
        ),
        ("anybody may name another's address",),
    ),
    "documents and metrics for everybody": (
        (
            f"{HOSTILE}::test_nothing_else_is_served",
            f"{SERVER}/test_api_document.py"
            "::test_only_people_read_it_and_only_if_it_is_configured",
        ),
        (
            "the OpenAPI document is served without being configured",
            "metrics are served without being configured",
        ),
    ),
    "reports sent twice": (
        (f"{SERVER}/test_survey_routes.py::test_a_token_takes_one_report",),
        ("a pass brings a second report",),
    ),
    "a server that changes its script": (
        ("tests/app/cli/surveys/test_page_check.py::test_one_changed_byte_is_found",),
        ("check: a changed script passes",),
    ),
    "libraries of others": (
        (
            "tests/app/web/console/test_console_files.py"
            "::test_htmx_is_the_packages_file_to_the_byte_and_comes_with_its_licence",
            "tests/tools/test_locks.py::test_a_lock_is_for_what_is_asked_for",
            "tests/tools/test_locks.py::test_a_lock_has_what_its_libraries_need",
            f"{SERVER}/test_serving_wheel.py"
            "::test_the_container_takes_no_library_without_its_hash",
            f"{SERVER}/test_serving_wheel.py"
            "::test_a_container_without_a_guard_of_its_libraries_is_noticed",
        ),
        (),
    ),
    "an older copy of the ledger": (
        ("tests/app/cli/serving/test_serve_operated.py::test_every_command_of_the_page_works",),
        ("an older copy is accepted",),
    ),
}


def mutants():
    listed = tomllib.loads((ROOT / "tools" / "mutants.toml").read_text())
    return {mutant["what"]: mutant["test"] for group in listed.values() for mutant in group}


@pytest.mark.parametrize("threat", THREATS)
def test_every_threat_has_its_tests(threat):
    for name in THREATS[threat][0]:
        file, _, test = name.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text(), name


@pytest.mark.parametrize("threat", [threat for threat in THREATS if THREATS[threat][1]])
def test_every_guard_that_is_taken_away_is_missed(threat):
    """`make mutants` takes them away; here they are listed, each with a test that exists."""
    known = mutants()
    for what in THREATS[threat][1]:
        file, _, test = known[what].partition("::")
        assert f"def {test.partition('[')[0]}(" in (ROOT / file).read_text(), what
