"""Which Python a shell command runs its tests by, as far as its words say."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from hydra.config.check_specs import split_folders

Interpreter = tuple[str, ...]
"""A Python by its path, with what the first line of its script gives it."""

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
_ASSIGNED = re.compile(r"\w+=")
_BETWEEN = frozenset(";&|()\n")
_WRAPPERS = frozenset(("env", "exec", "time", "command", "nohup", "nice", "xvfb-run"))
_HEAD = 4096


def interpreters(command: str, folder: Path, search: str) -> tuple[Interpreter, ...]:
    """Of each program that `command` starts in `folder`, where that is Python or a script of it;
    for one that is neither (make, tox), those that `search`, a PATH, has. Nothing is run."""
    programs = list(_programs(command))
    each = (_of_program(terms, folder, search) for terms in programs)
    return tuple(dict.fromkeys(chain.from_iterable(each)))


def environment_of(command: str, tops: Sequence[Path]) -> str:
    """The virtual environment whose program `command` starts, from the tree's top; "" where it
    starts none of any. `tops` are where it may be."""
    folders, inner = split_folders(command)
    for terms in _programs(inner):
        environment = os.path.normpath(Path(*folders, terms[0]).parent.parent)
        is_program = Path(terms[0]).parent.name == "bin"
        if is_program and any((top / environment / "pyvenv.cfg").is_file() for top in tops):
            return environment
    return ""


def on_path(search: str) -> tuple[Interpreter, ...]:
    """What `python` and `python3` are there."""
    names = (shutil.which(name, path=search) for name in ("python", "python3"))
    return tuple(dict.fromkeys((name,) for name in names if name))


def script_interpreter(program: str) -> Interpreter:
    """Of a script of Python's, by its first lines; () where it is none."""
    try:
        with Path(program).open("rb") as file:
            head = os.fsdecode(file.read(_HEAD))
    except OSError:
        return ()
    if not head.startswith("#!"):
        return ()
    first, _, rest = head[2:].partition("\n")
    terms = _started(first.split())
    # pip's own, where the interpreter's path is too long for the kernel or has blanks.
    long = re.match(r"'''exec' (\"[^\"]+\"|\S+)", rest)
    if long and terms and Path(terms[0]).name == "sh":
        terms = [long[1].strip('"')]
    return tuple(terms) if terms and _is_python(terms[0]) else ()


def _programs(command: str) -> Iterator[list[str]]:
    """The words of each simple command, from its program on."""
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    terms: list[str] = []
    try:
        parts = [*lexer, ";"]
    except ValueError:  # a quote that is not closed: the shell will say so
        return
    for part in parts:
        if set(part) <= _BETWEEN:
            if started := _started(terms):
                yield started
            terms = []
        else:
            terms.append(part)


def _started(terms: list[str]) -> list[str]:
    """Behind assignments, and programs that start others."""
    rest = list(terms)
    while rest and (_ASSIGNED.match(rest[0]) or Path(rest[0]).name in _WRAPPERS):
        rest.pop(0)
        while rest and rest[0].startswith("-"):
            rest.pop(0)
    return rest


def _of_program(terms: list[str], folder: Path, search: str) -> Iterator[Interpreter]:
    program = terms[0]
    if program == "cd":
        return
    path = str(folder / program) if "/" in program else shutil.which(program, path=search)
    if not path or not Path(path).exists():
        return  # it will not run at all, or is a word of the shell
    if _is_python(path):
        yield (path,)
    elif script := script_interpreter(path):
        program = shutil.which(script[0], path=search) or script[0]
        yield (program, *script[1:])
    else:
        yield from on_path(search)


def _is_python(path: str) -> bool:
    return _PYTHON.fullmatch(Path(path).name) is not None
