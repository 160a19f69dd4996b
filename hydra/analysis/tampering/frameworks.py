"""Names of test tools, and of what an interpreter runs everything by."""

from __future__ import annotations

import sys

PYTHON = frozenset(
    (
        *("pytest", "_pytest", "unittest", "unittest2", "nose", "nose2", "doctest", "pluggy"),
        *("hypothesis", "_hypothesis_pytestplugin", "testtools", "xdist", "pytest_asyncio"),
        *("pytest_mock", "ward", "behave", "robot", "sure", "assertpy", "hamcrest"),
    )
)
"""Top-level modules that run tests, or compare for them."""

JAVASCRIPT = frozenset(
    (
        *("assert", "assert/strict", "test", "chai", "expect", "jest", "vitest", "mocha", "ava"),
        *("tap", "tape", "jasmine", "jasmine-core", "should", "sinon", "uvu", "uvu/assert"),
        *("@jest/globals", "jest-circus", "jest-jasmine2", "power-assert", "expect.js"),
    )
)
"""Packages that do so, without `node:`."""

_NO_SHADOW = frozenset(("test", "tests", "site", "this", "antigravity", "idlelib", "lib2to3"))

STANDARD = frozenset(sys.stdlib_module_names) - _NO_SHADOW - PYTHON
"""Modules of Python's own whose name a project's file takes at a cost."""


def is_python_tool(module: str) -> bool:
    """Whether a dotted name is of a test tool."""
    return module.partition(".")[0] in PYTHON


def is_javascript_tool(package: str) -> bool:
    """Whether a name as it is imported is of a test tool."""
    bare = package.removeprefix("node:")
    return bare in JAVASCRIPT or bare.startswith(("@jest/", "@vitest/", "assert/"))
