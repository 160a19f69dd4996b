"""Which checks a repository is likely to have, from the files at its top."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_LARGEST = 1024 * 1024

_NODE = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package.json", "npm"),
)
_PYTHON = (
    ("uv.lock", "uv run "),
    ("poetry.lock", "poetry run "),
    ("pdm.lock", "pdm run "),
    ("Pipfile.lock", "pipenv run "),
)
_SET_UP_BY_HAND = frozenset(("requirements.txt", "pyproject.toml", "setup.py"))
_PYTHON_PROJECT = _SET_UP_BY_HAND | {"setup.cfg", "tox.ini", "pytest.ini", "conftest.py"}
_NO_TEST = "no test specified"
"""What `npm init` writes for a script that only fails."""

_OTHERS = (
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("mix.exs", "mix test"),
    (".rspec", "bundle exec rspec"),
)


def checks(top: Path, names: frozenset[str]) -> tuple[str, ...]:
    """As `check` in `[race]` has them. `names` are the files at the top; few of them are read."""
    found = [*_of_node(top, names), *_of_python(top, names)]
    found += [command for name, command in _OTHERS if name in names]
    return tuple(found) or tuple(_of_make(top, names))


def _of_node(top: Path, names: frozenset[str]) -> Iterator[str]:
    scripts = _scripts(top) if "package.json" in names else {}
    program = next((program for name, program in _NODE if name in names), "npm")
    test = scripts.get("test", "")
    if test and _NO_TEST not in test:
        yield f"{program} run test" if program == "bun" else f"{program} test"
    if scripts.get("lint"):
        yield f"lint={program} run lint"


def _scripts(top: Path) -> dict[str, str]:
    with suppress(ValueError, RecursionError, AttributeError):
        scripts = json.loads(_read(top / "package.json")).get("scripts", {})
        return {str(name): str(script) for name, script in scripts.items()}
    return {}


def _of_python(top: Path, names: frozenset[str]) -> Iterator[str]:
    if not names & _PYTHON_PROJECT:
        return
    runner = next((runner for name, runner in _PYTHON if name in names), "")
    python = "python3"
    if not runner and names & _SET_UP_BY_HAND:
        python = ".venv/bin/python"  # as the set-up that is guessed makes it
    if any("pytest" in _read(top / name) for name in sorted(names & _PYTHON_PROJECT)) or (
        names & {"pytest.ini", "conftest.py"}
    ):
        yield f"{runner}pytest -q" if runner else f"{python} -m pytest -q"
    elif (top / "tests").is_dir() or any(re.fullmatch(r"test_.*\.py", name) for name in names):
        yield f"{runner or ''}{'python' if runner else python} -m unittest -v"
    if "ruff" in _read(top / "pyproject.toml") or {"ruff.toml", ".ruff.toml"} & names:
        yield f"lint={runner}ruff check ."


def _of_make(top: Path, names: frozenset[str]) -> Iterator[str]:
    name = next((name for name in ("Makefile", "makefile", "GNUmakefile") if name in names), "")
    text = _read(top / name) if name else ""
    for target in ("test", "check"):
        if re.search(rf"^{target}\s*:(?!=)", text, re.MULTILINE):
            yield f"make {target}"
            return


def _read(path: Path) -> str:
    """A file's beginning as text, "" where it is none or a link: the repository is a stranger's."""
    try:
        if path.is_symlink() or not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
