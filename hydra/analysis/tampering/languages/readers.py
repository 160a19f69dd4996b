"""Readers of tests, one language a file. Each takes texts by path and gives readings by path."""

from __future__ import annotations

from collections.abc import Mapping

from hydra.analysis.tampering.languages import golang, javascript, jvm, other, ruby, rust
from hydra.analysis.tampering.languages.python import lines
from hydra.analysis.tampering.languages.python.reader import read as read_python
from hydra.analysis.tampering.model import FileReading, LanguageReader

_BY_ENDING: Mapping[str, LanguageReader] = {
    "py": read_python,
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"), javascript.read),
    "go": golang.read,
    "rs": rust.read,
    **dict.fromkeys(("java", "kt", "kts"), jvm.read),
    "rb": ruby.read,
    **dict.fromkeys(("c", "cc", "cpp", "cs", "php", "scala", "swift", "exs", "ex"), other.read),
    **dict.fromkeys(("groovy", "hs"), other.read),
    **dict.fromkeys(("sh", "bash", "bats", "lua", "pl", "t", "r", "jl", "dart"), other.read),
}


def is_code(path: str) -> bool:
    """Whether a path's language has a reader."""
    return _ending(path) in _BY_ENDING


def read(texts: Mapping[str, str]) -> dict[str, FileReading]:
    """All texts of one side of a patch. Never raises, whatever they are."""
    parted: dict[LanguageReader, dict[str, str]] = {}
    for path, text in texts.items():
        reader = _BY_ENDING.get(_ending(path))
        if reader is not None:
            parted.setdefault(reader, {})[path] = text
    readings: dict[str, FileReading] = {}
    for reader, many in parted.items():
        readings.update(reader(many))
    return readings


def by_lines(path: str, text: str) -> FileReading:
    """A file whose other version does not parse, read the way that one is."""
    return lines.read(path, text, "")


def _ending(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()
