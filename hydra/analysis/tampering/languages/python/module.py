"""A file of Python, parsed."""

from __future__ import annotations

import ast
import warnings

FAILURES = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


def syntax_tree(text: str) -> ast.Module:
    """As Python itself reads the file: after a byte order mark, in the encoding that it names.

    Raises one of `FAILURES`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text.encode())
