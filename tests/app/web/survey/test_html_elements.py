import pytest

from deniable.app.web.survey.html_elements import Html, element, join, raw_script


def test_text_is_escaped_and_markup_is_not():
    assert element("p", "<b>", Html("<i>")) == "<p>&lt;b&gt;<i></p>"
    assert element("p", title='"><script>') == '<p title="&quot;&gt;&lt;script&gt;"></p>'
    assert element("input", disabled=True, name="a", id=None, value=0) == (
        '<input disabled name="a" value="0">'
    )
    assert isinstance(join(element("p"), element("b")), Html)


@pytest.mark.parametrize("text", ["</script>", "x</SCRIPT >", "<!-- "])
def test_a_script_cannot_end_itself(text):
    with pytest.raises(ValueError, match="its own end"):
        raw_script(text)
