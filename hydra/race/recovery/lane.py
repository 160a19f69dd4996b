"""One lane of a run that was broken off: its patch, its outcome, its ground."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hydra.errors import Exhausted, Failure, HydraError
from hydra.git import patches as patch_git
from hydra.git.runner import GitKilled, run
from hydra.git.snapshot_state import WorktreeLost
from hydra.paths import ground_dir
from hydra.race.maintenance import notice_text
from hydra.race.outcome import estimate_of, not_started
from hydra.race.plan import patch_message
from hydra.race.policy import keeps_ground, select_attempt
from hydra.race.recovery.history import Past
from hydra.records.codec import shaped
from hydra.records.outcome import ExitStatus, Outcome, Patch, Status
from hydra.records.plan import LanePlan, RacePlan
from hydra.redaction import Redactor
from hydra.shortage import is_passing
from hydra.workspace.grounds import give_back_standing, standing_ground
from hydra.workspace.private import LaneWorkspace

_UNCHECKED = ("Hydra was killed before its checks had ended",)

_DISK_FULL = ("No space left on device", "Disk quota exceeded")


class NotNow(HydraError):
    """The work still stands, and cannot be taken at this moment: the next command tries again."""


class Recovery(Struct, frozen=True):
    """What became of one lane.

    `taken`: its patch was taken here; `fresh`: no outcome of it had been recorded; `problem`: why
    its work could not be taken, "" where it was or where there was none; `notices`: what came of
    its renewed sign-in.
    """

    outcome: Outcome
    taken: bool = False
    fresh: bool = True
    problem: str = ""
    notices: tuple[str, ...] = ()

    @property
    def worth(self) -> bool:
        """Whether a patch was taken that holds something."""
        patch = self.outcome.last.patch
        return self.taken and patch is not None and not patch.empty


def recover_lane(
    plan: RacePlan, lane: LanePlan, past: Past, *, folder: Path, state: Path
) -> Recovery:
    """Brings one lane to its outcome. Raises `NotNow` on a full disk, and where git could not be
    asked."""
    done = _last(plan, lane, past, folder=folder, state=state)
    if not past.earlier:
        return done
    fresh = done.fresh and all(past.ended is None for past in past.earlier)
    earlier = [_earlier(plan, lane, past, folder / "patches.git") for past in past.earlier]
    outcome = select_attempt([*earlier, done.outcome])
    if fresh and plan.checks:
        outcome = replace(outcome, held_back=_UNCHECKED)
    return replace(done, outcome=outcome, fresh=fresh)


def _earlier(plan: RacePlan, lane: LanePlan, past: Past, patches: Path) -> Outcome:
    """An attempt that another has followed: all of it is recorded."""
    patch, base = None, plan.base
    try:
        if text := patch_git.tries(patches, lane.id).get(past.attempt):
            patch = _read(patches, base, text, _incomplete(patches, text, base))
            patch = _with_left(patch, patches, lane.id, past.attempt)
    except (HydraError, OSError) as error:
        _check_answered(error)
    if past.outcome is None:
        return _interrupted(lane, past, patch, "")
    return _as_recorded(lane, past, patch)


def _last(plan: RacePlan, lane: LanePlan, past: Past, *, folder: Path, state: Path) -> Recovery:
    workspace = _ground(plan, lane, folder, state)
    if not past.opened and not workspace.was_opened():
        # No agent has stood in it.
        with suppress(OSError):
            workspace.remove()
        return _unopened(lane, past)
    notices, withheld = _give_back(folder, lane, past)
    past.warnings += notices
    patch, taken, problem = _patch(plan, lane, past, folder / "patches.git", workspace)
    if past.ended is not None:
        outcome = _as_recorded(lane, past, patch)
        return Recovery(outcome, taken, fresh=False, problem=problem, notices=notices)
    if past.over is not None:
        outcome = _as_recorded(lane, past, patch)
    else:
        outcome = _interrupted(lane, past, patch, problem, checked=bool(plan.checks))
    if withheld:
        pass  # a renewed sign-in is there alone
    elif (taken or past.over is not None) and not keeps_ground(plan, outcome):
        workspace.remove()
    else:
        workspace.remove_secrets()
    return Recovery(outcome, taken, problem=problem, notices=notices)


def _give_back(folder: Path, lane: LanePlan, past: Past) -> tuple[tuple[str, ...], bool]:
    """What is to be said of its renewed sign-in, and whether that is in its ground alone."""
    try:
        notices = give_back_standing(folder, lane.id, refused=past.transcript.sign_in_refused)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # its note is damaged
        return (), True
    return tuple(map(notice_text, notices)), any(notice.consumed for notice in notices)


def _ground(plan: RacePlan, lane: LanePlan, folder: Path, state: Path) -> LaneWorkspace:
    return standing_ground(
        base=plan.base,
        lane=lane.id,
        run_folder=folder,
        path=ground_dir(state, plan.run, lane.id),
        worktree=lane.worktree,
        patches=folder / "patches.git",
        limits=plan.limits,
    )


def _patch(
    plan: RacePlan, lane: LanePlan, past: Past, patches: Path, workspace: LaneWorkspace
) -> tuple[Patch | None, bool, str]:
    """(patch, whether it was taken now, why there is none)."""
    if past.outcome is not None and past.outcome.status is Status.NOT_STARTED:
        return None, False, ""
    base = plan.base
    try:
        text = patch_git.tries(patches, lane.id).get(past.attempt)
        if text is not None and not (incomplete := _incomplete(patches, text, base)):
            # Whole, and of an agent that had ended. Its ground may since be half removed.
            read = _read(patches, base, text)
            return _with_left(read, patches, lane.id, past.attempt), False, ""
        patch = workspace.snapshot(
            attempt=past.attempt, message=Redactor(()).text(patch_message(plan, lane))
        )
    except WorktreeLost as lost:
        if text is not None:
            return _read(patches, base, text, incomplete), False, ""
        return None, False, str(lost)
    except (HydraError, OSError) as error:
        _check_answered(error)
        return None, False, _why(plan, patches, str(error))
    if any(term in patch.incomplete for term in _DISK_FULL):
        raise NotNow(f"the disk is full ({workspace.worktree} has the work)")
    if patch.empty and patch.incomplete and not _readable(patches, base):
        return None, False, _why(plan, patches, patch.incomplete)
    return patch, True, ""


def _check_answered(error: Exception) -> None:
    """What is recorded now is recorded for good. Raises `NotNow` where nothing could be started; a
    git that is killed over this work may be killed every time."""
    is_killed = isinstance(error, GitKilled) and error.result.code < 0
    if is_passing(error) or (isinstance(error, Exhausted) and not is_killed):
        raise NotNow(str(error)) from error


def _why(plan: RacePlan, patches: Path, error: str) -> str:
    if any(term in error for term in _DISK_FULL):
        raise NotNow("the disk is full")
    if not _readable(patches, plan.base):
        return f"its base is gone with the repository {plan.repository}"
    return error


def _readable(patches: Path, base: str) -> bool:
    try:
        result = run(
            "cat-file", "-e", f"{base}^{{tree}}", git_dir=patches, isolated=True, check=False
        )
    except HydraError as error:  # not even a folder
        _check_answered(error)
        return False
    return result.code == 0


def _incomplete(patches: Path, commit: str, base: str) -> str:
    if commit == base:
        return ""
    form = "--format=%(trailers:key=Hydra-Incomplete,valueonly)"
    return run(
        "log", "-1", "--no-show-signature", form, commit, git_dir=patches, isolated=True
    ).line.strip()


def _read(patches: Path, base: str, commit: str, incomplete: str = "") -> Patch:
    # Not before: every command looks whether there is something to recover.
    from hydra.analysis.notices.notice import remarks
    from hydra.git.patch_facts import touched

    stats, files = touched(patches, base, commit)
    return Patch(
        commit=commit,
        base=base,
        files=len(stats),
        insertions=sum(added or 0 for _, added, _ in stats),
        deletions=sum(deleted or 0 for _, _, deleted in stats),
        incomplete=incomplete,
        remarks=remarks(files),
    )


def _with_left(patch: Patch, patches: Path, lane: str, attempt: int) -> Patch:
    """With what was found of its work beside its files, as it was written down there."""
    refs = patch_git.stranded(patches, lane, attempt)
    notes = tuple(f"work that is not in the worktree: kept as {ref}" for ref in refs)
    behind = patch_git.is_behind(patches, lane, attempt)
    if behind:
        notes += ("some of its work is in its worktree or its repository alone, which are kept",)
    return replace(patch, stranded=refs, notes=notes, left_behind=int(behind))


def _unopened(lane: LanePlan, past: Past) -> Recovery:
    if past.outcome is not None:
        return Recovery(_as_recorded(lane, past, None), fresh=past.ended is None)
    if lane.failure is not None:
        return Recovery(not_started(lane, lane.failure, attempt=past.attempt))
    return Recovery(_interrupted(lane, past, None, ""))


def _interrupted(
    lane: LanePlan, past: Past, patch: Patch | None, problem: str, *, checked: bool = False
) -> Outcome:
    message = "Hydra itself was killed before this lane had ended"
    if problem:
        message += f", and its work could not be taken: {problem}"
    killed = Failure(
        kind="Interrupted",
        reason="hydra_killed",
        message=message,
        adapter=lane.adapter,
        command=lane.argv,
        hint="race again to start over"
        + ("; what was done until then is in its patch" if patch and not patch.empty else ""),
    )
    outcome = Outcome(
        lane=lane.id,
        attempt=past.attempt,
        status=Status.INTERRUPTED,
        failure=killed,
        held_back=_UNCHECKED * checked,
        patch=patch,
        seconds=past.seconds,
        warnings=tuple(past.warnings) or lane.warnings,
    )
    return _as_transcribed(outcome, lane, past)


def _as_transcribed(outcome: Outcome, lane: LanePlan, past: Past) -> Outcome:
    """With what its agent's own events tell."""
    transcript = past.transcript
    return replace(
        outcome,
        usage=transcript.usage,
        usage_estimate=estimate_of(lane.rates, transcript.usage),
        exit=_exit(past),
        message=transcript.message,
        session=transcript.session,
    )


def _as_recorded(lane: LanePlan, past: Past, patch: Patch | None) -> Outcome:
    """As its own event has it."""
    outcome = past.outcome
    assert outcome is not None
    # An earlier Hydra wrote how a lane ended and no more; and an agent may not have ended.
    if outcome.exit is None:
        outcome = _as_transcribed(outcome, lane, past)
    if patch and outcome.patch and outcome.patch.commit == patch.commit:
        patch = outcome.patch  # it knows more of it
    notices = (text for text in past.warnings if text not in outcome.warnings)
    return replace(
        outcome,
        lane=lane.id,
        attempt=past.attempt,
        patch=patch,
        warnings=(*outcome.warnings, *notices),
    )


def _exit(past: Past) -> ExitStatus | None:
    try:
        return None if past.exited is None else shaped(past.exited, ExitStatus)
    except ValueError:  # of another shape: it ended, and that is all that is known
        return ExitStatus()
