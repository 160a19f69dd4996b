"""Whether a word is the project's own: whether it stands anywhere at a commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hydra.git.patches import names
from hydra.git.runner import run


def strange(git_dir: Path, commit: str, words: Sequence[str]) -> frozenset[str]:
    """Those of `words` that stand in no text and in no name of a file at `commit`.

    Upper and lower case are the same. Raises `GitFailed`.
    """
    paths = b"\n".join(names(git_dir, commit)).lower()
    return frozenset(
        word
        for word in words
        if word.lower().encode() not in paths and not _told(git_dir, commit, word)
    )


def _told(git_dir: Path, commit: str, word: str) -> bool:
    words = ("grep", "--quiet", "--ignore-case", "--fixed-strings", "-I", "-e", word, commit)
    return run(*words, git_dir=git_dir, isolated=True, timeout=300, check=False).code == 0
