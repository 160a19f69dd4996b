"""The user's settings of tools, made anew for a lane of their harmless keys, never copied.

`~/.npmrc` and its like hold tokens beside the registry's address; `~/.gitconfig` names programs to
run. A file whose name tells a version alone (`.tool-versions`) comes along as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from hydra.errors import HydraError
from hydra.git.runner import run
from hydra.process.sandbox import tool_settings
from hydra.process.sandbox.filters import (
    Filter,
    clean_address,
    filter_assignments,
    filter_toml,
    filter_yaml,
)
from hydra.process.sandbox.lookups import is_file

_MOST = 256 * 1024

FILTERED: dict[str, tuple[Filter, str]] = {
    ".npmrc": (filter_assignments, tool_settings.NPM),
    ".config/npm/npmrc": (filter_assignments, tool_settings.NPM),
    ".config/pnpm/rc": (filter_assignments, tool_settings.NPM),
    ".pip/pip.conf": (filter_assignments, tool_settings.PIP),
    ".config/pip/pip.conf": (filter_assignments, tool_settings.PIP),
    ".config/uv/uv.toml": (filter_toml, tool_settings.UV),
    ".cargo/config.toml": (filter_toml, tool_settings.CARGO),
    ".cargo/config": (filter_toml, tool_settings.CARGO),
    ".config/mise/config.toml": (filter_toml, tool_settings.MISE),
    ".yarnrc.yml": (filter_yaml, tool_settings.YARN_BERRY),
    ".config/go/env": (filter_assignments, tool_settings.GO),
}
"""Settings files in HOME, and how each is made anew."""

_VERSIONS = (".tool-versions", ".asdfrc", ".nvmrc", ".node-version", ".python-version")
_VERSION_LINE = re.compile(r"[\w@./+:* =-]*")
"""What a file of versions holds, and no secret looks like alone: words and numbers."""

_GIT = ".gitconfig"
_SIGNING = ("commit.gpgsign", "tag.gpgsign", "tag.forcesignannotated", "push.gpgsign")


def remake_settings(
    home: Path, repository: Path | None = None
) -> tuple[Mapping[Path, bytes], tuple[Path, ...]]:
    """Places in HOME to what they hold in a lane, all that are there, and those of which something
    was left out. git's conditional settings hold as in `repository`."""
    files: dict[Path, bytes] = {}
    stripped: list[Path] = []
    for name, (remake, keys) in FILTERED.items():
        if (text := _text(home / name)) is not None:
            remade, is_stripped = remake(text, re.compile(keys))
            files[home / name] = remade.encode()
            stripped += [home / name] if is_stripped else []
    for name in _VERSIONS:
        text = _text(home / name)
        if text is not None and all(map(_VERSION_LINE.fullmatch, text.splitlines())):
            files[home / name] = text.encode()
    files[home / _GIT] = _git_settings(home, repository).encode()
    return files, tuple(stripped)


def _text(path: Path) -> str | None:
    if not is_file(path):  # a pipe would wait for a writer
        return None
    try:
        with path.open("rb") as file:
            return file.read(_MOST).decode("utf-8", "replace")
    except OSError:
        return None


def _git_settings(home: Path, repository: Path | None) -> str:
    """One file for all that the user has set; signing is off, as the keys are not there."""
    lines = [_git_line(key, value) for key, value in _listed(home, repository)]
    unsigned = (_git_line(key, "false", sure=True) for key in _SIGNING)
    return "".join((*filter(None, lines), *unsigned))


def _listed(home: Path, repository: Path | None) -> list[tuple[str, str]]:
    terms = ("config", "--global", "--includes", "--list", "-z")
    extra = {"HOME": str(home)}
    if named := os.environ.get("GIT_CONFIG_GLOBAL"):
        extra["GIT_CONFIG_GLOBAL"] = named
    listed = b""
    with suppress(HydraError):
        listed = run(*terms, cwd=repository or Path("/"), check=False, extra_env=extra).stdout
    pairs = (os.fsdecode(entry).partition("\n") for entry in listed.split(b"\0") if entry)
    return [(key, value if mark else "true") for key, mark, value in pairs]


def _git_line(key: str, value: str, *, sure: bool = False) -> str:
    """One setting as a section of its own; "" for one that is not known to be harmless."""
    allowed = (
        sure
        or re.fullmatch(tool_settings.GIT, key, re.I)
        or tool_settings.GIT_VALUES.get(key) == value
    )
    if not allowed or "\0" in value:
        return ""
    section, _, rest = key.partition(".")
    below, _, name = rest.rpartition(".")
    head = f'[{section} "{_escaped(below)}"]' if below else f"[{section}]"
    return f'{head}\n\t{name} = "{_escaped(clean_address(value))}"\n'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
