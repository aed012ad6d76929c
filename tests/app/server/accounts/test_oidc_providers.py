import pytest

import deniable as dp
from deniable.app.server.accounts.oidc_providers import Provider, read_providers


def test_a_file_of_providers_is_read(tmp_path):
    (tmp_path / "clinic.secret").write_text("shh\n")
    file = tmp_path / "providers.toml"
    file.write_text(
        '[providers.clinic]\nissuer = "https://login.example"\nclient_id = "d"\n'
        'client_secret_file = "clinic.secret"\n'
    )
    providers = read_providers(file)
    assert providers == {"clinic": Provider("clinic", "https://login.example", "d", "shh")}
    assert "shh" not in repr(providers)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "providers = 1",
        "providers = [1]",
        "[providers]\nclinic = 1",
        '[providers.clinic]\nissuer = "https://a.example"',
        '[providers.clinic]\nissuer = "https://a.example"\nclient_id = "d"\nsecret = "x"',
        '[providers.clinic]\nissuer = "https://a.example"\nclient_id = 1',
        '[providers.Clinic]\nissuer = "https://a.example"\nclient_id = "d"',
        'x = 1\n[providers.clinic]\nissuer = "https://a.example"\nclient_id = "d"',
        '[providers.clinic]\nissuer = "https://a.example"\nclient_id = "d"\n'
        'client_secret_file = "missing"',
        "[[[",
    ],
)
def test_other_files_are_refused(tmp_path, text):
    file = tmp_path / "providers.toml"
    file.write_text(text)
    with pytest.raises(dp.InvalidParameter):
        read_providers(file)


@pytest.mark.parametrize(
    "issuer",
    [
        "http://login.example",
        "https://login.example/",
        "https://user:password@login.example",
        "https://login.example?x=1",
        "https://login.example#x",
        "https://",
        "https://[",
        "file:///etc",
        "",
    ],
)
def test_an_issuer_is_an_https_address(issuer):
    with pytest.raises(dp.InvalidParameter, match="must be an https address"):
        Provider("clinic", issuer, "deniable")
