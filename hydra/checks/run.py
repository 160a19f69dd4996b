"""One check, once: its process, its output, its tests, and in one word how it ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import trio

from hydra.checks import asking, reading
from hydra.checks.kit import Kit, Tell
from hydra.checks.output import Output
from hydra.checks.record import CheckResult, Status, details
from hydra.model import Check
from hydra.process import CannotStart, Ran, run
from hydra.sandbox import confine
from hydra.store import write_json
from hydra.workspace import PrivateGround

SHELL = "hydra-check"
"""The shell's own name ($0): what it complains of in this name is the check's own program."""

Keep = Callable[[CheckResult], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One check in one opened ground. `name` is its files' name, from the round's folder."""

    kit: Kit
    check: Check
    ground: PrivateGround
    name: str
    tree: str = "clean"


async def run_check(job: Job, tell: Tell, keep: Keep, *, again: bool = False) -> None:
    """Runs it to its end and hands its result to `keep`, also where it is cancelled on its way:
    then it is ended with all it started, and `interrupted`."""
    check = job.check
    told = {"check": check.name, "kind": check.kind, "command": check.command, "again": again}
    tell("check_started", told)
    began = time.monotonic()
    result = CheckResult(
        check=check, status=Status.INTERRUPTED, reason="it was ended first", tree=job.tree
    )
    try:
        result = await _run(job, result)
    finally:
        result = replace(result, seconds=time.monotonic() - began)
        with trio.CancelScope(shield=True):
            result = await trio.to_thread.run_sync(_kept, job, result)
        tell("check_ended", _ended(result, again))
        keep(result)


async def _run(job: Job, result: CheckResult) -> CheckResult:
    kit = job.kit
    if job.ground.worktree.is_symlink():  # where nothing confines, to anywhere
        return replace(result, status=Status.NOT_RUN, reason="a link took its worktree's place")
    path = kit.folder / f"{job.name}.txt"
    try:
        output = await trio.to_thread.run_sync(Output, path, kit.limits.check_bytes, kit.redactor)
    except OSError as error:
        reason = f"its output cannot be kept: {error.strerror}"
        return replace(result, status=Status.NOT_RUN, reason=reason)
    ran: Ran | CannotStart | None = None
    try:
        asked = await trio.to_thread.run_sync(asking.ask, job.check, job.ground)
    except OSError as error:
        await trio.to_thread.run_sync(output.close)
        reason = f"it has no place for its results: {error.strerror}"
        return replace(result, status=Status.NOT_RUN, reason=reason)
    try:
        ran = await _process(job, asked, output)
    except CannotStart as error:
        ran = error
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(output.close)
    return await trio.to_thread.run_sync(
        partial(
            reading.result_of, result, ran, output, asked, limits=kit.limits, network=kit.network
        )
    )


async def _process(job: Job, asked: asking.Asked, output: Output) -> Ran:
    kit, ground = job.kit, job.ground
    policy = kit.policy(ground)
    # One pipe for both, so that what was said stands in its order.
    script = f"exec 2>&1; {job.check.command}"
    return await run(
        ("/bin/sh", "-c", script, SHELL),
        env=asked.environment(kit.variables(ground)),
        cwd=ground.worktree,
        timeout=kit.limits.check,
        wrap=lambda argv: confine(kit.confinement, policy, argv),
        output_limit=4096,
        on_output=output.take,
    )


def _kept(job: Job, result: CheckResult) -> CheckResult:
    """With its own file, from which every number of it can be read."""
    kit = job.kit
    text, whole = kit.folder / f"{job.name}.txt", kit.folder / f"{job.name}.json"
    if text.exists():
        result = replace(result, output=str(text.relative_to(kit.run_folder)))
    result = replace(result, details=str(whole.relative_to(kit.run_folder)))
    try:
        write_json(whole, details(result))
    except OSError as error:
        remark = f"its results cannot be kept: {error.strerror}"
        return replace(result, details="", remarks=(*result.remarks, remark))
    return result


def _ended(result: CheckResult, again: bool) -> dict[str, object]:
    tests = result.tests
    return {
        "check": result.check.name,
        "status": result.status.value,
        "says": result.says,
        "reason": result.reason,
        "exit_code": result.exit_code,
        "seconds": round(result.seconds, 3),
        "passed": tests.passed if tests else None,
        "failed": tests.failed if tests else None,
        "skipped": tests.skipped if tests else None,
        "telling": list(result.telling),
        "output": result.output,
        "again": again,
    }
