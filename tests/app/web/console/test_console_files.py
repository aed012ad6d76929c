import hashlib
import re
from pathlib import Path

from deniable.app.web.console import console_files as files

FOLDER = Path(files.__file__).parent


def test_htmx_is_the_packages_file_to_the_byte_and_comes_with_its_licence():
    content = (FOLDER / "vendor" / files.HTMX).read_bytes()
    assert hashlib.sha256(content).hexdigest() == files.HTMX_SHA256
    told = (FOLDER / "vendor" / "README.md").read_text()
    assert files.HTMX in told
    assert files.HTMX_SHA256 in told
    assert "Zero-Clause BSD" in (FOLDER / "vendor" / "htmx-LICENSE.txt").read_text()


def test_our_own_script_has_at_most_ten_kilobytes():
    ours = list(FOLDER.glob("*.js"))
    assert ours
    assert sum(len(file.read_bytes()) for file in ours) <= 10_000


def test_files_name_no_other_host():
    for name, file in files.console_files().items():
        hosts = set(re.findall(rb"https?://([^/\"'\s)]+)", file.content))
        assert hosts <= {b"www.w3.org"}, name


def test_an_address_changes_with_its_content():
    addresses = {files.address_of(name) for name in files.console_files()}
    assert len(addresses) == len(files.console_files())
    changed = files.ConsoleFile(b"x", "text/css")
    assert changed.digest != files.console_files()["console.css"].digest
