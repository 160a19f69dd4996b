"""Which language a file is in, by its name."""

from __future__ import annotations

import re

# ---- A set of words, written as a line of text.


def word_set(line: str) -> frozenset[str]:
    """The words of a line."""
    return frozenset(line.split())


_NAMED = {
    "python": ".py .pyi .pyw",
    "javascript": ".js .mjs .cjs .jsx .tsx",
    "typescript": ".ts .mts .cts",
    "go": ".go",
    "rust": ".rs",
    "java": ".java",
    "csharp": ".cs",
    "c": ".c .h .cc .hh .cpp .hpp .cxx .hxx .c++ .h++ .ino .cu .cuh .m .mm",
    "ruby": ".rb .rake .gemspec .ru",
    "shell": ".sh .bash .zsh .ksh .bats",
    "make": ".mk .mak",
    "yaml": ".yaml .yml",
    "toml": ".toml",
    "json": ".json .webmanifest .ipynb .geojson",
    # What is only read for its functions' names; no reader of its own knows its comments.
    "kotlin": ".kt .kts",
    "swift": ".swift",
    "scala": ".scala .sc",
    "php": ".php",
    "lua": ".lua",
    "elixir": ".ex .exs",
    "dart": ".dart",
    # Every byte may count: prose, data, what is compared with a program's output, markup.
    "exact": ".md .markdown .mdx .rst .txt .text .adoc .org .tex .csv .tsv .jsonl .ndjson .log "
    ".out .snap .golden .expected .approved .diff .patch .html .htm .xml .svg .vue .svelte .astro "
    ".erb .j2 .jinja .jinja2 .tmpl .tpl .mustache .hbs .ejs .pug .haml .slim .properties .ini .cfg "
    ".conf .env .lock .sum .map .po .pot .srt .eml .pem .crt .key .bat .cmd .ps1 .feature",
}

_NAMES = {
    "make": "makefile gnumakefile",
    "ruby": "rakefile gemfile guardfile vagrantfile",
    "toml": "pipfile",
    "shell": ".bashrc .profile .zshrc",
}

_DATA_FOLDERS = word_set(
    "testdata test-data test_data fixtures fixture __fixtures__ __snapshots__ snapshots golden "
    "goldens cassettes __cassettes__"
)
"""Folders of what tests read or compare, byte for byte."""

_BY_ENDING = {end: kind for kind, ends in _NAMED.items() for end in ends.split()}
_BY_NAME = {name: kind for kind, names in _NAMES.items() for name in names.split()}


def language(path: str) -> str:
    """The language of a path; "exact" where every byte may count, "" where it is not known."""
    *folders, name = path.lower().split("/")
    if any(folder in _DATA_FOLDERS for folder in folders):
        return "exact"
    return spoken(name)


def spoken(path: str) -> str:
    """As `language`, wherever the file lies."""
    name = path.lower().rpartition("/")[2]
    stem, dot, end = name.rpartition(".")
    if name in _BY_NAME:
        return _BY_NAME[name]
    # A name without an ending is a LICENSE, a README, somebody's data.
    return _BY_ENDING.get(dot + end, "") if dot and stem else "exact"


# ---- Comments that are obeyed, and so are not only comments.

_OBEYED = (
    r"noqa|type:|pragma|pylint|mypy|pyright|ruff:|flake8|isort:|fmt:|yapf|nosec|pytype|cython"
    r"|eslint|tslint|jshint|jslint|@ts-|prettier-|biome-|oxlint|deno-|istanbul|[cv]8 ignore"
    r"|webpack|[@#]__|@jsx|@flow|@noflow|@vite|@jest|@vitest|@license|@preserve|@cc_on|[@#] ?source"
    r"|//[a-z]+:\S|//\s*\+build|//\s*(?:line|export|extern) |nolint|lint:|//\s*<"
    r"|\*\s*(?:globals?|exported) |@deprecated|fall.?s?.?through|clang-|NOLINT|LCOV|GCOV|cppcheck"
    r"|coverity|language=|rubocop|frozen_string|coding[:=]|warn_indent|typed:|shellcheck|yamllint"
    r"|yaml-language|\$schema|syntax=|swiftlint|ktlint|checkstyle|NOSONAR|NOPMD|CHECKSTYLE"
    r"|@formatter|skipcq|nosemgrep|renovate:|x-release"
)

DIRECTIVE = re.compile(_OBEYED, re.I)
"""What a comment holds that a compiler, a linter or a generator obeys. Too much of it found only
means that two patches are not called the same."""
