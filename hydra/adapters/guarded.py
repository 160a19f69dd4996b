"""A third party's adapter in Hydra's hands: what it raises or makes up ends its lane, never a race.

It is marked, it counts as experimental whatever it says of itself, and its parser has only so much
time for a line: it runs in Hydra's own process, where a loop without an end would stop every lane.
"""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from hydra.adapters import said
from hydra.adapters.contract import (
    Act,
    Adapter,
    Call,
    CloseInput,
    Conversation,
    Descriptor,
    Finish,
    Origin,
    Parser,
    Talker,
    Write,
)
from hydra.adapters.shape import capable
from hydra.errors import KINDS, AgentError, Failure
from hydra.events import AGENT_KINDS, AgentEvent
from hydra.model import (
    BuiltCommand,
    CapabilitySet,
    DetectResult,
    ExitStatus,
    ProbeOutput,
    SignIn,
    SpawnRequest,
    Tier,
)

LONGEST = 5.0
"""Seconds of the processor that one call may take; a real parser needs a thousandth for a line."""


class Overrun(BaseException):
    """A call took longer. No `Exception`: whoever catches everything is not to catch this."""


@dataclass(frozen=True, slots=True)
class ThirdParty:
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
                held = self.inner.capabilities(flags)
        except (Exception, Overrun):
            return self.descriptor.capabilities
        return held if capable(held) else self.descriptor.capabilities

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """Its line. Raises `AgentError`, also where what it gives is no line."""
        try:
            with limited():
                line = self.inner.build_command(request, found)
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
        return [said.failed("StreamParseError", "adapter_failed", text)]

    def _called(self, method: Any, *given: Any) -> list[AgentEvent]:
        try:
            with limited():
                return _events(method(*given))
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
                wanted = tuple(cast(Conversation, self._inner).acts())
                _check_acts(wanted)
                return wanted
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


def _events(given: Any) -> list[AgentEvent]:
    _expect(isinstance(given, list), "it gives no list of events")
    for event in given:
        _expect(isinstance(event, AgentEvent), f"{type(event).__name__} is no event")
        _expect(event.kind in AGENT_KINDS, f"there are no events of kind {event.kind!r}")
        _expect(isinstance(event.sub, str), "an event's sub is no text")
        _expect(isinstance(event.data, dict), "an event's data is no table")
        json.dumps(event.data, allow_nan=False)
        _expect(all(isinstance(name, str) for name in event.data), "a field's name is no text")
        if event.kind == "failed":
            _check_failed(event.data)
    return list(given)


def _check_failed(data: Mapping[str, Any]) -> None:
    _expect(data.get("error") in KINDS, f"{data.get('error')!r} is none of the kinds of error")
    numbers = data.get("numbers", {})
    figures = isinstance(numbers, dict) and all(
        isinstance(one, int | float) for one in numbers.values()
    )
    _expect(figures, "numbers is no table of numbers")


def _check_line(line: Any, request: SpawnRequest) -> None:
    _expect(isinstance(line, BuiltCommand), "it gives no BuiltCommand")
    _texts(line.argv, "the line")
    _texts(line.dropped, "dropped")
    _texts(line.warnings, "warnings")
    _texts(line.fresh, "fresh")
    for pair in (*line.env, *line.expects, *line.dialogue):
        _texts(pair, "env, expects or dialogue")
        _expect(len(pair) == 2, "env, expects or dialogue are no pairs")
    _expect(isinstance(line.stdin, bytes | None), "stdin is no bytes")
    _expect(line.cwd == request.worktree, "it would not run in its worktree")


def _check_acts(wanted: tuple[Any, ...]) -> None:
    for act in wanted:
        match act:
            case Write(data):
                _expect(isinstance(data, bytes), "what it writes is no bytes")
            case Call(id, method, url, headers, body, _):
                _texts((id, method, url), "a call")
                for pair in headers:
                    _texts(pair, "a call's headers")
                    _expect(len(pair) == 2, "a call's headers are no pairs")
                _expect(isinstance(body, bytes), "a call's body is no bytes")
            case _:
                _expect(isinstance(act, CloseInput | Finish), f"{type(act).__name__} is no act")


def _texts(given: Any, what: str) -> None:
    good = isinstance(given, tuple) and all(
        isinstance(one, str) and "\0" not in one for one in given
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
