from deniable.app.server.accounts.access_tokens import is_well_formed, make_token


def test_tokens_are_never_the_same():
    assert len({make_token() for _ in range(1000)}) == 1000


def test_a_mistyped_token_is_seen():
    token = make_token()
    assert is_well_formed(token)
    for wrong in (token[:-1], token + "0", token.upper(), f" {token}", token + "\n", ""):
        assert not is_well_formed(wrong)
