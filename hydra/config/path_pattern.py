"""Patterns of paths, as .gitignore has them; but none takes away what another names."""

from __future__ import annotations

import re
from functools import lru_cache

from hydra.config.key import inside
from hydra.errors import ConfigError

_PARTS = re.compile(
    r"(?P<any>(?:^|(?<=/))\*\*(?:/|$))|(?P<stars>\*+)|(?P<one>\?)|\\(?P<itself>.)"
    r"|\[(?P<not>[!^]?)(?P<set>\]?(?:\\.|[^]\\])*)\]|(?P<odd>[\[\\])|(?P<text>[^*?\[\\]+)",
    re.DOTALL,
)


def path_pattern(text: str) -> str:
    """One that can be read. Raises `ConfigError`."""
    if inside(text).startswith("!"):
        raise ConfigError(
            f'"{text}" would take a path out again, which no pattern can here: name what is meant, '
            r"or write \! for a name that begins so"
        )
    compiled(text)
    return text


@lru_cache(maxsize=256)
def compiled(text: str) -> re.Pattern[str]:
    """It as a regular expression of whole paths: a file, or any in a folder, of that name. Raises
    `ConfigError`."""
    anchored = "/" in text.rstrip("/")
    try:
        whole = "".join(map(_expression, _PARTS.finditer(text.strip("/"))))
        return re.compile(f"{'' if anchored else '(?:.*/)?'}{whole}(?:/.*)?", re.DOTALL)
    except (ValueError, re.error) as error:
        raise ConfigError(f'"{text}" is no pattern as .gitignore has them: {error}') from error


def _expression(part: re.Match[str]) -> str:
    if part["any"] is not None:
        return "(?:.*/)?" if part["any"].endswith("/") else ".*"
    if part["stars"] or part["one"]:
        return "[^/]*" if part["stars"] else "[^/]"
    if part["set"] is not None:
        if "[:" in part["set"]:
            raise ValueError("a class such as [:alpha:] is not known here")
        terms = re.sub(r"\\(.)|([\[&|~^\]])", r"\\\1\2", part["set"], flags=re.DOTALL)
        return f"(?!/)[{'^' * bool(part['not'])}{terms}]"
    if part["odd"]:
        raise ValueError("a [ is not closed" if part["odd"] == "[" else "it ends with a backslash")
    return re.escape(part["itself"] or part["text"])
