"""Which of the user's files git would not write again as they lie there.

git keeps less than a tree has: a file with LF and one with CRLF may be the same to it, and so may
two encodings, an expanded `$Id$`, what a filter made and what it did not. The bytes of such a file
that goes are in no object, and an undo has to bring them back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from hydra.git.runner import join, split
from hydra.git.status import WorkTree

_ANYTHING = ("filter", "ident", "working-tree-encoding")
_TEXT = ("text", "crlf", "eol")
_UNSET = (None, "unset")
_OFF = ("false", "no", "off", "0", "")


class Conversions(Struct, frozen=True):
    """What git does to contents in one repository: its settings, and each path's attributes."""

    is_text: bool = False
    writes_crlf: bool = False
    attributes: Mapping[bytes, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def read(cls, tree: WorkTree, paths: Sequence[bytes]) -> Conversions:
        """By the settings as they were before the race, and the attributes in the index."""
        if not paths:
            return cls()
        settings = _settings(tree)
        autocrlf = settings.get("core.autocrlf", "false").lower()
        is_text = autocrlf not in _OFF
        writes_crlf = (is_text and autocrlf != "input") or settings.get("core.eol") == "crlf"
        return cls(is_text, writes_crlf, _attributes(tree, paths))

    def may_change(self, path: bytes, file: bytes) -> bool:
        """Whether git may write other bytes than `file` has, which it sees as unchanged. Raises
        `OSError`."""
        attributes = self.attributes.get(path, {})
        if any(attributes.get(name) not in _UNSET for name in _ANYTHING):
            return True
        if attributes.get("text", attributes.get("crlf")) == "unset":
            return False
        if not self.is_text and not any(name in attributes for name in _TEXT):
            return False
        with open(file, "rb") as opened:  # noqa: PTH123  bytes
            content = opened.read()
        pairs = content.count(b"\r\n")
        # `eol` wins over the settings, and where it says LF, only what has CRLF changes.
        ends = attributes.get("eol", "crlf" if self.writes_crlf else "lf")
        return pairs != content.count(b"\n") if ends == "crlf" else pairs > 0


def _settings(tree: WorkTree) -> dict[str, str]:
    terms = ("config", "-z", "--get-regexp", r"^core\.(autocrlf|eol)$")
    entries = split(tree.git(*terms, check=False).stdout)
    pairs = (entry.decode("utf-8", "replace").partition("\n") for entry in entries)
    return {key: value if equals else "true" for key, equals, value in pairs}


def _attributes(tree: WorkTree, paths: Sequence[bytes]) -> dict[bytes, dict[str, str]]:
    terms = ("check-attr", "--cached", "-z", "--stdin", "--all")
    fields = split(tree.git(*terms, stdin=join(paths)).stdout)
    attributes: dict[bytes, dict[str, str]] = {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        attributes.setdefault(path, {})[name.decode()] = value.decode("utf-8", "replace")
    return attributes
