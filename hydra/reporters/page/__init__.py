"""The page of `hydra compare --html`: one file that asks nobody for anything (docs/page.md)."""

from hydra.reporters.page.build import build
from hydra.reporters.page.carried import LanePatch

__all__ = ["LanePatch", "build"]
