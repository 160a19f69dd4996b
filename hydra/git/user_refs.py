"""What a lane's repository knows of the user's branches, tags and remotes: to read, and no more."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

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

_ADDRESSES = ("url", "remote", "partialclone")

_SIGNED = re.compile(r"([\w+.-]+://)([^/?#\s]*)@")
_QUERY = re.compile(r"(https?://[^\s?#]*)[?#]\S*")


class UserRefs(Struct, frozen=True):
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


def addresses(repo: Repository) -> dict[str, str]:
    """Each of the user's remotes with its address, without secrets."""
    return {
        _address(key[len("remote.") : -len(".url")]): _address(url)
        for key, url in repo.config.items()
        if key.startswith("remote.") and key.endswith(".url")
    }


def _rows(entries: list[bytes]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        name, has_value, text = (os.fsdecode(part) for part in entry.partition(b"\n"))
        key, last = name, name.rpartition(".")[2]
        if "://" in key:  # a remote that is called by its address
            key = f"{_address(key.removesuffix(f'.{last}'))}.{last}"
        # `[remote "x"] promisor` with no value at all is true.
        value = text if has_value else "true"
        if key == "extensions.partialclone":
            yield "core.repositoryformatversion", "1"
        yield key, _address(value) if last in _ADDRESSES else value
        if key.startswith("remote.") and key.endswith(".url"):
            yield key.removesuffix("url") + "vcs", _REFUSED


def _address(url: str) -> str:
    """Without what signs in there, but for the user of ssh, who is a part of it; also within what
    is left to a helper (`name::https://...`, `ext::...`)."""
    return Redactor(()).text(_QUERY.sub(r"\1", _SIGNED.sub(_unsigned, url)))


def _unsigned(match: re.Match[str]) -> str:
    return match[1] + (match[2].partition(":")[0] + "@" if "ssh" in match[1] else "")
