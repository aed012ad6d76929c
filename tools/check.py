"""Everything that `make test` checks, in order; tests come last, so their summary does too."""

import os
import subprocess
import sys
import time
from pathlib import Path

BIN = Path(sys.executable).parent

STEPS = {
    "format": ["ruff", "format", "--check", "--quiet", "."],
    "lint": ["ruff", "check", "--quiet", "."],
    "types": ["mypy", "--no-error-summary"],
    "import rules": ["lint-imports", "--no-cache"],
    "house": ["python", "tools/house.py"],
}
SHOWN = frozenset({"house"})  # steps whose output is figures, worth seeing when all is well

# The slowest are named, because the whole must stay under ten minutes on two cores.
TESTS = [sys.executable, "-m", "pytest", "--durations=5", "--durations-min=10"]
TESTS += ["--dist", "loadgroup"]  # tests that share a server run beside one another
# One that never ends is ended after a quarter of an hour, with its name and where it stood;
# a worker that dies is not replaced, since groups of tests would then wait without end.
TESTS += ["-o", "faulthandler_timeout=900", "-o", "faulthandler_exit_on_timeout=true"]
TESTS += ["--max-worker-restart=0"]
# Compiled code is kept even where the machine says otherwise: a run starts dozens of processes,
# each of which would compile all that it imports, and workers every test.
KEPT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
# There is a worker for each processor, so threads for one product of matrices only wait.
KEPT["OPENBLAS_NUM_THREADS"] = "1"


def main() -> int:
    failed = [
        name
        for number, (name, command) in enumerate(STEPS.items(), start=1)
        if not run_step(f"[{number}/{len(STEPS) + 1}] {name}", command, show=name in SHOWN)
    ]
    print(f"[{len(STEPS) + 1}/{len(STEPS) + 1}] guards, doctests and tests", flush=True)
    if subprocess.call([*TESTS, "-n", str(cores())], env=KEPT) != 0:
        failed.append("tests")
    if failed:
        print(f"make test: failed: {', '.join(failed)}.", file=sys.stderr)
    return len(failed)


def run_step(title: str, command: list[str], *, show: bool) -> bool:
    """Runs a step. Its output is shown if it fails, or if it is asked for."""
    print(f"{title:<20}", end=" ", flush=True)
    start = time.monotonic()
    program = str(BIN / command[0])
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
    passed = done.returncode == 0
    print(f"{'ok' if passed else 'FAILED'}  {time.monotonic() - start:.1f} s", flush=True)
    if show or not passed:
        print(f"{done.stdout}{done.stderr}".rstrip(), flush=True)
    return passed


def cores() -> int:
    """The processors that this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main())
