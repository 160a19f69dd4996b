"""TOML text to dotted keys, and to the line where a key stands."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hydra.errors import ConfigError
from hydra.redaction import notice

_LARGEST_FILE = 1024**2
_DEEPEST = 8

Entry = tuple[tuple[str, ...], object]
"""A key as its parts, and its value; a table with nothing in it is an entry of its own."""


def read_file(path: Path, *, trusted: bool = True) -> tuple[str, str] | None:
    """(path, text) as `load` takes it, or None where there is no such file; /dev/null is none.

    A repository's file is a stranger's: only a regular file of at most 1 MiB is read. Raises
    `ConfigError` for anything else there, and for text that is not UTF-8.
    """
    try:
        if not path.exists() or path == Path(os.devnull):
            return None
        if not path.is_file() or path.stat().st_size > _LARGEST_FILE:
            raise ConfigError(f"{path} is not a file of at most 1 MiB")
        text = path.read_text(encoding="utf-8-sig")
        notice(text, trusted=trusted)
        return f"{path}", text
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start})") from error


def parse(path: str, text: str) -> dict[str, Any]:
    """The document. Raises `ConfigError` with path and line in one sentence."""
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{path}: nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_sentence(path, text, f"{error}")) from None
    except ValueError as error:  # Python's own limit on a number's digits
        raise ConfigError(f"{path}: not valid TOML: a number has too many digits") from error


def _sentence(path: str, text: str, message: str) -> str:
    reason, _, position = message.partition(" (at ")
    line = re.match(r"line (\d+)", position)
    number = int(line[1]) if line else len(text.splitlines())
    where = f"{path}, line {number}" if position else path
    reason = re.sub(r"\('?([^)]*?)'?,?\)", lambda match: _dotted(match[1]), reason)
    return f"{where}: not valid TOML: {reason[:1].lower()}{reason[1:300]}"


def _dotted(parts: str) -> str:
    return parts.replace("', '", ".")


def entries(table: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[Entry]:
    """Every value of the document with the path to it, in the document's order."""
    for name, value in table.items():
        names = (*above, name)
        if isinstance(value, dict) and value and len(names) < _DEEPEST:
            yield from entries(value, names)
        else:
            yield names, value


def line_of(text: str, parts: tuple[str, ...]) -> int | None:
    """The line on which a key, or the first line of a table, stands. A best effort: by line.

    None where no line shows it (inside an inline table, for one).
    """
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\[?([^\]]+)\]", line)
        if header:
            table = _parts(header[1])
            if table[: len(parts)] == parts:
                return number
        elif "=" in line:
            key = (*table, *_parts(line.partition("=")[0]))
            if key[: len(parts)] == parts or (key == parts[: len(key)] and key != table):
                return number
    return None


def _parts(dotted: str) -> tuple[str, ...]:
    documents = re.findall(r'"([^"]*)"|\'([^\']*)\'|([A-Za-z0-9_-]+)', dotted)
    return tuple(double or single or bare for double, single, bare in documents)
