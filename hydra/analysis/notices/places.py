"""Files that are known by their names: what runs, steers or configures something.

Names are compared in lower case: some file systems hold `.GitHub` and `.github` to be one.
"""

from __future__ import annotations

import re

from msgspec import Struct

EXECUTABLE, LINK, MODULE = "100755", "120000", "160000"


class TouchedPath(Struct, frozen=True, kw_only=True):
    """One path. `old_mode` and `new_mode` are git's; "" where it was, or is, not there.

    `size` is the new content's in bytes, None where it is not known. `old` and `new` are the
    contents of a manifest, `new` also where a symlink points; None: not read.
    """

    path: bytes
    old_mode: str = ""
    new_mode: str = ""
    old_oid: str = ""
    new_oid: str = ""
    binary: bool = False
    size: int | None = None
    old: bytes | None = None
    new: bytes | None = None


PLACES: dict[str, str] = {
    "hook": "git hooks run on your machine",
    "ci": "runs in CI, with what CI may do",
    "agent": "instructs or configures coding agents",
    "environment": "sets a shell's environment",
    "editor": "an editor may act on it when the folder is opened",
    "packages": "says where packages come from and how they are installed",
    "git": "changes how git treats files",
    "build": "runs when the project is built or installed",
    "tests": "runs with the tests, and may change what they say",
    "lock_file": "which versions are installed",
}
"""Each kind of place, and why it deserves a look."""

_FOLDERS = {
    "hook": ".husky .githooks .git-hooks",
    "ci": ".circleci .buildkite .woodpecker .teamcity",
    "agent": ".claude .codex .cursor .gemini .agents .qwen .opencode .windsurf .roo .kiro "
    ".clinerules",
    "environment": ".mise .direnv",
    "editor": ".vscode .idea .devcontainer .zed .fleet",
    "packages": ".cargo .yarn .mvn",
}
"""Folders by name, wherever they lie."""

_INSIDE = {
    "ci": (".github/workflows", ".github/actions", ".gitea/workflows", ".forgejo/workflows"),
    "agent": (".github/instructions", ".github/prompts", ".github/chatmodes"),
}

_NAMES = {
    "hook": ".pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml lefthook.yml "
    "lefthook.yaml .lefthook.yml .overcommit.yml .huskyrc .huskyrc.json .huskyrc.js "
    ".lintstagedrc simple-git-hooks.json",
    "ci": ".gitlab-ci.yml .travis.yml .drone.yml .woodpecker.yml .woodpecker.yaml jenkinsfile "
    "azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml appveyor.yml .appveyor.yml "
    "cloudbuild.yaml cloudbuild.yml buildspec.yml .cirrus.yml .builds.yml .codecov.yml",
    "agent": ".mcp.json claude.md claude.local.md agents.md agents.override.md gemini.md "
    ".cursorrules .cursorignore .windsurfrules .aider.conf.yml .aiderignore opencode.json "
    "opencode.jsonc copilot-instructions.md hydra.toml",
    "environment": ".envrc .env mise.toml .mise.toml .tool-versions devbox.json",
    "editor": ".vimrc .exrc .nvimrc .nvim.lua .lvimrc .dir-locals.el",
    "packages": ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs pnpm-workspace.yaml "
    "bunfig.toml pip.conf .pypirc uv.toml nuget.config .bundlerc",
    "git": ".gitattributes .gitmodules .lfsconfig",
    "build": "setup.py build.rs makefile gnumakefile dockerfile containerfile cmakelists.txt "
    "justfile rakefile binding.gyp meson.build build.gradle build.gradle.kts gradlew gradlew.bat "
    "gradle-wrapper.properties mvnw docker-compose.yml docker-compose.yaml compose.yml "
    "compose.yaml sitecustomize.py usercustomize.py",
    "tests": "conftest.py",
    "lock_file": "uv.lock poetry.lock pdm.lock pipfile.lock pylock.toml package-lock.json "
    "npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock cargo.lock go.sum "
    "gemfile.lock composer.lock mix.lock pubspec.lock packages.lock.json flake.lock "
    "package.resolved gradle.lockfile conda-lock.yml podfile.lock",
}

_ENDINGS = {
    "environment": (".env",),
    "editor": (".code-workspace", ".sublime-project"),
    "build": (".mk", ".dockerfile", ".pth"),
}

_STARTS = {
    "environment": (".env.",),
    "build": ("dockerfile.", "containerfile."),
}

_BY_FOLDER = {name: kind for kind, names in _FOLDERS.items() for name in names.split()}
_BY_NAME = {name: kind for kind, names in _NAMES.items() for name in names.split()}

TEST_FOLDERS = frozenset(
    (
        *("tests", "__tests__", "spec", "specs", "testsuite", "test-suite", "test_suite"),
        *("unit_tests", "unit-tests", "unittests", "integration_tests", "integration-tests"),
    )
)
"""Folders that hold nothing but tests, by their names."""
TEST_NAME = re.compile(
    r"test_.*\.(py|c|cc|cpp|cxx|rb|jl|nim|ml|lua)"
    r"|.*_(unit)?tests?\.(py|go|rs|c|cc|cpp|cxx|exs|dart|lua|clj[cs]?|erl|nim|v|zig|jl|gleam|ml)"
    r"|tests?\.(c|cc|cpp|cxx)|tests\.(py|rs|[cm]?[jt]sx?)|.*[.-](test|spec|cy)\.[cm]?[jt]sx?"
    r"|.*_test\.[cm]?[jt]sx?|.*\.test-d\.[cm]?tsx?|test-.*\.(el|r)|.*-tests?\.el|runtests\.jl"
    r"|.*\.(t|t\.sol|feature|bats|phpt|robot|vader|tests\.ps1|tftest\.hcl)"
    r"|.*_(spec|test)\.(rb|cr)|.*_spec\.lua|.*_suite\.erl"
    r"|(?-i:.*Tests?|(.*[^A-Za-z])?tests?)\.(java|kt|cs|fs|vb|scala|groovy|php|swift)"
    r"|(?-i:(.*[a-z\d](IT|Specification)|.+Spec)\.(java|kt|groovy|scala|hs)|Test[A-Z].*\.hs)",
    re.I,
)
"""What a file of tests is called by the habits of its language, wherever it lies. Others are known
by the runs that name them (`checks.collected`)."""
_DELIVERED = re.compile(r"(?:.*/)?src/(?:main|\w+Main)/.*\.(?:java|kt|groovy|scala)")
_FOLDERS_OF_TESTS = TEST_FOLDERS | {"test", "testing"}
_SUITE = re.compile(r"(?:(?:packages|libs|modules)/[^/]+/)?(?:src/|source/)?test\.[cm]?[jt]sx?")


def kind_of(path: bytes, hooks: str = "") -> str:
    """Which kind of place a path is; "" for an ordinary file.

    `hooks` is the user's core.hooksPath, from the repository's top.
    """
    text = path.decode("utf-8", "replace").lower()
    *folders, name = text.split("/")
    own = hooks.lower().strip("/").removeprefix("./")
    if own and f"{text}/".startswith(f"{own}/"):
        return "hook"
    for kind, inside in _INSIDE.items():
        if any(f"/{text}".find(f"/{folder}/") >= 0 for folder in inside):
            return kind
    if name in _BY_NAME:
        return _BY_NAME[name]
    line = next((_BY_FOLDER[folder] for folder in (*folders, name) if folder in _BY_FOLDER), "")
    return line or _by_part(name)


def is_test(path: bytes) -> bool:
    """Whether a path is a test's file, by the habits of its language."""
    text = path.decode("utf-8", "replace")
    *folders, name = text.split("/")
    if is_delivered(text):
        return False
    if TEST_NAME.fullmatch(name) or is_suite(text):
        return True
    code = re.search(r"\.(py|[cm]?[jt]sx?|go|rs|rb|java|kt|cs|c|cc|cpp|php|exs|swift|sh)$", name)
    return bool(code) and not _FOLDERS_OF_TESTS.isdisjoint(map(str.lower, folders))


def is_delivered(path: str) -> bool:
    """Whether a path is code that is delivered, whatever it is called: where Maven, Gradle and sbt
    look for that, a `TypeSpec.java` tests nothing."""
    return bool(_DELIVERED.fullmatch(path))


def is_suite(path: str) -> bool:
    """Whether a path is a package's `test.js`, where AVA and `node --test` look for it; deeper
    down a file of that name may be what is delivered (`lib/commands/test.js`)."""
    return bool(_SUITE.fullmatch(path.lower()))


def _by_part(name: str) -> str:
    for kind, ends in _ENDINGS.items():
        if name.endswith(ends):
            return kind
    return next((kind for kind, starts in _STARTS.items() if name.startswith(starts)), "")
