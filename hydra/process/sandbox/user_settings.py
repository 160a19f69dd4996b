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
from hydra.process.sandbox.filters import (
    Filter,
    clean_address,
    filter_assignments,
    filter_toml,
    filter_yaml,
)
from hydra.process.sandbox.lookups import is_file

# ---- Settings of tools by which nothing is opened and nothing is run: what a lane's own settings
# files are made anew of. Regular expressions that a key's whole name has to fit. An allow-list: a
# filter of bad names lets the next bad name through.

GIT = (
    r"user\.(name|email|useconfigonly)|init\.defaultbranch|safe\.directory"
    r"|core\.(autocrlf|eol|safecrlf|ignorecase|precomposeunicode|quotepath|whitespace|abbrev"
    r"|longpaths|symlinks|filemode|checkstat|trustctime|commentchar|bigfilethreshold)"
    r"|(color|column|advice|status|log|branch|tag|rerere|stash|versionsort)\..*"
    r"|diff\.(algorithm|renames|renamelimit|colormoved|colormovedws|context|interhunkcontext"
    r"|mnemonicprefix|noprefix|indentheuristic|relative|submodule|wserrorhighlight|stat.*)"
    r"|merge\.(conflictstyle|ff|renames|renamelimit|stat|log|autostash)"
    r"|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.(prune|prunetags|all)"
    r"|rebase\.(autostash|autosquash|updaterefs|stat|missingcommitscheck)"
    r"|commit\.(verbose|cleanup|status)|help\.autocorrect|i18n\..*|pack\.(threads|window.*)"
    r"|index\.(version|threads)|feature\..*|http\.(sslverify|version|postbuffer|lowspeed.*)"
)
"""Of `~/.gitconfig` and what it includes, as `git config --list` prints them."""

GIT_VALUES = {
    "filter.lfs.clean": "git-lfs clean -- %f",
    "filter.lfs.smudge": "git-lfs smudge -- %f",
    "filter.lfs.process": "git-lfs filter-process",
    "filter.lfs.required": "true",
}
"""Further ones, with the one value that each may have."""

NPM = (
    r"(@[\w.-]+:)?registry|strict-ssl|cafile|engine-strict|save(-exact|-prefix)?|package-lock"
    r"|legacy-peer-deps|fund|audit|audit-level|progress|loglevel|update-notifier|color|prefix"
    r"|fetch-(retries|retry-\w+|timeout)|maxsockets|prefer-(offline|online|dedupe)|omit|include"
    r"|install-strategy|ignore-scripts|node-linker|shamefully-hoist|hoist|hoist-pattern(\[\])?"
    r"|public-hoist-pattern(\[\])?|auto-install-peers|strict-peer-dependencies|symlink"
    r"|prefer-workspace-packages|link-workspace-packages|resolution-mode|resolve-peers-from-.*"
    r"|side-effects-cache|enable-pre-post-scripts|init-(license|version|author-name)"
)

PIP = (
    r"(index|extra-index|find-links)(-url)?|no-index|trusted-host|timeout|default-timeout|retries"
    r"|no-cache-dir|disable-pip-version-check|prefer-binary|only-binary|no-binary|no-color|pre"
    r"|require-virtualenv|break-system-packages|user|no-warn-script-location|progress-bar|cert"
    r"|no-build-isolation|use-pep517|upgrade-strategy|root-user-action|quiet|verbose"
)

UV = (
    r"(pip\.)?(index-url|extra-index-url|find-links|no-index|index-strategy|resolution|prerelease"
    r"|no-build|no-binary|no-cache|offline|python-preference|python-downloads|link-mode"
    r"|compile-bytecode|concurrent-\w+|native-tls|exclude-newer|no-build-isolation|system"
    r"|break-system-packages|allow-insecure-host)|index\.(name|url|default|explicit|format)"
    r"|python-install-mirror|pypy-install-mirror"
)

CARGO = (
    r"build\.(jobs|target|rustflags|incremental|dep-info-basedir|rustdocflags|pipelining)"
    r"|net\.(offline|retry|git-fetch-with-cli)|term\..*|profile\..*|future-incompat-report\..*"
    r"|http\.(check-revoke|multiplexing|timeout|low-speed-limit|cainfo|ssl-version)"
    r"|source\.[^.]+\.(replace-with|registry|directory|local-registry|git|branch|tag|rev)"
    r"|registries\.[^.]+\.(index|protocol)|registry\.default|target\..*\.(linker|rustflags|ar)"
)

MISE = r"(tools|alias)\..*|settings\.(experimental|legacy_version_file|jobs|verbose)"

YARN_BERRY = (
    r"nodeLinker|npmRegistryServer|enableTelemetry|compressionLevel|enableGlobalCache|nmMode"
    r"|nmHoistingLimits|pnpMode|pnpFallbackMode|enableScripts|enableImmutableInstalls|logFilters"
    r"|httpTimeout|httpRetry|networkConcurrency|enableStrictSsl|defaultSemverRangePrefix"
    r"|enableColors|enableProgressBars|checksumBehavior|supportedArchitectures"
)

GO = (
    r"GOPROXY|GOSUMDB|GOPRIVATE|GONOPROXY|GONOSUMDB|GOINSECURE|GOVCS|GOFLAGS|GOTOOLCHAIN|GOOS"
    r"|GOARCH|GOAMD64|GOARM|GOARM64|GOEXPERIMENT|GOTELEMETRY|GOWORK|CGO_ENABLED|GO111MODULE"
)

# ---- Files, and how each is made anew.

_MOST = 256 * 1024

FILTERED: dict[str, tuple[Filter, str]] = {
    ".npmrc": (filter_assignments, NPM),
    ".config/npm/npmrc": (filter_assignments, NPM),
    ".config/pnpm/rc": (filter_assignments, NPM),
    ".pip/pip.conf": (filter_assignments, PIP),
    ".config/pip/pip.conf": (filter_assignments, PIP),
    ".config/uv/uv.toml": (filter_toml, UV),
    ".cargo/config.toml": (filter_toml, CARGO),
    ".cargo/config": (filter_toml, CARGO),
    ".config/mise/config.toml": (filter_toml, MISE),
    ".yarnrc.yml": (filter_yaml, YARN_BERRY),
    ".config/go/env": (filter_assignments, GO),
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
    allowed = sure or re.fullmatch(GIT, key, re.I) or GIT_VALUES.get(key) == value
    if not allowed or "\0" in value:
        return ""
    section, _, rest = key.partition(".")
    below, _, name = rest.rpartition(".")
    head = f'[{section} "{_escaped(below)}"]' if below else f"[{section}]"
    return f'{head}\n\t{name} = "{_escaped(clean_address(value))}"\n'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
