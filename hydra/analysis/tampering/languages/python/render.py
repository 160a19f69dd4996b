"""An expression as text in which names of local variables are gone.

Each is replaced by what it was last set to, so that a test whose variables were renamed, or which
takes its values from a table now, reads the same.
"""

from __future__ import annotations

import ast
import zlib
from collections.abc import Mapping

from msgspec import Struct

DEEPEST = 40
_LONGEST = 1500


class Bound(Struct, frozen=True):
    """What a name stands for: its text, and its node where that is a collection written out."""

    text: str
    node: ast.expr | None = None


Names = Mapping[str, Bound]


def render(node: ast.AST | None, names: Names, depth: int = 0) -> str:
    """Of bounded length; two expressions that differ within it have two texts."""
    if node is None:
        return ""
    if depth > DEEPEST:
        return "..."
    text = _text(node, names, depth + 1)
    if len(text) > _LONGEST:
        return f"{text[:200]}...#{zlib.crc32(text.encode('utf-8', 'replace')):08x}"
    return text


def _text(node: ast.AST, names: Names, depth: int) -> str:
    match node:
        case ast.Constant(value=value):
            return _constant(value)
        case ast.Name(id=name):
            return names[name].text if name in names else name
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            own = f"self.{name}"
            return names[own].text if own in names else name
        case ast.Attribute(value=value, attr=name):
            return f"{render(value, names, depth)}.{name}"
        case ast.Call(func=func, args=args, keywords=keywords):
            inside = [render(arg, names, depth) for arg in args]
            inside += [
                f"{keyword.arg or '**'}={render(keyword.value, names, depth)}"
                for keyword in keywords
            ]
            return f"{render(func, names, depth)}({', '.join(inside)})"
        case ast.Await(value=value) | ast.NamedExpr(value=value):
            return render(value, names, depth)
        case ast.List(elts=elts):
            return f"[{_many(elts, names, depth)}]"
        case ast.Tuple(elts=elts):
            return f"({_many(elts, names, depth)}{',' if len(elts) == 1 else ''})"
        case ast.Set(elts=elts):
            return f"{{{_many(elts, names, depth)}}}"
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            inside = [f"{render(k, names, depth)}: {render(v, names, depth)}" for k, v in pairs]
            return f"{{{', '.join(inside)}}}"
        case ast.Subscript(value=value, slice=index):
            return f"{render(value, names, depth)}[{render(index, names, depth)}]"
        case ast.BinOp(left=inner, op=op, right=right):
            sign = _SIGNS.get(type(op), "?")
            return f"{render(inner, names, depth)} {sign} {render(right, names, depth)}"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"-{render(operand, names, depth)}"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"not {render(operand, names, depth)}"
        case ast.Compare(left=inner, ops=ops, comparators=others):
            parts = [render(inner, names, depth)]
            for way, other in zip(ops, others, strict=True):
                parts += [_COMPARED[type(way)], render(other, names, depth)]
            return " ".join(parts)
        case ast.BoolOp(op=op, values=values):
            sign = " and " if isinstance(op, ast.And) else " or "
            return sign.join(render(value, names, depth) for value in values)
        case ast.Starred(value=value):
            return f"*{render(value, names, depth)}"
        case ast.Expr(value=value):
            return render(value, names, depth)
    return _any(node, names, depth)


def _constant(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 2000:
        return f"{hex(value)[:40]}..."
    return "..." if value is Ellipsis else repr(value)


def _many(nodes: list[ast.expr], names: Names, depth: int) -> str:
    return ", ".join(render(node, names, depth) for node in nodes)


def _any(node: ast.AST, names: Names, depth: int) -> str:
    """Any other node, by its kind and its fields."""
    inside: list[str] = []
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, ast.AST):
            if not isinstance(value, ast.expr_context):
                inside.append(render(value, names, depth))
        elif isinstance(value, list):
            inside += [
                render(node, names, depth) if isinstance(node, ast.AST) else str(node)
                for node in value
            ]
        elif value is not None:
            inside.append(str(value))
    return f"{type(node).__name__}({', '.join(inside)})"


_SIGNS: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
}
_COMPARED: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def dotted(node: ast.AST) -> str:
    """`a.b.c` of names and attributes, "" of anything else; a call gives what it calls."""
    parts: list[str] = []
    at: ast.AST = node.func if isinstance(node, ast.Call) else node
    while isinstance(at, ast.Attribute) and len(parts) < DEEPEST:
        parts.append(at.attr)
        at = at.value
    if isinstance(at, ast.Name):
        parts.append(at.id)
    elif not (isinstance(at, ast.Call) and parts):
        return ""
    return ".".join(reversed(parts))
