"""Which language a file is in, by its name."""

from __future__ import annotations

from hydra.judge.agreement.words import words

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

_HELD = words(
    "testdata test-data test_data fixtures fixture __fixtures__ __snapshots__ snapshots golden "
    "goldens cassettes __cassettes__"
)
"""Folders of what tests read or compare, byte for byte."""

_BY_ENDING = {end: kind for kind, ends in _NAMED.items() for end in ends.split()}
_BY_NAME = {name: kind for kind, names in _NAMES.items() for name in names.split()}


def language(path: str) -> str:
    """The language of a path; "exact" where every byte may count, "" where it is not known."""
    *folders, name = path.lower().split("/")
    if any(folder in _HELD for folder in folders):
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
