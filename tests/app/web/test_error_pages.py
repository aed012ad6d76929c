from deniable import errors
from deniable.app.web.error_pages import CAUSES, error_pages


def test_every_error_has_a_cause_and_a_remedy_and_nothing_else_has():
    ours = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.DeniableError | UserWarning)
    }
    assert set(CAUSES) == ours
    for cause, remedy in CAUSES.values():
        assert cause.endswith(".")
        assert remedy.endswith((".", "`.", '"`.'))


def test_a_page_names_the_error_that_catches_it_too():
    pages = error_pages()
    assert pages["missing-relation"].parent == "InvalidParameter"
    assert pages["deniable-error"].parent == ""
