"""PDF files from pages, by a Chromium that is installed; without one there are no PDF files."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_LONGEST = 120  # seconds


def find_browser() -> str | None:
    """The path of a Chromium, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def print_pdf(page: Path, target: Path) -> bool:
    """Prints a page to a PDF file. Returns whether there is one now.

    The browser gets a profile of its own, which is removed afterwards, and no network.
    """
    browser = find_browser()
    if browser is None:
        return False
    with tempfile.TemporaryDirectory() as profile:
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            f"--user-data-dir={profile}",
            "--no-first-run",
            "--no-pdf-header-footer",
            f"--print-to-pdf={target.resolve()}",
            page.resolve().as_uri(),
        ]
        if getattr(os, "geteuid", lambda: 1)() == 0:  # the sandbox refuses to run as root
            command.insert(1, "--no-sandbox")
        try:
            subprocess.run(command, capture_output=True, timeout=_LONGEST, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
    return target.exists()
