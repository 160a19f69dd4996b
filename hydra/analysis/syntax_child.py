"""The child that parses for `hydra.analysis.syntax`: C code over text that nobody vouches for, in a
process of its own, which may write nothing and ends after a while."""

from __future__ import annotations

import json
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from hydra.analysis.normal_form import NormalForm, idle

if TYPE_CHECKING:
    from tree_sitter import Node

MEMORY = 2 * 1024 * 1024 * 1024
SECONDS_EACH = 5.0
"""Of the processor, for one text: what takes longer ends the child, and is not read again."""


def main() -> None:
    """One line of JSON for each text, in their order, as soon as it is read."""
    texts = json.load(sys.stdin)
    parses = {language: parser(language) for language in {row[0] for row in texts}}
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(kind, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for language, text in texts:
        signal.setitimer(signal.ITIMER_PROF, SECONDS_EACH)
        print(json.dumps(Reading(language, text, parses[language]).whole()), flush=True)


def parser(language: str) -> Callable[[bytes], Node]:
    """What parses one language."""
    import importlib

    from tree_sitter import Language, Parser

    package = "typescript" if language == "tsx" else language
    module = importlib.import_module(f"tree_sitter_{package}")
    name = f"language_{language}" if package == "typescript" else "language"
    parsing = Parser(Language(getattr(module, name)()))
    return lambda data: parsing.parse(data).root_node


# ---- What the grammars call things.


def _set(line: str) -> frozenset[str]:
    return frozenset(line.split())


_COMMENTS = _set("comment line_comment block_comment")
_STRINGS = _set(
    "string template_string regex interpreted_string_literal raw_string_literal rune_literal"
    " string_literal char_literal character_literal multiline_string_literal heredoc_body subshell"
    " string_array symbol_array delimited_symbol jsx_text uninterpreted"
)
_WHOLE = _set("jsx_element jsx_self_closing_element jsx_fragment")
"""Where white space may say something: compared as they are."""

_INSIDES = _set("interpolation template_substitution")
_CONTENT = _set("string_content heredoc_content")
_SCOPES = _set(
    "class_definition class_declaration abstract_class_declaration class internal_module module"
    " interface_declaration enum_declaration record_declaration object_declaration mod_item"
    " impl_item trait_item singleton_class"
)
_FUNCTIONS = _set(
    "function_definition function_declaration generator_function_declaration method_definition"
    " function_item method_declaration constructor_declaration method singleton_method"
)
_VALUES = _set("arrow_function function_expression generator_function")
_HOLDERS = {
    "variable_declarator": ("name", "value"),
    "field_definition": ("property", "value"),
    "public_field_definition": ("name", "value"),
    "pair": ("key", "value"),
    "assignment_expression": ("left", "right"),
}
_STATEMENTS = _set("lexical_declaration variable_declaration expression_statement export_statement")
_CALLS = _set("call_expression call")
_TEST_CALLS = _set("it test specify fit xit xtest xspecify example scenario should")
_BLOCK_CALLS = _set(
    "describe context suite fdescribe xdescribe fcontext xcontext feature module example_group"
)
_ROOTS = _set("Deno QUnit RSpec")
_LEADING = _set("attribute_item decorator export default")
_LED = _set("source_file program declaration_list class_body decorated_definition export_statement")

_RUST_TEST = re.compile(
    rb"#!?\s*\[\s*(?:[\w\s:]*::\s*)?(?:test|rstest|test_case|wasm_bindgen_test|quickcheck)\b"
)
_CFG_TEST = re.compile(rb"#!?\s*\[\s*cfg\s*\((?!\s*not\b)[^\]]*\btest\b")
_JUNIT = re.compile(rb"@(?:\w+\.)*(?:\w*Test|TestFactory|TestTemplate|Property)\b")
_CASES = re.compile(
    rb"(?:@[^\n]*\n\s*)*(?:class\s+\w+\s*\([^)]*TestCase\b"
    rb"|(?:async\s+)?def\s+test_(?=[\s\S]*\b(?:assert|raises)\b)"
    rb"|class\s+Test(?=[\s\S]*\bdef test_[\s\S]*\bassert\b))"
)
_SCRIPT_CASES = re.compile(
    rb"(?:(?:test|it|describe|suite)(?:\.\w+)?|Deno\.test)\s*\(\s*[\"'`{\w]", re.ASCII
)
_FRAMEWORK = re.compile(
    rb"[\"'](?:node:test|vitest|bun:test|@jest/globals|ava|tape|uvu|mocha|node:assert(?:/strict)?"
    rb"|assert(?:/strict)?|uvu/assert|chai|(?:\w+:)?@std/(?:assert|testing)[^\"'\n]*)[\"']"
)
_PYTHON_FRAMEWORK = re.compile(rb"(?:import|from)\s+(?:unittest|pytest)\b")
_GO_TEST = re.compile(r"(?:Test|Fuzz|Example)(?![a-z])")
_LONGEST_NAME = 300

_DOCUMENT = re.compile(rb"[uUrR]?[\"']")
_BLOCKS = ("module", "block")
_DOCUMENTED = ("function_definition", "class_definition")
_INK = re.compile(r"[^\r\n]")
_Step = Callable[[], None]


class Reading:
    """One text, parsed and walked once."""

    def __init__(self, language: str, text: str, parse: Callable[[bytes], Node]) -> None:
        self._language, self._data = language, text.encode()
        self._root = parse(self._data)
        self._form = NormalForm(language, self._data, is_broken=self._root.has_error)
        self._comments: list[tuple[int, int]] = []
        self._strings: list[tuple[int, int]] = []
        self._functions: list[tuple[str, int, int, bool]] = []
        self._tests: list[tuple[int, int]] = []
        # The names in force, what encloses them, and what belongs to a node that stands before it.
        self._prefixes = [""]
        self._functions_open = self._tests_open = 0
        self._leads: dict[int, tuple[int, bytes]] = {}

    def whole(self) -> dict[str, Any]:
        """All that is told of the text."""
        self._walk()
        self._module_tests()
        return {
            "functions": sorted(self._functions, key=lambda row: (row[1], -row[2], row[0])),
            "code": self._without(self._comments),
            "bare": self._without(self._comments + self._strings),
            "normal": self._form.digest(),
            "tests": outermost(self._tests),
            "is_broken": self._root.has_error,
        }

    def _without(self, ranges: Iterable[tuple[int, int]]) -> str:
        """The text with ranges of it blanked."""
        pieces, at = list[str](), 0
        for start, end in sorted(ranges):
            start, end = max(start, at), max(end, at)
            inside = self._data[start:end].decode("utf-8", "replace")
            pieces += [self._data[at:start].decode("utf-8", "replace"), _INK.sub(" ", inside)]
            at = end
        return "".join((*pieces, self._data[at:].decode("utf-8", "replace")))

    # ---- The walk.

    def _walk(self) -> None:
        stack: list[Node | _Step] = [self._root]
        while stack:
            node = stack.pop()
            if callable(node):
                node()
                continue
            kind = node.type
            if kind in _COMMENTS:
                self._comments.append((node.start_byte, node.end_byte))
                if not self._form.quiet:
                    self._form.comment(node.start_byte, node.end_byte)
            elif kind in _STRINGS or kind in _WHOLE:
                stack += self._string(node, kind)
            elif node.child_count:
                stack += self._inner(node, kind)
            elif not self._form.quiet:
                self._leaf(node, kind)

    def _inner(self, node: Node, kind: str) -> Iterator[Node | _Step]:
        """What is to be done after a node and with its children, the last first."""
        if self._language == "python" and kind == "expression_statement" and self._document(node):
            return
        children = node.children
        if kind in _LED:
            self._lead(children)
        yield from self._named(node, kind)
        if kind in _BLOCKS and self._language == "python" and not is_level(kind, children):
            self._form.doubt()
        steps: list[Node | _Step] = [*children]
        if not self._form.quiet:
            begun = self._form.enter(kind)
            yield lambda: self._form.leave(kind, begun)
            for part in idle(kind, children):
                steps[children.index(part)] = partial(self._form.skip, part.end_byte)
        yield from reversed(steps)

    def _leaf(self, node: Node, kind: str) -> None:
        if kind == "line_continuation" or (kind == ";" and self._language == "python"):
            self._form.skip(node.end_byte)
        else:
            self._form.leaf(node.start_byte, node.end_byte)

    def _string(self, node: Node, kind: str) -> Iterator[Node | _Step]:
        """A string is compared as it is written; what is code inside is walked for what it is."""
        if not self._form.quiet:
            self._form.string(node.start_byte, node.end_byte)
        children = node.children
        inside = children
        if kind not in _WHOLE:
            self._strings += insides(node, kind, children)
            inside = [part for part in children if part.type in _INSIDES]
        if inside:
            self._form.quiet += 1
            yield self._louder
            yield from reversed(inside)

    def _louder(self) -> None:
        self._form.quiet -= 1

    def _document(self, node: Node) -> bool:
        """Whether a statement is a docstring that nothing uses; each is blanked in the code."""
        first, block = node.children[0], node.parent
        if first.type != "string" or node.child_count > 1 or block is None:
            return False
        siblings = (part for part in block.children if part.type not in _COMMENTS)
        text, owner = self._data[first.start_byte : first.end_byte], block.parent
        if next(siblings, None) != node or not _DOCUMENT.match(text):
            return False
        if block.type != "module" and (owner is None or owner.type not in _DOCUMENTED):
            return False
        self._comments.append((first.start_byte, first.end_byte))
        used = b">>>" in text or b"__doc__" in self._data
        if owner is not None:
            above = owner.parent
            used = used or owner.child_by_field_name("superclasses") is not None
            used = used or (above is not None and above.type == "decorated_definition")
        if not used and not self._form.quiet:
            self._form.skip(first.end_byte)
        return not used

    # ---- Functions and tests.

    def _lead(self, children: Iterable[Node]) -> None:
        """What stands before a node and belongs to it: decorators, attributes, `export`."""
        pending: list[Node] = []
        for child in children:
            if child.type in _LEADING:
                pending.append(child)
            elif child.type not in _COMMENTS:
                if pending:
                    text = b"".join(self._data[part.start_byte : part.end_byte] for part in pending)
                    self._leads.setdefault(child.id, (pending[0].start_point[0], text))
                    pending = []
                if self._language == "rust":
                    self._rust_test(child)

    def _rust_test(self, node: Node) -> None:
        text = self._leads.get(node.id, (0, b""))[1]
        if node.type in ("macro_invocation", "expression_statement", "inner_attribute_item"):
            text += self._data[node.start_byte : node.end_byte]
        if _CFG_TEST.search(text) or _RUST_TEST.search(text):
            whole = node.parent if node.type == "inner_attribute_item" else None
            self._tests.append(self._rows(whole or node))

    def _module_tests(self) -> None:
        """What stands in a module itself and is a test to its runner: classes of tests and
        functions in Python, in JavaScript calls of what a framework is imported for; with what
        imports this."""
        is_python = self._language == "python"
        if not is_python and self._language not in ("javascript", "typescript", "tsx"):
            return
        rows = [(node, self._data[node.start_byte : node.end_byte]) for node in self._root.children]
        imports = [node for node, text in rows if self._imports_tests(node, text, is_python)]
        cases = [
            node
            for node, text in rows
            if (_CASES if is_python else _SCRIPT_CASES).match(text)
            and (is_python or imports or text.startswith(b"Deno."))
        ]
        if cases:
            self._tests += map(self._rows, (*imports, *cases))

    def _imports_tests(self, node: Node, text: bytes, is_python: bool) -> bool:
        if is_python:
            return _PYTHON_FRAMEWORK.match(text) is not None
        imports = node.type == "import_statement" or b"require(" in text[:_LONGEST_NAME]
        return imports and _FRAMEWORK.search(text[: 2 * _LONGEST_NAME]) is not None

    def _rows(self, node: Node) -> tuple[int, int]:
        """The lines of a node, with what belongs to it."""
        row, _ = self._leads.get(node.id, (node.start_point[0], b""))
        last, column = node.end_point
        return row + 1, max(row + 1, last + (column > 0))

    def _named(self, node: Node, kind: str) -> Iterator[_Step]:
        """Keeps what gives a name to what it holds, and whether it is a function or a test."""
        if kind in _SCOPES:
            if node.is_named and (name := self._name(node)):
                yield self._enter(f"{name}.")
        elif kind in _FUNCTIONS:
            yield from self._function(node, self._name(node), self._is_test(node, kind))
        elif kind in _HOLDERS:
            label, value = (node.child_by_field_name(field) for field in _HOLDERS[kind])
            if label is not None and value is not None and value.type in _VALUES:
                yield from self._function(node, self._text_of(label).strip("'\""), False)
        elif kind in _CALLS:
            yield from self._call(node)
        elif kind == "if_statement" and self._language in ("javascript", "typescript", "tsx"):
            condition = node.child_by_field_name("condition")
            if condition is not None and "import.meta.vitest" in self._text_of(condition):
                self._tests.append(self._rows(node))

    def _enter(self, prefix: str) -> _Step:
        self._prefixes.append((self._prefixes[-1] + prefix)[:_LONGEST_NAME])
        return lambda: self._prefixes.__delitem__(-1)

    def _function(self, node: Node, name: str, is_test: bool) -> Iterator[_Step]:
        """A function; what lies in another one is part of it."""
        if self._functions_open or not name:
            return
        first, last = self._rows(node)
        around = node.parent
        while around is not None and around.type in _STATEMENTS and around.named_child_count == 1:
            first, last = min(first, self._rows(around)[0]), max(last, self._rows(around)[1])
            around = around.parent
        whole = (self._prefixes[-1] + name)[:_LONGEST_NAME]
        self._functions.append((whole, first, last, is_test))
        self._functions_open += 1

        def close() -> None:
            self._functions_open -= 1

        yield close

    def _is_test(self, node: Node, kind: str) -> bool:
        """Whether a runner collects a function, by its name, its decorators and what it is in."""
        name = self._name(node).rpartition(".")[2]
        lead = self._leads.get(node.id, (0, b""))[1]
        if self._language == "python":
            owner = self._owner(node)
            bases = owner is not None and owner.child_by_field_name("superclasses") is not None
            fits = owner is None or bases or self._name(owner).startswith("Test")
            return name.startswith("test") and fits
        if self._language == "go":
            return _GO_TEST.match(name) is not None
        if self._language == "rust":
            return _RUST_TEST.search(lead) is not None
        if self._language in ("java", "kotlin"):
            modifiers = self._data[node.start_byte : node.children[0].end_byte]
            is_junit3 = kind == "method_declaration" and name.startswith("test")
            return _JUNIT.search(modifiers) is not None or is_junit3
        return self._language == "ruby" and name.startswith("test_")

    def _owner(self, node: Node) -> Node | None:
        """The class that a function of Python is in."""
        around = node.parent
        while around is not None and around.type in ("block", "decorated_definition"):
            around = around.parent
        return around if around is not None and around.type == "class_definition" else None

    def _call(self, node: Node) -> Iterator[_Step]:
        """`it("adds", () => ...)`, `describe`, and what other languages have of it."""
        if self._tests_open:
            return
        path, first = self._called(node)
        is_block = not _BLOCK_CALLS.isdisjoint(path)
        if not path or not (is_block or path[0] in _TEST_CALLS or path[0] in _ROOTS):
            return
        name = self._title(first)
        if not name or (path[0] in _ROOTS and not is_block and path[-1] not in _TEST_CALLS):
            return
        whole = (self._prefixes[-1] + name)[:_LONGEST_NAME]
        self._functions.append((whole, *self._rows(node), not is_block))
        yield self._enter(f"{name} > ")
        if not is_block:
            self._tests_open += 1

            def close() -> None:
                self._tests_open -= 1

            yield close

    def _called(self, node: Node) -> tuple[list[str], Node | None]:
        """The names of what is called (`it.each`: it, each), and the first argument."""
        if self._language == "ruby":
            if node.child_by_field_name("block") is None:
                return [], None
            parts = (node.child_by_field_name(field) for field in ("receiver", "method"))
            return [self._text_of(part) for part in parts if part is not None], self._first(node)
        if self._language == "kotlin":
            inner = node.children[0]
            if node.children[-1].type != "annotated_lambda" or inner.type != "call_expression":
                return [], None
            return [self._text_of(inner.children[0])], self._first(inner)
        if self._language not in ("javascript", "typescript", "tsx"):
            return [], None
        callee, path = node.child_by_field_name("function"), list[str]()
        for _ in range(6):
            if callee is None or callee.type == "identifier":
                break
            if part := callee.child_by_field_name("property"):
                path.append(self._text_of(part))
            callee = callee.child_by_field_name("function") or callee.child_by_field_name("object")
        root = [self._text_of(callee)] if callee is not None and not callee.child_count else []
        return [*root, *reversed(path)], self._first(node)

    def _first(self, node: Node) -> Node | None:
        """The first argument of a call."""
        arguments = node.child_by_field_name("arguments")
        if arguments is None:
            kinds = ("value_arguments", "argument_list")
            arguments = next((part for part in node.children if part.type in kinds), None)
        first = (
            arguments.named_child(0)
            if arguments is not None and arguments.named_child_count
            else None
        )
        inner = first is not None and first.type == "value_argument" and first.named_child_count
        return first.named_child(0) if first is not None and inner else first

    def _title(self, node: Node | None) -> str:
        """What a test is called by: a string's text, or in Ruby the thing that it is about."""
        if node is None:
            return ""
        if node.type in ("string", "template_string", "string_literal"):
            return " ".join(self._text_of(node).strip("'\"`").split())
        return self._text_of(node) if node.type in ("constant", "scope_resolution") else ""

    def _name(self, node: Node) -> str:
        """The name of a class or a function as a reader writes it."""
        part = node.child_by_field_name("name") or node.child_by_field_name("type")
        if part is None:
            kinds = ("identifier", "type_identifier", "constant")
            part = next((child for child in node.children if child.type in kinds), None)
        if part is None:
            return ""
        name = self._text_of(part).partition("<")[0].strip().strip("`'\"")
        name = name.rpartition("::")[2] or name
        receiver = node.child_by_field_name("receiver") if self._language == "go" else None
        if receiver is not None:
            of = re.search(r"(\w+)(?:\[[^\]]*\])?\s*\)$", self._text_of(receiver))
            return f"{of[1]}.{name}" if of else name
        return name

    def _text_of(self, node: Node) -> str:
        end = min(node.end_byte, node.start_byte + 4 * _LONGEST_NAME)
        return self._data[node.start_byte : end].decode("utf-8", "replace")


def is_level(kind: str, children: Iterable[Node]) -> bool:
    """Whether the statements of a block of Python stand equally deep: the grammar asks for less."""
    columns, row = {0} if kind == "module" else set[int](), -1
    for child in children:
        if child.start_point[0] > row and child.type not in _COMMENTS:
            columns.add(child.start_point[1])
            row = child.end_point[0]
    return len(columns) < 2


def outermost(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges that lie in no other one."""
    out = list[tuple[int, int]]()
    for start, end in sorted(ranges, key=lambda row: (row[0], -row[1])):
        if not out or start > out[-1][1]:
            out.append((start, end))
    return out


def insides(node: Node, kind: str, children: list[Node]) -> Iterator[tuple[int, int]]:
    """What a string holds, its quotes and the code in it left out."""
    start, end = node.start_byte, node.end_byte
    if kind in ("jsx_text", "uninterpreted"):
        yield start, end
    elif not children:
        yield start + 1, max(start + 1, end - 1)
    elif children[0].type in _CONTENT:
        yield from ((part.start_byte, part.end_byte) for part in children if part.type in _CONTENT)
    else:
        at = children[0].end_byte
        for part in children[1:]:
            if part.type in _INSIDES or part == children[-1]:
                yield at, part.start_byte
                at = part.end_byte
