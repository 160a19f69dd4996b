"""Where benchmarks run: a tmpfs, a made-up HOME, repositories of any size, scripted agents."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hydra.commands.demo.shims import SIGNED_IN, newest_version
from hydra.paths import fixtures

PER_FOLDER = 50
FILE_BYTES = 2000

_SESSION = (
    '{"type":"system","subtype":"init","session_id":"s","model":"scripted",'
    '"permissionMode":"bypassPermissions","cwd":"/","apiKeySource":"ANTHROPIC_API_KEY"}'
)
_RESULT = (
    '{"type":"result","subtype":"success","is_error":false,"result":"done","num_turns":1,'
    '"session_id":"s","total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":5}}'
)
HELLO = f"printf '%s\\n' '{_SESSION}'\n"
"""Shell: the line with which Claude Code begins."""
BYE = f"printf '%s\\n' '{_RESULT}'\n"
"""Shell: the line with which it ends."""


@dataclass
class Place:
    """One folder on a fast file system, and how much to do in it."""

    folder: Path
    runs: int
    gigabytes: float = 1.0
    peers: Path | None = None
    old: Path | None = None
    """Another checkout of Hydra, with a .venv of its own, to be taken in turns with this one."""
    _repositories: dict[int, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        home = self.folder / "home"
        home.mkdir()
        (home / ".gitconfig").write_text(
            "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n"
        )
        self.seen.mkdir()
        self._settings.write_text(f'[confine]\nshow = ["{self.seen}"]\n')

    @property
    def seen(self) -> Path:
        """What lies in here can be read in a lane; of the rest of `folder` a lane sees nothing."""
        return self.folder / "seen"

    @property
    def _settings(self) -> Path:
        return self.folder / "hydra.toml"

    @cached_property
    def hydra(self) -> tuple[str, ...]:
        """The installed command beside this interpreter, else the module."""
        script = Path(sys.executable).with_name("hydra")
        return (str(script),) if script.exists() else (sys.executable, "-m", "hydra")

    @property
    def old_hydra(self) -> tuple[str, ...]:
        """The other checkout's command; () without one."""
        return (str(self.old / ".venv/bin/hydra"),) if self.old else ()

    def apart(self, env: Mapping[str, str]) -> dict[str, str]:
        """The same environment for the other one, which has other records and another cache."""
        names = ("HYDRA_STATE_DIR", "HYDRA_CACHE_DIR")
        return {**env, **{name: f"{env[name]}-old" for name in names}}

    def environ(self, agents: Path | None = None, home: str = "home") -> dict[str, str]:
        """The environment of every child; nothing of the user's is in it."""
        path = [str(agents)] if agents else []
        path += [str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]
        return {
            "PATH": os.pathsep.join(path),
            "HOME": str(self.folder / home),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "HYDRA_STATE_DIR": str(self.folder / "state"),
            "HYDRA_CACHE_DIR": str(self.folder / "cache"),
            "HYDRA_CONFIG": str(self._settings),
            "ANTHROPIC_API_KEY": "made-up-anthropic-key",
        }

    def agent(self, name: str, body: str) -> Path:
        """Places a shell script that poses as Claude Code and then does `body`; its bin folder.

        A shell and no Python: what an agent itself costs must not hide what Hydra costs.
        """
        item = newest_version("claude")
        help_text = (fixtures() / "adapters" / "claude" / item / "help.txt").read_text()
        folder = self.folder / "agents" / name
        folder.mkdir(parents=True, exist_ok=True)
        script = folder / "claude"
        script.write_text(
            "#!/bin/sh\n"
            'case "$1" in\n'
            f"--version) echo '{item} (Claude Code)'; exit;;\n"
            f"--help) exec cat <<'END'\n{help_text}\nEND\n;;\n"  # no other file is seen inside
            f"auth) echo '{json.dumps(SIGNED_IN['claude']['stdout'])}'; exit;;\n"
            f"esac\n{body}"
        )
        script.chmod(0o755)
        return folder

    def repository(self, files: int) -> Path:
        """A repository of one commit with `files` text files, 50 a folder; made once, packed."""
        if files not in self._repositories:
            self._repositories[files] = _make(self.folder / f"repo-{files}", files, self.environ())
        return self._repositories[files]

    def git(self, cwd: Path, *args: str | Path) -> str:
        """Plain git as a user runs it."""
        done = subprocess.run(
            ["git", *args], cwd=cwd, env=self.environ(), check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def drop_worktree(self, repository: Path, worktree: Path) -> None:
        """Removes a worktree that a baseline has added."""
        shutil.rmtree(worktree, ignore_errors=True)
        self.git(repository, "worktree", "prune")

    def forget_runs(self) -> None:
        """Removes Hydra's state: retention of a hundred races is not what is measured."""
        for name in ("state", "state-old"):
            shutil.rmtree(self.folder / name, ignore_errors=True)


def _make(root: Path, files: int, env: dict[str, str]) -> Path:
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=root, env=env, check=True)
    who = b"committer Ada <ada@example.com> 1700000000 +0000"
    parts = [b"commit refs/heads/main\n%s\ndata 5\nfirst\n" % who]
    for number in range(files):
        text = f"value_{number} = {number}\n".encode() * (FILE_BYTES // 20)
        path = f"src/part{number // PER_FOLDER:04}/file{number:05}.py"
        parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(text), text))
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=root, env=env, check=True, input=b"".join(parts)
    )
    subprocess.run(["git", "reset", "-q", "--hard"], cwd=root, env=env, check=True)
    return root
