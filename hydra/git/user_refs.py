"""What a lane's repository knows of the user's branches, tags and remotes: to read, and no more."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hydra.git.attributes import Settings
from hydra.git.repository import Repository
from hydra.git.runner import run, split
from hydra.redaction import Redactor

_KINDS = ("refs/heads", "refs/remotes", "refs/tags")
_KEYS = (
    r"^(remote\..*\.(url|fetch|promisor|partialclonefilter)|extensions\.partialclone"
    r"|branch\..*\.(remote|merge)|submodule\..*\.(url|active))$"
)
_REFUSED = "refused-from-a-lane"
"""A remote helper that is not there: git names it where it would push or fetch."""

_SIGNED = re.compile(r"([\w+.-]+://)([^/?#]*)@")


@dataclass(frozen=True, slots=True)
class UserRefs:
    """`packed` are lines for a packed-refs file, `links` refs that are another name of one."""

    packed: bytes
    links: dict[bytes, bytes]

    @classmethod
    def read(cls, repo: Repository) -> UserRefs:
        """As they are now. Raises `GitFailed`."""
        form = "--format=%(objectname) %(refname) %(symref)"
        lines = run("for-each-ref", form, *_KINDS, cwd=repo.root).stdout.splitlines()
        packed, links = [b"# pack-refs with: sorted\n"], {}
        for oid, ref, target in (line.split(b" ") for line in lines):
            if target:
                links[ref] = target
            else:
                packed.append(b"%s %s\n" % (oid, ref))
        return cls(b"".join(packed), links)

    def write(self, git_dir: Path) -> None:
        """Puts them into a repository that has none. Raises `OSError`."""
        (git_dir / "packed-refs").write_bytes(self.packed)
        for ref, target in self.links.items():
            path = git_dir / os.fsdecode(ref)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"ref: " + target + b"\n")


def remotes(repo: Repository) -> Settings:
    """The user's remotes, what each branch follows and where submodules come from; no secrets in
    their addresses, and git neither fetches from them nor pushes there. Raises `GitFailed`."""
    if not any(key.startswith(("remote.", "branch.", "submodule.")) for key in repo.config):
        return ()
    plain = {"GIT_CONFIG_COUNT": "0"}
    terms = ("config", "-z", "--includes", "--get-regexp", _KEYS)
    listed = run(*terms, cwd=repo.root, extra_env=plain, check=False).stdout
    return tuple(_rows(split(listed)))


def _rows(entries: list[bytes]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        key, value = (os.fsdecode(part) for part in entry.split(b"\n", 1))
        if key == "extensions.partialclone":
            yield "core.repositoryformatversion", "1"
        yield key, _address(value) if key.endswith((".url", ".remote")) else value
        if key.startswith("remote.") and key.endswith(".url"):
            yield key.removesuffix("url") + "vcs", _REFUSED


def _address(url: str) -> str:
    """Without what signs in there, but for the user of ssh, who is a part of it."""
    if match := _SIGNED.match(url):
        user = match[2].partition(":")[0] + "@" if "ssh" in match[1] else ""
        url = match[1] + user + url[match.end() :]
    if url.startswith(("http:", "https:")):
        url = url.partition("?")[0]
    return Redactor(()).text(url)
