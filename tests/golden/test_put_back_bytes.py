"""The base's tests put back where a file's name, or what is in it, is no UTF-8."""

from __future__ import annotations

import json

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra

pytestmark = pytest.mark.slow

CODE = b'''# -*- coding: latin-1 -*-
SIGN = r"\xe9"


def pages(n, size):
    """How many.

    >>> len(SIGN)
    1
    >>> pages(3, 2)
    2
    """
    return n // size
'''
CHECK = "python3 -B -m doctest -v src/p*.py"


def raced(hydra: Hydra, files: dict[bytes, bytes], check: str, shell: str) -> dict[str, object]:
    """A race on these files, and what is said of its one lane."""
    for name, data in files.items():
        path = hydra.repo / name.decode("utf-8", "surrogateescape")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "commit", "-qm", "Bytes")
    hydra.agent("claude", [fakes.shell("sh", "-c", shell), fakes.finish("done")])
    race = hydra.run("race", "Do it", "-a", "claude", "--check", check)
    assert "Traceback" not in race.stderr
    (lane,) = json.loads(hydra.run("compare", "--json").stdout)["lanes"]
    return dict(lane)


def test_examples_in_code_of_another_encoding_are_put_back_byte_for_byte(hydra: Hydra) -> None:
    git(hydra.repo, "rm", "-q", "src/pager.py")
    more = "s/n .. size/-(-n \\/\\/ size)/; s/^    1$/    1\\n    >>> pages(4, 2)\\n    2/"
    lane = raced(hydra, {b"src/p\xe9ger.py": CODE}, CHECK, f"sed -i '{more}' src/p*.py")
    assert lane["state"] == "proved", json.dumps(lane, indent=1)
