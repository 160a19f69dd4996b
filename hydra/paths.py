"""Where Hydra keeps its state, cache and settings."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from hydra.errors import ConfigError, Refused

_TOO_OPEN = ("/tmp",)  # noqa: S108  codex's own sandbox writes there, so state may not lie there

NO_FILE = f"{os.devnull}/none"
"""A file that is not there and that nobody can make: what git takes for no settings. Not /dev/null
itself: as root, whatever writes "its" settings by a rename would put a file in the device's place,
for the whole machine."""


def state_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """The state folder: `$HYDRA_STATE_DIR`, else the platform's (platformdirs).

    Raises `Refused` where it would lie under /tmp, `ConfigError` where it is not absolute.
    """
    named = _named("HYDRA_STATE_DIR", environ)
    path = Path(os.path.realpath(named)) if named else _platform_dir("state", environ)
    for open_folder in _TOO_OPEN:
        if path == Path(open_folder) or path.is_relative_to(open_folder):
            raise Refused(
                f"the state folder would lie under {open_folder}, which agents can write: {path}",
                hint="set HYDRA_STATE_DIR to a folder elsewhere, for example /var/tmp/hydra",
            )
    return path


def home_dir(environ: Mapping[str, str]) -> Path:
    """The user's HOME, which need not be there. Raises `ConfigError` where it can be none."""
    home = Path(environ.get("HOME") or Path.home())
    if home.is_absolute() and (os.path.isdir(home) or not os.path.lexists(home)):  # noqa: PTH112
        return home
    problem = "no folder" if home.is_absolute() else "not an absolute path"
    raise ConfigError(f"HOME is {problem}: {home}", hint="set HOME to your home folder")


def cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """The cache folder: `$HYDRA_CACHE_DIR`, else the platform's. Raises `ConfigError`."""
    return _named("HYDRA_CACHE_DIR", environ) or _platform_dir("cache", environ)


def user_config_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's own settings: `$HYDRA_CONFIG`, else `hydra.toml` in the platform's folder.

    Raises `ConfigError`.
    """
    return _named("HYDRA_CONFIG", environ) or _platform_dir("config", environ) / "hydra.toml"


def _named(variable: str, environ: Mapping[str, str]) -> Path | None:
    named = environ.get(variable)
    if named and not Path(named).is_absolute():
        raise ConfigError(
            f"{variable} is not an absolute path: {named}",
            hint="a relative one would lie in whatever folder you stand in",
        )
    return Path(named) if named else None


def _platform_dir(kind: str, environ: Mapping[str, str]) -> Path:
    # platformdirs reads os.environ itself and falls back to the password database without HOME.
    import platformdirs

    if not environ.get("HOME") and environ is not os.environ:
        raise ConfigError(
            "HOME is not set",
            hint="set HOME, or all of HYDRA_STATE_DIR, HYDRA_CACHE_DIR and HYDRA_CONFIG",
        )
    home_dir(environ)
    path: Path = getattr(platformdirs, f"user_{kind}_path")("hydra", appauthor=False)
    return path


def repository_key(root: Path) -> str:
    """`<name>-<hash>`: one repository's folder under the state folder, readable and unique."""
    digest = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:10]
    name = re.sub(r"[^a-z0-9.]+", "-", root.name.lower()).strip("-.")[:32] or "repository"
    return f"{name}-{digest}"


def is_repository_key(name: str) -> bool:
    """Whether `name` has the form of a repository's folder under the state folder."""
    return re.fullmatch(r"[a-z0-9.-]+-[0-9a-f]{10}", name) is not None


def runs_dir(state: Path, root: Path) -> Path:
    """The folder that holds this repository's runs."""
    return state / repository_key(root) / "runs"


def ground_dir(state: Path, run: str, lane: str) -> Path:
    """Where one lane's ground lies: short, because socket paths end at 108 bytes."""
    short = hashlib.sha256(run.encode()).hexdigest()[:8]
    return state / "g" / short / lane


def make_private(folder: Path) -> None:
    """Makes `folder` and what is missing above it, each 0700. Raises `OSError`.

    mkdir's own `parents=True` would give the parents the default mode.
    """
    for path in [*reversed(folder.parents), folder]:
        if not path.exists():
            path.mkdir(mode=0o700, exist_ok=True)


def fixtures() -> Path:
    """The recorded fixtures: in the package when installed, beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / "fixtures"
    return installed if installed.is_dir() else package.parent / "fixtures"
