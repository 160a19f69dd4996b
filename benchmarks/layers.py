"""A lane at the checkout's path: dependencies linked once a race, mounted at each command."""

from __future__ import annotations

import shutil
import subprocess
from itertools import count
from pathlib import Path

from benchmarks.measure import Result, interleave, milliseconds, ratio, timed
from benchmarks.place import Place
from hydra.process.sandbox.confine import confine
from hydra.process.sandbox.layers import Layer, Placement
from hydra.process.sandbox.policy import SandboxPolicy
from hydra.process.sandbox.view import View
from hydra.records.plan import Confinement
from hydra.workspace import tree
from hydra.workspace.hardlinks import link_tree

_SIZES = (("a .venv of 2,200 files", 2200), ("a node_modules of 20,000 files", 20_000))


def freezing(place: Place) -> list[Result]:
    """Linking a folder of dependencies against `cp -a` of it."""
    return [_freezing(place, name, files) for name, files in _SIZES]


def _freezing(place: Place, name: str, files: int) -> Result:
    source = place.folder / f"packages-{files}"
    _fill(source, files)
    numbers = count()

    def target() -> Path:
        return place.folder / f"copy-{files}-{next(numbers)}"

    env, item = place.environ(), place.folder
    taken = interleave(
        place.runs,
        {
            "cp": lambda: timed(["cp", "-a", str(source), str(target())], env, item),
            "link": lambda: _linked(source, target()),
        },
    )
    for number in range(next(numbers)):
        tree.remove(place.folder / f"copy-{files}-{number}")
    value, best = ratio(taken["link"], taken["cp"])
    return Result(
        case=f"linking {name}",
        against="cp -a",
        value=value,
        best=best,
        target=0.5,
        note=f"{milliseconds(taken['cp'])} -> {milliseconds(taken['link'])}",
    )


def _fill(folder: Path, files: int) -> None:
    for number in range(files):
        package = folder / f"package-{number // 40}" / "lib"
        package.mkdir(parents=True, exist_ok=True)
        (package / f"{number}.js").write_bytes(b"module.exports = 1;\n" * (number % 400))


def _linked(source: Path, target: Path) -> float:
    from time import perf_counter

    began = perf_counter()
    link_tree(source, target, most=400_000)
    return perf_counter() - began


def command_at_path(place: Place) -> list[Result]:
    """A command with an overlay over the checkout's path, against the same walls without."""
    bwrap, *mounters = (
        shutil.which(name) or "" for name in ("bwrap", "unshare", "sh", "mount", "nsenter")
    )
    folder = place.folder / "at-path"
    (folder / "frozen/.venv").mkdir(parents=True)
    for name in ("shop/.venv", "tree/.venv"):
        (folder / name).mkdir(parents=True)
    layer = Layer(
        lower=folder / "frozen",
        folder=folder / "layer",
        places={".venv": folder / "shop/.venv"},
    ).mounted(mounters)
    item = Confinement(kind="bwrap", program=bwrap, mounters=tuple(mounters))
    plain = SandboxPolicy(
        state=folder / "state",
        view=View(home=folder / "home"),
        cwd=folder / "tree",
        writable=(folder / "tree",),
    )
    placed = SandboxPolicy(
        state=plain.state,
        view=plain.view,
        cwd=plain.cwd,
        writable=plain.writable,
        placement=Placement(path=folder / "shop", layer=layer),
    )
    env, entry = place.environ(), place.folder
    lines = {
        name: confine(item, policy, ["true"]) for name, policy in (("plain", plain), ("at", placed))
    }
    for line in lines.values():
        subprocess.run(line, env=env, check=True, cwd=entry)
    taken = interleave(
        max(place.runs * 3, 9),
        {name: lambda line=line: timed(list(line), env, entry) for name, line in lines.items()},  # type: ignore[misc]
    )
    value, best = ratio(taken["at"], taken["plain"])
    return [
        Result(
            case="a command at the checkout's path, its .venv copy-on-write",
            against="the same walls without",
            value=value,
            best=best,
            target=1.5,
            note=f"{milliseconds(taken['plain'])} -> {milliseconds(taken['at'])}",
        )
    ]


def layers(place: Place) -> list[Result]:
    """Both."""
    return [*command_at_path(place), *freezing(place)]
