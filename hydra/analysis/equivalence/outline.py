"""Which lines of a text belong to which function, method or class.

Read by the headers that git's own hunks are named after, one pattern a language, and by
indentation: a function ends before the next line that is not deeper than its header. In a text
that is laid out otherwise a name is missed, and the file stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hydra.analysis.equivalence.languages import spoken
from hydra.analysis.tampering.quotations import flattened

_N = r"([^\W\d][\w$]*)"
_ACCESS = r"(?:(?:public|private|protected|internal|static|final|abstract|async|export|default|" + (
    r"override|readonly|sealed|virtual|synchronized|open|data|suspend|inline|implicit|case|native|"
    r"partial|unsafe|extern|const|pub(?:\([\w: ]+\))?|strictfp|fileprivate|mutating|required) +)*"
)
_TYPES = "class|interface|enum|struct|trait|object|record|namespace|module|protocol|extension|union"
_SCRIPT = [
    rf"{_ACCESS}(?:class|interface|enum|namespace) +{_N}",
    rf"{_ACCESS}function *\*? *{_N}",
    rf"{_ACCESS}(?:const|let|var) +{_N} *(?::[^=\n]+)?= *(?:async *)?"
    r"(?:function\b|\([^()\n]*\) *(?::[^=\n]+)?=>|[\w$]+ *=>)",
    rf"{_ACCESS}(?:get +|set +|\*)?#?{_N} *(?:<[^<>\n]*>)?"
    r"\([^()\n]*\) *(?::[^={}()\n]+)?\{[ \t]*$",
]
_TYPED = [
    rf"{_ACCESS}(?:{_TYPES}) +{_N}",
    rf"{_ACCESS}(?:<[^<>\n]+> +)?(?:[\w.<>\[\],?&]+ +)+{_N} *\([^;=\n]*$",
    rf"{_ACCESS}{_N} *\([^;()=\n]*\)[\w ,.]*\{{[ \t]*$",
]
_FUN = [rf"{_ACCESS}(?:{_TYPES}) +{_N}", rf"{_ACCESS}(?:fun|func|def) +(?:<[^<>\n]*> *)?{_N}"]

_HEADS = {
    "python": [rf"(?:async +)?(?:def|class) +{_N}"],
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "go": [
        rf"func +\([^()\n]*?\*?(?P<of>[^\W\d]\w*)(?:\[[^\]\n]*\])?\) *{_N}",
        rf"func +{_N}",
        rf"type +{_N}(?:\[[^\]\n]*\])? +(?:struct|interface)\b",
    ],
    "rust": [
        rf"{_ACCESS}(?:extern +\"\w+\" +)?fn +{_N}",
        r"(?:unsafe +)?impl\b(?:<[^{\n]*?>)? *(?:[^{\n]*? for +)?&?(?:\w+::)*([^\W\d]\w*)",
        rf"{_ACCESS}(?:struct|enum|trait|mod|union|macro_rules!) +{_N}",
    ],
    "java": _TYPED,
    "csharp": _TYPED,
    "c": [
        rf"(?:typedef +)?(?:class|struct|union|enum|enum class|namespace) +{_N}[^;()\n]*$",
        r"(?:[\w:]+(?:<(?:[^;()<>\n]|<[^;()<>\n]*>)*>)?[ \t*&]+)+"
        r"((?:\w+::)*~?[^\W\d]\w*) *\([^;\n]*$",
        r"((?:\w+::)+~?[^\W\d]\w*) *\([^;\n]*$",
    ],
    "ruby": [rf"(?:def +(?:self\.)?|class +(?:\w+::)*|module +){_N}[?!=]?"],
    "shell": [rf"function +{_N}", rf"{_N} *\(\)"],
    "kotlin": _FUN,
    "swift": _FUN,
    "scala": _FUN,
    "dart": _TYPED,
    "php": [rf"{_ACCESS}(?:function +&?|class +|interface +|trait +|enum +){_N}"],
    "lua": [rf"(?:local +)?function +(?:\w+[.:])*{_N}"],
    "elixir": [rf"(?:defmodule +(?:\w+\.)*|defp? +|defmacrop? +){_N}"],
}
_COMPILED = {name: [re.compile(head) for head in heads] for name, heads in _HEADS.items()}
_NEVER = re.compile(
    r"(?:if|for|while|switch|catch|return|else|new|do|throw|await|with|assert|yield|delete|goto"
    r"|using|co_\w+)\b"
)
_TYPE = re.compile(rf"(?:^|\s)(?:{_TYPES}|impl|mod|type|defmodule)\b")
_LONGEST = 250
"""Characters of a line that may be a header."""

_SAME_LEVEL = re.compile(r"[{})\]]|(?:end|else|elif|where|throws)\b")
"""What may begin a line that is as deep as its function's header, and is part of it."""


def owners(path: str, lines: Sequence[str], numbers: Iterable[int]) -> set[str]:
    """The names of what the wanted lines (from 0) are in; "" for what has no name.

    A function inside a function is part of it; a method has its class's name before its own.
    """
    language = spoken(path)
    heads = _COMPILED.get(language)
    if heads is None:
        return {"" for _ in numbers}
    parents = _parents(lines, language)
    names: set[str] = set()
    pairs: dict[int, tuple[str, bool]] = {}
    for at in numbers:
        chain = [_decorated(lines, at)]
        while (above := parents[chain[-1]]) >= 0:
            chain.append(above)
        name = ""
        for place in reversed(chain):
            if place not in pairs:
                pairs[place] = _head(heads, lines[place].strip())
            own, is_type = pairs[place]
            name = f"{name}.{own}" if name and own else name or own
            if own and not is_type:
                break
        names.add(name)
    return names


def _head(heads: Sequence[re.Pattern[str]], line: str) -> tuple[str, bool]:
    """The name that a line gives to what is below it, or "", and whether that is a type."""
    if len(line) > _LONGEST or _NEVER.match(line):
        return "", False
    for head in heads:
        match = head.match(line)
        if match and match.lastindex:
            of = match.groupdict().get("of")
            name = match[match.lastindex].replace("::", ".")
            before = line[: match.start(match.lastindex)] + " "
            return (f"{of}.{name}", False) if of else (name, bool(_TYPE.search(before)))
    return "", False


def _parents(lines: Sequence[str], language: str) -> list[int]:
    """For each line the one that it is indented under, -1 at the left."""
    inside = strings(lines) if language == "python" else {}
    parents: list[int] = []
    stack: list[tuple[int, int]] = []
    for at, line in enumerate(lines):
        bare = line.lstrip()
        if at in inside:
            parents.append(inside[at])
            continue
        if not bare or (language == "c" and bare[0] == "#"):
            parents.append(stack[-1][1] if stack else -1)
            continue
        indent = len(line) - len(bare)
        while stack and stack[-1][0] > indent:
            stack.pop()
        same = bool(stack) and stack[-1][0] == indent
        if same and _SAME_LEVEL.match(bare):
            parents.append(stack[-1][1])
            continue
        if same:
            stack.pop()
        parents.append(stack[-1][1] if stack else -1)
        stack.append((indent, at))
    return parents


def strings(lines: Sequence[str]) -> dict[int, int]:
    """Lines of Python inside a string, and the line on which it begins."""
    text = "\n".join(lines)
    values: dict[int, int] = {}
    begun = 0
    plain = flattened(text)
    ends = (end.start() for end in re.finditer("\n", text)) if plain is not text else ()
    for at, end in enumerate(ends, 1):
        if plain[end] == "\n":
            begun = at
        else:
            values[at] = begun
    return values


def _decorated(lines: Sequence[str], at: int) -> int:
    """A decorator is part of what it stands above."""
    place = at
    while place < len(lines) and lines[place].lstrip().startswith("@") and place < at + 20:
        place += 1
    return place if place < len(lines) else at
