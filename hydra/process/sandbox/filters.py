"""Settings files made anew, line by line or key by key, of the keys that an expression allows.

Every filter gives the new text and whether a line was left out. An address keeps neither a
password nor a query: both are where tokens stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_USERINFO = re.compile(r"(?<=://)[^/\s\"']*@")
"""Up to the last one: a password may have one, too."""
_QUERY = re.compile(r"(://[^\s\"'?#,|]*)[?#][^\s\"',|]*")


_ADDRESS = re.compile(r"://[^/\s\"']*/([^\s\"'?#,|]*)")
_KEY = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w-]{12,}")


Remade = tuple[str, bool]
"""A settings file's new text, and whether something of it was left out."""

Filter = Callable[[str, re.Pattern[str]], Remade]


def clean_address(value: str) -> str:
    """`value` with the user and the query taken out of every address in it."""
    return _QUERY.sub(r"\1", _USERINFO.sub("", value))


def holds_key(value: str) -> bool:
    """Whether an address in it has a path with what looks like a key in it: conda's `/t/KEY`, and
    services that take one as a folder's name. Without that part it would lead nowhere."""
    paths = _ADDRESS.findall(value)
    return any(_KEY.fullmatch(part) or part == "t" for path in paths for part in path.split("/"))


def filter_assignments(text: str, keys: re.Pattern[str]) -> Remade:
    """`key = value` or `key value`, one a line, in sections or none: npmrc, pip.conf, go/env."""
    lines, stripped = [], False
    allowed = False
    for line in text.splitlines():
        if not line.strip() or line.lstrip()[0] in "#;":
            continue
        if line.lstrip().startswith("["):
            lines.append(line)
        elif line[0].isspace() and "=" not in clean_address(line):  # the value above goes on
            lines += [clean_address(line)] if allowed and not holds_key(line) else []
            stripped |= holds_key(line) or clean_address(line) != line
        else:
            name = re.split(r"[=\s]", line.strip(), maxsplit=1)[0]
            allowed = keys.fullmatch(name) is not None and not holds_key(line)
            cleaned = clean_address(line)
            stripped |= not allowed or cleaned != line
            lines += [cleaned] if allowed else []
    return "".join(f"{line}\n" for line in lines), stripped


def filter_yaml(text: str, keys: re.Pattern[str]) -> Remade:
    """Top-level keys with a plain value or a plain list; what is nested deeper is left out."""
    lines, stripped = [], False
    allowed = False
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith(("#", "---")):
            continue
        key = re.match(r"([\w.-]+)\s*:", line)
        if key:
            allowed = keys.fullmatch(key[1]) is not None
        plain = not holds_key(line)
        plain &= bool(key) or re.match(r"\s*-\s+[^:{\[]*(://\S*)?$", line) is not None
        cleaned = clean_address(line)
        stripped |= not (allowed and plain) or cleaned != line
        lines += [cleaned] if allowed and plain else []
    return "".join(f"{line}\n" for line in lines), stripped


def filter_toml(text: str, keys: re.Pattern[str]) -> Remade:
    """Values by their dotted names; an array of tables by the names in each."""
    import tomllib

    import tomli_w

    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return "", True
    harmless = _harmless_table(document, keys, "")
    return tomli_w.dumps(harmless), harmless != document


def _harmless_table(table: Mapping[str, Any], keys: re.Pattern[str], above: str) -> dict[str, Any]:
    pairs = ((name, _harmless(value, keys, f"{above}{name}")) for name, value in table.items())
    return {name: value for name, value in pairs if value is not None}


def _harmless(value: object, keys: re.Pattern[str], name: str) -> object:
    """None for what is left out."""
    if isinstance(value, dict):
        return _harmless_table(value, keys, f"{name}.") or None
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return [_harmless_table(item, keys, f"{name}.") for item in value if isinstance(item, dict)]
    allowed = keys.fullmatch(name) and not holds_key(str(value))
    return _cleaned(value) if allowed else None


def _cleaned(value: object) -> object:
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return clean_address(value) if isinstance(value, str) else value
