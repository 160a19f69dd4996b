"""One round of checks: the base once, and each lane's patch as it comes, some at a time."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import trio
from msgspec.structs import replace

from hydra.analysis.notices.manifests import MOST_BYTES
from hydra.analysis.notices.places import is_test
from hydra.analysis.notices.requirements import asks_for_others, is_requirement, set_up_for
from hydra.checks.builders import COMPILED, builder_of
from hydra.checks.context import CheckContext, Tell
from hydra.checks.network import goes_away, may_need_host, needs_host
from hydra.checks.record import UNSEEN, CheckResult, CheckStatus, details
from hydra.checks.regressions import base_worth_again, compare_to_baseline, mends, worth_again
from hydra.checks.suite import CheckSuite
from hydra.config.check_specs import in_folder, split_folder, typed
from hydra.errors import HydraError
from hydra.git.contents import contents, sizes, trees
from hydra.git.diff import TreeChange, TreeEntry, changes
from hydra.log import bind, get_logger
from hydra.paths import make_private
from hydra.records.request import Check
from hydra.records.store.files import write_json
from hydra.text import of_run, shell_quoted
from hydra.workspace.dependencies import is_installed


def changed_requirements(patches: Path, commit: str, place: str = "") -> str:
    """What a check that fails on `commit` may lack, as a sentence with its cure as one types it in
    `place`; "" where the commit changes no manifest and no lockfile of what it stands on. Blocks.
    """
    try:
        paths = other_requirements(patches, changes(patches, f"{commit}^", commit))
    except HydraError:
        return ""
    if not paths:
        return ""
    name = min(paths, key=len).decode("utf-8", "backslashreplace")
    command = next(filter(None, map(_install, paths)), "")
    setup = shell_quoted(typed(command, place)) if command else "COMMAND"
    cure = f"hydra check{of_run(patches.parent.name)} --setup {setup}"
    return f"its dependencies changed ({name}) and were not installed: {cure} tests it with them"


def _install(path: bytes) -> str:
    folder, _, name = path.rpartition(b"/")
    command = set_up_for(name)
    return in_folder(command, os.fsdecode(folder)) if command else ""


def other_requirements(patches: Path, touched: Iterable[TreeChange]) -> list[bytes]:
    """The manifests and lockfiles among these changes that ask for other packages now."""
    return [*_changed(patches, touched)]


def _changed(patches: Path, touched: Iterable[TreeChange]) -> Iterator[bytes]:
    files = [change for change in touched if is_requirement(change.path)]
    blobs = [entry.oid for change in files for entry in _blobs(change)]
    small = [oid for oid, size in sizes(patches, blobs).items() if size <= MOST_BYTES]
    texts = contents(patches, small)
    for change in files:
        old, new = (texts.get(entry.oid) if entry else None for entry in (change.old, change.new))
        if asks_for_others(change.path, old, new):
            yield change.path


def _blobs(change: TreeChange) -> Iterator[TreeEntry]:
    yield from (entry for entry in (change.old, change.new) if entry is not None)


_log = get_logger(__name__)

BASE = "_base"
"""The baseline's folder in a round's, and the end of its ground's name; no lane is called so."""


_NOT_TO_ITS_END = (CheckStatus.INTERRUPTED, CheckStatus.NOT_RUN)


@dataclass
class _TreeRun:
    """The checks of one tree: whose they are, and what they came to; () for no end."""

    lane: str
    ended: trio.Event = field(default_factory=trio.Event)
    results: tuple[CheckResult, ...] = ()


class CheckRun:
    """`parallel` lanes have their checks run at once; the base takes no place of theirs.

    Lanes wait for the base before they are compared, not before they run. What talks to the
    machine's network runs alone there, the base too, and not before `agents_ended`.
    """

    def __init__(
        self, context: CheckContext, parallel: int = 1, agents_ended: trio.Event | None = None
    ) -> None:
        self.context = context
        self.base: Mapping[str, CheckResult] = {}
        self.ready = trio.Event()
        """The base's results are there, or it is known that there will be none."""
        self._places = trio.Semaphore(parallel)
        self._machine = trio.Lock()
        self._trees: dict[str, _TreeRun] = {}
        self._agents_ended = agents_ended
        self._unnamed: set[str] = set()
        """Checks of which it was told that they name no test."""
        self._seeks_host = False
        """Whether the base has shown that it may need the machine's network."""

    def set_baseline(self, base: Mapping[str, CheckResult]) -> None:
        """The base's results, where they are not to be found out here."""
        self.base = base
        self.context = self.context.as_on_base(base)
        self.ready.set()

    async def baseline(self, commit: str, tell: Tell) -> None:
        """Runs the checks on the base. Cancelled, it leaves what it has."""
        bind(lane=BASE)
        suite = CheckSuite(self.context, label(self.context, BASE), commit, BASE, tell)
        try:
            async with self._alone_on_host(self.context.plan.checks, tell):
                await suite.run()
            await self._find_host(suite, tell)
            again = [result.check for result in suite.results.values() if base_worth_again(result)]
            async with self._alone_on_host(again, tell):
                await suite.run_again(again)
            await self._sabotage(commit, suite, tell)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_rewrite, self.context, suite.results.values())
            self.set_baseline(suite.results)

    async def _find_host(self, suite: CheckSuite, tell: Tell) -> None:
        """Gives those checks the machine's network that lack less with it on the base, and says
        so."""
        if self.context.plan.checking.network != "auto":
            return
        results = [*suite.results.values()]
        alone = await trio.to_thread.run_sync(lambda: [*filter(may_need_host, results)])
        if not alone:
            return
        self._seeks_host = True
        async with self._on_machine(tell):
            for first in alone:
                result = await suite.run_on_host(first.check)
                if goes_away(first, result):
                    suite.adopt(result)
                    line = await trio.to_thread.run_sync(needs_host, first)
                    tell("run_warning", {"text": line})
        self.context = suite.context

    async def _sabotage(self, commit: str, suite: CheckSuite, tell: Tell) -> None:
        """Marks what does not see the code, and says so once."""
        from hydra.checks.sabotage import unseeing  # what it needs waits for the first check's end

        async with self._alone_on_host(self.context.plan.checks, tell):
            whys = await unseeing(self.context, commit, [*suite.results.values()])
        for name, text in whys.items():
            _log.info("check says nothing", check=name, why=text)
            result = suite.results[name]
            if text.startswith(UNSEEN):
                suite.results[name] = replace(result, remarks=(*result.remarks, text))
            else:
                suite.results[name] = replace(result, untested=text)
            tell("run_warning", {"text": f"{name}: {text}"})

    async def lane(
        self, name: str, commit: str, tell: Tell, *, stop: trio.CancelScope
    ) -> tuple[CheckResult, ...]:
        """The checks of one patch, held against the base's; `stop` ends them early. Lanes that left
        the same tree share one run."""
        bind(lane=name)
        suite = CheckSuite(self.context, label(self.context, f"_{name}"), commit, name, tell)
        tree = await trio.to_thread.run_sync(_tree, self.context, commit)
        mine = _TreeRun(name)
        try:
            with stop:
                if tree and (results := await self._of_same_tree(tree, mine, tell)):
                    return await trio.to_thread.run_sync(_taken, self.context, name, results)
                await self._run(suite, tell)
            results = await self._compared(suite, commit)
            self._tell_of_unnamed(results, tell)
            if not any(result.status in _NOT_TO_ITS_END for result in results):
                mine.results = results
            return results
        finally:
            mine.ended.set()

    async def _of_same_tree(self, tree: str, mine: _TreeRun, tell: Tell) -> tuple[CheckResult, ...]:
        """What another lane's checks came to on the tree; () where `mine` is the run of it."""
        while (other := self._trees.setdefault(tree, mine)) is not mine:
            if not other.ended.is_set():
                tell("check_waiting", {"for": "same", "lane": other.lane})
                await other.ended.wait()
            if other.results:
                return other.results
            if self._trees[tree] is other:
                del self._trees[tree]
        return ()

    async def _compared(self, suite: CheckSuite, commit: str) -> tuple[CheckResult, ...]:
        changed = await self._changed(commit)
        built = await trio.to_thread.run_sync(built_before, self.context, commit)
        touches = await trio.to_thread.run_sync(self._touches_unseen, commit)
        results = tuple(
            _elsewhere(
                compare_to_baseline(result, base, changed),
                base,
                built,
                _unseen_of(base) if touches and base is not None else "",
            )
            for result in suite.results.values()
            for base in (self._base_of(result),)
        )
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(_rewrite, self.context, results)
        return results

    def _tell_of_unnamed(self, results: Sequence[CheckResult], tell: Tell) -> None:
        for result in results:
            name, base = result.check.name, self._base_of(result)
            if not (base and _names_none(base) and _names_none(result)) or name in self._unnamed:
                continue
            self._unnamed.add(name)
            text = (
                f"{name} ends with 0 on the base and on a patch, and names no test: whether any "
                "ran is not known (--check: a command whose output names them)"
            )
            tell("run_warning", {"text": text})

    async def _run(self, suite: CheckSuite, tell: Tell) -> None:
        if self._seeks_host:
            await self._base_ready(tell)
        suite.context = self.context
        async with self._place(suite.context.plan.checks, tell):
            await suite.run()
        await self._base_ready(tell)
        await self._run_on_host(suite, tell)
        results = [*suite.results.values()]
        again = [result.check for result in results if worth_again(result, self._base_of(result))]
        lucky = [result.check for result in results if mends(result, self._base_of(result))]
        if lucky and not await trio.to_thread.run_sync(self._has_code, suite):
            again += [check for check in lucky if check not in again]
        if again:
            async with self._place(again):
                await suite.run_again(again)

    def _has_code(self, suite: CheckSuite) -> bool:
        """Whether a patch changes a line of code; also where git does not say. Blocks."""
        from hydra.analysis.code_lines import changes_code  # few patches need them
        from hydra.checks.collected import collected, patch_files
        from hydra.git.contents import paths

        patches, base = self.context.patches, f"{suite.commit}^"
        own = {"": tuple(suite.results.values())}
        try:
            on_base = collected(self.base.values(), paths(patches, base))
            files = patch_files(patches, base, {"": suite.commit}, on_base, own)
        except HydraError:
            return True
        return changes_code(files[""])

    def _touches_unseen(self, commit: str) -> bool:
        """Whether a check sees no code, and the patch is of code alone. Blocks."""
        if not any(map(_unseen_of, self.base.values())):
            return False
        from hydra.checks.sabotage import touches_code

        return touches_code(self.context.patches, commit)

    async def _base_ready(self, tell: Tell) -> None:
        if not self.ready.is_set():
            tell("check_waiting", {"for": "baseline"})
            await self.ready.wait()

    async def _run_on_host(self, suite: CheckSuite, tell: Tell) -> None:
        """Runs those checks anew that need the machine's network, as the base has shown since."""
        suite.context = self.context
        alone = [
            result
            for result in suite.results.values()
            if result.network == "private" and self.context.network_of(result.check) == "host"
        ]
        if not alone:
            return
        async with self._on_machine(tell):
            for first in alone:
                suite.adopt(await suite.run_on_host(first.check))

    @asynccontextmanager
    async def _place(
        self, checks: Sequence[Check], tell: Tell = lambda _kind, _data: None
    ) -> AsyncIterator[None]:
        """A lane's: one among others, or the machine's network."""
        if self.context.uses_host(checks):
            async with self._on_machine(tell):
                yield
            return
        if not self._places.value:
            tell("check_waiting", {"for": "place"})
        async with self._places:
            yield

    @asynccontextmanager
    async def _alone_on_host(self, checks: Sequence[Check], tell: Tell) -> AsyncIterator[None]:
        """The base's: at once, but on the machine's network."""
        if not self.context.uses_host(checks):
            yield
            return
        async with self._on_machine(tell):
            yield

    @asynccontextmanager
    async def _on_machine(self, tell: Tell) -> AsyncIterator[None]:
        """The machine's network, while no agent of the race and no other check of it talks there:
        what a test meets there is its own, or the user's."""
        if self._agents_ended is not None and not self._agents_ended.is_set():
            tell("check_waiting", {"for": "agents"})
            await self._agents_ended.wait()
        if self._machine.locked():
            tell("check_waiting", {"for": "place"})
        async with self._machine:
            yield

    async def _changed(self, commit: str) -> str:
        """What a set-up would have installed, where there is none."""
        if self.context.plan.setup:
            return ""
        patches, place = self.context.patches, self.context.place
        return await trio.to_thread.run_sync(changed_requirements, patches, commit, place)

    def _base_of(self, result: CheckResult) -> CheckResult | None:
        return self.base.get(result.check.name)


def _names_none(result: CheckResult) -> bool:
    """Whether it passed as a check that runs tests, and says of none that it ran."""
    return result.check.kind == "test" and result.passed and result.tests is None


def _elsewhere(
    result: CheckResult, base: CheckResult | None, built: str, unseen: str
) -> CheckResult:
    """With what it loads that was `built` without the patch, or that it is `unseen`: untested, but
    where it ends otherwise than on the base all the same."""
    why = built or unseen
    if not why or result.untested or result.check.kind != "test":
        return result
    changed = result.comparison
    if changed is not None:  # new tests that fail may do so for want of the patch
        told_apart = bool(changed.fixed) or not changed.breaks_nothing
    else:
        told_apart = base is not None and base.status is not result.status
    if told_apart:
        return replace(result, remarks=(*result.remarks, built)) if built else result
    held_back = f"{result.check.name}: {why}" if result.check.required else ""
    return replace(result, untested=why, held_back=held_back)


def label(context: CheckContext, name: str) -> str:
    """A ground's name in this round: rounds of one run may run at once."""
    return name if context.folder.name == "1" else f"_{context.folder.name}-{name.lstrip('_')}"


def _tree(context: CheckContext, commit: str) -> str:
    """The tree of a commit; "" where git does not say, and nothing is known to be the same."""
    with suppress(HydraError):
        return trees(context.patches, [commit])[0]
    return ""


def _unseen_of(base: CheckResult) -> str:
    """The remark that a check sees no code; "" without."""
    return next((remark for remark in base.remarks if remark.startswith(UNSEEN)), "")


def _taken(
    context: CheckContext, lane: str, results: Sequence[CheckResult]
) -> tuple[CheckResult, ...]:
    """The results of another lane with the same tree as this one's, in files of its own."""

    def own(result: CheckResult) -> CheckResult:
        place = Path(result.details)
        details = str(place.parent.with_name(lane) / place.name) if result.details else ""
        return replace(result, details=details, again=result.again and own(result.again))

    taken = tuple(map(own, results))
    with suppress(OSError):
        make_private(context.folder / lane)
    _rewrite(context, taken)
    return taken


def _rewrite(context: CheckContext, results: Iterable[CheckResult]) -> None:
    """Each check's own file, now with all that is known of it."""
    for result in results:
        for run in (result, result.again):
            if run is not None and run.details:
                with suppress(OSError):
                    write_json(context.run_folder / run.details, details(run))


def new_folder(run_folder: Path) -> Path:
    """A folder of its own for a round: `checks/1`, `checks/2`, ... Raises `OSError`."""
    top = run_folder / "checks"
    top.mkdir(mode=0o700, exist_ok=True)
    number = 1
    while True:
        with suppress(FileExistsError):
            (top / str(number)).mkdir(mode=0o700)
            return top / str(number)
        number += 1


def held_back(results: Sequence[CheckResult]) -> tuple[str, ...]:
    """Why a patch with these results is not usable, a sentence each."""
    return tuple(result.held_back for result in results if result.held_back)


# ---- Shared folders that a script of the project builds: what tests load of them was built without
# a patch that touches their sources.

_MANIFESTS = ("package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod", "Makefile")
_TO_READ = re.compile(rb"\.(?:md|mdx|rst|txt|adoc)$")


def built_before(context: CheckContext, commit: str) -> str:
    """That a check on `commit` loads what was built without it, as a sentence with its cure; ""
    where it does not. Blocks."""
    built = [*_built(context)] if context.dependencies is not None else []
    try:
        touched = changes(context.patches, f"{commit}^", commit) if built else []
    except HydraError:
        return ""
    paths = [row.path for row in touched if not (_TO_READ.search(row.path) or is_test(row.path))]
    for folder, command in built:
        if any(_is_source(path.decode("utf-8", "replace"), folder, context) for path in paths):
            run, setup = context.patches.parent.name, shell_quoted(typed(command, context.place))
            cure = f"hydra check{of_run(run)} --setup {setup}"
            return f"{folder} is your checkout's, built without this patch: {cure} builds it anew"
    return ""


def _built(context: CheckContext) -> Iterator[tuple[PurePosixPath, str]]:
    """Shared folders that no package manager fills and no set-up builds, with what builds them."""
    assert context.dependencies is not None
    top = context.repository.root
    for folder in context.dependencies().folders:
        if is_installed(folder) or not COMPILED.fullmatch(folder.name):
            continue
        command = builder_of(f"{folder}/x", f"{folder}/", top)
        if command and not any(split_folder(command)[1] in step for step in context.plan.setup):
            yield folder, command


def _is_source(path: str, folder: PurePosixPath, context: CheckContext) -> bool:
    """Whether it lies in the package whose folder it is."""
    top = context.repository.root
    above = [top / at for at in folder.parents]
    package = next((at for at in above if any((at / name).is_file() for name in _MANIFESTS)), top)
    return (top / path).is_relative_to(package) and not Path(path).is_relative_to(folder)
