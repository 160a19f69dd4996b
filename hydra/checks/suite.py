"""The checks of one commit, one after another in one clean ground; a failure once more."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import trio
from msgspec.structs import replace

from hydra.analysis.made_folders import CACHES
from hydra.checks.context import CheckContext, Tell
from hydra.checks.record import CheckResult, CheckStatus, file_of
from hydra.checks.result_reader import Output
from hydra.checks.run import CheckJob, run_check
from hydra.errors import HydraError
from hydra.log import get_logger
from hydra.process.records import CannotStart
from hydra.process.run import run
from hydra.process.sandbox.confine import confine
from hydra.records.request import Check
from hydra.text import join_names
from hydra.workspace.private import LaneWorkspace

_log = get_logger(__name__)

AGAIN = ".again"
"""The end of the names of the files of a check's one more run."""

NAMED = 5
"""Files that a remark names."""


class NoGround(Exception):
    """The ground does not stand, so no check ran: the status for all of them, and a sentence."""

    def __init__(self, status: CheckStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass
class CheckSuite:
    """The checks of `commit`; `label` names its ground and its files, no lane has it.

    `results` has one for each check at any time, so that whatever is cancelled leaves a whole
    picture.
    """

    context: CheckContext
    label: str
    commit: str
    subfolder: str
    tell: Tell
    results: dict[str, CheckResult] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fill(CheckStatus.INTERRUPTED, "the run was interrupted before it began")

    def fill(self, status: CheckStatus, reason: str) -> None:
        """Says the same of every check that has not run."""
        for check in self.context.plan.checks:
            result = self.results.get(check.name)
            if result is None or not result.details:
                self.results[check.name] = CheckResult(
                    check=check,
                    status=status,
                    reason=reason,
                    network=self.context.network_of(check),
                    ground=self.context.ground,
                )

    async def run(self) -> None:
        """Runs each check once. What keeps all of them from running is said in each result."""
        try:
            async with self.open_workspace("") as workspace:
                await self._checks(workspace, self.context.plan.checks, "", self._keep)
        except NoGround as problem:
            _log.info("no check runs", why=problem.reason)
            self.fill(problem.status, problem.reason)

    async def run_again(self, checks: Sequence[Check]) -> None:
        """One more run of these, each in a fresh ground in which the builds before it ran too."""
        for check in checks:
            await self._once_more(check)

    async def run_on_host(self, check: Check) -> CheckResult:
        """What a check comes to with the machine's network. It is in none of `results`, and its
        files are beside theirs: `adopt` takes it in."""
        context = self.context.with_host([check.name]).with_only(check)
        suite = dataclasses.replace(
            self, context=context, subfolder=f"{self.subfolder}/host", results={}
        )
        await suite.run()
        return suite.results[check.name]

    def adopt(self, result: CheckResult) -> None:
        """Takes a run with the machine's network in the place of the check's own, as all further
        runs of it have."""
        self.context = self.context.with_host([result.check.name])
        first = self.results[result.check.name]
        self.results[result.check.name] = replace(result, details=first.details or result.details)

    async def _once_more(self, check: Check) -> None:
        _log.info(
            "check is run once more", check=check.name, network=self.context.plan.checking.network
        )
        *builds, _ = self.context.with_only(check).plan.checks
        try:
            async with self.open_workspace(AGAIN) as workspace:
                await self._checks(workspace, builds, ".build", lambda result: None)
                await self._checks(workspace, (check,), AGAIN, self._keep_again)
        except NoGround as problem:
            first_result = self.results[check.name]
            remark = f"it could not be run once more: {problem.reason}"
            self.results[check.name] = replace(
                first_result, remarks=(*first_result.remarks, remark)
            )

    def _keep(self, result: CheckResult) -> None:
        self.results[result.check.name] = result

    def _keep_again(self, result: CheckResult) -> None:
        first_result = self.results[result.check.name]
        self.results[result.check.name] = replace(first_result, again=result)

    async def _checks(
        self,
        workspace: LaneWorkspace,
        checks: Sequence[Check],
        suffix: str,
        keep: Callable[[CheckResult], None],
    ) -> None:
        written_before = await _written(workspace)
        for check in checks:
            job = CheckJob(
                context=self.context,
                check=check,
                workspace=workspace,
                name=f"{self.subfolder}/{file_of(check)}{suffix}",
            )
            reported: list[CheckResult] = []
            try:
                await run_check(job, self.tell, reported.append, again=bool(suffix))
                written_after = await _written(workspace)
            except BaseException:  # cancelled, alone or in a group of a nursery's
                if reported:
                    keep(reported[0])
                raise
            keep(_with_remark(reported[0], written_before, written_after))
            written_before = written_after

    @asynccontextmanager
    async def open_workspace(self, suffix: str) -> AsyncIterator[LaneWorkspace]:
        """A clean ground with its set-up done, gone afterwards. `suffix` goes into its files'
        names. Raises `NoGround`."""
        workspace = self.context.clean_ground(self.label, self.commit)
        try:
            await trio.to_thread.run_sync(_fresh, workspace)
            await self._set_up(workspace, suffix)
            yield workspace
        except (HydraError, OSError) as problem:
            reason = f"its clean worktree could not be made: {problem}"
            raise NoGround(CheckStatus.NOT_RUN, reason) from problem
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_gone, workspace)

    async def _set_up(self, workspace: LaneWorkspace, suffix: str) -> None:
        if not self.context.plan.setup:
            return
        path = self.context.folder / self.subfolder / f"set-up{suffix}.out"
        output = await trio.to_thread.run_sync(
            Output, path, self.context.plan.limits.check_bytes, self.context.redactor
        )
        try:
            for command in self.context.plan.setup:
                await self._one_set_up(workspace, command, output)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(output.close)

    async def _one_set_up(self, workspace: LaneWorkspace, command: str, output: Output) -> None:
        context = self.context
        policy = context.policy(workspace)
        self.tell("setup_started", {"command": command})
        try:
            ran = await run(
                ("/bin/sh", "-c", command),
                env=context.variables(workspace),
                cwd=workspace.worktree,
                timeout=context.plan.limits.setup,
                wrap=lambda argv: confine(context.plan.confinement, policy, argv),
                output_limit=4096,
                on_output=output.take,
            )
        except CannotStart as problem:
            raise NoGround(
                CheckStatus.SETUP_FAILED, f"the set-up could not be started: {problem}"
            ) from None
        where = output.path.relative_to(context.run_folder)
        ended = {"exit_code": ran.exit_code, "seconds": round(ran.seconds, 3), "output": f"{where}"}
        self.tell("setup_ended", {"command": command, **ended})
        _log.info("set-up ended", command=command, **ended)
        if ran.exit_code != 0:
            how = "timed out" if ran.timed_out else f"exited with {ran.exit_code}"
            raise NoGround(
                CheckStatus.SETUP_FAILED,
                f"the set-up `{command[:80]}` {how} ({where} in the run's folder)",
            )


def _fresh(workspace: LaneWorkspace) -> None:
    with suppress(OSError):
        workspace.remove()  # what a killed Hydra has left
    workspace.open()


def _gone(workspace: LaneWorkspace) -> None:
    with suppress(OSError):
        workspace.remove()


async def _written(workspace: LaneWorkspace) -> frozenset[bytes] | None:
    try:
        return frozenset(await trio.to_thread.run_sync(workspace.written))
    except (HydraError, OSError):
        return None


def _with_remark(
    result: CheckResult,
    written_before: frozenset[bytes] | None,
    written_after: frozenset[bytes] | None,
) -> CheckResult:
    if written_before is None or written_after is None:
        return result
    new = (path.decode("utf-8", "backslashreplace") for path in written_after - written_before)
    nobodys = CACHES | {".coverage"}
    wrote = sorted(path for path in new if path.rstrip("/").rpartition("/")[2] not in nobodys)
    if not wrote:
        return result
    remark = f"it wrote into the tree, which is no part of the patch: {join_names(wrote, NAMED)}"
    return replace(result, remarks=(*result.remarks, remark))
