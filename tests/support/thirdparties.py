"""Adapters of third parties for tests: installed by hand, as pip would leave them."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent.parent / "docs" / "examples" / "toy-adapter"

BROKEN = """
from msgspec.structs import replace
from toy_adapter import DESCRIPTOR, Toy, ToyStream
from hydra.records.events import AgentEvent

class Stream(ToyStream):
{parser}

class Broken(Toy):
    descriptor = replace(DESCRIPTOR, key="{key}")
    parser = Stream
    def key(self):
        return "{key}"
{methods}

ADAPTER = Broken()
"""


def install(site: Path, distribution: str, entries: dict[str, str], version: str = "1.0") -> None:
    """Writes a distribution's metadata into `site`: its entry points in Hydra's group."""
    folder = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    )
    lines = [f"{key} = {spec}" for key, spec in entries.items()]
    (folder / "entry_points.txt").write_text("\n".join(["[hydra.adapters]", *lines, ""]))


def install_toy(site: Path) -> Path:
    """The example of docs/, from its own pyproject.toml; the folder in which `toy` itself lies."""
    document = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    install(site, document["name"], document["entry-points"]["hydra.adapters"], document["version"])
    module = EXAMPLE / "toy_adapter"
    shutil.copytree(module, site / module.name, ignore=shutil.ignore_patterns("__pycache__"))
    return EXAMPLE / "agent"


def broken(
    site: Path, module: str, key: str, *, parser: str = "    pass", methods: str = ""
) -> str:
    """A variant of the toy's adapter with other methods; its `module:NAME`."""
    (site / f"{module}.py").write_text(BROKEN.format(key=key, parser=parser, methods=methods))
    return f"{module}:ADAPTER"
