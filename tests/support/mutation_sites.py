"""Where the adapters' code can be changed, and how: found by its syntax, never picked by hand."""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ADAPTERS = ROOT / "hydra" / "adapters"
FILES = (
    "claude.py",
    "codex.py",
    "command_line.py",
    "cursor.py",
    "detection.py",
    "event_builders.py",
    "failures.py",
    "json_stream.py",
    "prompts.py",
)
_NAME = re.compile(r"-{0,2}[A-Za-z_][\w.:/*=-]*")
_ENUMS = ("Permission", "SignIn", "Confidence", "Tier")
_FLAG = ("required", "drops", "instead", "loss")
_SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change: its name, the file, which site of it, and which way of changing that."""

    name: str
    file: str
    site: int
    way: int

    def text(self) -> str:
        """The file's text with the change; as it is for a site below 0."""
        if self.site < 0:
            return _source(self.file)
        tree = ast.parse(_source(self.file))
        _, node = list(_sites(tree))[self.site]
        next(itertools.islice(_change(node), self.way, None))
        return ast.unparse(ast.fix_missing_locations(tree))


@functools.cache
def _source(file: str) -> str:
    """As it was when the run began: others may be at work on it."""
    return (ADAPTERS / file).read_text()


def mutations(file: str) -> Iterator[Mutation]:
    """Every change of one file, in the order of its text."""
    seen: dict[str, int] = {}
    for site, (scope, node) in enumerate(_sites(ast.parse(_source(file)))):
        for way, what in enumerate(_change(copy.deepcopy(node))):
            label = f"{file}:{scope}: {what}"
            seen[label] = seen.get(label, 0) + 1
            name = label if seen[label] == 1 else f"{label} ({seen[label]})"
            yield Mutation(name, file, site, way)


def _sites(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    yield from _below(tree, "", patterns=False)


def _below(node: ast.AST, scope: str, *, patterns: bool) -> Iterator[tuple[str, ast.AST]]:
    for child in _children(node):
        inner = scope
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            inner = f"{scope}.{child.name}".strip(".")
        elif isinstance(child, ast.Assign | ast.AnnAssign) and not scope:
            target = child.target if isinstance(child, ast.AnnAssign) else child.targets[0]
            inner = ast.unparse(target)
            if inner == "DESCRIPTOR":
                continue  # data, which is compared with what is recorded of it
        is_local = patterns or _compiles(child)
        if _is_site(child, is_local):
            yield inner, child
        yield from _below(child, inner, patterns=is_local)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_docstring(child):
                yield child


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _compiles(node: ast.AST) -> bool:
    """Whether texts in it are patterns: a call of `re`, or a table that such a call reads."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return "re.compile(" in ast.unparse(node)
    return isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")


def _is_site(node: ast.AST, patterns: bool) -> bool:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return bool(_NAME.fullmatch(node.value)) or (patterns and bool(node.value))
        return isinstance(node.value, bool)
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id in _ENUMS
    if isinstance(node, ast.keyword):
        return node.arg in _FLAG
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _change(node: ast.AST) -> Iterator[str]:
    """Changes the node in place; what was done. More than one way, one after the other."""
    before = ast.unparse(node)
    short = before if len(before) < 60 else f"{before[:57]}..."
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
        if _NAME.fullmatch(text):
            node.value = f"{text}{'-x' if text.startswith('-') else '_x'}"
            yield f"{short} is renamed"
            return
        node.value = f"(?!)(?:{text})"
        yield f"{short} is never found"
        if "|" in text:
            node.value = f"(?!){text}"
            yield f"{short} is not found by its first words"
    elif isinstance(node, ast.Constant):
        node.value = not node.value
        yield f"{short} is {node.value}"
    elif isinstance(node, ast.Attribute):
        others = {"Permission": ("PLAN", "UNRESTRICTED"), "SignIn": ("MISSING", "CONFIRMED")}
        first, second = others.get(ast.unparse(node.value), ("TIER1", "EXPERIMENTAL"))
        if ast.unparse(node.value) == "Confidence":
            first, second = "VERIFIED", "UNKNOWN"
        node.attr = second if node.attr == first else first
        yield f"{short} is {node.attr}"
    elif isinstance(node, ast.keyword):
        empty = {"required": ast.Constant(False), "loss": ast.Constant("")}
        node.value = empty.get(str(node.arg), ast.Tuple([], ast.Load()))
        yield f"{short} is dropped"
    elif isinstance(node, ast.Compare):
        nodes = copy.copy(node.ops)
        for place, op in enumerate(nodes):
            node.ops = list(nodes)
            node.ops[place] = _SWAPPED[type(op)]()
            yield f"{short} is {ast.unparse(node)}"
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"{short}: {'or' if isinstance(node.op, ast.Or) else 'and'}"
    elif isinstance(node, ast.UnaryOp):
        node.operand = ast.UnaryOp(ast.Not(), node.operand)
        yield f"{short}: without not"


NOTHING = Mutation("nothing is changed", "event_builders.py", -1, 0)
"""What no suite may fail on: it goes before and after the others."""


def every() -> list[Mutation]:
    """All there are."""
    return [mutation for file in FILES for mutation in mutations(file)]
