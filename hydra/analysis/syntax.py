"""What a text of a program is: its functions and tests, the text without comments, its normal form.

Nothing is parsed in this process. What an agent wrote goes to a child with tree-sitter, which may
write nothing, holds so much memory, and has so long (`syntax_child.py`).
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec
from msgspec import Struct

LARGEST = 1024 * 1024
"""Characters of a text; a longer one is not read."""

LONGEST_LINE = 100_000
"""Nor is one with a longer line: nobody wrote it."""

SECONDS = 30.0
"""For one call; what was not read by then is unknown."""

_START = (
    "import sys; sys.path += sys.argv[1:]; from hydra.analysis.syntax_child import main; main()"
)
_NO_CACHE = ("-B",) if sys.dont_write_bytecode else ()
_NO_CHARACTER = re.compile("[\ud800-\udfff]")
_MOST_DEATHS = 6
_MOST_HELD = 2048

_ENDINGS = {
    "python": ".py .pyi .pyw",
    "javascript": ".js .mjs .cjs .jsx",
    "typescript": ".ts .mts .cts",
    "tsx": ".tsx",
    "go": ".go",
    "rust": ".rs",
    "java": ".java",
    "kotlin": ".kt .kts",
    "ruby": ".rb .rake .gemspec .ru",
}
_BY_ENDING = {end: language for language, ends in _ENDINGS.items() for end in ends.split()}
_BY_NAME = dict.fromkeys(("rakefile", "gemfile", "guardfile", "vagrantfile"), "ruby")


class Function(Struct, frozen=True, array_like=True):
    """A function, a method, or a call that declares a test (`it`) or a block of them."""

    name: str
    """Outermost first: `TestA.test_b`, `adds > works`."""
    start: int
    end: int
    """Lines from 1, both of them in; decorators and attributes belong to it."""
    is_test: bool
    """Whether a runner collects it, by its own form."""


class Syntax(Struct, frozen=True):
    """What one text is."""

    functions: tuple[Function, ...]
    """By their lines; one that lies in another function is part of that."""
    code: str
    """The text with comments and docstrings blanked, each thing where it was."""
    bare: str
    """The same, and what strings hold blanked."""
    normal: str
    """Equal only where two texts are surely the same but for their form."""
    tests: tuple[tuple[int, int], ...]
    """Lines of tests that lie in code."""
    is_broken: bool
    """Not parsed whole."""


_read: dict[tuple[str, bytes], Syntax | None] = {}
"""By language and text: lanes hold the same files many times over."""


def language_of(path: str) -> str:
    """The grammar that a file is read with, by its name; "" if there is none."""
    name = path.lower().rpartition("/")[2]
    stem, dot, end = name.rpartition(".")
    return _BY_NAME.get(name) or (_BY_ENDING.get(dot + end, "") if stem else "")


def too_much(text: str) -> str:
    """Why a text is not read, "" where it is."""
    if len(text) > LARGEST:
        return f"over {LARGEST // 1024:,} KiB"
    if len(text) > LONGEST_LINE and max(map(len, text.split("\n"))) > LONGEST_LINE:
        return f"a line of over {LONGEST_LINE:,} characters"
    return ""


def read_syntax(texts: Sequence[tuple[str, str]]) -> tuple[Syntax | None, ...]:
    """What texts are, by path and text, in their order.

    None: no grammar for it, too long, or it could not be parsed in time.
    """
    keys = [_key(path, text) for path, text in texts]
    missing = {
        key: text
        for key, (_, text) in zip(keys, texts, strict=True)
        if key is not None and key not in _read
    }
    if missing:
        if len(_read) + len(missing) > _MOST_HELD:
            _read.clear()
        _fill(missing)
    return tuple(_read.get(key) if key is not None else None for key in keys)


def _key(path: str, text: str) -> tuple[str, bytes] | None:
    language = language_of(path)
    if not language or len(text) > LARGEST:
        return None
    data = text.encode("utf-8", "surrogatepass")
    return language, hashlib.blake2b(data, digest_size=16).digest()


def _fill(missing: dict[tuple[str, bytes], str]) -> None:
    """Read what is not there yet. A text that ends the child is passed over, and the rest is read
    by another one."""
    deadline = time.monotonic() + SECONDS
    # The longest last: what takes its time takes it from nobody.
    remaining = sorted(missing, key=lambda key: (len(missing[key]), key))
    for _ in range(_MOST_DEATHS):
        seconds = deadline - time.monotonic()
        if not remaining or seconds <= 0:
            return
        answers = _ask([(key[0], missing[key]) for key in remaining], seconds)
        _read.update(zip(remaining, answers, strict=False))
        remaining = remaining[len(answers) :]
        if remaining:
            _read[remaining.pop(0)] = None


def _ask(texts: list[tuple[str, str]], seconds: float) -> list[Syntax]:
    """What a child says, up to where it ended."""
    request = [(language, _NO_CHARACTER.sub("\ufffd", text)) for language, text in texts]
    folders = _folders({language for language, _ in texts})
    try:
        output = subprocess.run(
            [sys.executable, "-I", "-S", *_NO_CACHE, "-c", _START, *folders],
            input=json.dumps(request).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
            timeout=seconds,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired as stopped:
        output = stopped.stdout or b""
    except OSError:
        return []
    lines = output.split(b"\n")[:-1]
    try:
        values = [msgspec.convert(json.loads(line), Syntax) for line in lines]
    except (ValueError, msgspec.ValidationError):
        return []
    return [_of(text, value) for (_, text), value in zip(texts, values, strict=False)]


def _of(text: str, value: Syntax) -> Syntax:
    """What was said of a text, with its bytes that are no characters in their places."""
    if not _NO_CHARACTER.search(text):
        return value
    exact = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    code, bare = (
        "".join(old if new == "\ufffd" else new for old, new in zip(text, read, strict=True))
        for read in (value.code, value.bare)
    )
    return msgspec.structs.replace(value, code=code, bare=bare, normal=exact)


def _folders(languages: set[str]) -> list[str]:
    """Where Hydra and the grammars are: the child needs nothing else of what is installed."""
    packages = {language.replace("tsx", "typescript") for language in languages}
    names = ("hydra", "tree_sitter", *(f"tree_sitter_{name}" for name in packages))
    specs = (find_spec(name) for name in names)
    origins = (spec.origin for spec in specs if spec is not None and spec.origin)
    return sorted({str(Path(origin).parent.parent) for origin in origins})
