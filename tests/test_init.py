"""`hydra init`: where it writes, what it guesses, and that all of it is something config knows."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.cli import main
from hydra.commands import init
from hydra.config.load import load
from hydra.config.schema import Config
from hydra.errors import Refused, UsageError
from hydra.race.guesses.setups import setup
from tests.conftest import commit, git
from tests.support.trust import needs_bwrap


def _config(text: str) -> Config:
    return load(repository=("hydra.toml", re.sub(r"^#(?=\S)", "", text, flags=re.MULTILINE)))


def _write(repo: Path) -> None:
    initial = init.propose(repo)
    init.write(Path(initial["path"]), initial["text"])


def test_it_is_written_at_the_top_from_anywhere_inside(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo / "src")
    assert main(["init"]) == 0
    text = (repo / "hydra.toml").read_text(encoding="utf-8")
    assert not (repo / "src" / "hydra.toml").exists()
    assert replace(load(repository=("hydra.toml", text)), sources={}) == Config()
    assert len(text.splitlines()) <= 12
    result = capsys.readouterr()
    assert result.out.startswith(f"wrote {repo / 'hydra.toml'}\n")
    assert result.err == ""


def test_it_never_overwrites(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "hydra.toml").write_text("# mine\n")
    monkeypatch.chdir(repo)
    assert main(["init"]) == 2
    assert "is there already, and init never overwrites" in capsys.readouterr().err
    assert (repo / "hydra.toml").read_text() == "# mine\n"
    assert main(["init", "--print"]) == 0
    assert replace(_config(capsys.readouterr().out), sources={}) == Config()
    assert (repo / "hydra.toml").read_text() == "# mine\n"


def test_the_users_own_is_written_where_it_is_read_and_sets_nothing_yet(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = scratch / "settings" / "hydra" / "hydra.toml"
    monkeypatch.setenv("HYDRA_CONFIG", str(path))
    monkeypatch.chdir(scratch)  # no repository is needed
    assert main(["init", "--user", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["path"], document["written"]) == (str(path), True)
    assert replace(load(user=(str(path), path.read_text())), sources={}) == Config()
    assert main(["init", "--user"]) == 2
    assert "never overwrites" in capsys.readouterr().err
    opened = re.sub(r"^#(?=\S)", "", path.read_text(), flags=re.MULTILINE)
    settings = load(user=(str(path), opened))
    assert (settings.race.max_parallel, settings.profiles["careful"].agent) == (4, "claude")
    assert settings.agents["acp"].path == "~/bin/my-agent"


def test_a_link_to_nowhere_is_not_written_through(repo: Path, scratch: Path) -> None:
    (repo / "hydra.toml").symlink_to(scratch / "elsewhere")
    with pytest.raises(UsageError, match="never overwrites"):
        _write(repo)
    assert not (scratch / "elsewhere").exists()


def test_outside_of_a_repository(scratch: Path) -> None:
    with pytest.raises(Refused, match="is not in a git repository") as caught:
        init.propose(scratch)
    assert "git init" in caught.value.hint


def test_what_to_copy_is_ignored_and_there(repo: Path) -> None:
    (repo / ".gitignore").write_text(".env*\n")
    for name in (".env", ".env.local", ".env.example", ".envrc", ".env.test.sample"):
        (repo / name).write_text("KEY=1\n")
    (repo / ".env.d").mkdir()
    (repo / ".env.link").symlink_to("/etc/hostname")
    (repo / ".env\nodd").write_text("")
    git(repo, "add", "-f", ".env.local")  # tracked: every lane has it anyway
    initial = init.propose(repo)
    assert initial["copy"] == [".env"]
    assert _config(initial["text"]).race.copies == (".env",)


@pytest.mark.parametrize(
    ("files", "steps"),
    [
        ([], ()),
        (["package.json"], ("npm install",)),
        (["package.json", "package-lock.json"], ("npm ci",)),
        (["package.json", "pnpm-lock.yaml"], ("pnpm install --frozen-lockfile",)),
        (["pyproject.toml", "uv.lock"], ("uv sync --frozen",)),
        (["pyproject.toml", "poetry.lock"], ("poetry install",)),
        (["Cargo.toml", "Cargo.lock"], ("cargo fetch --locked",)),
        (["go.mod"], ("go mod download",)),
        (["Gemfile"], ("bundle install",)),
        (["go.mod", "package-lock.json"], ("npm ci", "go mod download")),
    ],
)
def test_how_to_set_a_lane_up(repo: Path, files: list[str], steps: tuple[str, ...]) -> None:
    for name in files:
        (repo / name).write_text("")
    initial = init.propose(repo)
    assert tuple(initial["setup"]) == steps
    assert _config(initial["text"]).race.setup == steps
    assert load(repository=("hydra.toml", initial["text"])).race.setup == ()


PROJECT = "[project]\nname = 'x'\n"
OWN, MORE = "[project.optional-dependencies]\n", "[dependency-groups]\n"
POETRY = "[tool.poetry.dependencies]\npython = '^3.11'\nsix = '^1.16'\n"
GROUP = "[tool.poetry.group.dev.dependencies]\npytest = '>=7,<9'\n"
VERSIONS = {
    "'^0.2.3'": ">=0.2.3,<0.3",
    "'^1'": ">=1,<2",
    "'~1.4.2'": ">=1.4.2,<1.5",
    "'1.4'": "==1.4",
    "'^1 || ^2'": "",
    "'>=1.2, !=1.3'": ">=1.2,!=1.3",
    "{version = '~2', extras = ['toml']}": "[toml]>=2,<3",
    "{git = 'https://example.com/x.git', tag = 'v1'}": " @ git+https://example.com/x.git@v1",
}
"""What Poetry takes for a version, and what pip does."""


@pytest.mark.parametrize(
    ("files", "arguments"),
    [
        ({"pyproject.toml": PROJECT}, "-e ."),
        ({"pyproject.toml": PROJECT, "tests/test_a.py": "import pytest\n"}, "-e . pytest"),
        (
            {"pyproject.toml": f"{PROJECT}{OWN}docs = ['sphinx']\ntest = ['pytest>=8']\n"},
            "-e '.[test]'",
        ),
        (
            {"pyproject.toml": f"{PROJECT}{MORE}tests = ['pytest']\ndev = ['ruff']\n"},
            "-e . --group tests",
        ),
        (
            {
                "pyproject.toml": f"{PROJECT}[tool.pytest.ini_options]\n",
                "requirements/tests.txt": "pytest==8.3\n",
                "requirements/docs.txt": "sphinx\n",
            },
            "-e . -r requirements/tests.txt",
        ),
        (
            {"requirements.txt": "six\n", "tests/test_a.py": "import pytest\n"},
            "-r requirements.txt pytest",
        ),
        (
            {
                "setup.py": "",
                "setup.cfg": "[options.extras_require]\ntesting =\n  pytest\n",
                "conftest.py": "",
            },
            "-e '.[testing]'",
        ),
        ({"pyproject.toml": f"{POETRY}{GROUP}"}, "'six>=1.16,<2' 'pytest>=7,<9'"),
        (
            {"pyproject.toml": f"{POETRY}{GROUP}[build-system]\nrequires = ['poetry-core']\n"},
            "-e . 'pytest>=7,<9'",
        ),
        (
            {"pyproject.toml": f"[tool.poetry]\npackage-mode = false\n{POETRY}[build-system]\n"},
            "'six>=1.16,<2'",
        ),
        (
            {
                "pyproject.toml": "[tool.poetry.dev-dependencies]\npytest = '*'\n"
                "'--index-url' = '1'\nx = {path = '..'}\ny = {version = '1', optional = true}\n"
            },
            "pytest",
        ),
        *(
            ({"pyproject.toml": f"{PROJECT}{GROUP}six = {value}\n"}, f"-e . 'pytest>=7,<9' {line}")
            for value, version in VERSIONS.items()
            for line in [shlex.quote(f"six{version}")]
        ),
    ],
)
def test_a_python_set_up_brings_what_the_tests_need(
    scratch: Path, files: dict[str, str], arguments: str
) -> None:
    for name, text in files.items():
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch / name).write_text(text)
    first, *steps = setup(scratch)
    assert first == "python3 -m venv .venv"
    if "--group" in arguments:
        assert steps.pop(0) == ".venv/bin/pip install --upgrade pip"
    assert steps == [f".venv/bin/pip install {arguments}"]


@pytest.mark.parametrize(
    ("head", "option"),
    [("# yarn lockfile v1\n", "--frozen-lockfile"), ("__metadata:\n", "--immutable")],
)
def test_both_yarns(repo: Path, head: str, option: str) -> None:
    (repo / "yarn.lock").write_text(f"# AUTOGENERATED FILE\n{head}")
    assert init.propose(repo)["setup"] == [f"yarn install {option}"]


@pytest.mark.slow
def test_what_starts_here_is_active_and_what_does_not_is_told(
    repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_bwrap(os.geteuid())
    monkeypatch.setenv("HYDRA_STATE_DIR", str(scratch / "state"))
    (repo / "Makefile").write_text("test:\n\ttrue\n")
    (repo / "api").mkdir()
    (repo / "api" / "package.json").write_text('{"scripts": {"test": "no-such-runner"}}')
    commit(repo, "More")
    initial = init.propose(repo)
    assert (initial["check"], initial["setup"]) == (["make test"], []), initial["text"]
    assert [check.command for check in load(repository=("x", initial["text"])).checks.checks] == [
        "make test"
    ]
    (repo / "Makefile").unlink()
    git(repo, "commit", "-qam", "Less")
    initial = init.propose(repo)
    assert initial["check"] == []
    assert "\n# cd api && npm test: " in initial["text"]
    assert "not found" in initial["text"]
    assert load(repository=("x", initial["text"])).checks.checks == ()
    assert [check.command for check in _config(initial["text"]).checks.checks] == [
        "cd api && npm test"
    ]


def test_a_link_is_not_read_for_guesses(repo: Path, scratch: Path) -> None:
    (scratch / "package.json").write_text('{"scripts": {"test": "jest"}}')
    (repo / "package.json").symlink_to(scratch / "package.json")
    assert init.propose(repo)["check"] == []
