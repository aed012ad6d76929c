import pytest

from tools.console_server import PASSWORD


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe",
        b"&".join(b"a%d=1" % i for i in range(100)),
        b"a=%ff",
    ],
)
def test_what_is_no_form_is_refused(hospital, body):
    ann = hospital.visitor("ann")
    refused = ann._send("POST", "/console/hospital/preview", content=body)
    assert refused.status_code == 400
    assert "This is not a form of the console." in refused.text


def test_a_field_that_is_there_twice_counts_once(hospital):
    ann = hospital.visitor("ann")
    body = f"form_token={ann.token()}&form_token=x&sql=SELECT+1&sql=SELECT+2"
    shown = ann._send("POST", "/console/hospital/preview", content=body.encode())
    assert shown.status_code == 200


def test_a_session_has_a_token_of_its_own(hospital):
    tokens = {hospital.visitor("ann").token() for _ in range(3)}
    assert len(tokens) == 3
    assert PASSWORD not in "".join(tokens)
