import pytest

import deniable as dp
from deniable.app.server.accounts.oidc_providers import Provider, is_public_host, read_providers


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
        '[providers.clinic]\nissuer = "https://a.example"\nclient_id = "d"\nhosts = "x"',
        '[providers.clinic]\nissuer = "https://a.example"\nclient_id = "d"\nhosts = [1]',
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


@pytest.mark.parametrize(
    "host",
    [
        *("10.0.0.1.nip.io", "10-0-0-1.sslip.io", "app.10-0-0-1.example", "0a000001.nip.io"),
        *(
            "db",
            "db.corp",
            "x.home",
            "x.localdomain",
            "kubernetes.default.svc",
            "x.cluster.local",
        ),
        *(
            "localtest.me",
            "a.lvh.me",
            "x.test",
            "10.0.0.1",
            "224.0.0.1",
            "239.1.1.1",
            "ff0e::1",
        ),
        *(
            "64:ff9b::a00:1",
            "64:ff9b:1::a00:1",
            "2002:a00:1::1",
            "::10.0.0.1",
            "::ffff:10.0.0.1",
        ),
        *(
            "2606:4700::5efe:a00:1",
            "2606:4700::200:5efe:a00:1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
        ),
        "2001:0:4136:e378:8000:63bf:f5ff:fffe",
    ],
)
def test_what_is_internal_by_its_spelling_is_not_public(host):
    assert not is_public_host(host)


@pytest.mark.parametrize(
    "host",
    [
        *(
            "login.clinic.example",
            "LOGIN.clinic.example",
            "cafe.example.com",
            "v1.2.example.com",
        ),
        *("93.184.216.34", "2606:4700::1111", "64:ff9b::5db8:d822", "::ffff:93.184.216.34"),
    ],
)
def test_other_hosts_are_public(host):
    assert is_public_host(host)


def test_the_owner_may_name_further_hosts_of_a_provider(tmp_path):
    file = tmp_path / "providers.toml"
    text = '[providers.clinic]\nissuer = "https://login.corp"\nclient_id = "d"\n'
    document = {
        "issuer": "https://login.corp",
        "authorization_endpoint": "https://login.corp/authorize",
        "token_endpoint": "https://login.corp/token",
        "jwks_uri": "https://keys.corp/keys",
    }
    file.write_text(text)
    with pytest.raises(dp.ServerUnavailable, match="jwks_uri"):
        read_providers(file)["clinic"].addresses(document)
    file.write_text(text + 'hosts = ["Keys.corp"]\n')
    provider = read_providers(file)["clinic"]
    assert provider.addresses(document)["jwks_uri"] == "https://keys.corp/keys"
    with pytest.raises(dp.ServerUnavailable, match="token_endpoint"):
        provider.addresses(document | {"token_endpoint": "https://db.corp/token"})
