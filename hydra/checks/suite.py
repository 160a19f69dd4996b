"""The checks of one commit, one after another in one clean ground; a failure once more."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

import trio

from hydra.checks.kit import Kit, Tell
from hydra.checks.output import Output
from hydra.checks.record import CheckResult, Status
from hydra.checks.run import Job, run_check
from hydra.errors import HydraError
from hydra.model import Check
from hydra.naming import some
from hydra.process import CannotStart, run
from hydra.sandbox import confine
from hydra.workspace import PrivateGround

NAMED = 5
"""Files that a remark names."""


class NoGround(Exception):
    """The ground does not stand, so no check ran: the status for all of them, and a sentence."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass
class Suite:
    """The checks of `commit`; `label` names its ground and its files, no lane has it.

    `standing` is the lane's own ground, where the checks are to run in that. `results` has one for
    each check at any time, so that whatever is cancelled leaves a whole picture.
    """

    kit: Kit
    label: str
    commit: str
    files: str
    tell: Tell
    standing: PrivateGround | None = None
    results: dict[str, CheckResult] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fill(Status.INTERRUPTED, "it was ended before this check began")

    def fill(self, status: Status, reason: str) -> None:
        """Says the same of every check that has not run."""
        for check in self.kit.checks:
            held = self.results.get(check.name)
            if held is None or not held.details:
                self.results[check.name] = CheckResult(
                    check=check, status=status, reason=reason, tree=self.tree
                )

    @property
    def tree(self) -> str:
        """`lane` where the checks run in what the agent left, ignored files too."""
        return "clean" if self.standing is None else "lane"

    async def run(self) -> None:
        """Runs each check once. What keeps all of them from running is said in each result."""
        try:
            async with self.ground("") as ground:
                await self._checks(ground, self.kit.checks, "", self._keep)
        except NoGround as problem:
            self.fill(problem.status, problem.reason)

    async def run_again(self, checks: Sequence[Check]) -> None:
        """One more run of these, each in a fresh ground in which the builds before it ran too."""
        for check in checks:
            before = self.kit.checks[: self.kit.checks.index(check)]
            builds = tuple(one for one in before if one.kind == "build")
            try:
                async with self.ground(".again") as ground:
                    await self._checks(ground, builds, ".build", lambda result: None)
                    await self._checks(ground, (check,), ".again", self._keep_again)
            except NoGround as problem:
                held = self.results[check.name]
                remark = f"it could not be run once more: {problem.reason}"
                self.results[check.name] = replace(held, remarks=(*held.remarks, remark))

    def _keep(self, result: CheckResult) -> None:
        self.results[result.check.name] = result

    def _keep_again(self, result: CheckResult) -> None:
        held = self.results[result.check.name]
        self.results[result.check.name] = replace(held, again=result)

    async def _checks(
        self,
        ground: PrivateGround,
        checks: Sequence[Check],
        suffix: str,
        keep: Callable[[CheckResult], None],
    ) -> None:
        known = await _written(ground) if self.standing is None else None
        for check in checks:
            job = Job(
                kit=self.kit,
                check=check,
                ground=ground,
                name=f"{self.files}/{check.file}{suffix}",
                tree=self.tree,
            )
            got: list[CheckResult] = []
            try:
                await run_check(job, self.tell, got.append, again=bool(suffix))
                now = await _written(ground) if known is not None else None
            except BaseException:  # cancelled, alone or in a group of a nursery's
                if got:
                    keep(got[0])
                raise
            keep(_with_remark(got[0], known, now))
            known = now

    @asynccontextmanager
    async def ground(self, suffix: str) -> AsyncIterator[PrivateGround]:
        """A clean ground with its set-up done, gone afterwards; or the lane's own. `suffix` goes
        into its files' names. Raises `NoGround`."""
        if self.standing is not None:
            yield self.standing
            return
        ground = self.kit.clean_ground(self.label, self.commit)
        try:
            await trio.to_thread.run_sync(_fresh, ground)
            await self._set_up(ground, suffix)
            yield ground
        except (HydraError, OSError) as problem:
            reason = f"its clean worktree could not be made: {problem}"
            raise NoGround(Status.NOT_RUN, reason) from problem
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_gone, ground)

    async def _set_up(self, ground: PrivateGround, suffix: str) -> None:
        if not self.kit.setup:
            return
        path = self.kit.folder / self.files / f"set-up{suffix}.out"
        output = await trio.to_thread.run_sync(
            Output, path, self.kit.limits.check_bytes, self.kit.redactor
        )
        try:
            for command in self.kit.setup:
                await self._one_set_up(ground, command, output)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(output.close)

    async def _one_set_up(self, ground: PrivateGround, command: str, output: Output) -> None:
        kit = self.kit
        policy = kit.policy(ground)
        self.tell("setup_started", {"command": command})
        try:
            ran = await run(
                ("/bin/sh", "-c", command),
                env=kit.variables(ground),
                cwd=ground.worktree,
                timeout=kit.limits.setup,
                wrap=lambda argv: confine(
                    kit.confinement, replace(policy, private_network=False), argv
                ),
                output_limit=4096,
                on_output=output.take,
            )
        except CannotStart as problem:
            raise NoGround(
                Status.SETUP_FAILED, f"the set-up could not be started: {problem}"
            ) from None
        where = output.path.relative_to(kit.run_folder)
        ended = {"exit_code": ran.exit_code, "seconds": round(ran.seconds, 3), "output": f"{where}"}
        self.tell("setup_ended", {"command": command, **ended})
        if ran.exit_code != 0:
            how = "timed out" if ran.timed_out else f"exited with {ran.exit_code}"
            raise NoGround(
                Status.SETUP_FAILED,
                f"the set-up `{command[:80]}` {how} ({where} in the run's folder)",
            )


def _fresh(ground: PrivateGround) -> None:
    with suppress(OSError):
        ground.remove()  # what a killed Hydra has left
    ground.open()


def _gone(ground: PrivateGround) -> None:
    with suppress(OSError):
        ground.remove()


async def _written(ground: PrivateGround) -> frozenset[bytes] | None:
    try:
        return frozenset(await trio.to_thread.run_sync(ground.written))
    except (HydraError, OSError):
        return None


def _with_remark(
    result: CheckResult, known: frozenset[bytes] | None, now: frozenset[bytes] | None
) -> CheckResult:
    if known is None or now is None:
        return result
    wrote = sorted(path.decode("utf-8", "backslashreplace") for path in now - known)
    if not wrote:
        return result
    remark = f"it wrote into the tree, which is no part of the patch: {some(wrote, NAMED)}"
    return replace(result, remarks=(*result.remarks, remark))
