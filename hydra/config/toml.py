"""A hydra.toml as text: read, parsed, and the line on which a key stands."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydra.errors import ConfigError
from hydra.redaction import notice


def read_file(path: Path, *, trusted: bool = True) -> tuple[str, str] | None:
    """(path, text) as `load` takes it, or None where there is no such file; /dev/null is none.

    A repository's file is a stranger's: only a regular file of at most 1 MiB is read. Raises
    `ConfigError` for anything else there, and for text that is not UTF-8.
    """
    try:
        if not path.exists() or path == Path(os.devnull):
            return None
        if not path.is_file() or path.stat().st_size > 1024**2:
            raise ConfigError(f"{path} is not a file of at most 1 MiB")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start})") from error
    notice(text, trusted=trusted)
    return f"{path}", text


def parse(path: str, text: str) -> dict[str, Any]:
    """The document. Raises `ConfigError` with path and line in one sentence."""
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        reason, _, position = f"{error}".partition(" (at ")
        line = re.match(r"line (\d+)", position)
        number = int(line[1]) if line else len(text.splitlines())
        where = f"{path}, line {number}" if position else path
        reason = re.sub(r"\('?([^)]*?)'?,?\)", lambda name: name[1].replace("', '", "."), reason)
        message = f"{where}: not valid TOML: {reason[:1].lower()}{reason[1:300]}"
        raise ConfigError(message) from None
    except ValueError as error:  # Python's own limit on a number's digits
        raise ConfigError(f"{path}: not valid TOML: a number has too many digits") from error


def entries(
    table: Mapping[str, Any], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every value of the document with the path to it, in the document's order."""
    for name, value in table.items():
        names = (*above, name)
        if isinstance(value, dict) and value and len(names) < 8:
            yield from entries(value, names)
        else:
            yield names, value


def line_of(text: str, parts: tuple[str, ...]) -> int | None:
    """The line on which a key, or the first line of a table, stands, as far as lines show it."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\[?([^\]]+)\]", line):
            table = _parts(header[1])
            if table[: len(parts)] == parts:
                return number
        elif "=" in line:
            key = (*table, *_parts(line.partition("=")[0]))
            if key[: len(parts)] == parts or (key == parts[: len(key)] and key != table):
                return number
    return None


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(filter(None, re.split(r"""["'\s.]+""", dotted)))
