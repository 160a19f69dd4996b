"""Puts the page together: template, style, script, and the data that the script draws."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from urllib.parse import quote as percent

from hydra import __version__
from hydra.ranking.model import Verdict
from hydra.records.events import Event
from hydra.report.html.harmless import prose, whole
from hydra.report.html.patches import PagePatch, carry, languages_of
from hydra.report.html.summary import lane_line, opening
from hydra.report.html.timeline import timelines
from hydra.report.ranking import OVERRIDE, gate_paths, landing_options, lands_by_name
from hydra.report.text import clean, quote

_PARTS = (
    *("dom", "data", "words", "verdict", "matrices", "timeline", "highlight", "rows", "columns"),
    *("drawing", "picks", "bar", "tree", "changes", "keys", "start"),
)
"""The page's own script, in this order, in one function."""

_MARK = re.compile(r"\{\{(\w+)\}\}")
_CLOSERS = re.compile(r"<(?=!--|/?script)", re.IGNORECASE)
"""What a parser of HTML acts on in a script; `\\x3c` is the same in a string and in a pattern."""


def build(
    verdict: Verdict,
    patches: Sequence[PagePatch],
    events: Iterable[Event],
    *,
    problems: Sequence[str] = (),
    plans: Mapping[str, str] | None = None,
) -> bytes:
    """The whole page. `patches` are of the verdict's lanes, in its order; `problems` what could
    not be read of the run, a sentence each; `plans` what lanes planned, where that was asked."""
    lanes, document = verdict.lanes, verdict.document()
    for row in document["lanes"]:
        del row["files"]
    rows, hunks = carry(patches, lanes)
    times = timelines(events)
    head = {
        "verdict": whole(document),
        "opening": opening(verdict, plans or {}),
        "run": quote(verdict.run) + landing_options(verdict.uncommitted, verdict.detached),
        "link": _link(verdict.folder),
        "lanes": [
            {
                **lane_line(lane, verdict, plans or {}),
                "arg": quote(patch.lane),
                "needs": "" if lands_by_name(lane, verdict) else OVERRIDE,
                "against": sorted(map(clean, gate_paths(lane))),
                "problem": prose(patch.problem),
            }
            for lane, patch in zip(lanes, patches, strict=True)
        ],
        "files": rows,
        "times": [{k: v for k, v in time.items() if k not in ("first", "last")} for time in times],
        "problems": [prose(problem) for problem in problems],
        "hydra": __version__,
    }
    blocks = [_block("data", head)]
    blocks += [_block(f"file-{at}", row) for at, row in enumerate(hunks)]
    documents = ({"first": time["first"], "last": time["last"]} for time in times)
    blocks += [_block(f"time-{at}", row) for at, row in enumerate(documents)]
    script, style = _script([str(row["path"]) for row in rows]), _asset("page.css")
    filled = {
        "policy": _policy(script, style),
        "title": html.escape(clean(f"{verdict.title or ''} \u00b7 Hydra")),
        "says": html.escape(clean(verdict.says)),
        "style": style,
        "data": "\n".join(blocks),
        "script": script,
    }
    page = _MARK.sub(lambda mark: filled[mark[1]], _asset("page.html"))
    return page.encode()


def _link(folder: str) -> str:
    """The run's folder as an address that a browser opens from a file; "" for none."""
    if not PurePosixPath(folder).is_absolute():
        return ""
    return "file://" + percent(folder.encode("utf-8", "surrogateescape"))


def _block(name: str, data: object) -> str:
    """Data that no parser of HTML can take for a tag, nor one of script for a line's end."""
    line = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark in "<\u2028\u2029":
        if mark in line:
            line = line.replace(mark, f"\\u{ord(mark):04x}")
    return f'<script type="application/json" id="{name}">{line}</script>'


def _script(paths: Sequence[str]) -> str:
    library = [_asset("vendor/highlight-core.js")] + [
        _asset(f"vendor/languages/{name}.js") for name in languages_of(paths)
    ]
    own = [_asset(f"script/{name}.js") for name in _PARTS]
    text = "".join(["(() => {\n", *library, '"use strict";\n', *own, "})();\n"])
    return _CLOSERS.sub(r"\\x3c", text)


def _policy(script: str, style: str) -> str:
    """Nothing may be fetched, sent, framed or run but this page's own script and style."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
