"""From the run's patches.git into the user's repository: one commit, its objects, LFS's files.

The only objects that Hydra ever puts there are those that a person chose to land.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from hydra.errors import Refused
from hydra.git import attributes, lfs
from hydra.git.diff import TreeChange, TreeDifference, objects
from hydra.git.repository import Repository
from hydra.git.runner import GitError, GitFailed, Result, beside, run

_UNPACK_UP_TO = 100
"""Objects below which git, too, keeps loose ones (transfer.unpackLimit)."""

_PASSED_ON = ("GNUPGHOME", "GPG_TTY", "GPG_AGENT_INFO", "SSH_AUTH_SOCK", "SSH_ASKPASS", "DISPLAY")
_AND = ("WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "TERM", "LANG")
_WHO = tuple(
    f"GIT_{role}_{term}" for role in ("AUTHOR", "COMMITTER") for term in ("NAME", "EMAIL", "DATE")
)

_NOBODY = (b"empty ident", b"tell me who you are", b"auto-detection is disabled")


def make_commit(
    patches: Path,
    store: Path,
    *,
    tree: str,
    head: str,
    message: bytes,
    identity: Mapping[str, str],
    environ: Mapping[str, str],
    sign: bool = True,
) -> str:
    """A tree as the user's own commit on `head`, signed if they sign: as set up before the race. It
    is written to the folder `store` alone: its words are none of the record's.

    Whoever signs may ask at the user's terminal, and be waited for without a limit.
    `identity` (user.name, user.email) stands in where nothing was set then. Raises `Refused`
    without an identity, and where the signing fails.
    """
    settings = {"GIT_CONFIG_GLOBAL": str(patches / attributes.USER_SETTINGS)}
    values = attributes.user_settings(patches)
    signs = sign and are_signed(values)
    missing = tuple(pair for pair in identity.items() if pair[0] not in values)
    names = (*_PASSED_ON, *_AND, *_WHO)
    store.mkdir(exist_ok=True)
    try:
        return run(
            *("commit-tree", *(("-S",) if signs else ()), "-p", head, tree),
            git_dir=patches,
            isolated=True,
            stdin=message,
            timeout=None if signs else 60,
            at_terminal=signs,
            extra_env={**_own(environ, names), **settings, **beside_patches(patches, store)},
            config=(*missing, ("user.useconfigonly", "true")),
        ).line
    except GitError as failed:
        raise _not_committed(failed.result, signs) from failed


def are_signed(settings: Mapping[str, str]) -> bool:
    """Whether the user's commits are, by the settings from before the race."""
    return settings.get("commit.gpgsign", "").lower() in ("true", "yes", "on", "1")


def _not_committed(result: Result, signed: bool) -> Refused:
    if any(content in result.stderr for content in _NOBODY):
        return Refused(
            "git does not know who you are, so nothing can be committed",
            hint='git config --global user.name "..." && git config --global user.email "..."',
        )
    if signed:
        text = " ".join(result.stderr.decode("utf-8", "replace").split())[-300:]
        return Refused(
            f"the commit could not be signed: {text}",
            hint="sign once by hand to unlock your key (git commit -S), or set commit.gpgSign "
            "to false before a race; --no-commit lands without a commit",
        )
    return Refused(f"the commit could not be made: {result.reason}")


def _own(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: environ[name] for name in names if name in environ}


def bring(
    patches: Path,
    store: Path,
    repo: Repository,
    difference: TreeDifference,
    tree: str,
    commit: str,
) -> None:
    """Brings what a landing needs into the user's repository: of a `commit`, which lies in `store`,
    all of its `tree` too. Without one folders' trees stay: they may be of a base that the user's
    repository does not have. Raises `Refused`, `GitFailed`, `OSError`."""
    hand_over(patches, repo, (tree, *difference.objects) if commit else objects(difference.files))
    hand_over_lfs(patches, repo, difference.files)
    if commit:
        terms, env = ("cat-file", "commit", commit), beside_patches(patches, store)
        data = run(*terms, git_dir=patches, isolated=True, extra_env=env).stdout
        run("hash-object", "-t", "commit", "-w", "--stdin", git_dir=repo.git_dir, stdin=data)


def beside_patches(patches: Path, store: Path) -> dict[str, str]:
    """The environment in which git sees what `make_commit` has written to `store`."""
    return beside(store, patches / "objects")


def hand_over(patches: Path, repo: Repository, names: Iterable[str]) -> None:
    """Brings objects into the user's, but what is there; by their names, so that git need not go
    through all that two trees have in common.

    Raises `Refused` where they cannot be written.
    """
    request = "".join(f"{oid}\n" for oid in names)
    packed = run(
        *("pack-objects", "--local", "--stdout", "--quiet", "--delta-base-offset"),
        git_dir=patches,
        isolated=True,
        stdin=request.encode(),
        timeout=600,
        config=(("pack.window", "0"),),
    ).stdout
    count = int.from_bytes(packed[8:12], "big")
    if not count:
        return
    terms = ("unpack-objects", "-q") if count < _UNPACK_UP_TO else ("index-pack", "--stdin")
    try:
        run(*terms, git_dir=repo.git_dir, stdin=packed, timeout=600)
    except GitFailed as failed:
        raise Refused(
            f"your repository does not take the objects: {failed.result.reason}",
            hint=f"see that {repo.common_dir / 'objects'} can be written and the disk has room",
        ) from failed


def hand_over_lfs(patches: Path, repo: Repository, changed: Iterable[TreeChange]) -> None:
    """Copies the LFS files that these changes point to, by two git commands. Raises `OSError`."""
    if not (patches / "lfs" / "objects").is_dir():
        return
    new = [change.new for change in changed if change.new and change.new.mode.startswith("100")]
    folder = lfs.storage(repo)
    for digest in lfs.pointed(patches, [entry.oid for entry in new]):
        lfs.copy(patches, "lfs", digest, folder)
