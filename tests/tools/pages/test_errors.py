from deniable import errors as kinds
from deniable.app.web.error_pages import page_name
from tools.pages import errors


def test_every_error_and_warning_has_a_page_with_cause_and_remedy():
    pages = errors.write_pages()
    ours = [
        name
        for name, kind in vars(kinds).items()
        if isinstance(kind, type) and issubclass(kind, kinds.DeniableError | UserWarning)
    ]
    assert len(ours) > 25
    for name in ours:
        page = pages[f"reference/errors/{page_name(name)}.md"]
        assert page.startswith(f"# {name}\n")
        assert "## Cause\n\n" in page
        assert "## Remedy\n\n" in page
        assert f"]({page_name(name)}.md)" in pages["reference/errors/index.md"]


def test_the_index_draws_the_tree():
    assert "├── InvalidParameter" in errors.write_pages()["reference/errors/index.md"]
