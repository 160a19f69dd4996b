"""`hydra merge`: from a lane, or picks of several, to a commit on the user's branch."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from hydra import executables, paths
from hydra.analysis.notices.notice import remarks
from hydra.analysis.notices.requirements import set_up_for
from hydra.checks.requirements import other_requirements
from hydra.commands.merge_checks import Check, checked
from hydra.commands.merge_selection import Confirm, MergeSelection, chosen
from hydra.commands.merge_tree import ComposedTree, composed, is_whole, notes_of, placed, tree_of
from hydra.config.check_specs import in_folder
from hydra.errors import HydraError, LandingRefused, Refused, UsageError
from hydra.git import attributes, export, index, patches
from hydra.git.diff import TreeChange, TreeDifference, difference
from hydra.git.patch_facts import touched
from hydra.git.paths import parents
from hydra.git.runner import GitError, run
from hydra.landing import completion, transaction
from hydra.landing.compose import message_of
from hydra.landing.journal import LandingOrder, LandingStore
from hydra.landing.obstacles import check_branch
from hydra.landing.picks import Pick
from hydra.landing.preflight import check_names
from hydra.landing.record import LandingRecord, SalvagedFile
from hydra.race.guesses.setups import install
from hydra.race.recovery import runs
from hydra.race.recovery.runs import RepositoryRuns
from hydra.records.codec import as_json, shaped
from hydra.records.outcome import Remark
from hydra.records.store.files import shared
from hydra.records.store.reader import RunRecord
from hydra.records.store.writer import new_run_id
from hydra.redaction import notice, redacted
from hydra.report.text import quote


class MergeRequest(Struct, frozen=True, kw_only=True):
    """What a person asks for: a lane, or picks; neither is the top of the ranking. `commit` False
    is --no-commit, `override` why one lands that is not proved.

    `message` None is the task's own; `edit` gives a text to the user's editor and takes it back.
    `warn` is told, before anything is touched, why what is to land is not proved; `tell`, what is
    waited for. `confirm` asks
    for the yes that a patch may need; None: nobody can be asked.
    """

    run: str = ""
    lane: str = ""
    picks: tuple[Pick, ...] = ()
    without: tuple[Pick, ...] = ()
    branch: str = ""
    commit: bool = True
    dry_run: bool = False
    message: str | None = None
    edit: Callable[[str, str], str] | None = None
    check: Check | None = None
    override: str | None = None
    warn: Callable[[str], object] = lambda _: None
    tell: Callable[[str], object] = lambda _: None
    confirm: Confirm | None = None
    environ: Mapping[str, str] = field(default_factory=executables.users_environment)
    directory: Path | None = None

    @property
    def commits(self) -> bool:
        """Whether a commit is made."""
        return self.commit or bool(self.branch)

    @property
    def where(self) -> str:
        """Where it is to land, as it was typed."""
        if self.branch:
            return f" --branch {quote(self.branch)}"
        return "" if self.commit else " --no-commit"


class Landing(Struct, frozen=True, kw_only=True):
    """What was landed, or with `dry_run` would be. `commit` "" is a landing without one.

    `moved`: the branch had moved on since the race, and the patch was merged onto it. `hooks` are
    those of the user's that would have run with git. `remarks` are what it touches that deserves a
    look.
    """

    record: LandingRecord
    files: tuple[TreeChange, ...]
    hooks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False
    remarks: tuple[Remark, ...] = ()

    @property
    def lanes(self) -> tuple[str, ...]:
        """What was landed of."""
        return self.record.lanes

    @property
    def commit(self) -> str:
        """The commit on the user's branch, "" where there is none (any more)."""
        return "" if self.record.undone else self.record.commit


def merge(request: MergeRequest) -> Landing:
    """Lands it. Raises `LandingRefused` with nothing touched, `UsageError`, `RecordError`."""
    place = runs.repository_runs(request.environ, request.directory)
    record = runs.find(place, request.run)
    with shared(record.folder), as_landing(), scratch_of(place) as scratch:
        for lane in filter(None, (request.lane, *(pick.lane for pick in request.picks))):
            runs.check_lane(record, lane)
        request = replace(request, picks=placed(record, request.picks))
        _check_state(place, request)
        choice = chosen(
            record,
            request.lane,
            request.picks,
            request.without,
            override=request.override,
            environ=request.environ,
            scratch=scratch,
            checks=request.check is not None,
            options=request.where,
            confirm=request.confirm,
        )
        for warning in choice.warnings:
            request.warn(warning)
        new = bool(request.branch)
        tree = composed(place, record, choice.parts, commits=request.commits, branch=new)
        tree_difference = difference(record.patches, tree.head, tree.result)
        files = tree_difference.files
        if not files:
            raise _nothing(place, record, tree)
        document = None
        if request.check is not None:  # nobody waits for checks to hear what is in the way
            if request.branch:
                _look_at_branch(place, files, request.branch)
            else:
                transaction.look(
                    _order(place, record, tree, files, scratch, request.commits), scratch
                )
            ruled = bool(choice.override or choice.verdict)
            document = checked(record, tree, request.check, choice.judged, ruled=ruled)
        text = _message(request, record, tree)
        return _land(place, record, request, choice, tree, tree_difference, text, document, scratch)


def _nothing(place: RepositoryRuns, record: RunRecord, tree: ComposedTree) -> LandingRefused:
    if tree.tree == tree_of(record, tree.base):
        patches = f"the patch of {' and '.join(tree.lanes)} is empty"
        return LandingRefused(
            f"there is nothing to land: {patches}", hint=f"`hydra runs show {record.id}` says why"
        )
    return LandingRefused(
        f"there is nothing to land: all of it is on {_branch(place)} already",
        hint="`git log` shows what is there",
    )


def desk_of(state: Path, root: Path) -> LandingStore:
    """Where a repository's landings are kept."""
    return LandingStore(state / paths.repository_key(root) / "landing")


def desk(place: RepositoryRuns) -> LandingStore:
    """The same, from where one stands."""
    return desk_of(place.state, place.repository.root)


def _check_state(place: RepositoryRuns, request: MergeRequest) -> None:
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


def _check_branch(place: RepositoryRuns, branch: str) -> None:
    root = place.repository.root
    valid = run("check-ref-format", "--branch", branch, cwd=root, check=False)
    if valid.code != 0 or branch.startswith("-"):
        raise UsageError(f"{branch!r} is no name for a branch", hint="--branch my-branch")
    if text := _branch_in_the_way(root, branch):
        so = "" if text == branch else f", so there can be no {branch}"
        mine = text == place.repository.branch
        way = (
            "leave --branch out to land on it" if mine else f"delete it first: git branch -d {text}"
        )
        raise LandingRefused(
            f"nothing was landed: the branch {text} is there already{so}",
            hint=f"choose another name, or {way}",
        )


def _branch_in_the_way(root: Path, branch: str) -> str:
    """A branch of this name, or one that would be a folder of it, or it of that one."""
    above = [os.fsdecode(place) for place in parents(os.fsencode(branch))]
    names = [f"refs/heads/{name}" for name in (*above, branch)]
    text = run("for-each-ref", "--format=%(refname:lstrip=2)", *names, cwd=root).line
    for name in text.splitlines():
        if name in above or name == branch or name.startswith(f"{branch}/"):
            return name
    return ""


def _message(request: MergeRequest, record: RunRecord, tree: ComposedTree) -> str:
    own = [patches.message(record.patches, runs.commit_of(record, lane)) for lane in tree.lanes]
    text = message_of(own, request.message)
    if request.message is None:
        text = redacted(text)  # a person's own words are theirs, in their own commit
    if request.edit is None or not request.commit:
        return text
    editor = patches.editor(record.patches, request.environ)
    edited = request.edit(text, editor)
    if not edited.strip():
        raise LandingRefused("nothing was landed: the message is empty")
    notice(edited)
    return edited


def _land(
    place: RepositoryRuns,
    record: RunRecord,
    request: MergeRequest,
    choice: MergeSelection,
    tree: ComposedTree,
    tree_difference: TreeDifference,
    text: str,
    data: Mapping[str, Any] | None,
    scratch: Path,
) -> Landing:
    repository, files = place.repository, tree_difference.files
    store = scratch / "objects"
    commit = "" if not request.commits else _commit(place, record, tree, text, request, store)
    ref = f"refs/heads/{request.branch}" if request.branch else f"refs/heads/{repository.branch}"
    name = new_run_id()
    file = record.folder / "landings" / f"{name}.json"
    document = LandingRecord(
        run=record.id,
        lanes=tree.lanes,
        picks=tuple(pick.shown for pick in choice.picks),
        whole=tuple(part.lane for part in choice.parts if is_whole(record, part)),
        title=redacted(text).splitlines()[0],
        ref=ref if request.commits or repository.branch else "HEAD",
        branch=request.branch,
        onto=tree.head if request.branch else repository.head,
        base=tree.base,
        head=tree.head,
        result=tree.result,
        commit=commit,
        files=tuple(os.fsdecode(change.path) for change in files),
        loose=tuple(os.fsdecode(path) for path in sorted(tree.dirty)),
        moved=tree.head != tree.base,
        verdict=choice.verdict,
        override=choice.override or None,
        confirmed=() if request.dry_run else choice.confirmed,
        checks=data,
        landed=time.time(),
        record=str(file),
    )
    landing = Landing(
        record=document,
        files=files,
        hooks=() if not request.commits else hooks_of(place, files),
        notes=notes_of(place, record, choice.parts, choice.picks, tree, files),
        dry_run=request.dry_run,
        remarks=remarks_of(place, record, tree),
    )
    order = replace(
        _order(place, record, tree, files, scratch, request.commits),
        id=name,
        ref=ref if commit else "",
        commit=commit,
        reason=f"hydra merge {' '.join(tree.lanes)}: {document.title}",
        bring=partial(
            export.bring, record.patches, store, repository, tree_difference, tree.result, commit
        ),
        record=file,
        document=shaped(redacted(as_json(document)), LandingRecord),  # its journal has it as well
    )
    if request.branch:
        _new_branch(place, order, request)
    elif request.dry_run:
        transaction.look(order, scratch)
    else:
        landing = with_salvaged(landing, carry_out(order, desk(place)))
        with suppress(HydraError, OSError):  # it has landed, whatever can be said of it
            missing = installs_of(place, record, files)
            landing = replace(landing, notes=(*landing.notes, *missing))
    return landing


def with_salvaged(landing: Landing, files: Sequence[SalvagedFile]) -> Landing:
    """The landing, and what of the user's is kept besides."""
    return replace(landing, record=replace(landing.record, kept=tuple(files)))


def _order(
    place: RepositoryRuns,
    record: RunRecord,
    tree: ComposedTree,
    files: Sequence[TreeChange],
    scratch: Path,
    commits: bool,
) -> LandingOrder:
    """What is to be done to the tree; where the branch goes is added to it."""
    added = [change.path for change in files if change.old is None]
    return LandingOrder(
        id="look",
        run=record.id,
        repository=place.repository,
        patches=record.patches,
        changes=files,
        ref=f"refs/heads/{place.repository.branch}" if commits else "",
        head=tree.head,
        commit="",
        loose=tree.dirty,
        outside=attributes.left_out(place.repository, added, scratch),
    )


def _commit(
    place: RepositoryRuns,
    record: RunRecord,
    tree: ComposedTree,
    text: str,
    request: MergeRequest,
    store: Path,
) -> str:
    config = place.repository.config
    if not request.dry_run and export.are_signed(attributes.user_settings(record.patches)):
        request.tell("your signer is asked to sign the commit")
    return export.make_commit(
        record.patches,
        store,
        tree=tree.result,
        head=tree.head,
        message=text.encode("utf-8", "surrogateescape"),
        identity={key: config[key] for key in ("user.name", "user.email") if key in config},
        environ=request.environ,
        sign=not request.dry_run,
    )


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


def _look_at_branch(place: RepositoryRuns, files: Sequence[TreeChange], branch: str) -> None:
    check_names(files)
    check_branch(place.repository, f"refs/heads/{branch}")


def _new_branch(place: RepositoryRuns, order: LandingOrder, request: MergeRequest) -> None:
    root = place.repository.root
    _look_at_branch(place, order.changes, request.branch)
    if request.dry_run:
        return
    order.bring()
    nobody = "0" * len(order.commit)
    logs = place.repository.config.get("core.logallrefupdates", "true")
    try:
        run(
            *("update-ref", "-m", order.reason, order.ref, order.commit, nobody),
            cwd=root,
            config=(("core.logAllRefUpdates", logs),),
        )
    except GitError as failed:
        raise LandingRefused(
            f"nothing was landed: the branch cannot be made ({failed.result.reason})"
        ) from failed
    assert order.record is not None
    if order.document is not None:
        completion.write_record(order.document, desk(place))


@contextmanager
def as_landing() -> Iterator[None]:
    """What is refused in here is a landing: a signature, an identity, objects that do not go in."""
    try:
        yield
    except Refused as refused:
        raise LandingRefused(
            f"nothing was landed: {refused.message}", hint=refused.hint
        ) from refused


def _branch(place: RepositoryRuns) -> str:
    return place.repository.branch or "HEAD"


@contextmanager
def scratch_of(place: RepositoryRuns) -> Iterator[Path]:
    """A folder beside the landings, gone afterwards. Raises `Refused`."""
    folder = desk(place).folder
    try:
        paths.make_private(folder)
        with index.scratch(folder) as own:
            yield own
    except PermissionError as error:
        raise Refused(f"the state folder cannot be written: {error}") from error


# ---- What is to be said of a landing besides its files: hooks, remarks, what is to be installed.


def remarks_of(place: RepositoryRuns, record: RunRecord, tree: ComposedTree) -> tuple[Remark, ...]:
    """What it touches that deserves a look."""
    _, files = touched(record.patches, tree.head, tree.result)
    return remarks(files, place.repository.config.get("core.hookspath", ""))


def hooks_of(place: RepositoryRuns, files: Sequence[TreeChange]) -> tuple[str, ...]:
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


def installs_of(
    place: RepositoryRuns, record: RunRecord, files: Sequence[TreeChange]
) -> tuple[str, ...]:
    """What installs the dependencies that a landing in the user's tree has changed, in a sentence:
    the checkout lacks them until then."""
    paths = other_requirements(record.patches, files)
    if not paths:
        return ()
    folder, _, name = min(paths, key=_least_of_a_lock).rpartition(b"/")
    command = install(place.repository.root / os.fsdecode(folder), os.fsdecode(name))
    if not (command := command or set_up_for(name)):
        return ()
    named = os.fsdecode(min(paths, key=len))
    return (f"dependencies changed ({named}): {in_folder(command, os.fsdecode(folder))}",)


def _least_of_a_lock(path: bytes) -> tuple[bool, int]:
    return b"lock" not in path.rpartition(b"/")[2].lower(), len(path)
