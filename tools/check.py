"""Everything that `make test` checks; types beside the tests, which take the longest."""

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BIN = Path(sys.executable).parent

STEPS = {
    "format": ["ruff", "format", "--check", "--quiet", "."],
    "lint": ["ruff", "check", "--quiet", "."],
    "import rules": ["lint-imports", "--no-cache"],
    "house": ["python", "tools/house.py"],
}
SHOWN = frozenset({"house"})  # steps whose output is figures, worth seeing when all is well
TYPES = ["mypy", "--no-error-summary"]

# The slowest are named, because the whole must stay near six minutes on two cores.
TESTS = [sys.executable, "-m", "pytest", "--durations=5", "--durations-min=10"]
TESTS += ["--dist", "loadgroup"]  # tests that share a server run beside one another
# One that never ends is ended after a quarter of an hour, with its name and where it stood;
# a worker that dies is not replaced, since groups of tests would then wait without end.
TESTS += ["-o", "faulthandler_timeout=900", "-o", "faulthandler_exit_on_timeout=true"]
TESTS += ["--max-worker-restart=0"]
# Compiled code is kept even where the machine says otherwise: a run starts dozens of processes,
# each of which would compile all that it imports, and workers every test.
KEPT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
# Each processor has a worker, so threads for one product of matrices only wait.
KEPT["OPENBLAS_NUM_THREADS"] = "1"
# The ledger's tests wait for the disk thousands of times. Temporary files are in memory where
# there is enough of it: what is killed in a test is a process, not the machine.
MEMORY, ENOUGH = Path("/dev/shm"), 8 << 30
if "TMPDIR" not in KEPT and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH:
    KEPT["TMPDIR"] = str(MEMORY)
    TESTS += ["-o", "tmp_path_retention_count=1", "-o", "tmp_path_retention_policy=failed"]


def main() -> int:
    total = len(STEPS) + 2
    with ThreadPoolExecutor(1) as beside:
        types = beside.submit(run, TYPES)
        failed = [
            name
            for number, (name, command) in enumerate(STEPS.items(), start=1)
            if not report(f"[{number}/{total}] {name}", run(command), show=name in SHOWN)
        ]
        print(f"[{total - 1}/{total}] guards, doctests and tests", flush=True)
        # One worker more than processors: servers, browsers and slots are often waited for.
        if subprocess.call([*TESTS, "-n", str(cores() + 1)], env=KEPT) != 0:
            failed.append("tests")
        if not report(f"[{total}/{total}] types", types.result(), show=False):
            failed.append("types")
    if failed:
        print(f"make test: failed: {', '.join(failed)}.", file=sys.stderr)
    return len(failed)


def run(command: list[str]) -> tuple[bool, float, str]:
    """Runs a step: whether it passed, the seconds that it took, and its output."""
    start = time.monotonic()
    program = str(BIN / command[0])
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
    output = f"{done.stdout}{done.stderr}".rstrip()
    return done.returncode == 0, time.monotonic() - start, output


def report(title: str, outcome: tuple[bool, float, str], *, show: bool) -> bool:
    """Prints what became of a step; its output if it failed, or if it is asked for."""
    passed, seconds, output = outcome
    print(f"{title:<20} {'ok' if passed else 'FAILED'}  {seconds:.1f} s", flush=True)
    if show or not passed:
        print(output, flush=True)
    return passed


def cores() -> int:
    """The processors that this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main())
