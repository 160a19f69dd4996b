"""Names of test tools."""

from __future__ import annotations

_PYTHON = frozenset(
    (
        *("pytest", "_pytest", "unittest", "unittest2", "nose", "nose2", "doctest", "pluggy"),
        *("hypothesis", "_hypothesis_pytestplugin", "testtools", "xdist", "pytest_asyncio"),
        *("pytest_mock", "ward", "behave", "robot", "sure", "assertpy", "hamcrest"),
    )
)
"""Top-level modules that run tests, or compare for them."""


def is_python_tool(module: str) -> bool:
    """Whether a dotted name is of a test tool."""
    return module.partition(".")[0] in _PYTHON
