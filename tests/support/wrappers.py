"""Small programs around the real CLIs that each have one thing differently, as a new version might.

Python scripts of the standard library: what they say of themselves is edited, and the stream is
filtered line by line; all else is the real CLI's. One that takes a flag away refuses it, too.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

_PROGRAM = '''\
#!{python}
import json, os, re, signal, subprocess, sys

REAL = {real!r}
CHANGE = json.loads({change!r})
WORDS = sys.argv[1:]


def names():
    """The flag that is gone, by each of its names."""
    gone = CHANGE["flag"]
    short = {{"--config": "-c", "--print": "-p", "--sandbox": "-s", "--cd": "-C", "--model": "-m"}}
    return {{gone, short.get(gone, gone)}} if gone else set()


def defined(line):
    """The names that a line defines: its description is two spaces away."""
    return line.strip().split("  ")[0]


def without(text):
    """A help text less the flag: its line, and those that describe it."""
    kept, gone = [], False
    for line in text.splitlines(keepends=True):
        defines = re.match(r" {{0,6}}-", line)
        if defines or not line.startswith(" "):
            gone = bool(defines) and CHANGE["flag"] in re.findall(r"--[\\w-]+", defined(line))
        if not gone:
            kept.append(line)
    return "".join(kept)


def told():
    """What it says of itself, edited."""
    ran = subprocess.run([REAL, *WORDS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    text = ran.stdout.decode()
    if "--version" in WORDS:
        text = CHANGE["version"] + "\\n" if CHANGE["version"] else text
    elif CHANGE["flag"]:
        text = without(text)
    sys.stdout.write(text)
    return ran.returncode


def filtered(line):
    """One line of the stream, edited."""
    try:
        event = json.loads(line)
    except ValueError:
        return line
    kind = event.get("type")
    if kind == CHANGE["event"]:
        event["type"] = CHANGE["renamed"]
    of, _, field = CHANGE["field"].partition("/")
    if kind != of and kind != CHANGE["event"]:
        return line
    if kind == of:
        event.pop(field, None)
    return json.dumps(event).encode() + b"\\n"


def stream():
    """The real CLI at work, its stdout edited on the way; it ends as the real one does."""
    # Its own group gets the signals that are sent to this one: both are meant.
    real = subprocess.Popen([REAL, *WORDS], stdout=subprocess.PIPE)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: real.send_signal(number))
    out = sys.stdout.buffer
    out.write(CHANGE["banner"].encode())
    for place, line in enumerate(real.stdout):
        out.write(filtered(line))
        if place == 0 and CHANGE["new"]:
            out.write(json.dumps({{"type": CHANGE["new"], "text": "new"}}).encode() + b"\\n")
        out.flush()
    code = real.wait()
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if names() & {{word.partition("=")[0] for word in WORDS}}:
    print(f"error: unknown option '{{CHANGE['flag']}}'", file=sys.stderr)
    sys.exit(2)
if "--version" in WORDS or "--help" in WORDS:
    sys.exit(told())
if "--print" in WORDS or WORDS[:1] == ["exec"]:
    sys.exit(stream())
os.execv(REAL, [REAL, *WORDS])
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a wrapper has differently; "" for what stays as it is.

    `flag` is taken away; the event `event` is called `renamed`; `field` is `event/field` and is
    dropped; `new` is an event after the first; `banner` comes before the stream; `version` is what
    `--version` says.
    """

    flag: str = ""
    event: str = ""
    renamed: str = ""
    field: str = ""
    new: str = ""
    banner: str = ""
    version: str = ""


def wrap(folder: Path, real: Path, difference: Difference, *, python: str = "") -> Path:
    """A program of the real one's name in `folder` (made), around it."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / real.name
    change = json.dumps(asdict(difference))
    text = _PROGRAM.format(python=python or sys.executable, real=str(real), change=change)
    program.write_text(text)
    program.chmod(0o755)
    return program
