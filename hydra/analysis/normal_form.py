"""A text's normal form: its leaves and its structure, without comments and layout.

Two texts are called the same only where that is sure: to call two patches the same that are not
would be a lie, to miss two is only a pity. So a doubt makes a text its own form.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

LARGEST = 256 * 1024
"""Bytes. A longer text is its own normal form."""


def _set(line: str) -> frozenset[str]:
    return frozenset(line.split())


_IMPORTS = _set(
    "import_statement import_from_statement import_declaration import_spec use_declaration import"
)
_CLOSED = _set(
    "argument_list arguments parameters formal_parameters parameter_list list dictionary set tuple"
    " object array object_pattern array_pattern literal_value array_expression tuple_expression"
    " use_list field_initializer_list named_imports array_initializer"
)
"""Where a comma before the closing bracket says nothing."""

_SIGNS = frozenset(b"< > = & | + - * / % ^ ! ~ ? : . # @ $ && || << >> == -> =>".split())
_QUOTED = _set("python javascript typescript tsx")
_LINED = _set("javascript typescript tsx go")
_SPACED = _set("ruby kotlin")
_SEMICOLON_MATTERS = _set(
    "for_statement for_clause empty_statement if_statement expression_switch_statement class_body"
    " type_switch_statement object_type interface_body"
)
_GOES_ON = _set("( [ { , ; : . ?. && || ?? = += -= *= ... + - % == === != !== & | ^ =>")
_CONTINUES = _set(") ] } , ; . ?. && || ?? = += -= == === != !== % ^ & | => : in instanceof")
_AFTER_BRACE = _set("else catch finally")

OBEYED = re.compile(
    r"noqa|type:|pragma|pylint|mypy|pyright|ruff:|flake8|isort:|fmt:|yapf|nosec|pytype|cython"
    r"|eslint|tslint|jshint|jslint|@ts-|prettier-|biome-|oxlint|deno-|istanbul|[cv]8 ignore"
    r"|webpack|[@#]__|@jsx|@flow|@noflow|@vite|@jest|@vitest|@license|@preserve|@cc_on|[@#] ?source"
    r"|//[a-z]+:\S|//\s*\+build|//\s*(?:line|export|extern) |nolint|lint:|//\s*<|^#!|^//[/!]"
    r"|^/\*!|^/\*\*.*>>>|\*\s*(?:globals?|exported) |@deprecated|fall.?s?.?through|language="
    r"|rubocop|frozen_string|coding[:=]|warn_indent|typed:|ktlint|checkstyle|NOSONAR|NOPMD"
    r"|@formatter|skipcq|nosemgrep|(?:unordered\s+)?output:",
    re.I,
)
"""What a comment holds that a compiler, a linter or a generator obeys. Too much of it only means
that two patches are not called the same."""

_UNSURE = "[\0-\x08\x0b\x0c\x0e-\x1f\x85\u2028\u2029]|\r(?!\n)"
_UNSURE_IN = {"go": '"C"', "java": r"\\u+00"} | dict.fromkeys(
    ("javascript", "typescript", "tsx"), "<!--|-->"
)
"""What may make a text another program than it seems, in any language or in one."""

_PLAIN = re.compile(rb"""([A-Za-z]*)(["'])([^"'\\\n]*)["']""")


class NormalForm:
    """The form of one text, put together as its tree is walked."""

    def __init__(self, language: str, data: bytes, *, is_broken: bool) -> None:
        self._language, self._data = language, data
        doubts = "|".join((_UNSURE, *filter(None, [_UNSURE_IN.get(language)])))
        text = data.decode()
        self._is_exact = is_broken or len(data) > LARGEST or bool(re.search(doubts, text, re.M))
        self.quiet = int(self._is_exact)
        """How many reasons there are to take nothing down."""
        # The leaves and the structure; where the imports stand in them; what stood before.
        self._out: list[bytes] = []
        self._imports: list[tuple[int, int]] = []
        self._at, self._ended, self._last = 0, False, b""

    def digest(self) -> str:
        """What is equal for equal forms."""
        form = b"=" + self._data if self._is_exact else b"~" + b"\0".join(self._in_order())
        return hashlib.blake2b(form, digest_size=16).hexdigest()

    def doubt(self) -> None:
        """The text may be another program than its tree says."""
        self._is_exact = True
        self.quiet += 1

    def enter(self, kind: str) -> int:
        """A node begins; what is returned is for `leave`."""
        self._out.append(b"\1" + kind.encode())
        return len(self._out) - 1

    def leave(self, kind: str, begun: int) -> None:
        """A node is at its end."""
        self._out.append(b"\2")
        if kind in _IMPORTS and (not self._imports or self._imports[-1][0] < begun):
            self._imports.append((begun, len(self._out)))

    def skip(self, end: int) -> None:
        """What stands up to there says nothing."""
        self._at = max(self._at, end)

    def leaf(self, start: int, end: int) -> None:
        """A leaf, and before it what stands between it and the last one, if that matters."""
        value = self._data[start:end]
        gap = self._data[self._at : start]
        self._at = max(self._at, end)
        ended = self._ended or b"\n" in gap
        self._ended = False
        if gap.strip():
            self._out.append(b"\3" + gap.strip())
        if not value.strip():
            self._ended = ended or b"\n" in value
            return
        if self._language in _SPACED:
            self._out.append(b"\n" if ended or not self._last else b" " if gap else b"")
        elif ended and self._language in _LINED:
            last, now = (part.decode("utf-8", "replace") for part in (self._last, value))
            if last not in _GOES_ON and now not in _CONTINUES:
                self._out += [] if last == "}" and now in _AFTER_BRACE else [b"\n"]
        elif gap and value in _SIGNS and self._last in _SIGNS:
            # A macro sees whether two of them are one.
            self._out.append(b" ")
        self._out.append(value)
        self._last = value

    def string(self, start: int, end: int) -> None:
        """A string, as it is written but for its quotes where they are all the same."""
        self.leaf(start, end)
        plain = _PLAIN.fullmatch(self._data[start:end])
        if plain and self._language in _QUOTED:
            self._out[-1] = plain[1].lower() + b"'" + plain[3] + b"'"

    def comment(self, start: int, end: int) -> None:
        """One that something obeys counts, with its line and the next: it is about one of them."""
        value = self._data[start:end]
        if OBEYED.search(value.decode("utf-8", "replace")):
            first = self._data.rfind(b"\n", 0, start) + 1
            after = self._data.find(b"\n", self._data.find(b"\n", end - 1) + 1)
            line = self._data[first : after if after >= 0 else len(self._data)]
            self._out.append(b"\4" + b"".join(line.split()))
        self._ended = self._ended or b"\n" in self._data[self._at : end]
        self._at = end

    def _in_order(self) -> list[bytes]:
        """The leaves, each run of imports sorted where no two of them bind one name."""
        out, at, run = list[bytes](), 0, list[list[bytes]]()
        for start, end in [*sorted(self._imports), (len(self._out), len(self._out))]:
            if start != at:
                out += [part for piece in sorted_imports(run, self._language) for part in piece]
                out += self._out[at:start]
                run = []
            run.append([part for part in self._out[start:end] if part != b"\n"])
            at = end
        return out


def sorted_imports(run: list[list[bytes]], language: str) -> list[list[bytes]]:
    """Imports that follow each other, in order; as they are where two of them bind one name."""
    names = [name for piece in run for name in bound(piece)]
    clash = len(names) > len(set(names)) or (b"*" in names and language == "python")
    return run if clash else sorted(run)


def idle(kind: str, children: list[Node]) -> Iterator[Node]:
    """Those of a node's children that say nothing: a last comma, a last semicolon."""
    if children[-1].type == ";" and kind not in _SEMICOLON_MATTERS:
        yield children[-1]
    is_closed = kind in _CLOSED and len(children) > 2 and children[-2].type == ","
    if is_closed and children[-3].type not in (",", "(", "[", "{"):
        yield children[-2]
    if kind == "import_from_statement" and children[-1].type == ")":
        yield from (part for part in children if part.type in "()")
        yield from (part for part in children[-2:-1] if part.type == ",")


def bound(leaves: list[bytes]) -> Iterator[bytes]:
    """The names that an import may bind, for all that is known."""
    leafs = [leaf for leaf in leaves if leaf[:1] > b"\4"]
    for name, after in zip(leafs, [*leafs[1:], b""], strict=True):
        if after in (b",", b"}", b")", b"from", b";", b"") and name[:1] not in b"\"'`,})":
            yield name
