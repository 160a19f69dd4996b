"""Python without its form: what the parser makes of it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from hydra.analysis.equivalence.languages import DIRECTIVE

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)

_COMMENT_LINE = re.compile(r"(?m)^.*#.*$")
_COOKIE = re.compile(r"#.*coding[:=]")
_STATEMENTS = ("body", "orelse", "finalbody")


def normal(text: str) -> str | None:
    """The program, free of layout, comments and the order of imports; None if it is not read.

    A docstring is documentation, and counts as a comment, unless it may be used: where it holds a
    doctest, belongs to a decorated function or to a class with bases or decorators (commands and
    schemas take their help from it), or where the file speaks of `__doc__`. A comment that a tool
    obeys (`# noqa`, `# type: ignore`) is kept, with the code of its line.
    """
    text = text.removeprefix("\ufeff")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        if "__doc__" not in text:
            _undocument(tree)
        _order(tree)
        return "\0".join((ast.dump(tree, annotate_fields=False), *_directives(text)))
    except _UNREADABLE:
        return None


def _undocument(tree: ast.Module) -> None:
    bodies: list[ast.AST] = [tree]
    while bodies:
        node = bodies.pop()
        if _is_comment(node):
            body = node.body  # type: ignore[attr-defined]
            del body[0]
            if not body and not isinstance(node, ast.Module):
                body.append(ast.Pass())
        bodies += _blocks(node)


def _is_comment(node: ast.AST) -> bool:
    """Whether a node begins with a docstring that nothing uses."""
    if isinstance(node, ast.ClassDef):
        free = not (node.bases or node.keywords or node.decorator_list)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        free = not node.decorator_list
    else:
        free = isinstance(node, ast.Module)
    if not free:
        return False
    text = ast.get_docstring(node, clean=False)  # type: ignore[arg-type]
    return text is not None and ">>>" not in text


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    """The statements inside a statement: docstrings stand nowhere else."""
    for name in _STATEMENTS:
        inside = getattr(node, name, ())
        if isinstance(inside, list):
            yield from inside
    yield from getattr(node, "handlers", ())
    yield from getattr(node, "cases", ())


def _order(tree: ast.Module) -> None:
    """Sort each run of imports of the module, and of its own `if` and `try` blocks."""
    tree.body = list(_ordered(tree.body))
    for node in tree.body:
        if isinstance(node, (ast.If, ast.Try)):
            for name in _STATEMENTS:
                if hasattr(node, name):
                    setattr(node, name, list(_ordered(getattr(node, name))))


def _ordered(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    run: list[ast.Import | ast.ImportFrom] = []
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            run.append(node)
            continue
        yield from _sorted(run)
        run = []
        yield node
    yield from _sorted(run)


_Taken = tuple[int, str, str, str]
"""One name that is imported: dots, or -1 where it is a plain import; module; name; its own name."""


def _sorted(run: list[ast.Import | ast.ImportFrom]) -> Iterator[ast.stmt]:
    """A statement for each name; in their own order where two of them bind the same name."""
    taken = list(dict.fromkeys(row for node in run for row in _taken(node)))
    bound: dict[str, str] = {}
    clash = False
    for level, module, name, own in taken:
        what = f"{level} {module} {name}" if own or level >= 0 else name.partition(".")[0]
        local = own or name.partition(".")[0]
        clash = clash or local == "*" or bound.setdefault(local, what) != what
    for level, module, name, own in taken if clash else sorted(taken):
        alias = ast.alias(name, own or None)
        plain = level < 0
        yield ast.Import([alias]) if plain else ast.ImportFrom(module or None, [alias], level)


def _taken(node: ast.Import | ast.ImportFrom) -> Iterator[_Taken]:
    level = node.level if isinstance(node, ast.ImportFrom) else -1
    module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
    yield from ((level, module, alias.name, alias.asname or "") for alias in node.names)


def _directives(text: str) -> list[str]:
    """The lines whose comments are obeyed, without their white space; sorted, as imports move."""
    if "#" not in text:
        return []
    documents = [
        line for line in _COMMENT_LINE.findall(text) if DIRECTIVE.search(line, line.index("#"))
    ]
    documents += [line for line in text.split("\n", 2)[:2] if _COOKIE.match(line)]
    if text.startswith("#!"):
        documents.append(text.partition("\n")[0])
    return sorted("".join(line.split()) for line in documents)
