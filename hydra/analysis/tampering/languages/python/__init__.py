"""Python's tests, by its own parser: what they ask, and what keeps them from running."""

from hydra.analysis.tampering.languages.python.reader import read

__all__ = ["read"]
