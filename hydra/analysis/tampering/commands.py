"""What a check's command runs: scripts, tasks and the tools that read settings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from hydra.analysis.tampering.test_files import name_of
from hydra.records.request import Check

_ARGUMENT = re.compile(r"[^\s;&|()<>\"'`$=]+")
_PARTED = re.compile(r"&&|\|\||[;&|\n]")
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "source", ".", "exec", "time", "env", "xvfb-run"))
_RUNS_FILES = frozenset(("python", "python3", "node", "ruby", "perl", "deno", "bun", "tsx", "lua"))
_TESTS_FILES = frozenset(("--test", "prove", "bats", "busted", "rspec", "phpunit"))
"""Words after which every file is one of tests, whatever it is called."""
_READS_EXAMPLES = "doctest"
"""The same of texts; of code it is the examples that are put back."""
_CHECKING = re.compile(r"test|check|spec|verif|lint|\bci\b|(^|/)run", re.I)
_NPM = re.compile(
    r"\b(?:(?:npm|pnpm|yarn|bun)\s+(?:(?:(?:--prefix|--filter|--workspace|--dir|--cwd|-[CFw])\s+\S+"
    r"|-\S+)\s+)*(?:run(?:-script)?\s+(?:-\S+\s+)*)?|node\s+--run[\s=])([\w:.-]+)"
)

_FILES_OF_TOOLS = {
    "make": "makefile gnumakefile",
    "just": "justfile .justfile",
    "task": "taskfile.yml taskfile.yaml",
    "rake": "rakefile",
    "nox": "noxfile.py",
    "tox": "tox.ini tox.toml",
    "ruff": "ruff.toml .ruff.toml",
    "mypy": "mypy.ini .mypy.ini",
    "flake8": ".flake8 tox.ini",
    "pylint": ".pylintrc pylintrc",
    "pyright": "pyrightconfig.json",
    "eslint": ".eslintrc .eslintrc.js .eslintrc.cjs .eslintrc.json .eslintrc.yml .eslintignore "
    "eslint.config.js eslint.config.mjs eslint.config.cjs eslint.config.ts",
    "tsc": "tsconfig.json",
    "biome": "biome.json biome.jsonc",
    "prettier": ".prettierrc .prettierignore",
    "clippy": "clippy.toml .clippy.toml",
    "golangci-lint": ".golangci.yml .golangci.yaml .golangci.toml",
    "rubocop": ".rubocop.yml",
    "pre-commit": ".pre-commit-config.yaml",
    "shellcheck": ".shellcheckrc",
}


_TASKS = re.compile(
    r"(?:gnu)?makefile(?:\.(?:am|in|inc))?|.*\.mk|\.?justfile|taskfile\.ya?ml|rakefile|tasks\.py|dodo\.py"
    r"|.*\.(?:sh|bash|zsh)|vite\.config\.\w+|gulpfile\.\w+|gruntfile\.\w+"
    r"|[tj]sconfig(?:\.\w+)*\.json",
    re.I,
)


def is_task_file(path: str) -> bool:
    """Whether a file holds commands that others run: a Makefile, a shell script."""
    return bool(_TASKS.fullmatch(name_of(path)))


_CODE = (".py", ".js", ".cjs", ".mjs", ".ts", ".rb", ".pl")
_OF_SCRIPTS = re.compile(r"(?:\.?(?:tools?|scripts?|bin|ci|dev|build|hack|etc)/)*[^/]+")
_STARTS = re.compile(
    r"\bsubprocess\b|\bchild_process\b|\bos\.(?:system|exec\w+)\b|\bsession\.run\b|\brunpy\b"
)
_RUNS_TESTS = re.compile(
    r"\b(?:pytest|unittest|nose2?)\.main\(|\bTextTestRunner\(|\bdefaultTestLoader\b"
    r"|\brunCLI\(|\bnew Mocha\(|\bstartVitest\("
)
"""Of a script that is the test run itself, and starts no other program."""
_TOOLS = re.compile(
    r"[\"'\s](?:unittest|pytest|--test|jest|mocha|vitest|tox|nox|ava|nose2|npm|yarn|pnpm)[\"'\s]"
)


def drives_tests(path: str, text: str) -> bool:
    """Whether a file of code is a script that starts a test tool: checks may run it by whatever
    name. It lies at the top or in a folder of scripts: elsewhere code may name tools as its
    work."""
    if not path.endswith(_CODE) or not _OF_SCRIPTS.fullmatch(path):
        return False
    starts = _STARTS.search(text) and _TOOLS.search(text)
    return bool(starts or _RUNS_TESTS.search(text))


class RunCommands(Struct, frozen=True):
    """What all checks together run.

    `scripts` are paths from the top; `files` names that a tool reads, in lower case; `tasks` the
    scripts of package.json; `words` every word of the commands.
    """

    scripts: frozenset[str]
    files: frozenset[str]
    tasks: frozenset[str]
    names: frozenset[str]

    def has(self, path: str) -> bool:
        """Whether a path is a script of a check, or settings of a tool that it runs."""
        return path in self.scripts or name_of(path).lower() in self.files


def runs(checks: Sequence[Check]) -> RunCommands:
    """Reads the commands as a person would; it follows nothing that they call."""
    scripts: set[str] = set()
    terms: set[str] = set()
    tasks = {"test", "pretest", "posttest"}
    for check in checks:
        for command in _PARTED.split(check.command):
            documents = _ARGUMENT.findall(command)
            terms.update(name_of(document) for document in documents)
            scripts.update(_scripts(documents))
        for task in _NPM.findall(check.command):
            tasks |= {task, f"pre{task}", f"post{task}"}
    files = {
        name for tool, many in _FILES_OF_TOOLS.items() if tool in terms for name in many.split()
    }
    return RunCommands(frozenset(scripts), frozenset(files), frozenset(tasks), frozenset(terms))


def _scripts(terms: Sequence[str]) -> set[str]:
    """The files that one simple command runs, and settings that an option names."""
    names: set[str] = set()
    first, is_next, all_tests, examples = True, False, False, False
    for at, term in enumerate(terms):
        path = term.removeprefix("./")
        before = name_of(terms[at - 1]) if at else ""
        is_next = before in _RUNS_FILES or (is_next and before.startswith("-") and before != "-m")
        all_tests = all_tests or before in _TESTS_FILES
        examples = examples or before == _READS_EXAMPLES
        if before in ("-c", "--config", "--config-file", "--rootdir", "-f", "--rcfile"):
            names.add(path)
        if (first and ("/" in term or term.endswith((".sh", ".bash")))) or (
            not term.startswith("-")
            and (
                all_tests
                or (examples and not path.endswith(".py"))
                or (is_next and _CHECKING.search(path))
            )
        ):
            names.add(path)
        module = term.replace(".", "/")
        if before == "-m" and (_OF_SCRIPTS.fullmatch(module) or _CHECKING.search(module)):
            names |= {f"{module}.py", f"{module}/__main__.py"} if "/" in module else set()
        first = first and name_of(term) in _SHELLS
    return names


_SOURCED = re.compile(r"^[ \t]*(?:-?include|source|\.)[ \t]+([^\n;&|#]+)", re.M)
_SCRIPTS = ("tools", "tool", "scripts", "script", "bin", "ci", ".ci", "dev", "build", "hack")


def is_script(path: str) -> bool:
    """Whether a file is one of commands by its name, or has no ending and lies among scripts."""
    *folders, name = path.split("/")
    among = not folders or folders[-1] in _SCRIPTS
    return is_task_file(path) or (among and "." not in name)


def sources(text: str) -> frozenset[str]:
    """The last parts of the names that a script reads as its own lines (`. tools/env.inc`)."""
    named = " ".join(_SOURCED.findall(text)).replace('"', " ").replace("'", " ")
    return frozenset(name_of(term) for term in named.split())
