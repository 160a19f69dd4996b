"""One check, once: its process, its output, its tests, and in one word how it ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import trio
from msgspec import Struct
from msgspec.structs import replace

from hydra.checks import junit_request, result_reader
from hydra.checks.context import CheckContext, Tell
from hydra.checks.lack import Lack
from hydra.checks.lacks import lacks
from hydra.checks.record import CheckResult, CheckStatus, details
from hydra.checks.result_reader import Output
from hydra.git.background import Later
from hydra.log import get_logger
from hydra.process.records import CannotStart, CommandResult
from hydra.process.run import run
from hydra.process.sandbox.confine import confine
from hydra.process.sandbox.hidden_output import MOST_TEXT
from hydra.records.codec import as_json
from hydra.records.request import Check
from hydra.records.store.files import write_json
from hydra.workspace.private import LaneWorkspace
from hydra.workspace.surplus import Surplus

_log = get_logger(__name__)

SHELL = "hydra-check"
"""The shell's own name ($0): what it complains of in this name is the check's own program."""

Keep = Callable[[CheckResult], None]


class CheckJob(Struct, frozen=True, kw_only=True):
    """One check in one opened ground. `name` is its files' name, from the round's folder."""

    context: CheckContext
    check: Check
    workspace: LaneWorkspace
    name: str


async def run_check(job: CheckJob, tell: Tell, keep: Keep, *, again: bool = False) -> None:
    """Runs it to its end and hands its result to `keep`, also where it is cancelled on its way:
    then it is ended with all it started, and `interrupted`."""
    check = job.check
    document = {"check": check.name, "kind": check.kind, "command": check.command, "again": again}
    tell("check_started", document)
    _log.info("check", **document, confinement=job.context.plan.confinement.kind)
    began = time.monotonic()
    result = CheckResult(
        check=check,
        status=CheckStatus.INTERRUPTED,
        reason="the run was interrupted",
        network=job.context.network_of(check),
        ground=job.context.ground,
    )
    try:
        result = await _run(job, result)
    finally:
        result = replace(result, seconds=time.monotonic() - began)
        with trio.CancelScope(shield=True):
            result = await trio.to_thread.run_sync(_with_file, job, result)
        ended = _ended(result, again)
        tell("check_ended", ended)
        _log.info("check ended", **ended)
        keep(result)


async def _run(job: CheckJob, result: CheckResult) -> CheckResult:
    context = job.context
    if job.workspace.worktree.is_symlink():  # where nothing confines, to anywhere
        return replace(
            result, status=CheckStatus.NOT_RUN, reason="a link took its worktree's place"
        )
    path = context.folder / f"{job.name}.txt"
    try:
        output = await trio.to_thread.run_sync(
            Output, path, context.plan.limits.check_bytes, context.redactor
        )
    except OSError as error:
        reason = f"its output cannot be kept: {error.strerror}"
        return replace(result, status=CheckStatus.NOT_RUN, reason=reason)
    ran: CommandResult | CannotStart | None = None
    try:
        request = await trio.to_thread.run_sync(junit_request.ask, job.check, job.workspace)
    except OSError as error:
        await trio.to_thread.run_sync(output.close)
        reason = f"it has no place for its results: {error.strerror}"
        return replace(result, status=CheckStatus.NOT_RUN, reason=reason)
    try:
        ran = await _process(job, request, output)
    except CannotStart as error:
        ran = error
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(output.close)
    result = await trio.to_thread.run_sync(
        partial(result_reader.result_of, result, ran, output, request, limits=context.plan.limits)
    )
    if result.passed:
        return result
    return await trio.to_thread.run_sync(_with_missing, job, result, path)


def _with_missing(job: CheckJob, result: CheckResult, output: Path) -> CheckResult:
    with suppress(OSError), output.open("rb") as file:
        file.seek(max(0, output.stat().st_size - MOST_TEXT))
        text = file.read().decode("utf-8", "replace")
        surplus, top = job.context.surplus, job.workspace.worktree
        return replace(result, missing=missing(text, job.check, surplus, top))
    return result


def missing(text: str, check: Check, surplus: Later[Surplus] | None, top: Path) -> tuple[Lack, ...]:
    """What a check that failed in the worktree `top` misses of the checkout. Blocks."""
    if surplus is None:
        return ()
    listed = surplus.result()
    text = text.replace(f"{top}/", f"{listed.top}/")
    return lacks(text, listed, command=check.command)


async def _process(
    job: CheckJob, request: junit_request.JUnitRequest, output: Output
) -> CommandResult:
    context, workspace = job.context, job.workspace
    policy = context.policy(workspace, context.network_of(job.check))
    # One pipe for both, so that what was said stands in its order.
    script = f"exec 2>&1; {job.check.command}"
    return await run(
        ("/bin/sh", "-c", script, SHELL),
        env=request.environment(context.variables(workspace, job.check.command)),
        cwd=workspace.worktree,
        timeout=context.plan.limits.check,
        wrap=lambda argv: confine(context.plan.confinement, policy, argv),
        output_limit=4096,
        on_output=output.take,
    )


def _with_file(job: CheckJob, result: CheckResult) -> CheckResult:
    """With its own file, from which every number of it can be read."""
    context = job.context
    text, whole = context.folder / f"{job.name}.txt", context.folder / f"{job.name}.json"
    if text.exists():
        result = replace(result, output=str(text.relative_to(context.run_folder)))
    result = replace(result, details=str(whole.relative_to(context.run_folder)))
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
        "missing": as_json(result.missing),
        "output": result.output,
        "again": again,
    }
