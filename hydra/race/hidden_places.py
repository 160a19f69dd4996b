"""Tells once a run of what a command seems to have failed for lack of: places of the machine that
are hidden, and what the checkout has and a lane has not."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import trio

from hydra import paths
from hydra.adapters.environment import SHARED, matches
from hydra.checks.lack import VARIABLE, Lack, of_shell
from hydra.checks.lacks import lacks
from hydra.git.background import Later
from hydra.log import get_logger
from hydra.process.sandbox.editable import EditableModule, hidden_modules
from hydra.process.sandbox.hidden_output import (
    HIDDEN,
    MOST_TEXT,
    NO_LIBRARY,
    NO_PROGRAM,
    installation_of,
    missing_places,
)
from hydra.process.sandbox.view import View, is_system
from hydra.race.command_context import RunContext
from hydra.records.codec import shaped
from hydra.records.events import Raw
from hydra.records.plan import RacePlan
from hydra.workspace.surplus import Surplus, with_files

_log = get_logger(__name__)

NOTICE_TIMEOUT = 5.0
"""Seconds that a run waits at its end for what commands lack: a dead disk never says it."""

Look = Callable[[], list[str]]

_MOST = 5
"""Sentences of a run: whatever has more is told by its first."""

_PASSED = frozenset(("passed", "no_tests", "skipped", "interrupted", "not_run"))


def list_surplus(around: RunContext, plan: RacePlan, folder: str) -> Later[Surplus]:
    """What the checkout has and the lanes of `plan` have not, listed in a thread from now on, for
    who types options in `folder`. No agent's key is among the variables."""
    passed, environ = around.config.checks.environment, around.environ
    patterns = [*SHARED, *passed, "HYDRA_*", "GIT_*"]
    for adapter in around.adapters.values():
        patterns += adapter.descriptor.secret_environment
    surplus = Surplus(
        top=around.repository.root,
        shown=(*plan.dependencies, *plan.copies),
        variables=frozenset(name for name in environ if not matches(name, patterns)),
        passed=passed,
        folder=folder,
        shares=plan.confined,
        settings=str(paths.user_config_file(environ)),
        search=environ.get("PATH", ""),
    )
    return Later(partial(with_files, surplus, around.repository))


@dataclass
class HiddenPlaces:
    """What of the events of one run is told of its `view`.

    `own` are folders of which nothing counts: the checkout, Hydra's state. `settings_file` is the
    user's own hydra.toml and `run_folder` where the paths in events begin. Where nothing
    confines, nothing is hidden.
    """

    view: Callable[[], View]
    own: tuple[Path, ...]
    settings_file: Path
    run_folder: Path
    surplus: Later[Surplus]
    confined: bool = True
    sentences: list[str] = field(default_factory=list)
    _named: set[object] = field(default_factory=set)
    _variables: tuple[str, ...] = ()

    @classmethod
    def of(cls, around: RunContext, surplus: Later[Surplus], *, confined: bool) -> HiddenPlaces:
        """Those of one run."""
        own = (around.repository.root, around.state)
        file = paths.user_config_file(around.environ)
        return cls(around.view, own, file, around.run_folder, surplus, confined)

    @staticmethod
    def concerns(kind: str, data: Mapping[str, object]) -> bool:
        """Whether there may be a sentence to an event: it tells of a command's end."""
        return kind in _WHO and not (kind == "tool_result" and data.get("ok"))

    @staticmethod
    @asynccontextmanager
    async def beside(tell: Callable[[str], None]) -> AsyncIterator[trio.MemorySendChannel[Look]]:
        """Takes looks (`notice`) while it is open, and tells what each finds. In a thread: what
        commands name may be anywhere."""
        looks, waiting = trio.open_memory_channel[Look](math.inf)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_look, waiting, tell)
            yield looks
            looks.close()
            nursery.cancel_scope.deadline = trio.current_time() + NOTICE_TIMEOUT

    def notice(
        self, kind: str, data: Mapping[str, object], *, lane: str = "", raw: Raw | None = None
    ) -> list[str]:
        """The sentences that an event gives, none that was given before. It reads one piece of one
        file at most, and looks where PATH leads: it blocks. Nothing raises."""
        text = self._text(kind, data, f"lanes/{lane}/{raw.file}" if raw else "", raw)
        of_check = kind == "check_ended"
        misses = (
            shaped(data.get("missing", ()), tuple[Lack, ...]) if of_check else self._lacks(text)
        )
        fresh = [*self.hidden(text, kind), *self.lacking(misses, kind)]
        fresh = fresh[: _MOST - len(self.sentences)]
        self.sentences += fresh
        return fresh

    def hidden(self, text: str, kind: str) -> Iterator[str]:
        """The sentences of hidden places that a program's output gives; `kind` is the event that
        tells of its end."""
        if text and self.confined and len(self.sentences) < _MOST:
            yield from self._missing(text, kind)
            yield from self._programs(text, kind)
            yield from self._unlinked(text, kind)
            yield from self._uninstalled(text, kind)

    def lacking(self, misses: Iterable[Lack], kind: str) -> Iterator[str]:
        """The sentences of what was not named before, whoever missed it."""
        for lack in misses:
            if lack.option == VARIABLE:
                fresh = [name for name in lack.names if name not in self._variables]
                if not fresh:
                    continue
                lack = of_shell(fresh, (*self._variables, *lack.values))
                self._variables = lack.values
            elif not self._is_new((lack.option, lack.values)):
                continue
            yield lack.told_of(_WHO[kind], self.surplus.result().folder)

    def _text(self, kind: str, data: Mapping[str, object], file: str, raw: Raw | None) -> str:
        """What a failed command has printed; "" for any other event."""
        match kind:
            case "check_ended" if data.get("status") not in _PASSED:
                return self._end_of(str(data.get("output") or ""))
            case "setup_ended" if data.get("exit_code") != 0:
                return str(data.get("text") or "") or self._end_of(str(data.get("output") or ""))
            case "tool_result" if not data.get("ok"):
                # Of its text an event has a line; it is read where it stands, which is in JSON.
                line = self._piece(file, raw.offset, raw.length) if raw else ""
                return line.replace("\\n", "\n").replace('\\"', '"')
        return ""

    def _end_of(self, name: str) -> str:
        try:
            size = (self.run_folder / name).stat().st_size
        except OSError:
            return ""
        return self._piece(name, max(0, size - MOST_TEXT), MOST_TEXT)

    def _piece(self, name: str, offset: int, length: int) -> str:
        """Of what Hydra recorded; "" where it did not."""
        try:
            with (self.run_folder / name).open("rb") as file:
                file.seek(offset)
                return file.read(min(length, MOST_TEXT)).decode("utf-8", "replace")
        except OSError:
            return ""

    def _missing(self, text: str, kind: str) -> Iterator[str]:
        view = self.view()
        for place in missing_places(text, view.home, view.is_visible, self.own):
            if self._is_new(place):
                yield self._sentence(place, f"{_WHO[kind]} speaks of it")

    def _programs(self, text: str, kind: str) -> Iterator[str]:
        """Of programs that PATH has here, in folders that lanes do not see."""
        view = self.view()
        for name in dict.fromkeys(NO_PROGRAM.findall(text) if self.surplus.wait(0) else ()):
            if not (program := shutil.which(name, path=self.surplus.result().search)):
                continue
            path, real = Path(program), Path(program).resolve()
            at = real if view.is_visible(path.parent) else path
            places = missing_places(f"{at}: not found", view.home, view.is_visible, self.own)
            for place in filter(self._is_new, places):
                what = f"{_WHO[kind]} misses the program {name}, which is there"
                yield self._sentence(place, what)

    def _unlinked(self, text: str, kind: str) -> Iterator[str]:
        """Of programs that are shown without the libraries beside them."""
        view = self.view()
        for name in dict.fromkeys(NO_LIBRARY.findall(text) if self.surplus.wait(0) else ()):
            program = shutil.which(name, path=self.surplus.result().search)
            top = installation_of(Path(program), view.home) if program else None
            if top and not is_system(top) and self._is_new(top):
                yield self._sentence(top, f"{_WHO[kind]} misses libraries of the program {name}")

    def _lacks(self, text: str) -> tuple[Lack, ...]:
        """What others than checks miss of the checkout, as far as it is listed by now. What passes
        a variable to checks passes it to no agent."""
        if not (text and self.surplus.wait(0)):
            return ()
        return lacks(text, self.surplus.result(), shell=False)

    def _uninstalled(self, text: str, kind: str) -> Iterator[str]:
        """Of modules that an environment takes from sources that are hidden."""
        for module in hidden_modules(text, self.view()):
            if not self._is_new(module.place):
                continue
            if own := next((at for at in self.own if module.folder.is_relative_to(at)), None):
                yield _of_the_checkout(module, own, _WHO[kind])
            else:
                what = f"{_WHO[kind]} misses the module {module.name}"
                yield self._sentence(module.place, what)

    def _is_new(self, what: object) -> bool:
        fresh = what not in self._named
        self._named.add(what)
        return fresh

    def _sentence(self, place: Path, what: str) -> str:
        name = self._name(place)
        way = f"[confine] show = {json.dumps([name], ensure_ascii=False)}"
        return f"{HIDDEN}{name} ({what}); to show it: {way} in {self._name(self.settings_file)}"

    def _name(self, place: Path) -> str:
        home = self.view().home
        return f"~/{place.relative_to(home)}" if home in place.parents else str(place)


async def _look(waiting: trio.MemoryReceiveChannel[Look], tell: Callable[[str], None]) -> None:
    async for look in waiting:
        try:
            texts = await trio.to_thread.run_sync(look, abandon_on_cancel=True)
        except Exception:  # a hint less, and no lane is the worse for it
            _log.warning("what a command lacks was not found out", exc_info=True)
            continue
        for text in texts:
            tell(text)


def _of_the_checkout(module: EditableModule, checkout: Path, who: str) -> str:
    """A lane has its base's own there: what is missing is ignored, or was not committed."""
    return (
        f"{who} misses the module {module.name}, which your checkout has in "
        f"{module.place.relative_to(checkout)}: what git ignores there, or you have not committed, "
        "comes by --copy"
    )


_WHO = {
    "check_ended": "a check",
    "setup_ended": "the set-up",
    "tool_result": "a command of an agent",
}
