"""Recordings of real test runners on the samples of `fixtures/checks/samples`, and their scrubbing.

    python -m tests.check_recordings SAMPLE FOLDER NAME [JUNIT] -- COMMAND

runs COMMAND (a shell line) in a fresh copy of SAMPLE, both its streams in one pipe as a check has
them, and writes `fixtures/checks/FOLDER/NAME.txt`; `JUNIT` is the file that it leaves, kept as
`NAME.xml`. Times, host names and this machine's paths are scrubbed: read the diff.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FIXTURES = Path(__file__).parent.parent / "fixtures" / "checks"

_PATTERNS = (
    (re.compile(r"\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d+)?"), r"2026-01-01\g<1>00:00:00"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "00:00:00"),
    (re.compile(r'((?:hostname|time|timestamp|uuid)=")[^"]*"'), r'\g<1>0"'),
    (re.compile(r'("(?:Elapsed)":)[\d.]+'), r"\g<1>0.01"),
    (re.compile(r"(target/debug/deps/\w+-)[0-9a-f]{16}"), r"\g<1>0123456789abcdef"),
    (re.compile(r"/(?:root|home/\w+)/"), "/home/user/"),
    (re.compile(r" -- /\S+/bin/python3?$", re.MULTILINE), " -- /usr/bin/python3"),
    (re.compile(r"nextest run ID [0-9a-f-]+|Nextest run ID [0-9a-f-]+"), "Nextest run ID 0"),
)
_OUTSIDE = re.compile(r"/[^\s\"':()<>&;]*/(?=(?:site-packages|node_modules|lib/python[\d.]+)/)")


def scrub(text: str, ground: str) -> str:
    """`text` without this machine's paths and without times of day."""
    text = text.replace(ground, "/lane/shop")
    text = _OUTSIDE.sub("/usr/", text)
    for pattern, stable in _PATTERNS:
        text = pattern.sub(stable, text)
    return text


def record(sample: str, folder: str, name: str, junit: str, command: str) -> None:
    """Runs `command` on a copy of `sample` and keeps what it printed and left."""
    target = FIXTURES / folder
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        ground = Path(scratch) / "shop"
        shutil.copytree(FIXTURES / "samples" / sample, ground)
        ran = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=ground,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        (target / f"{name}.txt").write_text(
            scrub(ran.stdout.decode("utf-8", "replace"), str(ground))
        )
        if junit:
            written = (ground / junit).read_text()
            (target / f"{name}.xml").write_text(scrub(written, str(ground)))
    exits = target / "exits.json"
    codes = json.loads(exits.read_text()) if exits.exists() else {}
    codes[name] = ran.returncode
    exits.write_text(json.dumps(codes, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    split = sys.argv.index("--")
    words = sys.argv[1:split]
    record(words[0], words[1], words[2], words[3] if len(words) > 3 else "", sys.argv[split + 1])
