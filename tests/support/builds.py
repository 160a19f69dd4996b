"""Small Python projects, one for each way in which build backends install one editable."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_PROJECT = '[project]\nname = "shelf"\nversion = "1.0"\ndescription = "Shelves"\n'


class Shape(NamedTuple):
    """A backend with what it needs, a layout, and the settings of its build."""

    backend: str
    requires: str
    folder: str = "src"
    more: str = ""
    strict: bool = False

    def make(self, top: Path) -> None:
        """Writes the project, of which `shelf.load()` gives 1."""
        package = top / self.folder / "shelf"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("def load():\n    return 1\n")
        (top / "README.md").write_text("Shelves\n")
        built = f'requires = ["{self.requires}"]\nbuild-backend = "{self.backend}"\n'
        (top / "pyproject.toml").write_text(f"{_PROJECT}\n[build-system]\n{built}\n{self.more}")


SETUPTOOLS = "setuptools.build_meta"
_FLAT = '[tool.setuptools]\npackages = ["shelf"]\n'

SHAPES = {
    "setuptools-src": Shape(SETUPTOOLS, "setuptools"),
    "setuptools-flat": Shape(SETUPTOOLS, "setuptools", "", _FLAT),
    "setuptools-strict": Shape(SETUPTOOLS, "setuptools", strict=True),
    "hatchling": Shape("hatchling.build", "hatchling"),
    "flit": Shape("flit_core.buildapi", "flit_core"),
    "poetry": Shape("poetry.core.masonry.api", "poetry-core"),
    "pdm": Shape("pdm.backend", "pdm-backend"),
    "uv": Shape("uv_build", "uv_build"),
}
