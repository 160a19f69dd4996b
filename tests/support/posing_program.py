"""A program that poses as any agent from one recorded run of it. Run by its path, never imported.

Its one argument before the agent's own is a JSON file: `answers` to probes, given where the
arguments are exactly those; else it reads its prompt, leaves `note.json` (what it was started with,
and how it was asked) in its folder, and writes the run's lines. One that is talked to (`waits`)
waits before each line for the request whose id stands there.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any


def main() -> int:
    script = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    argv = sys.argv[2:]
    for answer in script["answers"]:
        if answer["args"] == argv:
            sys.stdout.write(answer["stdout"])
            sys.stderr.write(answer["stderr"])
            return int(answer["exit"])
    waits = script["waits"]
    prompt = b"" if waits else sys.stdin.buffer.read()
    rows: list[list[object]] = []
    ids: set[str] = set()
    last = len(script["stdout"]) - 1
    for number, line in enumerate(script["stdout"]):
        if waits:
            _hear(waits[number], ids, rows)
        if number == last:  # who reads it may end this program at once
            _leave(script, argv, prompt, rows)
        sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
        sys.stdout.buffer.flush()
    if waits:
        sys.stdin.buffer.read()
    return 0


def _leave(
    script: dict[str, Any], argv: list[str], prompt: bytes, rows: list[list[object]]
) -> None:
    files = [path for path in _paths(argv) if path.is_file()]
    document = {
        "argv": argv,
        "environ": sorted(os.environ),
        "stdin": _hash(prompt),
        "requests": rows,
        "files": [[path.stat().st_mode & 0o777, *_hash(path.read_bytes())] for path in files],
    }
    Path("note.json").write_text(json.dumps(document), encoding="utf-8")
    for pattern, text in script["sides"]:
        for path in _paths(argv):
            if fnmatchcase(path.name, pattern.rpartition("/")[2]):
                path.write_text(text, encoding="utf-8")


def _hear(value: object, ids: set[str], rows: list[list[object]]) -> None:
    """Reads requests until the one of that id has come, and every longer text in them."""
    while value is not None and _front(value) not in ids:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        document = json.loads(line)
        ids.add(_front(document.get("id")))
        rows += [_hash(text.encode()) for text in _texts(document) if len(text) > 1000]


def _front(value: object) -> str:
    """An id up to its `#`: behind it Hydra says what it asked for, which may be another thing."""
    return json.dumps(value).partition("#")[0].rstrip('"')


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _paths(argv: list[str]) -> Iterator[Path]:
    """The paths on the line, by themselves or behind `--flag=`."""
    for term in argv:
        path = term[term.find("=") + 1 :] if term.startswith("-") else term
        if path.startswith("/") and len(path) < 4000:
            yield Path(path)


def _hash(data: bytes) -> list[object]:
    return [len(data), hashlib.sha256(data).hexdigest()]


if __name__ == "__main__":
    sys.exit(main())
