"""`hydra merge`: from a lane, or picks of several, to a commit on the user's branch."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from hydra import executables, paths
from hydra.app import besides, runs
from hydra.app.chosen import Chosen, chosen
from hydra.app.composing import Made, composed, tree_of
from hydra.app.precheck import Check, checked
from hydra.app.runs import Place
from hydra.errors import LandingRefused, Refused, UsageError
from hydra.git import handing, patches, sparse
from hydra.git.changes import Change, Difference, difference, objects
from hydra.git.names import parents
from hydra.git.runner import GitFailed, run
from hydra.landing import after, engine
from hydra.landing.journal import Desk
from hydra.landing.message import message_of
from hydra.landing.obstacles import check_branch
from hydra.landing.order import Order
from hydra.landing.picks import Pick
from hydra.landing.place import check_names
from hydra.landing.salvage import SalvagedFile
from hydra.model import Remark
from hydra.reporters.text import quote
from hydra.store import RunRecord, new_run_id, shared


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRequest:
    """What a person asks for: a lane, or picks; neither is the top of the ranking. `commit` False
    is --no-commit, `override` why one lands that is not proved.

    `message` None is the task's own; `edit` gives a text to the user's editor and takes it back.
    `warn` is told, before anything is touched, why what is to land is not proved.
    """

    run: str = ""
    lane: str = ""
    picks: tuple[Pick, ...] = ()
    branch: str = ""
    commit: bool = True
    dry_run: bool = False
    message: str | None = None
    edit: Callable[[str, str], str] | None = None
    check: Check | None = None
    override: str | None = None
    warn: Callable[[str], object] = lambda _: None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """What was landed, or with `dry_run` would be. `commit` "" is a landing without one.

    `moved`: the branch had moved on since the race, and the patch was merged onto it. `hooks` are
    those of the user's that would have run with git. `remarks` are what it touches that deserves a
    look. `document` is the record.
    """

    run: str
    lanes: tuple[str, ...]
    ref: str
    commit: str
    files: tuple[Change, ...]
    moved: bool
    hooks: tuple[str, ...]
    notes: tuple[str, ...]
    dry_run: bool
    document: Mapping[str, Any]
    remarks: tuple[Remark, ...] = ()


def merge(request: MergeRequest) -> Landing:
    """Lands it. Raises `LandingRefused` with nothing touched, `UsageError`, `RecordError`."""
    place = runs.here(request.environ, request.directory)
    record = runs.find(place, request.run)
    with shared(record.folder), as_landing(), scratch_of(place) as scratch:
        for lane in filter(None, (request.lane, *(pick.lane for pick in request.picks))):
            runs.check_lane(record, lane)
        _check_state(place, request)
        choice = chosen(
            record,
            request.lane,
            request.picks,
            run=request.run,
            override=request.override,
            environ=request.environ,
            options=request.where,
        )
        for warning in choice.warnings:
            request.warn(warning)
        made = composed(place, record, choice.picks, scratch, commits=request.commits)
        found = difference(record.patches, made.head, made.result)
        files = found.files
        if not files:
            raise _nothing(place, record, made)
        told = None
        if request.check is not None:  # nobody waits for checks to hear what is in the way
            if request.branch:
                _look_at_branch(place, files, request.branch)
            else:
                engine.look(_order(place, record, made, files, scratch, request.commits), scratch)
            ruled = bool(choice.override or choice.verdict)
            told = checked(record, made, request.check, ruled=ruled)
        text = _message(request, record, made)
        return _land(place, record, request, choice, made, found, text, told, scratch)


def _nothing(place: Place, record: RunRecord, made: Made) -> LandingRefused:
    if made.tree == tree_of(record, made.base):
        patches = f"the patch of {' and '.join(made.lanes)} is empty"
        return LandingRefused(
            f"there is nothing to land: {patches}", hint="`hydra runs show` says why"
        )
    return LandingRefused(
        f"there is nothing to land: all of it is on {_branch(place)} already",
        hint="`git log` shows what is there",
    )


def desk_of(state: Path, root: Path) -> Desk:
    """Where a repository's landings are kept."""
    return Desk(state / paths.repository_key(root) / "landing")


def desk(place: Place) -> Desk:
    """The same, from where one stands."""
    return desk_of(place.state, place.repository.root)


def _check_state(place: Place, request: MergeRequest) -> None:
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
            told = "is under way here" if not mine else "was broken off and is not decided"
        raise LandingRefused(
            f"nothing was landed: another landing {told}",
            hint="wait for it" if not mine else "hydra merge --abort",
        )


def _check_branch(place: Place, branch: str) -> None:
    root = place.repository.root
    valid = run("check-ref-format", "--branch", branch, cwd=root, check=False)
    if valid.code != 0 or branch.startswith("-"):
        raise UsageError(f"{branch!r} is no name for a branch", hint="--branch my-branch")
    if there := _branch_in_the_way(root, branch):
        so = "" if there == branch else f", so there can be no {branch}"
        raise LandingRefused(
            f"nothing was landed: the branch {there} is there already{so}",
            hint="choose another name, or delete it first: git branch -d",
        )


def _branch_in_the_way(root: Path, branch: str) -> str:
    """A branch of this name, or one that would be a folder of it, or it of that one."""
    above = [os.fsdecode(place) for place in parents(os.fsencode(branch))]
    asked = [f"refs/heads/{name}" for name in (*above, branch)]
    told = run("for-each-ref", "--format=%(refname:lstrip=2)", *asked, cwd=root).line
    for name in told.splitlines():
        if name in above or name == branch or name.startswith(f"{branch}/"):
            return name
    return ""


def _message(request: MergeRequest, record: RunRecord, made: Made) -> str:
    own = [patches.message(record.patches, runs.commit_of(record, lane)) for lane in made.lanes]
    text = message_of(own, request.message)
    if request.edit is None or not request.commit:
        return text
    editor = patches.editor(record.patches, request.environ)
    edited = request.edit(text, editor)
    if not edited.strip():
        raise LandingRefused("nothing was landed: the message is empty")
    return edited


def _land(
    place: Place,
    record: RunRecord,
    request: MergeRequest,
    choice: Chosen,
    made: Made,
    found: Difference,
    text: str,
    told: Mapping[str, Any] | None,
    scratch: Path,
) -> Landing:
    repository, files = place.repository, found.files
    commit = "" if not request.commits else _commit(place, record, made, text, request.environ)
    onto = repository.head
    ref = f"refs/heads/{request.branch}" if request.branch else f"refs/heads/{repository.branch}"
    name = new_run_id()
    document: dict[str, Any] = {
        "schema": 1,
        "kind": "landing",
        "run": record.id,
        "lanes": list(made.lanes),
        "picks": [pick.shown for pick in request.picks],
        "title": text.splitlines()[0],
        "ref": ref if request.commits or repository.branch else "HEAD",
        "branch": request.branch,
        "onto": onto,
        "base": made.base,
        "head": made.head,
        "result": made.result,
        "commit": commit,
        "files": [os.fsdecode(change.path) for change in files],
        "loose": [os.fsdecode(path) for path in sorted(made.dirty)],
        "moved": made.head != made.base,
        "verdict": list(choice.verdict),
        "override": choice.override or None,
        "checks": told,
        "landed": time.time(),
        "undone": None,
        "kept": [],
        "record": str(record.folder / "landings" / f"{name}.json"),
    }
    landing = Landing(
        run=record.id,
        lanes=made.lanes,
        ref=document["ref"],
        commit=commit,
        files=files,
        moved=made.head != made.base,
        hooks=() if not request.commits else besides.hooks_of(place, files),
        notes=besides.notes_of(record, made),
        dry_run=request.dry_run,
        document=document,
        remarks=besides.remarks_of(place, record, made),
    )
    order = replace(
        _order(place, record, made, files, scratch, request.commits),
        id=name,
        ref=ref if commit else "",
        commit=commit,
        reason=f"hydra merge {' '.join(made.lanes)}: {document['title']}",
        bring=partial(_bring, place, record, found, (commit, made.result) if commit else ()),
        record=Path(document["record"]),
        document=document,
    )
    if request.branch:
        _new_branch(place, order, request)
    elif request.dry_run:
        engine.look(order, scratch)
    else:
        landing = with_salvaged(landing, carry_out(order, desk(place)))
    return landing


def with_salvaged(landing: Landing, files: Sequence[SalvagedFile]) -> Landing:
    """The landing, and what of the user's is kept besides."""
    return replace(landing, document={**landing.document, "kept": [file.shown for file in files]})


def _order(
    place: Place,
    record: RunRecord,
    made: Made,
    files: Sequence[Change],
    scratch: Path,
    commits: bool,
) -> Order:
    """What is to be done to the tree; where the branch goes is added to it."""
    added = [change.path for change in files if change.old is None]
    return Order(
        id="look",
        run=record.id,
        repository=place.repository,
        patches=record.patches,
        changes=files,
        ref=f"refs/heads/{place.repository.branch}" if commits else "",
        head=made.head,
        commit="",
        loose=made.dirty,
        outside=sparse.left_out(place.repository, added, scratch),
    )


def _bring(place: Place, record: RunRecord, found: Difference, roots: Sequence[str]) -> None:
    """`roots` are the commit and its tree; without them, folders' trees are not brought either:
    they may be of a base that the user's repository does not have."""
    wanted = (*roots, *found.objects) if roots else objects(found.files)
    handing.hand_over(record.patches, place.repository, wanted)
    handing.hand_over_lfs(record.patches, place.repository, found.files)


def _commit(
    place: Place, record: RunRecord, made: Made, text: str, environ: Mapping[str, str]
) -> str:
    config = place.repository.config
    return handing.make_commit(
        record.patches,
        tree=made.result,
        head=place.repository.head,
        message=text.encode("utf-8", "surrogateescape"),
        identity={key: config[key] for key in ("user.name", "user.email") if key in config},
        environ=environ,
    )


def carry_out(order: Order, desk: Desk) -> tuple[SalvagedFile, ...]:
    """Moves the user's tree. Gives what was displaced and is kept. Raises `LandingRefused`,
    whatever it was that stopped it."""
    with desk.alone() as mine:
        if not mine:
            raise LandingRefused(
                "nothing was landed: another landing is under way here", hint="wait for it"
            )
        try:
            return engine.move(order, desk)
        except (OSError, GitFailed) as error:
            raise LandingRefused(
                f"nothing was landed, all is as it was: {error}",
                hint="see that the repository and its disk can be written",
            ) from error


def _look_at_branch(place: Place, files: Sequence[Change], branch: str) -> None:
    check_names(files)
    check_branch(place.repository, f"refs/heads/{branch}")


def _new_branch(place: Place, order: Order, request: MergeRequest) -> None:
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
    except GitFailed as failed:
        raise LandingRefused(
            f"nothing was landed: the branch cannot be made ({failed.result.reason})"
        ) from failed
    assert order.record is not None
    after.write_record(order.record, order.document or {}, desk(place))


@contextmanager
def as_landing() -> Iterator[None]:
    """What is refused in here is a landing: a signature, an identity, objects that do not go in."""
    try:
        yield
    except Refused as refused:
        raise LandingRefused(
            f"nothing was landed: {refused.message}", hint=refused.hint
        ) from refused


def _branch(place: Place) -> str:
    return place.repository.branch or "HEAD"


@contextmanager
def scratch_of(place: Place) -> Iterator[Path]:
    """A folder in the repository's own place, gone afterwards. Raises `Refused`."""
    folder = place.state / paths.repository_key(place.repository.root)
    try:
        paths.make_private(folder)
        with tempfile.TemporaryDirectory(prefix=".landing-", dir=folder) as made:
            yield Path(made)
    except PermissionError as error:
        raise Refused(f"the state folder cannot be written: {error}") from error
