"""The page of `hydra compare --html`: one file, no request (docs/reference/compare.md)."""

from hydra.report.html.build import build
from hydra.report.html.patches import PagePatch

__all__ = ["PagePatch", "build"]
