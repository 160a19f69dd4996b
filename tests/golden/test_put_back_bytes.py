"""The base's tests put back where a file's name, or what is in it, is no UTF-8."""

from __future__ import annotations

import json
import os

import pytest

from tests.conftest import commit
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


def test_examples_in_code_of_another_encoding_are_put_back_byte_for_byte(hydra: Hydra) -> None:
    (hydra.repo / "src/pager.py").unlink()
    more = "s/n .. size/-(-n \\/\\/ size)/; s/^    1$/    1\\n    >>> pages(4, 2)\\n    2/"
    (hydra.repo / "src" / os.fsdecode(b"p\xe9ger.py")).write_bytes(CODE)
    commit(hydra.repo, "Bytes")
    mend = fakes.shell("sh", "-c", f"sed -i '{more}' src/p*.py")
    hydra.agent("claude", [mend, fakes.finish("done")])
    hydra.run("race", "Do it", "-a", "claude", "--check", CHECK)
    (lane,) = json.loads(hydra.run("compare", "--json").stdout)["lanes"]
    assert lane["state"] == "proved", json.dumps(lane, indent=1)
