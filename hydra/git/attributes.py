"""What the user's repository says of files, frozen in before any agent runs.

A lane's private repository and the run's patches.git both get the same words, so that a file
that nobody touched is unchanged in both, whatever the agent later writes into a config file.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from hydra import executables
from hydra.git.repository import Repository
from hydra.git.runner import run, split
from hydra.paths import NO_FILE

_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Code points that HFS+ leaves out when it compares names (git's utf8.c, next_hfs_char)."""

_DOT_GIT = re.compile(r"(\.git|git~1)[ .]*(:.*)?", re.S)
"""What NTFS takes for .git: its short name, dots and blanks behind it, a stream (read-cache.c)."""

_DOT_GITMODULES = re.compile(r"(\.gitmodules|gitmod~[1-4]|gi7eb[0-9a-f~]*)[ .]*(:.*)?", re.S)

_SUSPECT = re.compile(rb"(?i)git|gi7eb|[^\x20-\x7e]|\\|(?:^|/)(?:[./]|$)")
"""What there is in every path that is refused: nearly none has it, and needs no closer look."""

LINK = "120000"
"""The mode of a symlink in a tree."""


def refused(path: bytes, mode: str = "") -> str:
    """Why git would not check this path out on some system; "" where it would everywhere.

    `mode` is its file's: what git reads by itself may be no link.
    """
    if not _SUSPECT.search(path):
        return ""
    if path.startswith(b"/") or not path:
        return "not a path inside the repository"
    for part in path.split(b"/"):
        if part in (b"", b".", b".."):
            return "not a path inside the repository"
        if b"\0" in part:
            return "not a name"
        text = _IGNORED.sub("", os.fsdecode(part)).lower()
        # A backslash parts folders where NTFS is.
        if any(_DOT_GIT.fullmatch(term) for term in text.split("\\")):
            return "git keeps this name for itself"
        if mode == LINK and _DOT_GITMODULES.fullmatch(text):
            return "git takes no symlink for this file"
    return ""


def parents(path: bytes) -> list[bytes]:
    """The folders a path lies in, from the top down; the top itself is none of them."""
    parts = path.split(b"/")
    return [b"/".join(parts[:n]) for n in range(1, len(parts))]


Settings = tuple[tuple[str, str], ...]

LFS = "lfs"

_OF_FILES = (
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.symlinks",
    "core.precomposeunicode",
    "core.checkroundtripencoding",
    "core.bigfilethreshold",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.protectntfs",
    "core.protecthfs",
)
"""How bytes become files and back, as `git config --list` spells it.

Not core.ignoreCase: it says what the file system does, and the state folder may lie on another
one (a repository under /mnt/c). Where names differ by case it would hide a new file from git.
`git init` asks the file system itself.
"""


def settings(repo: Repository) -> Settings:
    """The user's effective words on files, in git's own keys."""
    return tuple((key, repo.config[key]) for key in _OF_FILES if key in repo.config)


def identity(repo: Repository) -> Settings:
    """The user's name and address, for the agent's own commits; a stand-in where there is none."""
    name = repo.config.get("user.name") or "Hydra lane"
    email = repo.config.get("user.email") or "lane@localhost"
    return (("user.name", name), ("user.email", email))


USER_SETTINGS = "user-config"
"""A file in patches.git: how the user signs, edits and pages, as it was before the race."""

_USERS_SECTIONS = ("user.", "author.", "committer.", "gpg.")
_USERS = ("commit.gpgsign", "core.editor", "core.pager", "pager.diff", "i18n.commitencoding")


def write_user_settings(repo: Repository, git_dir: Path) -> None:
    """Keeps what later commands run of the user's: gpg or ssh-keygen, the editor, the pager.

    An agent that nothing confines could lead the user's configuration elsewhere meanwhile.
    """
    rows = (
        (key, value)
        for key, value in repo.config.items()
        if key in _USERS or key.startswith(_USERS_SECTIONS)
    )
    text = "".join(_entry(key, value) for key, value in rows)
    (git_dir / USER_SETTINGS).write_bytes(os.fsencode(text))


def user_settings(git_dir: Path) -> dict[str, str]:
    """Those settings; keys as git prints them."""
    file = git_dir / USER_SETTINGS
    if not file.is_file():
        return {}
    output = run("config", "--file", file, "--list", "-z", cwd=git_dir, check=False).stdout
    pairs = (entry.partition(b"\n") for entry in split(output))
    return {os.fsdecode(key): os.fsdecode(value) for key, _, value in pairs}


def filters(repo: Repository, base: str = "") -> tuple[str, ...]:
    """The content filters that attributes ask for at `base` and a driver is set up for, but LFS.

    A name without a driver does nothing in git and is not counted.
    """
    names = asked_filters(repo, base)
    return tuple(name for name in names if name != LFS and driver(repo, name))


def lfs_missing(repo: Repository, base: str = "") -> bool:
    """Whether files at `base` are kept in LFS and git-lfs is not there to bring them."""
    if LFS not in asked_filters(repo, base):
        return False
    return not driver(repo, LFS) or not executables.find("git-lfs")


def driver(repo: Repository, name: str) -> Settings:
    """One filter as the user configured it."""
    keys = (f"filter.{name}.{term}" for term in ("clean", "smudge", "process", "required"))
    return tuple((key, repo.config[key]) for key in keys if key in repo.config)


def drivers(repo: Repository, base: str, allow: Sequence[str]) -> Settings:
    """The filters that may run: LFS's, which a patch may be the first to ask for, and those that
    were allowed by name and that `base` asks for."""
    names = {*asked_filters(repo, base)} & {LFS, *allow}
    if executables.find("git-lfs"):
        names.add(LFS)
    return tuple(pair for name in sorted(names) for pair in driver(repo, name))


def no_others(drivers: Settings) -> bytes:
    """Lines of info/attributes under which no other filter runs, nor any diff or merge driver."""
    # With a filter that is allowed (LFS), the others have no driver in the gitdir's configuration.
    return b"* !diff !merge\n" if drivers else b"* !filter !diff !merge\n"


def asked_filters(repo: Repository, base: str = "") -> tuple[str, ...]:
    """Every filter named in the tree's .gitattributes at `base`, info/attributes and the user's;
    where one of the first cannot be read, also every one that a driver is set up for."""
    output, unread = _in_tree(repo.root, base or repo.head)
    own = (repo.common_dir / "info" / "attributes", attributes_file(repo))
    names = _filters_in(output, *map(content, own))
    if unread:
        names |= {match[1] for match in map(_DRIVER.fullmatch, repo.config) if match}
    return tuple(sorted(names))


def runs_lfs(patches: Path) -> bool:
    """Whether LFS's filter may run there, as it was set up before the race."""
    return b'[filter "lfs"]' in content(patches / "config")


def asks_for_lfs(patches: Path, tree: str) -> bool:
    """Whether attributes of a tree or a commit in patches.git, or the user's that were frozen in,
    ask for LFS's filter; also where they cannot be read."""
    output, unread = _in_tree(patches, tree, isolated=True)
    info = patches / "info"
    own = map(content, (info / "attributes", info / "user-attributes"))
    return bool(unread) or LFS in _filters_in(output, *own)


def _filters_in(*texts: bytes) -> set[str]:
    lines = (line for text in texts for line in text.split(b"\n"))
    contents = (attribute for line in lines for attribute in _attributes(line))
    return {os.fsdecode(w[7:]) for w in contents if w.startswith(b"filter=")}


_DRIVER = re.compile(r"filter\.(.+)\.(?:clean|smudge|process)", re.DOTALL)


def unread(repo: Repository, base: str) -> str:
    """Why a .gitattributes at `base` cannot be read, in git's words; "" where all can."""
    return _in_tree(repo.root, base or repo.head)[1]


@lru_cache(maxsize=16)
def _in_tree(root: Path, oid: str, *, isolated: bool = False) -> tuple[bytes, str]:
    """Lines of a commit's .gitattributes that name a filter, and why one of the files cannot be
    read: a start asks three times. `isolated`: `root` is a gitdir of Hydra's."""
    result = run(
        *("grep", "-h", "-F", "-a", "--no-color", "--no-textconv", "-e", "filter="),
        *(oid, "--", ":(top,glob)**/.gitattributes"),
        cwd=root,
        git_dir=root if isolated else None,
        isolated=isolated,
        check=False,
    )
    # Of an object that is missing git says so, and ends as where nothing is found.
    is_whole = result.code in (0, 1) and b"error:" not in result.stderr
    return result.stdout, "" if is_whole else result.reason


def attributes_file(repo: Repository) -> Path | None:
    """The user's own attributes file: core.attributesFile, else git's default place."""
    return _named_file(repo, "core.attributesfile", "attributes")


def freeze(
    repo: Repository,
    git_dir: Path,
    extra: Iterable[tuple[str, str]],
    attributes: bytes,
) -> None:
    """Writes the user's words on files, then `extra`, into the bare repository `git_dir`.

    Ignore and attribute files are copied in; `attributes` are lines that win over all others.
    """
    info = git_dir / "info"
    info.mkdir(exist_ok=True)
    # info/exclude wins over the user's own ignore file: a later line wins over an earlier one.
    own = content(_named_file(repo, "core.excludesfile", "ignore"))
    (info / "exclude").write_bytes(own + b"\n" + content(repo.common_dir / "info" / "exclude"))
    item = content(repo.common_dir / "info" / "attributes")
    (info / "attributes").write_bytes(item + b"\n" + attributes)
    (info / "user-attributes").write_bytes(content(attributes_file(repo)))
    if (repo.git_dir / "info" / "sparse-checkout").is_file():
        shutil.copyfile(repo.git_dir / "info" / "sparse-checkout", info / "sparse-checkout")
    files = (
        ("core.excludesfile", NO_FILE),
        ("core.attributesfile", str(info / "user-attributes")),
    )
    write_config(git_dir, (*settings(repo), *files, *extra))


def write_config(git_dir: Path, rows: Iterable[tuple[str, str]]) -> None:
    """Adds settings to `git_dir`/config: one write instead of one git for each.

    Those of `core` take the place of earlier ones: git itself would change none that stands twice.
    """
    file, pairs = git_dir / "config", tuple(rows)
    names = (re.escape(key.removeprefix("core.")) for key, _ in pairs if key.startswith("core."))
    earlier = os.fsencode(rf"(?mi)^\t(?:{'|'.join(names)}) = .*\n")
    text = re.sub(earlier, b"", file.read_bytes())
    file.write_bytes(text + os.fsencode("".join(_entry(key, value) for key, value in pairs)))


def content(path: Path | None) -> bytes:
    """A small file's bytes, or none where it cannot be read."""
    try:
        return path.read_bytes() if path is not None and path.is_file() else b""
    except OSError:
        return b""


def _entry(key: str, value: str) -> str:
    section, _, name = key.rpartition(".")
    first, _, rest = section.partition(".")
    head = f"[{first} {_quoted(rest)}]" if rest else f"[{first}]"
    return f"{head}\n\t{name} = {_quoted(value)}\n"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _attributes(line: bytes) -> list[bytes]:
    return [] if line.startswith(b"#") else line.split()[1:]


def _named_file(repo: Repository, key: str, default: str) -> Path | None:
    named = repo.config.get(key)
    if named is not None:
        return repo.root / Path(os.path.expanduser(named)) if named else None  # noqa: PTH111
    home = os.environ.get("HOME")
    base = os.environ.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    return Path(base) / "git" / default if base else None


# ---- Which new paths a sparse checkout leaves out, by the user's own patterns.

_SETTINGS = ("core.sparsecheckoutcone", "core.ignorecase", "core.protecthfs", "core.protectntfs")


def left_out(repo: Repository, paths: Sequence[bytes], scratch: Path) -> frozenset[bytes]:
    """Those of `paths` that do not belong into this work tree.

    git 2.39 has no command that says it (`sparse-checkout check-rules` is new in 2.41). So it
    checks these names out, all of them empty, in a repository in `scratch` with the same patterns.
    """
    patterns = repo.git_dir / "info" / "sparse-checkout"
    contents = [path for path in paths if not refused(path)]
    if not contents or not _on(repo) or not patterns.is_file():
        return frozenset()
    git_dir, tree, index = (scratch / name for name in ("sparse.git", "sparse", "sparse-index"))
    tree.mkdir(parents=True, exist_ok=True)
    run("init", "-q", "--bare", "--template=", git_dir, cwd=scratch, isolated=True)
    (git_dir / "info").mkdir(exist_ok=True)
    shutil.copyfile(patterns, git_dir / "info" / "sparse-checkout")
    blob = run("hash-object", "-w", "--stdin", git_dir=git_dir, isolated=True).line
    lines = b"".join(f"100644 {blob}\t".encode() + path + b"\0" for path in contents)
    terms = ("update-index", "-z", "--index-info")
    run(*terms, git_dir=git_dir, index=index, stdin=lines, isolated=True)
    whole = run("write-tree", git_dir=git_dir, index=index, isolated=True).line
    index.unlink()
    config = [(key, repo.config[key]) for key in _SETTINGS if key in repo.config]
    run(
        *("read-tree", "-m", "-u", whole),
        git_dir=git_dir,
        work_tree=tree,
        index=index,
        isolated=True,
        config=(("core.bare", "false"), ("core.sparseCheckout", "true"), *config),
    )
    listed = run("ls-files", "-t", "-z", git_dir=git_dir, index=index, isolated=True).stdout
    return frozenset(entry[2:] for entry in split(listed) if entry.startswith(b"S "))


def _on(repo: Repository) -> bool:
    value = repo.config.get("core.sparsecheckout", "")
    return value.lower() in ("true", "yes", "on", "1")
