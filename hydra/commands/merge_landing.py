"""`hydra merge`: from a lane, or picks of several, to a commit on the user's branch."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hydra import paths
from hydra.analysis.notices.notice import remarks
from hydra.analysis.notices.requirements import set_up_for
from hydra.checks.round import other_requirements
from hydra.commands.merge_checks import checked
from hydra.commands.merge_selection import MergeRequest, MergeSelection, chosen
from hydra.commands.merge_tree import composed, is_whole, notes_of, placed, tree_of
from hydra.config.check_specs import in_folder
from hydra.errors import HydraError, LandingRefused, Refused, UsageError
from hydra.git import attributes, export, index, patches
from hydra.git.attributes import parents
from hydra.git.diff import TreeChange, difference
from hydra.git.patch_facts import touched
from hydra.git.runner import GitError, run
from hydra.landing import completion, transaction
from hydra.landing.compose import message_of
from hydra.landing.journal import LandingOrder, LandingStore
from hydra.landing.obstacles import check_branch
from hydra.landing.preflight import check_names
from hydra.landing.record import LandingRecord, SalvagedFile
from hydra.race.command_context import CommandContext
from hydra.race.guesses.setups import install
from hydra.race.recovery import runs
from hydra.race.recovery.runs import RunReading
from hydra.records.codec import as_json, shaped
from hydra.records.store.files import shared
from hydra.records.store.reader import RunRecord
from hydra.records.store.writer import new_run_id
from hydra.redaction import notice, redacted
from hydra.report.landing import Landing


def merge(request: MergeRequest) -> Landing:
    """Lands it. Raises `LandingRefused` with nothing touched, `UsageError`, `RecordError`."""
    place = runs.repository_runs(request.environ, request.directory)
    record = runs.find(place, request.run)
    with shared(record.folder), as_landing(), scratch_of(place) as scratch:
        reading = runs.read(record)
        for lane in filter(None, (request.lane, *(pick.lane for pick in request.picks))):
            runs.check_lane(reading, lane)
        request = replace(request, picks=placed(record, request.picks))
        _check_state(place, request)
        choice = chosen(reading, request, scratch)
        for warning in choice.warnings:
            request.warn(warning)
        return _Merge(place, reading, request, scratch, choice).land()


def desk(place: CommandContext) -> LandingStore:
    """Where the landings of the repository are kept that one stands in."""
    return LandingStore(place.state / paths.repository_key(place.repository.root) / "landing")


def _check_state(place: CommandContext, request: MergeRequest) -> None:
    repository = place.repository
    if request.branch:
        _check_branch(place, request.branch)
    if repository.state and not request.branch:
        raise LandingRefused(
            f"nothing was landed: a {repository.state} is under way here",
            hint=f"finish it first (git {repository.state} --continue, or --abort), or take the "
            "patch on a branch of its own: --branch NAME",
        )
    if repository.branch is None and not request.branch and request.commit:
        raise LandingRefused(
            "nothing was landed: HEAD is detached, so no branch would hold the commit",
            hint="--branch NAME makes one; --no-commit lands without a commit",
        )
    if desk(place).file.exists():
        with desk(place).alone() as mine:
            text = "is under way here" if not mine else "was broken off and is not decided"
        raise LandingRefused(
            f"nothing was landed: another landing {text}",
            hint="wait for it" if not mine else "hydra merge --abort",
        )


def _check_branch(place: CommandContext, branch: str) -> None:
    root = place.repository.root
    valid = run("check-ref-format", "--branch", branch, cwd=root, check=False)
    if valid.code != 0 or branch.startswith("-"):
        raise UsageError(f"{branch!r} is no name for a branch", hint="--branch my-branch")
    # One of this name, or one that would be a folder of it, or it of that one.
    ours = [*(os.fsdecode(folder) for folder in parents(os.fsencode(branch))), branch]
    refs = (f"refs/heads/{name}" for name in ours)
    names = run("for-each-ref", "--format=%(refname:lstrip=2)", *refs, cwd=root).line.splitlines()
    if text := next((n for n in names if n in ours or n.startswith(f"{branch}/")), ""):
        so = "" if text == branch else f", so there can be no {branch}"
        mine = text == place.repository.branch
        delete = f"delete it first: git branch -d {text}"
        way = "leave --branch out to land on it" if mine else delete
        raise LandingRefused(
            f"nothing was landed: the branch {text} is there already{so}",
            hint=f"choose another name, or {way}",
        )


class _Merge:
    """One landing, from what was chosen to the move of the user's tree."""

    def __init__(
        self,
        place: CommandContext,
        reading: RunReading,
        request: MergeRequest,
        scratch: Path,
        choice: MergeSelection,
    ) -> None:
        self.place, self.repository = place, place.repository
        self.reading, self.record = reading, reading.run
        self.request, self.scratch, self.choice = request, scratch, choice
        self.patches = self.record.patches
        self.tree = composed(
            place,
            self.record,
            choice.parts,
            commits=request.commits,
            branch=bool(request.branch),
        )
        self.difference = difference(self.patches, self.tree.head, self.tree.result)
        self.files = self.difference.files

    def land(self) -> Landing:
        """Checks it, then carries it out, or looks alone whether that would be refused."""
        request, tree, record = self.request, self.tree, self.record
        if not self.files:
            raise self._nothing()
        checks = None
        if request.check is not None:  # nobody waits for checks to hear what is in the way
            if request.branch:
                self._look_at_branch()
            else:
                transaction.look(self._order(), self.scratch)
            ruled = bool(self.choice.override or self.choice.verdict)
            checks = checked(self.reading, tree, request.check, self.choice.judged, ruled=ruled)
        text = self._message()
        commit = self._commit(text) if request.commits else ""
        name = new_run_id()
        landed = self._record_of(text, commit, name, checks)
        _, touched_files = touched(self.patches, tree.head, tree.result)
        landing = Landing(
            record=landed,
            files=self.files,
            hooks=_hooks_of(self.place, self.files) if request.commits else (),
            notes=notes_of(
                self.place, self.reading, self.choice.parts, self.choice.picks, tree, self.files
            ),
            dry_run=request.dry_run,
            remarks=remarks(touched_files, self.repository.config.get("core.hookspath", "")),
        )
        order = replace(
            self._order(),
            id=name,
            ref=landed.ref if commit else "",
            commit=commit,
            reason=f"hydra merge {' '.join(tree.lanes)}: {landed.title}",
            bring=partial(
                export.bring,
                self.patches,
                self._objects,
                self.repository,
                self.difference,
                tree.result,
                commit,
            ),
            record=Path(landed.record),
            document=shaped(redacted(as_json(landed)), LandingRecord),  # its journal has it as well
        )
        if request.branch:
            self._make_branch(order)
        elif request.dry_run:
            transaction.look(order, self.scratch)
        else:
            salvaged = carry_out(order, desk(self.place))
            landing = replace(landing, record=replace(landed, kept=salvaged))
            with suppress(HydraError, OSError):  # it has landed, whatever can be said of it
                missing = _installs_of(self.place, record, self.files)
                landing = replace(landing, notes=(*landing.notes, *missing))
        return landing

    @property
    def _objects(self) -> Path:
        return self.scratch / "objects"

    def _nothing(self) -> LandingRefused:
        tree, where = self.tree, self.repository.branch or "HEAD"
        if tree.tree == tree_of(self.record, tree.base):
            return LandingRefused(
                f"there is nothing to land: the patch of {' and '.join(tree.lanes)} is empty",
                hint=f"`hydra runs show {self.record.id}` says why",
            )
        return LandingRefused(
            f"there is nothing to land: all of it is on {where} already",
            hint="`git log` shows what is there",
        )

    def _message(self) -> str:
        request, patch_store = self.request, self.patches
        commits = [runs.commit_of(self.record, lane) for lane in self.tree.lanes]
        own = [patches.message(patch_store, commit) for commit in commits]
        text = message_of(own, request.message)
        if request.message is None:
            text = redacted(text)  # a person's own words are theirs, in their own commit
        if request.edit is None or not request.commit:
            return text
        edited = request.edit(text, patches.editor(patch_store, request.environ))
        if not edited.strip():
            raise LandingRefused("nothing was landed: the message is empty")
        notice(edited)
        return edited

    def _commit(self, text: str) -> str:
        config, request = self.repository.config, self.request
        if not request.dry_run and export.are_signed(attributes.user_settings(self.patches)):
            request.tell("your signer is asked to sign the commit")
        return export.make_commit(
            self.patches,
            self._objects,
            tree=self.tree.result,
            head=self.tree.head,
            message=text.encode("utf-8", "surrogateescape"),
            identity={key: config[key] for key in ("user.name", "user.email") if key in config},
            environ=request.environ,
            sign=not request.dry_run,
        )

    def _record_of(
        self, text: str, commit: str, name: str, checks: Mapping[str, Any] | None
    ) -> LandingRecord:
        request, choice, tree, branch = self.request, self.choice, self.tree, self.request.branch
        named = request.commits or self.repository.branch
        return LandingRecord(
            run=self.record.id,
            lanes=tree.lanes,
            picks=tuple(pick.shown for pick in choice.picks),
            whole=tuple(part.lane for part in choice.parts if is_whole(self.record, part)),
            title=redacted(text).splitlines()[0],
            ref=f"refs/heads/{branch or self.repository.branch}" if named else "HEAD",
            branch=branch,
            onto=tree.head if branch else self.repository.head,
            base=tree.base,
            head=tree.head,
            result=tree.result,
            commit=commit,
            files=tuple(os.fsdecode(change.path) for change in self.files),
            loose=tuple(os.fsdecode(path) for path in sorted(tree.dirty)),
            moved=tree.head != tree.base,
            verdict=choice.verdict,
            override=choice.override or None,
            confirmed=() if request.dry_run else choice.confirmed,
            checks=checks,
            landed=time.time(),
            record=str(self.record.folder / "landings" / f"{name}.json"),
        )

    def _order(self) -> LandingOrder:
        """What is to be done to the tree; where the branch goes is added to it."""
        added = [change.path for change in self.files if change.old is None]
        return LandingOrder(
            id="look",
            run=self.record.id,
            repository=self.repository,
            patches=self.patches,
            changes=self.files,
            ref=f"refs/heads/{self.repository.branch}" if self.request.commits else "",
            head=self.tree.head,
            commit="",
            loose=self.tree.dirty,
            outside=attributes.left_out(self.repository, added, self.scratch),
        )

    def _look_at_branch(self) -> None:
        check_names(self.files)
        check_branch(self.repository, f"refs/heads/{self.request.branch}")

    def _make_branch(self, order: LandingOrder) -> None:
        self._look_at_branch()
        if self.request.dry_run:
            return
        order.bring()
        nobody = "0" * len(order.commit)
        logs = self.repository.config.get("core.logallrefupdates", "true")
        try:
            run(
                *("update-ref", "-m", order.reason, order.ref, order.commit, nobody),
                cwd=self.repository.root,
                config=(("core.logAllRefUpdates", logs),),
            )
        except GitError as failed:
            raise LandingRefused(
                f"nothing was landed: the branch cannot be made ({failed.result.reason})"
            ) from failed
        assert order.document is not None
        completion.write_record(order.document, desk(self.place))


def carry_out(order: LandingOrder, store: LandingStore) -> tuple[SalvagedFile, ...]:
    """Moves the user's tree. Gives what was displaced and is kept. Raises `LandingRefused`,
    whatever it was that stopped it."""
    with store.alone() as mine:
        if not mine:
            raise LandingRefused(
                "nothing was landed: another landing is under way here", hint="wait for it"
            )
        try:
            return transaction.move(order, store)
        except (OSError, GitError) as error:
            raise LandingRefused(
                f"nothing was landed, all is as it was: {error}",
                hint="see that the repository and its disk can be written",
            ) from error


@contextmanager
def as_landing() -> Iterator[None]:
    """What is refused in here is a landing: a signature, an identity, objects that do not go in."""
    try:
        yield
    except Refused as refused:
        raise LandingRefused(
            f"nothing was landed: {refused.message}", hint=refused.hint
        ) from refused


@contextmanager
def scratch_of(place: CommandContext) -> Iterator[Path]:
    """A folder beside the landings, gone afterwards. Raises `Refused`."""
    folder = desk(place).folder
    try:
        paths.make_private(folder)
        with index.scratch(folder) as own:
            yield own
    except PermissionError as error:
        raise Refused(f"the state folder cannot be written: {error}") from error


# ---- What is to be said of a landing besides its files: hooks, and what is to be installed.


def _hooks_of(place: CommandContext, files: Sequence[TreeChange]) -> tuple[str, ...]:
    """The user's hooks that `git merge` or `git commit` would have run, those that it brings too
    (a core.hooksPath in the tree)."""
    repository = place.repository
    named = repository.config.get("core.hookspath")
    folder = (
        repository.root / Path(named).expanduser() if named else repository.common_dir / "hooks"
    )
    brought = {
        os.path.normpath(repository.root / os.fsdecode(change.path))
        for change in files
        if change.new is not None and change.new.mode == "100755"
    }
    names = ("pre-merge-commit", "pre-commit", "prepare-commit-msg", "commit-msg")
    after_it = ("post-commit", "post-merge", "reference-transaction")
    return tuple(
        name
        for name in (*names, *after_it)
        if os.access(folder / name, os.X_OK) or os.path.normpath(folder / name) in brought
    )


def _installs_of(
    place: CommandContext, record: RunRecord, files: Sequence[TreeChange]
) -> tuple[str, ...]:
    """What installs the dependencies that a landing in the user's tree has changed, in a sentence:
    the checkout lacks them until then."""
    paths = other_requirements(record.patches, files)
    if not paths:
        return ()

    def least_of_a_lock(path: bytes) -> tuple[bool, int]:
        return b"lock" not in path.rpartition(b"/")[2].lower(), len(path)

    folder, _, name = min(paths, key=least_of_a_lock).rpartition(b"/")
    command = install(place.repository.root / os.fsdecode(folder), os.fsdecode(name))
    if not (command := command or set_up_for(name)):
        return ()
    named = os.fsdecode(min(paths, key=len))
    return (f"dependencies changed ({named}): {in_folder(command, os.fsdecode(folder))}",)
