"""The page of `hydra compare --html`: made, how large, and drawn by a browser."""

from __future__ import annotations

import importlib.util
import statistics
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import Result, interleave, milliseconds, ratio
from benchmarks.place import Place
from hydra.commands.html_page import page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.support.pages import PageRun

LANES, FILES, LINES, TESTS = 16, 300, 6, 2_000
LONG = 20_000


def page_cases(place: Place) -> list[Result]:
    """A large race's page against `git diff` of the same patches; a long diff in Chromium."""
    # The runs that the tests have: not needed by any other case, and neither is pytest.
    from tests.conftest import make_repository
    from tests.support.browser import browser, chromium
    from tests.support.page_large import large, one_diff

    root = _folder(place, "large")
    many = large(
        make_repository(root / "shop"), root, lanes=LANES, files=FILES, lines=LINES, tests=TESTS
    )
    results = _made(place, many)
    if importlib.util.find_spec("playwright") is None or chromium() is None:
        return results  # no browser here: what it takes to draw is not measured
    root = _folder(place, "long")
    long = one_diff(make_repository(root / "shop"), root, LONG).file(root)
    with browser() as started:
        results.append(_drawn(place, started, "a diff of 20,000 lines", long, 2.0))
        file = many.file(_folder(place, "pages"))
        results.append(_drawn(place, started, f"{LANES} lanes x {FILES} files", file, 3.0))
    return results


def _folder(place: Place, name: str) -> Path:
    folder = place.folder / f"pages-{name}"
    folder.mkdir()
    return folder


def _made(place: Place, run: PageRun) -> list[Result]:
    from tests.support.rendering import as_verdict

    sizes: dict[str, int] = {}

    def by_git() -> float:
        began = time.perf_counter()
        sizes["git"] = sum(len(_diff(run, lane["lane"])) for lane in run.document["lanes"])
        return time.perf_counter() - began

    def hydra() -> float:
        began = time.perf_counter()
        sizes["hydra"] = len(page(run.record, as_verdict(run.document)))
        return time.perf_counter() - began

    taken = interleave(max(place.runs, 5), {"git": by_git, "hydra": hydra})
    value, best = ratio(taken["hydra"], taken["git"])
    what = f"page of {LANES} lanes x {FILES} files x {TESTS:,} tests"
    size = sizes["hydra"] / sizes["git"]
    return [
        Result(
            case=what,
            against="git diff of the same patches",
            value=value,
            best=best,
            target=4.0,
            why="each lane is read in its hunks, with their ids (two processes of git, and Python "
            "for each line), then written as JSON",
            note=f"{milliseconds(taken['git'])} -> {milliseconds(taken['hydra'])}",
        ),
        Result(
            case="size of that page",
            against="the diffs themselves",
            value=size,
            best=size,
            target=1.5,
            why="verdict, tests and script stand in it too",
            note=f"{sizes['git'] / 1e6:.1f} MB -> {sizes['hydra'] / 1e6:.1f} MB",
        ),
    ]


def _diff(run: PageRun, lane: str) -> bytes:
    item = ["git", f"--git-dir={run.shelf.race.patches}", "diff", "--no-ext-diff"]
    item += [run.shelf.race.base, lane, "--"]
    return subprocess.run(item, capture_output=True, check=True).stdout


_READY = "document.querySelectorAll('.row.add').length > 0"


def _drawn(place: Place, started: Browser, what: str, file: Path, target: float) -> Result:
    """Seconds from going to the file until its first diff can be read and scrolled."""
    from tests.support.browser import opened

    blank = file.with_name("blank.html")
    blank.write_text("<!doctype html><title>blank</title>")

    def load(path: Path, view: str) -> float:
        with opened(started, blank) as seen:
            began = time.perf_counter()
            seen.page.goto(path.as_uri() + view)
            while view and not seen.page.evaluate(_READY):
                time.sleep(0.005)
            # Two frames: what is drawn has been laid out and painted.
            seen.page.evaluate(
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            return time.perf_counter() - began

    ways = {"blank": lambda: load(blank, ""), "page": lambda: load(file, "#changes")}
    taken = interleave(max(place.runs, 5), ways)
    return Result(
        case=f"Chromium draws {what}",
        against="seconds",
        value=statistics.median(taken["page"]),
        best=min(taken["page"]),
        target=target,
        unit=" s",
        why="a browser on a busy machine",
        note=f"a blank page: {milliseconds(taken['blank'])}",
    )
