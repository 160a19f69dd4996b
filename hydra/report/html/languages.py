"""Which grammar of the highlighter a file needs, by its name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

_ENDINGS = {
    "bash": "sh bash zsh",
    "c": "c h",
    "cpp": "cc cpp cxx hh hpp hxx",
    "csharp": "cs",
    "css": "css",
    "go": "go",
    "ini": "ini toml cfg conf properties",
    "java": "java",
    "javascript": "js mjs cjs jsx",
    "json": "json jsonc",
    "kotlin": "kt kts",
    "makefile": "mk mak",
    "markdown": "md markdown",
    "php": "php",
    "python": "py pyi pyw",
    "ruby": "rb rake gemspec",
    "rust": "rs",
    "sql": "sql",
    "swift": "swift",
    "typescript": "ts tsx mts cts",
    "xml": "xml html htm svg xhtml vue",
    "yaml": "yml yaml",
}
_BY_ENDING = {ending: name for name, all_of in _ENDINGS.items() for ending in all_of.split()}
_BY_NAME = {"makefile": "makefile", "dockerfile": "dockerfile", "rakefile": "ruby"}


def language_of(path: str) -> str:
    """The grammar's name, or "" for none."""
    place = PurePosixPath(path.lower())
    return _BY_NAME.get(place.name) or _BY_ENDING.get(place.suffix[1:], "")


def languages_of(paths: Iterable[str]) -> list[str]:
    """All that these files need, once each."""
    return sorted({name for path in paths if (name := language_of(path))})
