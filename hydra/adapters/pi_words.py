"""What a tool of pi's or omp's is about, and what a message or its answer says: one line each."""

from __future__ import annotations

import re

from hydra.adapters import said
from hydra.adapters.jsonlines import Object, first, objects, string

_TARGETS = ("path", "file_path", "pattern", "query", "url", "name", "description")
_HEADER = re.compile(r"\[?([^\]#\n]{1,300})")


def summary(name: str, given: Object, root: str) -> str:
    """`$ pytest -q`, or the tool and what it works on."""
    if string(given, "command"):
        return said.command(string(given, "command"))
    target = first(given, _TARGETS)
    if not target and string(given, "input"):
        # omp's edits name the file in the first line of a patch: [README.md#AD98].
        match = _HEADER.match(string(given, "input"))
        target = match[1] if match else ""
    verb = name[:1].upper() + name[1:]
    return f"{verb} {said.path(target, root)}" if target else verb


def text_of(holder: Object) -> str:
    """The text of a message or of a tool's result."""
    blocks = objects(holder, "content")
    texts = [string(block, "text") for block in blocks if string(block, "type") == "text"]
    return "\n".join(text for text in texts if text)


def without_places(text: str) -> str:
    """A message without the name of the dump that omp writes beside it."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("raw-http-request="))
