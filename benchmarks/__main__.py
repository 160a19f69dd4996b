"""`python -m benchmarks [NAME...] [--runs N] [--json FILE]`: one table of ratios."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import Result
from benchmarks.place import Place

_INSIDE = "HYDRA_BENCHMARKS_INSIDE"


def _cases() -> dict[str, Callable[[Place], list[Result]]]:
    from benchmarks import (
        checks,
        doctor,
        grounds,
        idle,
        judging,
        keeper,
        landings,
        layers,
        output,
        pages,
        peers,
        races,
        starts,
        views,
    )

    return {
        "starts": starts.starts,
        "exec": starts.to_exec,
        "race": races.four_agents,
        "lanes": grounds.lanes,
        "keeper": keeper.keeper,
        "layers": layers.layers,
        "view": views.views,
        "idle": idle.idle,
        "memory": output.memory,
        "speed": output.speed,
        "reader": races.slow_reader,
        "snapshot": grounds.snapshots,
        "landing": landings.landing,
        "checks": checks.checks,
        "judge": judging.judging,
        "doctor": doctor.doctor,
        "page": pages.page_cases,
        "peers": peers.peers,
    }


def main() -> int:
    """Runs the named cases, or all; exit 1 where one misses its target."""
    options = _options()
    _enter_a_mount_namespace()
    # The table's own children must find compiled modules, whatever this shell has set.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    results: list[Result] = []
    failed: dict[str, str] = {}
    with _fast_folder() as (folder, kind):
        place = Place(folder, options.runs, options.gigabytes, options.peers, options.old)
        os.environ["HOME"] = str(folder / "home")
        machine = _machine(kind)
        cases = _cases()
        for name in options.names or cases:
            print(f"... {name}", file=sys.stderr, flush=True)
            began = time.monotonic()
            place.forget_runs()  # of a case that failed
            try:
                item = cases[name](place)
            except Exception as error:
                traceback.print_exc()
                failed[name] = f"{type(error).__name__}: {error}"
                continue
            results += item
            took = time.monotonic() - began
            print(f"{_table(item)}({took:.0f} s)\n", file=sys.stderr, flush=True)
    print(machine)
    print(_table(results), end="")
    for name, reason in failed.items():
        print(f"{name}: DID NOT RUN: {reason}")
    if options.json:
        document = {
            "machine": machine,
            "results": [result.as_dict() for result in results],
            "failed": failed,
        }
        options.json.write_text(json.dumps(document, indent=2) + "\n")
    return int(bool(failed) or any(result.ok is False for result in results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*_cases(), []])
    parser.add_argument("--runs", type=int, default=7, help="turns of each case (7)")
    parser.add_argument("--json", type=Path, help="write the results to this file as well")
    parser.add_argument(
        "--gigabytes", type=float, default=1.0, help="how much an agent writes (1; 10 for long)"
    )
    parser.add_argument(
        "--peers", type=Path, help="a folder with a virtual environment for each peer"
    )
    parser.add_argument(
        "--old",
        type=lambda text: Path(text).resolve(),
        help="another checkout, with its .venv: starts and exec take turns with it",
    )
    return parser.parse_args()


def _enter_a_mount_namespace() -> None:
    """Starts again in one of its own, whose tmpfs goes with this process however it ends."""
    if os.environ.get(_INSIDE) or sys.platform != "linux" or shutil.which("unshare") is None:
        return
    item = ["unshare", "--mount", "--propagation", "private"]
    if os.geteuid() != 0:
        item += ["--user", "--map-root-user"]
    if subprocess.run([*item, "true"], capture_output=True, check=False).returncode != 0:
        return
    os.environ[_INSIDE] = "1"
    os.execvp(item[0], [*item, sys.executable, "-m", "benchmarks", *sys.argv[1:]])


@contextmanager
def _fast_folder() -> Iterator[tuple[Path, str]]:
    """A fresh folder on tmpfs where that can be had, and what it is.

    Not on a disk: ext4 without a journal walks past every recently deleted inode whenever a file
    is made, so a loop that opens and removes worktrees would measure its own clean-up.
    """
    folder = Path(tempfile.mkdtemp(prefix="hydra-bench-", dir="/var/tmp"))
    kind = "the disk under /var/tmp"
    mount = ["mount", "-t", "tmpfs", "-o", "size=80%,mode=700", "tmpfs", str(folder)]
    mounted = bool(os.environ.get(_INSIDE)) and (
        subprocess.run(mount, capture_output=True, check=False).returncode == 0
    )
    if mounted:
        kind = "tmpfs"
    try:
        yield folder, kind
    finally:
        if mounted:
            subprocess.run(["umount", "-l", folder], check=False)
            folder.rmdir()
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _machine(kind: str) -> str:
    git = subprocess.run(["git", "version"], capture_output=True, text=True, check=True).stdout
    load = f"{os.cpu_count()} cores (load {os.getloadavg()[0]:.1f} at the start)"
    return (
        f"{time.strftime('%Y-%m-%d')}, {load}, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}, "
        f"{git.strip()}, {'bwrap' if shutil.which('bwrap') else 'no bwrap'}, on {kind}"
    )


def _table(results: list[Result]) -> str:
    rows = [("case", "against", "median", "(minima)", "target", "")]
    for result in results:
        sign = ">=" if result.at_least else "<="
        target = "" if result.target is None else f"{sign} {result.target:g}{result.unit}"
        verdict = {True: "ok", False: "MISSED", None: ""}[result.ok]
        rows.append(
            (
                result.case,
                result.against,
                f"{result.value:.2f}{result.unit}",
                f"({result.best:.2f})",
                target,
                verdict,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = []
    for row, shown in zip(rows, [None, *results], strict=True):
        cells = [cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)]
        lines.append("  ".join(cells).rstrip())
        if shown is not None and shown.note:
            lines.append(f"    {shown.note}")
        if shown is not None and shown.ok is False and shown.why:
            lines.append(f"    missed: {shown.why}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
