"""The site, built once for the tests of a module, and served on this machine."""

import functools
import http.server
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

from tools.pages import gallery
from tools.pages.assembly import ROOT, assemble

PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><title>drawn</title></svg>'
)


def build(folder):
    """Builds the site with small pictures in place of drawn ones; returns where it is."""
    pictures = folder / "pictures"
    pictures.mkdir()
    for name in gallery.sources():
        (pictures / f"{name}.svg").write_text(PICTURE)
    assemble(folder / "docs", pictures, notebooks=False)
    return run_builder(folder, "mkdocs")


def run_builder(folder, builder):
    """Builds the pages that were gathered in a folder; returns where the site is."""
    site = folder / f"{builder}-site"
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    config = config.replace("build/docs", "docs")
    (folder / "mkdocs.yml").write_text(config.replace("build/site", site.name))
    program = Path(sys.executable).with_name(builder)
    told = subprocess.run(
        [program, "build", "--strict", "-f", str(folder / "mkdocs.yml")],
        cwd=folder,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return site


@contextmanager
def served(site):
    """The address of the site, from which a browser reads it."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
