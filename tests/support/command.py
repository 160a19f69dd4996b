"""Runs the real `hydra` as a child process, in an environment that has nothing of the user's."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from tests.support import driver, fakes, reports
from tests.support.hints import foreign_options

_started: list[subprocess.Popen[str]] = []
scratches: set[str] = set()
"""Where a test has called the command line: no process that names one of them outlives it."""


def end_started() -> list[int]:
    """Ends what a test has started and not waited for; the pids of all else that it has left.

    A test that fails midway leaves its race behind; the interpreter would complain of it in
    whatever test comes next.
    """
    while _started:
        process = _started.pop()
        if process.returncode is None:
            process.kill()
            process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    fakes.Fifo.close_all()
    return [pid for scratch in scratches for pid in fakes.left(scratch)]


def ignoring(*signals: str) -> list[str]:
    """A `wrap` under which these are ignored from the start: HUP as `nohup` does it, INT as a shell
    does for what a script puts in the background."""
    return ["/bin/sh", "-c", f'trap "" {" ".join(signals)}; exec "$@"', "sh"]


def account(uid: int) -> dict[str, Any]:
    """What `subprocess` needs to run a program as that account."""
    return {} if uid == os.geteuid() else {"user": uid, "group": uid, "extra_groups": []}


def completed(
    argv: Sequence[str | bytes | Path],
    *,
    input: str | None = None,
    timeout: float = 180,
    uid: int | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """A program's end, whatever its exit code, and its output as text; its stdin is `input` or
    empty. The limit is for one that hangs, and far from any other."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        argv,
        input=input,
        stdin=subprocess.DEVNULL if input is None else None,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **account(os.geteuid() if uid is None else uid),
        **options,
    )
    reports.note(argv, done.returncode, done.stdout, done.stderr)
    return done


class Started(subprocess.Popen[str]):
    """A `hydra` of which the driver sees what it has printed."""

    def communicate(
        self, input: str | None = None, timeout: float | None = None
    ) -> tuple[str, str]:
        """As `subprocess` has it."""
        out, err = super().communicate(input, timeout)
        words = [str(term) for term in cast("Sequence[object]", self.args)]
        driver.check_words(words, self.returncode, out or "", err or "")
        return out, err


@dataclass
class Hydra:
    """One HOME, one state folder, one repository, one folder of agents, one account.

    `wrap` is put before the command: what changes the world that it finds itself in.
    """

    scratch: Path
    repo: Path
    extra: dict[str, str] = field(default_factory=dict)
    path: list[Path] = field(default_factory=list)
    wrap: list[str] = field(default_factory=list)
    uid: int = field(default_factory=os.geteuid)
    home_name: str = "home"
    python: str = sys.executable
    users_at_work: bool = False
    """Whether somebody changes the checkout while a command runs."""

    def __post_init__(self) -> None:
        self.home = self.scratch / self.home_name
        self.home.mkdir(exist_ok=True)
        self.state = self.scratch / "state"
        self.no_settings = self.scratch / "no-settings.toml"
        self.no_settings.touch()

    def agent(self, key: str, steps: list[fakes.Step], **options: Any) -> Path:
        """Places a scripted agent on this PATH; its executable."""
        folder = fakes.place(self.scratch / "agents", key, steps, **options)
        if folder not in self.path:
            self.path.insert(0, folder)
        return folder / key

    @property
    def environ(self) -> dict[str, str]:
        """The environment of the child; keys are made up."""
        path = os.pathsep.join([*map(str, self.path), "/usr/local/bin", "/usr/bin", "/bin"])
        settings = self.home / "hydra.toml"
        return {
            "PATH": path,
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "HYDRA_STATE_DIR": str(self.state),
            "HYDRA_CACHE_DIR": str(self.scratch / "cache"),
            "HYDRA_CONFIG": str(settings if os.access(settings, os.F_OK) else self.no_settings),
            "ANTHROPIC_API_KEY": "made-up-anthropic-key",
            "CODEX_API_KEY": "made-up-codex-key-1",
            "HYDRA_SHOW": os.pathsep.join(map(str, self.shown)),
            **self.extra,
        }

    @property
    def shown(self) -> list[Path]:
        """What scripted agents may see of the scratch folder: barriers, and whatever a test lays
        there, but nothing of Hydra's or of the user's."""
        own = {self.home, self.state, self.repo, *self.repo.parents, self.scratch / "cache"}
        own.add(self.no_settings)
        own.update(map(Path, self.extra.values()))
        return [path for path in sorted(self.scratch.iterdir()) if path not in own]

    def run(
        self, *args: str, stdin: str | None = None, timeout: float = 180
    ) -> subprocess.CompletedProcess[str]:
        """`hydra ARGS` to its end: what holds always (tests/support/driver.py) holds, and each
        option that it hints at is one of that command's."""
        busy = self.users_at_work or any(process.returncode is None for process in _started)
        before = None if busy else driver.standing(self.repo, args)
        done = self.execute(*self._line(args), stdin=stdin, timeout=timeout)
        columns = self.extra.get("COLUMNS", "")
        driver.check_output(args, done.returncode, done.stdout, done.stderr, columns)
        driver.check_standing(args, before, before and driver.standing(self.repo, args))
        assert foreign_options(args[0] if args else "", done.stderr) == [], done.stderr
        return done

    def execute(
        self, *argv: str | bytes, stdin: str | None = None, timeout: float = 180
    ) -> subprocess.CompletedProcess[str]:
        """Any program to its end, in the same place and environment."""
        scratches.add(str(self.scratch))
        return completed(
            argv, cwd=self.repo, env=self.environ, input=stdin, timeout=timeout, uid=self.uid
        )

    def start(self, *args: str, **streams: Any) -> subprocess.Popen[str]:
        """`hydra ARGS`, left running in a session of its own; its output into pipes, unless
        `streams` has other places for `stdin`, `stdout` or `stderr`."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = Started(
            self._line(args),
            cwd=self.repo,
            env=self.environ,
            text=True,
            start_new_session=True,
            **pipes | streams,
            **account(self.uid),
        )
        _started.append(process)
        scratches.add(str(self.scratch))
        return process

    def _line(self, args: Sequence[str]) -> list[str]:
        return [*self.wrap, self.python, "-m", "hydra", *args]

    def without(self, name: str) -> None:
        """From here on PATH has every program of this machine but that one."""
        tools = self.scratch / "tools"
        tools.mkdir()
        for folder in ("/usr/local/bin", "/usr/bin", "/bin"):
            for program in Path(folder).iterdir():
                if program.name != name and not (tools / program.name).is_symlink():
                    (tools / program.name).symlink_to(program)
        self.extra["PATH"] = os.pathsep.join((*map(str, self.path), str(tools)))

    def refused_bwrap(self, message: str) -> None:
        """From here on bwrap is there, and refuses with these words."""
        stand_in = self.scratch / "refused" / "bwrap"
        stand_in.parent.mkdir()
        stand_in.write_text(f"#!/bin/sh\necho {shlex.quote(message)} >&2\nexit 1\n")
        stand_in.chmod(0o755)
        self.path.insert(0, stand_in.parent)

    def race(self, *args: str) -> Race:
        """`hydra race "Do it" --json ARGS`, read."""
        done = self.run("race", "Do it", "--json", *args)
        try:
            return Race(done.returncode, json.loads(done.stdout), done.stderr)
        except ValueError:
            raise AssertionError(f"no document:\n{done.stdout}\n{done.stderr}") from None

    def events(self) -> list[dict[str, Any]]:
        """The events of the latest race."""
        folder = self.run("runs", "path").stdout.strip()
        lines = Path(folder, "events.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def recorded(self) -> list[dict[str, Any]]:
        """What a race that still runs has recorded by now; the line it writes is not one yet."""
        files = self.state.glob("*/runs/*/events.jsonl")
        lines = (line for file in files for line in file.read_text().splitlines(keepends=True))
        return [json.loads(line) for line in lines if line.endswith("\n")]


@dataclass
class Race:
    """A race's exit code, its document, and what it said meanwhile."""

    code: int
    document: Mapping[str, Any]
    stderr: str

    def lane(self, name: str) -> Mapping[str, Any]:
        """One lane of the document."""
        lanes = {lane["lane"]: lane for lane in self.document.get("lanes", ())}
        assert name in lanes, f"no lane {name}: {self}"
        lane: Mapping[str, Any] = lanes[name]
        return lane

    def __str__(self) -> str:
        """All of it: pytest cuts what is no text to a few words."""
        document = json.dumps(self.document, indent=1)
        return f"exit {self.code}\n--- document\n{document}\n--- stderr\n{self.stderr}"


def in_turn(hydra: Hydra, *tries: list[fakes.Step]) -> None:
    """Places a `claude` that does one thing after the other, each time it is given a task."""
    fifo = fakes.Fifo(hydra.scratch / "turns")
    cases = []
    for number, steps in enumerate(tries, 1):
        placed = fakes.place(hydra.scratch / f"try-{number}", "claude", steps) / "claude"
        cases.append(f'{number}) exec {placed} "$@";;\n')
        os.write(fifo.fd, f"{number}\n".encode())
    folder = hydra.scratch / "bin"
    folder.mkdir()
    program = folder / "claude"
    program.write_text(
        f'#!/bin/sh\nn=1\ncase "$*" in *--output-format*) read n <{fifo.path};; esac\n'
        f"case $n in {''.join(cases)}esac\n"
    )
    program.chmod(0o755)
    hydra.path.insert(0, folder)
    (hydra.home / "hydra.toml").write_text('[retry]\nwait = "0s"\n')


def of_run(run: str) -> str:
    """What names that run in a line to type."""
    return f" -r {run.rpartition('-')[2]}"
