"""Adapters that others have written: how they are found, loaded and looked at before their use.

One is found by an entry point of group `hydra.adapters`, whose name is the agent's key, or by
`module:NAME` in the user's own hydra.toml. A file in a repository is never one: what lies in the
work tree is not importable here, not even where Python itself would find it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from hydra.adapters.contract import Adapter, Origin
from hydra.errors import UsageError

GROUP = "hydra.adapters"
"""The entry points that are adapters: `name` is the agent's key, the object an instance."""

KEY = re.compile(r"(?!\d+x)[a-z0-9][a-z0-9-]{0,39}")
"""What an agent can be called: safe as a ref and a file name, and not `2xclaude`."""

MEND = "`hydra conformance --adapter {}` tells more; docs/third-party.md says what one has to be"


class Named(NamedTuple):
    """An adapter that was found and not loaded yet. `where` says in words what names it."""

    key: str
    origin: Origin
    where: str


def importable() -> list[str]:
    """`sys.path` without the work tree: only what was installed in there stays (a `.venv`).

    `python -m` and a PYTHONPATH of the user's put folders in front of the standard library; those
    that lie in the current repository are left out, for its files are a stranger's.
    """
    top = _work_tree(Path.cwd())
    installed = str(Path(re.__file__).parent.parent)
    if installed not in sys.path:  # a frozen Python: nothing tells the two apart
        return [entry for entry in sys.path if not _inside(entry, top)]
    border = sys.path.index(installed)
    return [
        entry for place, entry in enumerate(sys.path) if place >= border or not _inside(entry, top)
    ]


def _work_tree(here: Path) -> tuple[Path, bool]:
    """The repository's top, and that all in it counts; outside of one, this very folder alone."""
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return folder.resolve(), True
    return here.resolve(), False


def _inside(entry: str, top: tuple[Path, bool]) -> bool:
    folder = Path(entry or ".").resolve()
    return folder == top[0] or (top[1] and folder.is_relative_to(top[0]))


def installed(path: Sequence[str] | None = None) -> list[Named]:
    """Every entry point of `GROUP`, by name; nothing of theirs is imported.

    Costs some 20 ms: `importlib.metadata` is loaded, and every distribution looked at.
    """
    from importlib.metadata import distributions

    found: dict[tuple[str, str], Named] = {}
    for one in distributions(path=importable() if path is None else list(path)):
        if GROUP in (one.read_text("entry_points.txt") or ""):
            for entry in one.entry_points:
                if entry.group == GROUP:
                    # A distribution that is there twice is taken from where Python finds it first.
                    name = one.metadata["Name"] or "?"
                    spec = re.sub(r"\s|\[.*", "", entry.value)  # extras are no part of the name
                    origin = Origin(spec, name, one.version or "")
                    key = (entry.name, re.sub(r"[-_.]+", "-", name).lower())
                    found.setdefault(key, Named(entry.name, origin, f"an entry point of {origin}"))
    return sorted(found.values(), key=lambda named: (named.key, named.where))


def load(named: Named, path: Sequence[str] | None = None) -> Adapter:
    """The adapter as its author wrote it. Raises `UsageError` where it cannot be one.

    `path` takes the place of `importable()`: where a developer tries an adapter in the making, the
    current folder is on it.
    """
    module, _, name = named.origin.spec.partition(":")
    hint = MEND.format(named.origin.spec)
    try:
        # A line that it prints is not to stand in somebody's --json.
        with _path(importable() if path is None else path), redirect_stdout(sys.stderr):
            found = import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
    except ModuleNotFoundError as error:
        hint = f"install {error.name}, or correct {named.where}"
        raise _unusable(named, f"there is no module {error.name} to import", hint) from error
    except AttributeError as error:
        raise _unusable(named, f"{error}", f"name an object of {module}") from error
    except (Exception, SystemExit) as error:
        what = f"importing it raises {type(error).__name__}: {_line(error)}"
        raise _unusable(named, what, hint) from error
    return checked(found, named)


def checked(found: Any, named: Named) -> Adapter:
    """`found`, if it has the shape of an adapter. Raises `UsageError`."""
    from hydra.adapters.shape import problem  # not before: few have any of a third party

    hint = MEND.format(named.origin.spec)
    try:
        wrong = problem(found, named.key)
    except Exception as error:
        wrong = f"its descriptor raises {type(error).__name__}: {_line(error)}"
    if wrong:
        raise _unusable(named, wrong, hint)
    adapter: Adapter = found
    return adapter


def from_words(spec: str) -> Adapter:
    """The adapter that a command line names as `module:NAME`. Raises `UsageError`.

    Whoever types that tries one in the making: the current folder is importable from then on.
    """
    if not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", spec, re.ASCII):
        raise UsageError(f"{spec!r} names no adapter", hint="write it as my_pkg:ADAPTER")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return load(Named("", Origin(spec), "--adapter"), sys.path)


def _unusable(named: Named, what: str, hint: str) -> UsageError:
    called = f"the adapter {named.key} " if named.key else "the adapter "
    return UsageError(f"{called}({named.origin.spec}) cannot be used: {what}", hint=hint)


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else f"{text[:199]}…"


@contextmanager
def _path(wanted: Sequence[str]) -> Iterator[None]:
    before = sys.path[:]
    sys.path[:] = wanted
    try:
        yield
    finally:
        sys.path[:] = before
