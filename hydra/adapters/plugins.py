"""Adapters that others have written: how they are found, loaded and looked at before their use.

One is found by an entry point of group `hydra.adapters`, whose name is the agent's key, or by
`module:NAME` in the user's own hydra.toml. A file in a repository is never one: what lies in the
work tree is not importable here, not even where Python itself would find it.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, NamedTuple, cast

from msgspec import Struct
from msgspec.structs import replace

from hydra.adapters import event_builders
from hydra.adapters.contract import (
    KEY,
    PROTOCOLS,
    Act,
    Adapter,
    CloseInput,
    ConfigFolder,
    Conversation,
    Descriptor,
    Finish,
    Origin,
    Parser,
    Probe,
    ServerCall,
    Talker,
    TokenFields,
    Write,
)
from hydra.errors import KINDS, AgentError, Failure, UsageError
from hydra.records.agent import (
    BuiltCommand,
    Capability,
    CapabilitySet,
    Confidence,
    DetectResult,
    ProbeOutput,
    SignIn,
    SpawnRequest,
    Tier,
)
from hydra.records.events import AGENT_KINDS, AgentEvent
from hydra.records.outcome import ExitStatus

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
# race.
#
# It is marked, it counts as experimental whatever it says of itself, and its parser has only so
# much time for a line: it runs in Hydra's own process, where a loop without an end would stop every
# lane.

LONGEST = 5.0
"""Seconds of the processor that one call may take; a real parser needs a thousandth for a line."""


class Overrun(BaseException):
    """A call took longer. No `Exception`: whoever catches everything is not to catch this."""


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
            with limited():
                result = self.inner.detect(binary, probes)
            _expect(isinstance(result, DetectResult), "detect() gives no DetectResult")
            _texts(result.warnings, "warnings")
            _expect(isinstance(result.version, str), "its version is no text")
            _expect(isinstance(result.error, Failure | None), "its error is no Failure")
            _expect(isinstance(result.flags, frozenset), "its flags are no frozenset")
            _expect(isinstance(result.sign_in, SignIn), "its sign_in is no SignIn")
            _expect(isinstance(result.sign_in_detail, str), "its sign_in_detail is no text")
            _expect(capable(result.capabilities), "its capabilities are no CapabilitySet")
        except (Exception, Overrun) as bug:
            failure = self._broken("detect()", bug).failure
            return DetectResult(adapter=self.key(), binary=Path(binary), error=failure)
        return replace(result, adapter=self.key(), binary=Path(binary))

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        """The same; the descriptor's own where it fails."""
        try:
            with limited():
                capability_set = self.inner.capabilities(flags)
        except (Exception, Overrun):
            return self.descriptor.capabilities
        return capability_set if capable(capability_set) else self.descriptor.capabilities

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """Its line. Raises `AgentError`, also where what it gives is no line."""
        try:
            with limited():
                line = self.inner.build_command(request, result)
            _check_line(line, request)
        except AgentError:
            raise
        except (Exception, Overrun) as bug:
            raise self._broken("build_command()", bug) from bug
        return line

    def parser(self) -> Parser:
        """A fresh parser, guarded."""
        try:
            with limited():
                return GuardedParser(self.inner.parser(), self._name())
        except (Exception, Overrun) as bug:
            return GuardedParser(None, self._name(), _why(bug))

    def conversation(self, command: BuiltCommand) -> Conversation:
        """A fresh conversation, guarded."""
        try:
            with limited():
                inner = cast(Talker, self.inner).conversation(command)
                return GuardedConversation(inner, self._name())
        except (Exception, Overrun) as bug:
            return GuardedConversation(None, self._name(), _why(bug))

    def _name(self) -> str:
        return f"the adapter {self.key()} (of a third party: {self.descriptor.third_party})"

    def _broken(self, what: str, bug: BaseException) -> AgentError:
        origin = self.descriptor.third_party
        return AgentError(
            f"{self._name()} failed in {what}: {_why(bug)}",
            adapter=self.key(),
            hint=f"`hydra conformance --adapter {origin.spec if origin else ''}` shows it; "
            "tell its author",
            reason="adapter_failed",
        )


def guard(adapter: Adapter, origin: Origin) -> ThirdParty:
    """`adapter`, which `thirdparty.load` gave, as Hydra uses it."""
    descriptor = replace(adapter.descriptor, tier=Tier.EXPERIMENTAL, third_party=origin)
    return ThirdParty(adapter, descriptor)


class GuardedParser:
    """Its parser: gives well-formed events or raises, as `reading.py` expects it.

    After a call that took too long it is not called again. A parser that failed at the end has an
    ending all the same: the lane then has not completed, whatever was said before.
    """

    def __init__(self, inner: Parser | None, name: str, why: str = "") -> None:
        self._inner = inner
        self._name = name
        self._dead = why

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line. Raises what it raises, and `ValueError` for what is no event."""
        return [] if self._inner is None else self._called(self._inner.parse_line, line)

    def parse_raw(self, chunk: bytes) -> list[AgentEvent]:
        """Plain text, the same way."""
        return [] if self._inner is None else self._called(self._inner.parse_raw, chunk)

    def end(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """What only the end tells; a failure of the lane where the parser itself failed. Never
        raises."""
        if self._inner is not None:
            try:
                return self._called(self._inner.end, exit, files)
            except Exception as bug:
                self._dead = self._dead or _why(bug)
        text = f"{self._name} failed on what the agent wrote: {self._dead}"
        return [event_builders.failed("StreamParseError", "adapter_failed", text)]

    def _called(self, method: Any, *documents: Any) -> list[AgentEvent]:
        try:
            with limited():
                return _events(method(*documents))
        except Overrun as bug:
            self._inner, self._dead = None, _why(bug)
            raise ValueError(self._dead) from bug


class GuardedConversation(GuardedParser):
    """The same for one that answers."""

    def acts(self) -> Sequence[Act]:
        """What is to be done. Raises what it raises, and `ValueError` for what is no act."""
        if self._inner is None:
            return ()
        try:
            with limited():
                values = tuple(cast(Conversation, self._inner).acts())
                _check_acts(values)
                return values
        except Overrun as bug:
            self._inner, self._dead = None, _why(bug)
            raise ValueError(self._dead) from bug


@contextmanager
def limited() -> Iterator[None]:
    """Raises `Overrun` in a body that has used up `LONGEST` seconds of the processor.

    Of the processor's time and not the clock's: a machine that was asleep has lost nothing. Only
    in the main thread, where a race's parsers run; elsewhere there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    armed = True

    def over(_number: int, _frame: object) -> None:
        if armed:
            raise Overrun

    before = signal.signal(signal.SIGVTALRM, over)
    # Again and again: the first may come to where it is dropped.
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST, 1.0)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _events(document: Any) -> list[AgentEvent]:
    _expect(isinstance(document, list), "it gives no list of events")
    for event in document:
        _expect(isinstance(event, AgentEvent), f"{type(event).__name__} is no event")
        _expect(event.kind in AGENT_KINDS, f"there are no events of kind {event.kind!r}")
        _expect(isinstance(event.sub, str), "an event's sub is no text")
        _expect(isinstance(event.data, dict), "an event's data is no table")
        json.dumps(event.data, allow_nan=False)
        _expect(all(isinstance(name, str) for name in event.data), "a field's name is no text")
        if event.kind == "failed":
            _check_failed(event.data)
    return list(document)


def _check_failed(data: Mapping[str, Any]) -> None:
    _expect(data.get("error") in KINDS, f"{data.get('error')!r} is none of the kinds of error")
    numbers = data.get("numbers", {})
    figures = isinstance(numbers, dict) and all(
        isinstance(number, int | float) for number in numbers.values()
    )
    _expect(figures, "numbers is no table of numbers")


def _check_line(line: Any, request: SpawnRequest) -> None:
    _expect(isinstance(line, BuiltCommand), "it gives no BuiltCommand")
    _texts(line.argv, "the line")
    _texts(line.dropped, "dropped")
    _texts(line.warnings, "warnings")
    _texts(line.per_attempt_secrets, "per_attempt_secrets")
    for pair in (*line.env, *line.expected_settings, *line.session_params):
        _texts(pair, "env, expected_settings or session_params")
        _expect(len(pair) == 2, "env, expected_settings or session_params are no pairs")
    _expect(isinstance(line.stdin, bytes | None), "stdin is no bytes")
    _expect(line.cwd == request.worktree, "it would not run in its worktree")


def _check_acts(documents: tuple[Any, ...]) -> None:
    for act in documents:
        match act:
            case Write(data):
                _expect(isinstance(data, bytes), "what it writes is no bytes")
            case ServerCall(id, method, url, headers, body, _):
                _texts((id, method, url), "a call")
                for pair in headers:
                    _texts(pair, "a call's headers")
                    _expect(len(pair) == 2, "a call's headers are no pairs")
                _expect(isinstance(body, bytes), "a call's body is no bytes")
            case _:
                _expect(isinstance(act, CloseInput | Finish), f"{type(act).__name__} is no act")


def _texts(documents: Any, what: str) -> None:
    good = isinstance(documents, tuple) and all(
        isinstance(name, str) and "\0" not in name for name in documents
    )
    _expect(good, f"{what}: no tuple of texts")


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _why(bug: BaseException) -> str:
    if isinstance(bug, Overrun):
        return f"one call took over {LONGEST:g} s of the processor"
    text = " ".join(str(bug).split())[:300]
    return (
        f"{type(bug).__name__}: {text}" if not isinstance(bug, ValueError) else text or "ValueError"
    )


# ---- Whether an object that others have written is an adapter at all, before anything relies on
# it.
#
# Only what Hydra would stumble over: what an adapter should do is the contract suite's
# (`hydra conformance`).

_CALLED = ("key", "detect", "capabilities", "build_command", "parser")
_STRINGS = (
    "label",
    "homepage",
    "protocol",
    "stream_format",
    "install_hint",
    "sign_in_hint",
    "minimum_version",
)
_LISTS = (
    "binaries",
    "generic_binaries",
    "side_files",
    "environment",
    "secret_environment",
    "sign_in_environment",
    "instructions",
)


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
    return next(_wrong(descriptor), "")


def _wrong(document: Any) -> Iterator[str]:
    if not (isinstance(document.key, str) and KEY.fullmatch(document.key)):
        yield f"its key {document.key!r} is not of a-z, 0-9 and -, at most 40, or begins like `2x`"
    for name in _STRINGS:
        if not isinstance(getattr(document, name), str):
            yield f"descriptor: {name} is no text"
    for name in _LISTS:
        value = getattr(document, name)
        if not (isinstance(value, tuple) and all(isinstance(row, str) for row in value)):
            yield f"descriptor: {name} is no tuple of texts"
    if not isinstance(document.tier, Tier) or document.sandbox not in ("hard", "soft"):
        yield "descriptor: tier is no Tier, or sandbox neither hard nor soft"
    if document.protocol not in PROTOCOLS:
        yield f"descriptor: protocol is {document.protocol!r}, not one of {', '.join(PROTOCOLS)}"
    if not capable(document.capabilities):
        yield "descriptor: capabilities is no CapabilitySet of Capability"
    yield from _programs(document)
    yield from _probes(document)
    yield from _environment(document)
    yield from _tables(document)
    if document.config is not None:
        yield from _config(document.config)


def capable(capability_set: Any) -> bool:
    """Whether it is a whole set of capabilities, which can be shown."""
    return isinstance(capability_set, CapabilitySet) and all(
        isinstance(capability, Capability)
        and isinstance(capability.confidence, Confidence)
        and isinstance(capability.seen_in, str)
        and isinstance(capability.note, str)
        for _, capability in capability_set.items()
    )


def _programs(document: Any) -> Iterator[str]:
    if not document.binaries:
        yield "descriptor: binaries is empty, so no program can be found"
    for name in (*document.binaries, *document.generic_binaries):
        if not name or PurePath(name).name != name:
            yield f"descriptor: binaries has {name!r}, which is no plain file name"


def _probes(document: Any) -> Iterator[str]:
    for probe in document.probes if isinstance(document.probes, tuple) else (None,):
        if not isinstance(probe, Probe) or not probe.args:
            yield "descriptor: probes is no tuple of Probe with arguments"


def _environment(document: Any) -> Iterator[str]:
    more = [name for names in document.environment_if.values() for name in names]
    for name in (*document.environment, *more):
        # It would take every key of the user's along, or lead git out of the lane.
        if name.rstrip("*") == "" or name.upper().startswith("GIT_"):
            yield f"descriptor: environment has {name!r}, which no agent may be given"


def _tables(document: Any) -> Iterator[str]:
    for code, data in document.exit_codes.items():
        if not (isinstance(code, int) and isinstance(data, str)):
            yield "descriptor: exit_codes is no table of numbers and texts"
    for version, data in document.broken_versions.items():
        if not (isinstance(version, str) and isinstance(data, str)):
            yield "descriptor: broken_versions is no table of texts"


def _config(folder: Any) -> Iterator[str]:
    if not isinstance(folder, ConfigFolder):
        yield "descriptor: config is no ConfigFolder"
        return
    for name in (folder.default, *folder.credentials, *folder.copied, *folder.home_files):
        path = PurePath(name)
        if not name or path.is_absolute() or ".." in path.parts:
            yield f"descriptor: config has {name!r}, which does not stay inside HOME"
    for fields in folder.renewals:
        if not isinstance(fields, TokenFields) or fields.file not in folder.credentials:
            yield "descriptor: config.renewals is no tuple of TokenFields for files of credentials"
