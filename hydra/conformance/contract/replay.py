"""A program that poses as any agent from what was recorded of it. Run by its path, never imported.

Its one argument before the agent's own is a JSON file:

- `answers`: `[{"args", "stdout", "stderr", "exit"}]`, given where the arguments are exactly those;
- otherwise it reads stdin to its end and writes `stdout` (lines) and `stderr`;
- `converses`: it does not wait for the end of stdin: before each line of `stdout` it waits for the
  request whose id stands in `waits`, and ends once stdin has;
- `sides`: `[[pattern, text]]`, side files that it writes where a word of its line names them;
- `touch`: a file that it writes in its folder: what it was started with, and how it was asked;
- then it hangs (`"hangs": true`) until a signal ends it, or exits with `exit` (below 0: by that
  signal).
"""

import hashlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

Script = dict[str, Any]


def main() -> int:
    """What the file says."""
    # Python's own answer to SIGINT is a traceback: an agent is ended by it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    script = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    argv = sys.argv[2:]
    for answer in script["answers"]:
        if answer["args"] == argv:
            sys.stdout.write(answer["stdout"])
            sys.stderr.write(answer["stderr"])
            return int(answer["exit"])
    _play(script, argv)
    sys.stderr.write(script["stderr"])
    sys.stderr.flush()
    if script["hangs"]:
        while True:
            signal.pause()
    code = int(script["exit"])
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _play(script: Script, argv: list[str]) -> None:
    """Writes the lines and the files."""
    rows: list[list[object]] = []
    prompt = b"" if script["converses"] else sys.stdin.buffer.read()
    ids: set[str] = set()
    last = len(script["stdout"]) - 1
    if last < 0:
        _leave(script, argv, prompt, rows)
    for number, line in enumerate(script["stdout"]):
        if script["converses"]:
            _hear(script["waits"][number], ids, rows)
        if number == last:  # who hears it may end this program at once
            _leave(script, argv, prompt, rows)
        sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
        sys.stdout.buffer.flush()
    if script["converses"] and not script["hangs"]:
        sys.stdin.buffer.read()


def _leave(script: Script, argv: list[str], prompt: bytes, rows: list[list[object]]) -> None:
    """The files that it leaves."""
    if script["touch"]:
        document = {
            "argv": argv,
            "environ": sorted(os.environ),
            "stdin": _hash(prompt),
            "heard": rows,
            "files": [
                [str(path), path.stat().st_mode & 0o777, *_hash(path.read_bytes())]
                for path in _named(argv)
                if path.is_file()
            ],
        }
        Path(script["touch"]).write_text(json.dumps(document), encoding="utf-8")
    for pattern, text in script["sides"]:
        for path in _named(argv):
            if fnmatchcase(path.name, pattern.rpartition("/")[2]):
                path.write_text(text, encoding="utf-8")


def _hear(value: object, ids: set[str], rows: list[list[object]]) -> None:
    """Reads requests until the one of that id has come, and every longer text in them."""
    while value is not None and _front(value) not in ids:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        try:
            document = json.loads(line)
        except ValueError:
            continue
        if isinstance(document, dict):
            ids.add(_front(document.get("id")))
        rows += [_hash(text.encode()) for text in _texts(document) if len(text) > 1000]


def _front(id: object) -> str:
    """An id up to its `#`: behind it Hydra says what it asked for, which may be another thing."""
    return json.dumps(id).partition("#")[0].rstrip('"')


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _named(argv: list[str]) -> Iterator[Path]:
    """The paths that words of the line are, by themselves or behind `--flag=`."""
    for term in argv:
        path = term[term.find("=") + 1 :] if term.startswith("-") else term
        if path.startswith("/") and len(path) < 4000:
            yield Path(path)


def _hash(data: bytes) -> list[object]:
    return [len(data), hashlib.sha256(data).hexdigest()]


if __name__ == "__main__":
    sys.exit(main())
