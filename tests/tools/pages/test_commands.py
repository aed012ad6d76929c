from tools.pages import commands


def test_every_command_and_option_is_documented():
    (page,) = commands.write_pages().values()
    by_path = dict(commands.commands())
    assert len(by_path) > 40
    for path, command in by_path.items():
        assert f"\n## {path}\n" in page
        assert command.help, path
        part = page.partition(f"\n## {path}\n")[2].partition("\n## ")[0]
        for option in command.params:
            if option.param_type_name == "option" and option.name != "help":
                assert option.opts[0] in part, (path, option.opts)
                assert getattr(option, "help", None), (path, option.opts)
    assert {"deniable serve", "deniable explain"} <= by_path.keys()
    assert "`--port NUMBER`" in page
    assert "`--save-plan FILE`" in page
    assert "METHOD" not in page  # an object by its class
