"""What a lane sees of this machine, for a person and as a document."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from hydra.process.sandbox.places import entry_for
from hydra.process.sandbox.view import ShownPlace, View
from hydra.report.text import clean


def view_text(view: View) -> str:
    """One paragraph a reason; ends with a newline."""
    blocks = [
        ["Read-only, beyond the system's own folders; the rest of this machine is not there."],
        *_shown(view),
        _block("made anew of harmless keys", (_name(view, at) for at in sorted(view.settings))),
        _block("with lines left out", (_name(view, at) for at in view.stripped)),
        _block("covered", (_name(view, at) for at in view.masked)),
        _block("remarks", map(clean, view.notes)),
        [f"To show more: [confine] show in your own hydra.toml ({len(view.show)} now)."],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def view_document(view: View) -> dict[str, object]:
    """The same for a program."""
    return {
        "schema": 1,
        "kind": "view",
        "home": str(view.home),
        "shown": [{"path": str(path), "reason": reason} for path, reason in view.shown],
        "links": {str(place): target for place, target in view.links.items()},
        "settings": list(map(str, view.settings)),
        "stripped": list(map(str, view.stripped)),
        "masked": list(map(str, view.masked)),
        "show": list(map(str, view.show)),
        "notes": list(view.notes),
    }


def _shown(view: View) -> Iterator[list[str]]:
    def reason(shown: ShownPlace) -> str:
        return shown.reason

    for name, group in groupby(sorted(view.shown, key=reason), key=reason):
        yield _block(name, (_name(view, shown.path) for shown in group))


def _block(title: str, lines: Iterator[str]) -> list[str]:
    inside = [f"  {line}" for line in lines]
    return [clean(title), *inside] if inside else []


def _name(view: View, path: Path) -> str:
    return clean(entry_for(path, view.home))
