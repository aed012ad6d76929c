"""System programs that some tests need, where to find them and what installs them.

`make system` runs this file (as root, on Debian) and installs what is missing. Tests that
need a program say so with `@pytest.mark.needs("postgresql")` and look it up with `find`.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

COMMAND = "make system"


@dataclass(frozen=True)
class Program:
    """A program: the names it goes by, Debian's package, and folders that PATH may lack."""

    names: tuple[str, ...]
    package: str
    folders: str = ""


PROGRAMS = {
    "chromium": Program(("chromium", "chromium-browser", "google-chrome"), "chromium"),
    "chromedriver": Program(("chromedriver",), "chromium-driver"),
    "postgresql": Program(("postgres",), "postgresql", "/usr/lib/postgresql/*/bin"),
    "nginx": Program(("nginx",), "nginx-light", "/usr/sbin"),
    "systemd-analyze": Program(("systemd-analyze",), "systemd"),
    "java": Program(("java",), "default-jre-headless"),
}


def find(program: str) -> Path | None:
    """Where a program of the table is, or None."""
    packages = PROGRAMS[program]
    for name in packages.names:
        if installed := shutil.which(name):
            return Path(installed)
        if packages.folders:
            # The newest version, where several are installed: 15 before 9.
            beside = Path("/").glob(f"{packages.folders.lstrip('/')}/{name}")
            if versions := sorted(beside, key=lambda path: (len(str(path)), path)):
                return versions[-1]
    return None


def missing() -> list[str]:
    return [program for program in PROGRAMS if find(program) is None]


def install() -> None:
    absent = missing()
    if not absent:
        print(f"system: {', '.join(PROGRAMS)} are all here.")
        return
    packages = [PROGRAMS[program].package for program in absent]
    if not shutil.which("apt-get"):
        sys.exit(f"system: this is not Debian; install {', '.join(absent)} by its own means.")
    if os.geteuid() != 0:
        sys.exit(f"system: only root can install {' '.join(packages)}; try `sudo {COMMAND}`.")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    apt = ["apt-get", "-qq", "-o", "Acquire::Retries=3"]
    subprocess.run([*apt, "update"], check=True, env=quiet)
    subprocess.run(
        [*apt, "install", "-y", "--no-install-recommends", *packages],
        check=True,
        env=quiet,
        stdout=subprocess.DEVNULL,
    )
    if absent := missing():
        sys.exit(f"system: still missing after the installation: {', '.join(absent)}.")
    print(f"system: installed {' '.join(packages)}.")


if __name__ == "__main__":
    install()
