"""An expression as text."""

from __future__ import annotations

import ast
from collections.abc import Mapping

_DEEPEST = 40
_LONGEST = 1500


def render(node: ast.AST | None, names: Mapping[str, str]) -> str:
    """In one way of writing it and of bounded length; `names` are what names stand for. Raises one
    of `FAILURES` where it is too deep."""
    if node is None:
        return ""
    text = names.get(node.id) if isinstance(node, ast.Name) else None
    return text if text is not None else ast.unparse(node)[:_LONGEST]


def dotted(node: ast.AST) -> str:
    """`a.b.c` of names and attributes, "" of anything else; a call gives what it calls."""
    parts: list[str] = []
    at: ast.AST = node.func if isinstance(node, ast.Call) else node
    while isinstance(at, ast.Attribute) and len(parts) < _DEEPEST:
        parts.append(at.attr)
        at = at.value
    if isinstance(at, ast.Name):
        parts.append(at.id)
    elif not (isinstance(at, ast.Call) and parts):
        return ""
    return ".".join(reversed(parts))
