"""How a command is confined on this machine, and what that promises (bubblewrap 0.8 or later).

Confinement is tried, not looked up: somebody runs `trial_argv`, `judge` reads what came of it.
`confine` is the argv; docs/keeper.md draws what the agent then sees.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from hydra.model import Confinement

_NAMESPACES = ("--unshare-pid", "--as-pid-1", "--new-session")
# No --die-with-parent: it fires when the spawning *thread* ends; the keeper's pipe does its work.
# No --disable-userns: Codex's own sandbox nests inside and needs user namespaces.

_FENCED = ("--setenv", "HYDRA_SCOPE", "closed")
"""To the keeper: what no mount hides is kept from the agent too (hydra/process/fence.py)."""

_ROOTS_KERNEL_FILES = ("/proc/sys", "/proc/sysrq-trigger", "/proc/mtrr")
"""What uid 0 may write by owning it, capabilities or not: core_pattern alone is a way out."""

_KERNEL = ("--dev", "/dev", "--proc", "/proc")
_ROOT = Path("/")
_HIDDEN = (Path("/tmp"), Path("/run"))  # noqa: S108  sockets: docker, ssh-agent, dbus

_EMPTY_FILE = Path(__file__).with_name("py.typed")
"""What a hidden file reads as. Not /dev/null: bound without devices it cannot be opened, bound
with them a chmod inside would reach the machine's own."""

_NOTHING = {suffix: _EMPTY_FILE.with_name("nothing.json") for suffix in (".json", ".yml", ".yaml")}
"""What a covered file reads as where an empty one is no such file (aider 0.86.2 refuses it)."""

WITH_FULL_ACCESS = ("no process outlives its lane",)
"""What holds when `Confinement.kind` is `bwrap`, also where the walls are `unrestricted`."""

PROMISES = (
    "the machine is read-only but for the lane's own folder and scratch space",
    "the folders /tmp and /run, keys and other agents' settings are out of sight",
    *WITH_FULL_ACCESS,
)
"""What holds otherwise."""

SECRET_PLACES = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gh",
    ".config/gcloud",
    ".netrc",
    ".docker",
    ".kube",
    ".git-credentials",
    ".config/git/credentials",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".password-store",
    ".local/share/keyrings",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".pgpass",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".gem/credentials",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
)
"""Keys and tokens in HOME that no agent needs."""

AGENT_PLACES = (
    ".claude",
    ".claude.json",
    ".codex",
    ".cursor",
    ".config/cursor",
    ".gemini",
    ".qwen",
    ".copilot",
    ".config/opencode",
    ".local/share/opencode",
    ".local/state/opencode",
    ".aider",
    ".config/goose",
    ".local/share/goose",
    ".aider.conf.yml",
    ".config/amp",
    ".local/share/amp",
    ".factory",
    ".cline",
    ".continue",
    ".kiro",
    ".hermes",
    ".openclaw",
    ".omp",
    ".pi",
)
"""Agents' own settings: each sees its own, and no rival's."""

_CERTIFICATES = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CODEX_CA_CERTIFICATE",
)


_PARTS = ("lib", "lib64", "libexec", "share", "pyvenv.cfg")


@dataclass(frozen=True, slots=True, kw_only=True)
class Walls:
    """What one command may see and write; all paths absolute.

    `writable` stay as they are, `binds` are (source, where it is mounted), both writable.
    `objects` and `visible` come back read-only where something hides them; `masks` are hidden
    where they exist, `covered` as well, inside what is writable. `unrestricted`: the whole machine,
    nothing hidden, its own processes still end with it.
    """

    state: Path
    home: Path
    cwd: Path
    writable: tuple[Path, ...] = ()
    binds: tuple[tuple[Path, Path], ...] = ()
    objects: tuple[Path, ...] = ()
    visible: tuple[Path, ...] = ()
    masks: tuple[Path, ...] = ()
    covered: tuple[Path, ...] = ()
    unrestricted: bool = False
    private_network: bool = False
    """A network of its own, in which there is only a loopback."""


def trial_argv(program: str, *, private_network: bool = False) -> tuple[str, ...]:
    """A command that succeeds exactly where `confine` can work."""
    hidden = [part for place in _HIDDEN for part in ("--tmpfs", str(place))]
    network = ("--unshare-net",) if private_network else ()
    walls = (*_ground("--ro-bind"), *hidden, "--unshare-ipc", *network, *_disarmed())
    return (program, *walls, *_NAMESPACES, "--", "true")


def judge(program: str, exit_code: int | None, stderr: str) -> Confinement:
    """What the trial showed; `exit_code` None means that it did not end in time.

    An empty `program` stands for "bwrap is not installed".
    """
    if not program:
        return Confinement(kind="none", reason="bubblewrap (bwrap) is not installed")
    if exit_code == 0:
        return Confinement(kind="bwrap", program=program, promises=PROMISES)
    if exit_code is None:
        return Confinement(kind="none", reason="bwrap did not end its trial in time")
    return Confinement(kind="none", reason=_reason(stderr))


def _reason(stderr: str) -> str:
    said = next((line for line in stderr.splitlines() if line.strip()), "it gave no reason")
    said = said.removeprefix("bwrap: ").strip()
    if "uid map" in said or "RTM_NEWADDR" in said:
        return f"AppArmor does not let bwrap use user namespaces ({said})"
    if "namespace" in said:
        return f"the kernel or the container refuses namespaces to bwrap ({said})"
    if "mount" in said or "pivot_root" in said:
        return f"the container does not let bwrap mount ({said})"
    if "Unknown option" in said:
        return f"bwrap is too old ({said})"
    return f"bwrap does not work here ({said})"


def default_masks(home: Path, own: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Places in `home` to hide from an agent whose own settings folders are `own`."""
    folders = tuple(own)
    rivals = [home / place for place in AGENT_PLACES]
    mine = [place for place in rivals if any(_belongs(place, folder) for folder in folders)]
    return (
        *(home / place for place in SECRET_PLACES),
        *(place for place in rivals if place not in mine),
    )


def exposed(folder: str) -> str:
    """What a lane's own copy of `folder` would show that no agent may see; "" for nothing.

    Both are named from HOME, as `.config`. An agent's folder itself is nothing: to name it is to
    ask for a copy of it. What holds one would bring the sign-ins of others along.
    """
    named = PurePath(folder)
    secret = [place for place in SECRET_PLACES if named.is_relative_to(place)]
    held = [place for place in (*SECRET_PLACES, *AGENT_PLACES) if named in PurePath(place).parents]
    return next(iter((*secret, *held)), "")


def _belongs(place: Path, own: Path) -> bool:
    # `.claude.json` lies beside `.claude` and is part of it.
    return place == own or (place.parent == own.parent and place.name.startswith(own.name + "."))


def visible_paths(env: Mapping[str, str], programs: Iterable[str] = ()) -> tuple[Path, ...]:
    """What a command with `env` needs to run at all, wherever it lies.

    PATH's folders with their libraries, the certificates it names, the resolver's file, this
    interpreter and package (the keeper runs there too), and the installations of `programs`
    (absolute paths).
    """
    entries = [Path(entry) for entry in env.get("PATH", "").split(":") if entry.startswith("/")]
    folders = [path for entry in entries for path in (entry, *_parts_beside(entry))]
    certificates = [Path(env[name]) for name in _CERTIFICATES if env.get(name, "").startswith("/")]
    own = [Path(sys.executable), Path(sys.prefix), Path(sys.base_prefix), _EMPTY_FILE.parent]
    installed = [_installation(Path(program)) for program in programs]
    found = [*folders, *certificates, Path("/etc/resolv.conf"), *own, *installed]
    return tuple(dict.fromkeys(path for path in found if _there(path)))


def _parts_beside(folder: Path) -> list[Path]:
    # A virtual environment, or anything else with a prefix, is more than its bin.
    return [folder.parent / part for part in _PARTS] if folder.name in ("bin", "sbin") else []


def _installation(program: Path) -> Path:
    # What a program's link leads to: its node_modules with the packages beside it, else its folder.
    real = Path(os.path.realpath(program))
    for parent in reversed(real.parents):
        if parent.name == "node_modules":
            return parent
    return real.parent


def confine(confinement: Confinement, walls: Walls, argv: Sequence[str]) -> tuple[str, ...]:
    """`argv` inside `walls`; unchanged where nothing confines here."""
    if not confinement.holds:
        return tuple(argv)
    inside = _open_walls(walls) if walls.unrestricted else _closed_walls(walls)
    walls_and_net = (*inside, *(("--unshare-net",) if walls.private_network else ()))
    place = ("--chdir", str(walls.cwd))
    return (confinement.program, *walls_and_net, *_NAMESPACES, *place, "--", *argv)


def _open_walls(walls: Walls) -> list[str]:
    # A copy of settings is mounted only where it has a place: nothing is made in the user's HOME.
    places = [(source, target) for source, target in walls.binds if _there(target)]
    return ["--dev-bind", "/", "/", "--proc", "/proc", *_binds("--bind", places)]


def _closed_walls(walls: Walls) -> list[str]:
    scratch = [_real(place) for place in _HIDDEN if _there(place)]
    masks = [_real(mask) for mask in walls.masks if _there(mask)]
    covers = [_real(walls.state), *(mask for mask in masks if mask.is_dir())]
    hidden = [*scratch, *covers]
    rebuilt = _rebuilt(target for _, target in walls.binds if not _under(target, hidden))
    return [
        *(_ground("--ro-bind") if _ROOT not in rebuilt else _ground_from_parts()),
        *(part for place in rebuilt if place != _ROOT for part in _rebuild(place)),
        *(part for place in hidden for part in ("--tmpfs", str(place))),
        *_binds("--ro-bind", [(_EMPTY_FILE, mask) for mask in masks if not mask.is_dir()]),
        *_binds("--ro-bind", _back((*walls.objects, *walls.visible), hidden)),
        *_binds("--bind", [(place, _real(place)) for place in walls.writable]),
        *_binds("--bind", walls.binds),
        *_covers(covering(walls)),
        # An agent may be installed inside its own settings folder (~/.claude/local).
        *_binds("--ro-bind", _back(walls.visible, [target for _, target in walls.binds])),
        # Scratch stays writable; what only hides does not, or work done there would be lost.
        *(part for place in (*rebuilt, *covers) for part in ("--remount-ro", str(place))),
        "--unshare-ipc",
        *_FENCED,
        *_disarmed(),
    ]


def covering(walls: Walls) -> list[Path]:
    """What of `walls.covered` is there and hidden; nothing where it is unrestricted.

    A link out of `cwd` stays: what it leads to is not the repository's, and a cover over it would
    take away what others need.
    """
    if walls.unrestricted:
        return []
    here = _real(walls.cwd)
    return [place for place in walls.covered if _there(place) and here in _real(place).parents]


def _covers(places: Iterable[Path]) -> Iterator[str]:
    # By its real name: bwrap does not mount over a link.
    for place in map(_real, places):
        if place.is_dir():
            yield from ("--tmpfs", str(place), "--remount-ro", str(place))
        else:
            yield from ("--ro-bind", str(_NOTHING.get(place.suffix, _EMPTY_FILE)), str(place))


def _disarmed() -> list[str]:
    """Takes root's powers: bwrap leaves root every capability, and `mount -o remount,rw /` with
    them. SETFCAP stays, or root could map itself into no namespace of its own (Linux 5.12), which
    Codex's sandbox does; what it gives to files counts for nothing in here (no_new_privs)."""
    if os.geteuid() != 0:
        return []
    files = [(Path(name), Path(name)) for name in _ROOTS_KERNEL_FILES if _there(Path(name))]
    return [*_binds("--ro-bind", files), "--cap-drop", "ALL", "--cap-add", "CAP_SETFCAP"]


def _ground(bind: str) -> tuple[str, ...]:
    return (bind, "/", "/", *_KERNEL)


def _ground_from_parts() -> tuple[str, ...]:
    # Where HOME is / or does not exist: bwrap's own root is an empty tmpfs, as good as any.
    return (*_entries(_ROOT), *_KERNEL)


def _binds(option: str, pairs: Iterable[tuple[Path, Path]]) -> list[str]:
    return [part for source, target in pairs for part in (option, str(source), str(target))]


def _back(paths: Iterable[Path], hidden: Sequence[Path]) -> list[tuple[Path, Path]]:
    """What lies under a hidden place and must be seen, by its own name and by its real one."""
    names = dict.fromkeys(name for path in paths for name in (path, _real(path)) if _there(path))
    # A folder that holds a hidden place would bring that back with it.
    wanted = [name for name in names if _under(name, hidden) and not _holds(name, hidden)]
    return [(_real(name), name) for name in wanted if not _under(name, wanted)]


def _under(path: Path, places: Iterable[Path]) -> bool:
    return any(place in path.parents for place in places)


def _holds(path: Path, places: Iterable[Path]) -> bool:
    return any(path == place or path in place.parents for place in places)


def _rebuilt(targets: Iterable[Path]) -> list[Path]:
    """Folders in which a mount's place is missing. HOME is read-only, and it is the user's:
    nothing may be made there, so such a folder is built anew from its own entries."""
    missing = [target for target in targets if not _there(target)]
    return list(dict.fromkeys(_real(_nearest(target)) for target in missing))


def _nearest(path: Path) -> Path:
    return next(parent for parent in path.parents if parent.is_dir())


def _rebuild(folder: Path) -> tuple[str, ...]:
    return ("--tmpfs", str(folder), *_entries(folder))


def _entries(folder: Path) -> list[str]:
    parts: list[str] = []
    for entry in sorted(folder.iterdir()):
        link = entry.is_symlink()
        source = str(entry.readlink() if link else entry)
        parts += ("--symlink" if link else "--ro-bind", source, str(entry))
    return parts


def _there(path: Path) -> bool:
    # Not Path.exists: that raises where a parent may not be entered.
    return os.access(path, os.F_OK)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
