"""A task's race: the real `hydra race`, with an agent that writes what a role says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.fixes.checkout import Checkout
from benchmarks.fixes.roles import Lane, lanes
from benchmarks.fixes.task import Task
from hydra.commands.demo import script, shims

TRUTH = "truth.json"
"""Beside the state folder of a task's race: by lane its role, and whether it is right."""

LIMIT = 1800
"""Seconds for one race."""


def race(
    task: Task,
    clones: Path,
    work: Path,
    runs: Path,
    roles: Sequence[str] = (),
    needs: Sequence[str] = (),
) -> None:
    """Runs the race once; one that was run is left as it is, and `needs` have
    to be among its `roles` (its line-up's by default). Raises `SubprocessError`, `OSError`,
    and `ValueError` where the race recorded nothing."""
    folder = runs / task.name
    if (folder / TRUTH).exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "home").mkdir(parents=True)
    checkout = Checkout(clones, work, task.repository)
    checkout.make()
    item = lanes(task, checkout, roles)
    if {*needs} - {lane.role for lane in item}:
        return  # the fix does not give them
    stand(checkout, task)
    began = time.monotonic()
    done = _race(folder, checkout, item)
    seconds = time.monotonic() - began
    (folder / "race.txt").write_text(done.stdout + done.stderr)
    if not list((folder / "state").glob("*/runs/*/result.json")):
        raise ValueError(f"no race was recorded: {done.stderr[-500:]}")
    truth = {
        f"claude-l{number}": {"role": lane.role, "right": lane.right, "breaks": lane.breaks}
        for number, lane in enumerate(item)
    }
    document: dict[str, object] = {
        "repository": task.repository,
        "commit": task.commit,
        "half": task.half,
    }
    document |= {"contradicted": task.contradicted, "seconds": round(seconds, 1), "lanes": truth}
    (folder / TRUTH).write_text(json.dumps(document, indent=1))
    print(f"{task.name}: {len(item)} lanes, exit {done.returncode}, {seconds:.0f} s", flush=True)


def stand(checkout: Checkout, task: Task) -> None:
    """On a branch at the base."""
    checkout.at(f"{task.commit}^")
    checkout.git("branch", "-q", "-f", "bench", "HEAD")
    checkout.git("checkout", "-q", "-f", "bench")


def _race(folder: Path, checkout: Checkout, item: list[Lane]) -> subprocess.CompletedProcess[str]:
    cases = [(f"--model\nl{number}\n", _steps(lane)) for number, lane in enumerate(item)]
    shims.place(folder / "agents", "claude", [script.finish()], cases=cases)
    tests = " ".join(checkout.project["tests"])
    entry = ["race", "Mend it", "--check", f".venv/bin/python -m pytest -q {tests}"]
    entry += [item for number in range(len(item)) for item in ("-a", f"claude:l{number}")]
    return run(folder, checkout, entry)


def run(folder: Path, checkout: Checkout, item: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Hydra in the checkout, with the race's own state, home and agents. Raises
    `TimeoutExpired`."""
    agents, settings = folder / "agents" / "bin", folder / "home" / "hydra.toml"
    settings.touch()
    environ = {
        "PATH": os.pathsep.join((str(agents), "/usr/local/bin", "/usr/bin", "/bin")),
        "HOME": str(folder / "home"),
        "LANG": "C.UTF-8",
        "HYDRA_STATE_DIR": str(folder / "state"),
        "HYDRA_CACHE_DIR": str(folder / "cache"),
        "HYDRA_CONFIG": str(settings),
        "HYDRA_SHOW": str(folder / "agents"),
        "ANTHROPIC_API_KEY": "made-up-anthropic-key",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    # -P: in a checkout of ours, `-m` alone would run the Hydra that lies there.
    return subprocess.run(
        [sys.executable, "-P", "-m", "hydra", *item],
        cwd=checkout.root,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def _steps(lane: Lane) -> list[script.Step]:
    return [
        *(
            script.delete(path) if text is None else script.edit(path, text)
            for path, text in lane.files.items()
        ),
        script.finish("It is done."),
    ]
