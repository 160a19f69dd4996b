"""Real projects from the registries, laid out and installed as their users would do it."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.support.command import completed
from tests.support.trust import Place

PASSED_ON = (
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    *("http_proxy", "https_proxy", "no_proxy", "HTTPS_PROXY", "NO_PROXY"),
)
"""What a registry is reached by here."""

CACHE = Path(os.environ.get("REAL_PROJECTS_CACHE", "/var/tmp/hydra-real-projects"))
"""Where archives and the tools' own caches stay between runs."""

STRICT = bool(os.environ.get("REAL_PROJECTS_STRICT"))
"""What cannot be had fails instead of being skipped: so in the gate."""

LOCKS = Path(__file__).with_name("locks")
"""What the projects that gate install beside what projects.toml names, in fixed versions."""


_ENDS = {
    "py": "raise SystemExit(1)\n",
    "js": "process.exit(1)\n",
    "ts": "process.exit(1)\n",
    "go": "package broken\n\nno\n",
    "rs": 'compile_error!("no");\n',
}


@dataclass(frozen=True)
class Project:
    """A row of projects.toml."""

    name: str
    file: str
    old: str
    bug: str
    meddle: str
    meanwhile: str
    install: list[str]
    folders: list[str]
    ignored: list[str]
    pypi: str = ""
    npm: str = ""
    deb: tuple[str, str] | tuple[()] = ()
    path: str = ""
    members: dict[str, str] = field(default_factory=dict)
    tag: str = ""
    tools: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    tracked: list[str] = field(default_factory=list)
    rules: dict[str, list[str]] = field(default_factory=dict)
    write: dict[str, str] = field(default_factory=dict)
    package: dict[str, Any] = field(default_factory=dict)
    unconfined: str = ""
    lock: str = ""
    gates: bool = False

    @property
    def breaks(self) -> str:
        """The whole of a module that ends whoever imports it."""
        return _ENDS[self.file.rpartition(".")[2]]


def table() -> list[Project]:
    """All rows of projects.toml."""
    rows = tomllib.loads(Path(__file__).with_name("projects.toml").read_text())["project"]
    return [Project(**{key: row[key] for key in row if key != "is"}) for row in rows]


def fetch(requirement: str) -> Path:
    """An sdist (`name==1.0`), an npm package (`name@1.0`) or a Debian one (`name=1.0`), from the
    cache or its registry; skips where that is out of reach."""
    folder = CACHE / "archives" / requirement.replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            part = Path(scratch, "part")
            part.mkdir()
            _download(requirement, part)
            with suppress(OSError):  # another test has brought it meanwhile
                part.rename(folder)
    return next(folder.iterdir())


def unmet(reason: str) -> NoReturn:
    """Skips this test and says why; under REAL_PROJECTS_STRICT fails it."""
    if STRICT:
        pytest.fail(reason)
    pytest.skip(reason)


def _download(requirement: str, folder: Path) -> None:
    name = requirement.partition("==")[0]  # what builds it may come as wheels
    sdist = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name)
    npm, deb = ("npm", "pack", "--silent"), ("apt-get", "download", "-q")
    argv = sdist if "==" in requirement else npm if "@" in requirement else deb
    environ = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    try:
        done = completed([*argv, requirement], cwd=folder, env=environ, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        unmet(f"{requirement} cannot be fetched: {type(error).__name__}")
    if done.returncode != 0 or not [*folder.iterdir()]:
        unmet(f"no registry here has {requirement}")


def unpack(requirement: str, top: Path) -> None:
    """Lays what the archive holds at `top`."""
    archive = fetch(requirement)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder, tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
        shutil.move(next(Path(folder).iterdir()), top)


def unpack_deb(requirement: str, inside: str, top: Path) -> None:
    """Lays a folder of a Debian package at `top`."""
    archive = fetch(requirement)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        done = completed(["dpkg-deb", "-x", archive, folder])
        assert done.returncode == 0, done.stderr
        shutil.move(Path(folder, inside), top)


class Checkout:
    """A project as its user has it: a repository with a bug in it, and what it needs installed."""

    def __init__(self, project: Project, place: Place) -> None:
        self.project, self.place = project, place
        self.top = place.scratch / project.name
        place.repo = self.top
        place.path.insert(0, place.home / ".local" / "bin")
        place.extra |= {name: os.environ[name] for name in PASSED_ON if name in os.environ}

    def lay(self) -> None:
        """Unpacks it, changes what the table says, and installs it as the account."""
        self._find_programs()
        for folder, requirement in self.project.members.items():
            (self.top / folder).parent.mkdir(parents=True, exist_ok=True)
            unpack(requirement, self.top / folder)
        if self.project.deb:
            unpack_deb(*self.project.deb, self.top)
        elif not self.project.members:
            unpack(self.project.pypi or self.project.npm, self.top)
        self._change()
        caches = CACHE / f"of-{self.place.uid}"
        caches.mkdir(parents=True, exist_ok=True)
        if caches.stat().st_uid != self.place.uid:  # what is in it is the account's already
            os.chown(caches, self.place.uid, self.place.uid)
        self.place.hand_over()
        self._commit()
        for name in self.project.tools:
            self._install_tool(name)
        for command in self.project.install:
            self.run(command)
        self._track()

    def _find_programs(self) -> None:
        """Puts `path`, in the real HOME of who runs the suite, onto PATH; skips where the account
        may not run what is there."""
        if not self.project.path:
            return
        folders = [*Path(pwd.getpwuid(os.geteuid()).pw_dir).glob(self.project.path)]
        program = self.project.install[0].split()[0]
        try:
            completed([*(path / program for path in folders[:1]), "--version"], uid=self.place.uid)
        except OSError:
            unmet(f"no {program} here that uid {self.place.uid} may run")
        self.place.path.append(folders[0])

    def _change(self) -> None:
        for name, text in self.project.write.items():
            (self.top / name).write_text(text)
        if self.project.lock:
            shutil.copyfile(LOCKS / self.project.lock, self.top / "package-lock.json")
        for name, (old, new) in self.project.rules.items():
            _replace(self.top / name, old, new)
        for name, change in self.project.package.items():
            path = self.top / name / "package.json"
            path.write_text(json.dumps(json.loads(path.read_text()) | change))
        with (self.top / ".gitignore").open("a") as ignore:
            ignore.write("\n".join(["", *self.project.ignored, "__pycache__/", ""]))

    def _commit(self) -> None:
        git = self.place.git
        git("init", "-q", "-b", "main")
        git("config", "user.name", "Ada")
        git("config", "user.email", "ada@example.com")
        git("add", "-A")
        git("commit", "-qm", f"{self.project.name} as its registry has it")
        if self.project.tag:
            git("tag", self.project.tag)
        self.right = (self.top / self.project.file).read_text()
        _replace(self.top / self.project.file, self.project.old, self.project.bug)
        git("commit", "-qam", "A small change")

    def _track(self) -> None:
        if self.project.tracked:
            self.place.git("add", *self.project.tracked)
            self.place.git("commit", "-qm", "Lock")
        assert self.place.git("status", "--porcelain") == ""

    def _install_tool(self, requirement: str) -> None:
        """As pipx does it, a venv of its own and a link in ~/.local/bin; or by `npm -g`."""
        kind, requirement, *programs = requirement.split()
        if kind == "npm":
            self.run(f"npm install -g --silent --prefix ~/.local {requirement}")
            return
        name = requirement.partition("==")[0]
        program = programs[0] if programs else name
        venv = f".local/share/pipx/venvs/{name}"
        self.run(
            f"cd ~ && {{python}} -m venv {venv} && {venv}/bin/pip install -q {requirement} &&"
            f" mkdir -p .local/bin && ln -s ../../{venv}/bin/{program} .local/bin/{program}"
        )

    def run(self, command: str) -> str:
        """A command of the user's in the checkout; its output. Fails if it fails."""
        python = os.path.realpath(self.place.python)
        line = command.replace("{python}", python)
        done = completed(
            ["/bin/sh", "-c", line],
            cwd=self.top,
            env=self.environ,
            uid=self.place.uid,
            timeout=400,
        )
        assert done.returncode == 0, (line, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    @property
    def environ(self) -> dict[str, str]:
        """The user's own; caches are shared by all runs of the suite."""
        caches = CACHE / f"of-{self.place.uid}"
        own = {name: self.place.environ[name] for name in ("PATH", "HOME", "LANG")}
        return own | {
            **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
            "PIP_CACHE_DIR": str(caches / "pip"),
            **({"PIP_CONSTRAINT": str(LOCKS / "constraints.txt")} if self.project.gates else {}),
            "UV_CACHE_DIR": str(caches / "uv"),
            "npm_config_cache": str(caches / "npm"),
        }


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, (path, old, text.count(old))
    path.write_text(text.replace(old, new))
