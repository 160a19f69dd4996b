"""Adapters that others have written: how they are found, loaded and looked at before their use.

One is found by an entry point of group `hydra.adapters`, whose name is the agent's key, or by
`module:NAME` in the user's own hydra.toml. A file in a repository is never one: what lies in the
work tree is not importable here, not even where Python itself would find it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TypeVar, cast

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import replace

from hydra.adapters import event_builders
from hydra.adapters.contract import (
    KEY,
    PROTOCOLS,
    Act,
    Adapter,
    ConfigFolder,
    Conversation,
    Descriptor,
    Parser,
    Talker,
)
from hydra.errors import KINDS, AgentError, UsageError
from hydra.records.agent import (
    BuiltCommand,
    CapabilitySet,
    DetectResult,
    Origin,
    ProbeOutput,
    SpawnRequest,
    Tier,
)
from hydra.records.events import AGENT_KINDS, AgentEvent
from hydra.records.outcome import ExitStatus

_T = TypeVar("_T")

GROUP = "hydra.adapters"
"""The entry points that are adapters: `name` is the agent's key, the object an instance."""

MEND = (
    "`hydra conformance --adapter {}` tells more; docs/how-to/adapters.md says what one has to be"
)


class PluginReference(NamedTuple):
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


def _work_tree(path: Path) -> tuple[Path, bool]:
    """The repository's top, and that all in it counts; outside of one, this very folder alone."""
    for folder in (path, *path.parents):
        if (folder / ".git").exists():
            return folder.resolve(), True
    return path.resolve(), False


def _inside(entry: str, top: tuple[Path, bool]) -> bool:
    folder = Path(entry or ".").resolve()
    return folder == top[0] or (top[1] and folder.is_relative_to(top[0]))


def installed(path: Sequence[str] | None = None) -> list[PluginReference]:
    """Every entry point of `GROUP`, by name; nothing of theirs is imported.

    Costs some 20 ms: `importlib.metadata` is loaded, and every distribution looked at.
    """
    from importlib.metadata import distributions

    references: dict[tuple[str, str], PluginReference] = {}
    for distribution in distributions(path=importable() if path is None else list(path)):
        if GROUP in (distribution.read_text("entry_points.txt") or ""):
            for entry in distribution.entry_points:
                if entry.group == GROUP:
                    # A distribution that is there twice is taken from where Python finds it first.
                    name = distribution.metadata["Name"] or "?"
                    spec = re.sub(r"\s|\[.*", "", entry.value)  # extras are no part of the name
                    origin = Origin(spec, name, distribution.version or None)
                    key = (entry.name, re.sub(r"[-_.]+", "-", name).lower())
                    references.setdefault(
                        key, PluginReference(entry.name, origin, f"an entry point of {origin}")
                    )
    return sorted(references.values(), key=lambda named: (named.key, named.where))


def load(named: PluginReference, path: Sequence[str] | None = None) -> Adapter:
    """The adapter as its author wrote it. Raises `UsageError` where it cannot be one.

    `path` takes the place of `importable()`: where a developer tries an adapter in the making, the
    current folder is on it.
    """
    module, _, name = named.origin.spec.partition(":")
    hint = MEND.format(named.origin.spec)
    try:
        # A line that it prints is not to stand in somebody's --json.
        with _path(importable() if path is None else path), redirect_stdout(sys.stderr):
            module_type = import_module(module)
            for part in name.split("."):
                module_type = getattr(module_type, part)
    except ModuleNotFoundError as error:
        hint = f"install {error.name}, or correct {named.where}"
        raise _unusable(named, f"there is no module {error.name} to import", hint) from error
    except AttributeError as error:
        raise _unusable(named, f"{error}", f"name an object of {module}") from error
    except (Exception, SystemExit) as error:
        what = f"importing it raises {type(error).__name__}: {_line(error)}"
        raise _unusable(named, what, hint) from error
    return checked(module_type, named)


def checked(document: Any, named: PluginReference) -> Adapter:
    """`document`, if it has the shape of an adapter. Raises `UsageError`."""
    hint = MEND.format(named.origin.spec)
    try:
        wrong = problem(document, named.key)
    except Exception as error:
        wrong = f"its descriptor raises {type(error).__name__}: {_line(error)}"
    if wrong:
        raise _unusable(named, wrong, hint)
    adapter: Adapter = document
    return adapter


def from_words(spec: str) -> Adapter:
    """The adapter that a command line names as `module:NAME`. Raises `UsageError`.

    Whoever types that tries one in the making: the current folder is importable from then on.
    """
    if not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", spec, re.ASCII):
        raise UsageError(f"{spec!r} names no adapter", hint="write it as my_pkg:ADAPTER")
    text = str(Path.cwd())
    if text not in sys.path:
        sys.path.insert(0, text)
    return load(PluginReference("", Origin(spec), "--adapter"), sys.path)


def _unusable(named: PluginReference, what: str, hint: str) -> UsageError:
    called = f"the adapter {named.key} " if named.key else "the adapter "
    return UsageError(f"{called}({named.origin.spec}) cannot be used: {what}", hint=hint)


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else f"{text[:199]}…"


@contextmanager
def _path(names: Sequence[str]) -> Iterator[None]:
    before = sys.path[:]
    sys.path[:] = names
    try:
        yield
    finally:
        sys.path[:] = before


def beside(spec: str) -> Path:
    """`fixtures/` beside the module, which is imported by now."""
    module = sys.modules[spec.partition(":")[0]]
    return Path(module.__file__ or ".").resolve().parent / "fixtures"


# ---- A third party's adapter in Hydra's hands: what it raises or makes up ends its lane, never a
# race. It is marked, and counts as experimental whatever it says of itself.


class ThirdParty(Struct, frozen=True):
    """The adapter, marked. Its methods raise what the contract allows, and nothing else."""

    inner: Adapter
    descriptor: Descriptor

    def key(self) -> str:
        """The name users type."""
        return self.descriptor.key

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """What it found; where it fails, that is why this agent cannot race."""
        try:
            result = _whole(self.inner.detect(binary, probes), DetectResult)
        except Exception as bug:
            failure = self._broken("detect()", bug).failure
            return DetectResult(adapter=self.key(), binary=Path(binary), error=failure)
        return replace(result, adapter=self.key(), binary=Path(binary))

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        """The same; the descriptor's own where it fails."""
        try:
            return _whole(self.inner.capabilities(flags), CapabilitySet)
        except Exception:
            return self.descriptor.capabilities

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """Its line. Raises `AgentError`, also where what it gives is no line."""
        try:
            line = _whole(self.inner.build_command(request, result), BuiltCommand)
            if any("\0" in text for pair in (line.argv, *line.env) for text in pair):
                raise ValueError("there is a NUL in its line")
            if line.cwd != request.worktree:
                raise ValueError("it would not run in its worktree")
        except AgentError:
            raise
        except Exception as bug:
            raise self._broken("build_command()", bug) from bug
        return line

    def parser(self) -> Parser:
        """A fresh parser, guarded."""
        try:
            return GuardedParser(self.inner.parser(), self._name())
        except Exception as bug:
            return GuardedParser(None, self._name(), _why(bug))

    def conversation(self, command: BuiltCommand) -> Conversation:
        """A fresh conversation, guarded."""
        try:
            inner = cast(Talker, self.inner).conversation(command)
            return GuardedConversation(inner, self._name())
        except Exception as bug:
            return GuardedConversation(None, self._name(), _why(bug))

    def _name(self) -> str:
        return f"the adapter {self.key()} (of a third party: {self.descriptor.third_party})"

    def _broken(self, what: str, bug: Exception) -> AgentError:
        origin = self.descriptor.third_party
        return AgentError(
            f"{self._name()} failed in {what}: {_why(bug)}",
            adapter=self.key(),
            hint=f"`hydra conformance --adapter {origin.spec if origin else ''}` shows it; "
            "tell its author",
            reason="adapter_failed",
        )


def guard(adapter: Adapter, origin: Origin) -> ThirdParty:
    """`adapter`, which `load` gave, as Hydra uses it."""
    descriptor = _whole(adapter.descriptor, Descriptor)
    return ThirdParty(adapter, replace(descriptor, tier=Tier.EXPERIMENTAL, third_party=origin))


class GuardedParser:
    """Its parser: gives well-formed events or raises, as `race/output.py` expects it.

    One that failed at the end has an ending all the same: the lane then has not completed, whatever
    was said before.
    """

    def __init__(self, inner: Parser | None, name: str, why: str = "") -> None:
        self._inner = inner
        self._name = name
        self._why = why

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line. Raises what it raises, and `ValueError` for what is no event."""
        return [] if self._inner is None else _events(self._inner.parse_line(line))

    def parse_raw(self, chunk: bytes) -> list[AgentEvent]:
        """Plain text, the same way."""
        return [] if self._inner is None else _events(self._inner.parse_raw(chunk))

    def end(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """What only the end tells; a failure of the lane where the parser itself failed. Never
        raises."""
        if self._inner is not None:
            try:
                return _events(self._inner.end(exit, files))
            except Exception as bug:
                self._why = _why(bug)
        text = f"{self._name} failed on what the agent wrote: {self._why}"
        return [event_builders.failed("StreamParseError", "adapter_failed", text)]


class GuardedConversation(GuardedParser):
    """The same for one that answers."""

    def acts(self) -> Sequence[Act]:
        """What is to be done. Raises what it raises, and `ValueError` for what is no act."""
        if self._inner is None:
            return ()
        acts = cast(Conversation, self._inner).acts()
        if wrong := [act for act in acts if not isinstance(act, Act)]:
            raise ValueError(f"{type(wrong[0]).__name__} is no act")
        return [_whole(act, type(act)) for act in acts]


def _events(document: Any) -> list[AgentEvent]:
    events = _whole(document, list[AgentEvent])
    for event in events:
        json.dumps(event.data, allow_nan=False)
        if event.kind not in AGENT_KINDS:
            raise ValueError(f"there are no events of kind {event.kind!r}")
        if event.kind == "failed":
            _whole(event.data.get("numbers", {}), dict[str, float])
            if event.data.get("error") not in KINDS:
                raise ValueError(f"{event.data.get('error')!r} is none of the kinds of error")
    return events


def _whole(value: Any, kind: type[_T]) -> _T:
    """`value` as what it has to be, each field of it of its type. Raises `ValueError`."""
    try:
        plain = to_builtins(value, builtin_types=(bytes,), enc_hook=_plain)
        return convert(plain, kind, dec_hook=lambda cls, of: Path(of) if cls is Path else of)
    except (ValidationError, TypeError) as error:
        raise ValueError(f"it gives no {kind.__name__}: {error}") from error


def _plain(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"there is a {type(value).__name__} in it")


def _why(bug: Exception) -> str:
    text = " ".join(str(bug).split())[:300]
    return text if text and isinstance(bug, ValueError) else f"{type(bug).__name__}: {text}"


# ---- Whether an object that others have written is an adapter at all, before anything relies on
# it. Only what Hydra would stumble over: what an adapter should do is the contract suite's
# (`hydra conformance`).

_CALLED = ("key", "detect", "capabilities", "build_command", "parser")


def problem(document: Any, key: str) -> str:
    """What keeps `document` from being an adapter, in words; "" for nothing.

    `key` is the name that it was found by, "" for any. May raise what the object's own code does.
    """
    if isinstance(document, type):
        return "it is a class: name an instance of it"
    lacking = [name for name in _CALLED if not callable(getattr(document, name, None))]
    descriptor = getattr(document, "descriptor", None)
    if lacking or not isinstance(descriptor, Descriptor):
        missing = [*lacking, *([] if isinstance(descriptor, Descriptor) else ["descriptor"])]
        return f"it is no adapter: it has no {', '.join(missing)}"
    if document.key() != descriptor.key:
        return f"its key() gives {document.key()!r} and its descriptor {descriptor.key!r}"
    if key and descriptor.key != key:
        return f"its own key is {descriptor.key!r}: it has to be found by that name"
    try:
        wrong = next(faults(_whole(descriptor, Descriptor)), "")
    except ValueError as error:
        wrong = str(error)
    return f"descriptor: {wrong}" if wrong else ""


def faults(descriptor: Descriptor) -> Iterator[str]:
    """What in a descriptor Hydra would stumble over."""
    if not KEY.fullmatch(descriptor.key):
        yield f"key {descriptor.key!r} is not of a-z, 0-9 and -, at most 40, or begins like `2x`"
    if descriptor.sandbox not in ("hard", "soft"):
        yield f"sandbox is {descriptor.sandbox!r}, neither hard nor soft"
    if descriptor.protocol not in PROTOCOLS:
        yield f"protocol is {descriptor.protocol!r}, not one of {', '.join(PROTOCOLS)}"
    if not descriptor.binaries:
        yield "binaries is empty, so no program can be found"
    for name in (*descriptor.binaries, *descriptor.generic_binaries):
        if PurePath(name).name != name or name[:1] in ("", "-"):
            yield f"binaries has {name!r}, which is no plain file name"
    if any(not probe.args for probe in descriptor.probes):
        yield "probes has one without arguments"
    more = (name for names in descriptor.environment_if.values() for name in names)
    for name in (*descriptor.environment, *more):
        # It would take every key of the user's along, or lead git out of the lane.
        if name.rstrip("*") == "" or name.upper().startswith("GIT_"):
            yield f"environment has {name!r}, which no agent may be given"
    for folder in (descriptor.config, *descriptor.folders):
        if folder is not None:
            yield from _misplaced(folder)


def _misplaced(folder: ConfigFolder) -> Iterator[str]:
    for name in (folder.default, *folder.credentials, *folder.copied, *folder.home_files):
        path = PurePath(name)
        if not name or path.is_absolute() or ".." in path.parts:
            yield f"config has {name!r}, which does not stay inside HOME"
    for fields in folder.renewals:
        if fields.file not in folder.credentials:
            yield f"config.renewals has {fields.file!r}, which is no file of credentials"
