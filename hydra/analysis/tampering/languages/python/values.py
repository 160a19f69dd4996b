"""What a loop runs over, where that is written out, and what a name stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from hydra.analysis.tampering.languages.python.render import Bound, dotted, render

MOST_ROUNDS = 256
"""Rounds of loops over written-out collections that one test is followed through."""


def bind(value: ast.expr, names: Mapping[str, Bound]) -> Bound:
    """A value as what a name stands for."""
    node: ast.expr | None = value
    if isinstance(value, ast.Name) and value.id in names:
        node = names[value.id].node
    written = isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict)
    return Bound(render(value, names), node if written else None)


def elements(node: ast.expr, names: Mapping[str, Bound]) -> Sequence[ast.expr] | None:
    """What a loop runs over, where that is written out; None where only a run can tell."""
    if isinstance(node, ast.Name) and node.id in names:
        leaf = names[node.id].node
        return elements(leaf, names) if leaf is not None else None
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return _joined(
            elements(elt.value, names) if isinstance(elt, ast.Starred) else [elt]
            for elt in node.elts
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _joined(elements(side, names) for side in (node.left, node.right))
    if isinstance(node, ast.Dict):
        return [key for key in node.keys if key is not None]
    if not isinstance(node, ast.Call):
        return None
    name = dotted(node)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "items":
        return _items(node.func.value, names)
    inner = [elements(arg, names) for arg in node.args]
    if name in ("list", "tuple", "sorted", "iter", "reversed", "set") and len(inner) == 1:
        return inner[0]
    if name == "range" and all(_small(arg) for arg in node.args) and node.args:
        numbers = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
        return _range(numbers)
    if not inner or any(nodes is None for nodes in inner):
        return None
    rows = [nodes for nodes in inner if nodes is not None]
    if name == "zip":
        return [_tuple(row) for row in zip(*rows, strict=False)]
    if name == "enumerate" and len(rows) == 1:
        return [_tuple((ast.Constant(at), node)) for at, node in enumerate(rows[0])]
    return None


def _joined(parts: Iterable[Sequence[ast.expr] | None]) -> Sequence[ast.expr] | None:
    rows: list[ast.expr] = []
    for part in parts:
        if part is None:
            return None
        rows += part
    return rows


def _items(node: ast.expr, names: Mapping[str, Bound]) -> Sequence[ast.expr] | None:
    inner = names[node.id].node if isinstance(node, ast.Name) and node.id in names else node
    if not isinstance(inner, ast.Dict):
        return None
    pairs = zip(inner.keys, inner.values, strict=True)
    return [_tuple((key, value)) for key, value in pairs if key is not None]


def _tuple(row: Sequence[ast.expr]) -> ast.expr:
    return ast.Tuple(elts=list(row), ctx=ast.Load())


def _small(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and type(node.value) is int
        and abs(node.value) <= MOST_ROUNDS
    )


def _range(numbers: Sequence[object]) -> Sequence[ast.expr] | None:
    whole = [number for number in numbers if isinstance(number, int)]
    if not 1 <= len(whole) <= 3 or (len(whole) == 3 and whole[2] == 0):
        return None
    return [ast.Constant(at) for at in range(*whole)]
