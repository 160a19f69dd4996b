"""Real races as data: what each lane does to the shop, and what the verdict and the trials say.

Each row of tests/data/real_races is a race; what is said of it is in tests/data/golden/real_races.
A file is its text, false where it is not there, or `[[cut, put], ...]` of what the base has there;
a lane that has `sh` runs that, and one that has `end` fails so.
`python -m tests.support.real_races [NAME ...]` writes them anew where other words were meant.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.conftest import SCRATCH_ROOT, make_repository, write
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.races import document_lines
from tests.support.trials import BASE as PAGES_TESTS
from tests.support.verdict_races import CODE, TESTS, UNITTEST, Files, Judged, shop, steps

TESTS_FOLDER = Path(__file__).parents[1]
DATA = TESTS_FOLDER / "data" / "real_races"
GOLDEN = TESTS_FOLDER / "data" / "golden" / "real_races"
SHOP: Files = {
    "src/__init__.py": "",
    "src/pager.py": CODE,
    "tests/__init__.py": "",
    "tests/test_pages.py": TESTS,
}
PAGES: Files = {
    "src/pager.py": "def pages(n, size):\n    return n // size\n",
    "test_pages.py": PAGES_TESTS,
    "tests/__init__.py": None,
    "tests/test_pages.py": None,
}
"""With `of = "pages"` over the shop."""
Row = Mapping[str, Any]


def rows() -> list[Row]:
    """Every race, by the order of the files."""
    texts = (path.read_text("utf-8") for path in sorted(DATA.glob("*.toml")))
    return [row for text in texts for row in tomllib.loads(text)["race"]]


def golden(row: Row) -> Path:
    """Where what is said of a race is kept."""
    return GOLDEN / f"{row['name'].replace(' ', '-')}.txt"


def lacks(row: Row) -> list[str]:
    """The programs that a race needs, and that are not here."""
    return [program for program in row.get("needs", ()) if not shutil.which(program)]


def run(row: Row, hydra: Hydra) -> str:
    """The race, and what is said of it."""
    layout: Files = PAGES if "of" in row else {}
    files = {**layout, **_files(row.get("files", {}), SHOP)}
    shop(hydra.repo, files)
    _place(row.get("programs", {}), hydra)
    base = {**SHOP, **files}
    lanes = {does: _lane(lane, base) for does, lane in row["lane"].items()}
    checks = [check.replace("{python}", sys.executable) for check in row.get("checks", [UNITTEST])]
    judged = Judged(hydra, lanes).run(*row.get("args", ()), checks=checks)
    lines = [*document_lines(judged.document, files=False)]
    if row.get("trials"):
        lines += _trials(Path(hydra.run("runs", "path").stdout.strip()))
    text = re.sub(r"-r \w+", "-r RUN", "".join(lines)).replace(sys.executable, "{python}")
    text = re.sub(r"\bundoes [0-9a-f]{7}\b", "undoes COMMIT", text)
    text = re.sub(r"(?<=_)t[0-9a-f]{10}", "TOKEN", text)
    return text.replace(str(hydra.repo), "{shop}").replace(str(hydra.scratch), "{scratch}")


def _lane(lane: Row, base: Files) -> Files | list[fakes.Step]:
    if "sh" in lane:
        return [fakes.shell("sh", "-ec", lane["sh"]), fakes.finish("done")]
    files = _files({path: text for path, text in lane.items() if path != "end"}, base)
    return [*steps(files)[:-1], fakes.fail(lane["end"])] if "end" in lane else files


def _place(programs: Mapping[str, str], hydra: Hydra) -> None:
    """Programs of the machine."""
    if programs:
        write(hydra.scratch / "programs", programs)
        hydra.path.append(hydra.scratch / "programs")


def _files(files: Row, base: Files) -> dict[str, str | None]:
    return {path: _text(path, value, base) for path, value in files.items()}


def _text(path: str, value: Any, base: Files) -> str | None:
    if value is False:
        return None
    if isinstance(value, str):
        return value
    text = base[path]
    for cut, put in value:
        assert text is not None
        assert text.count(cut) == 1, (path, cut)
        text = text.replace(cut, put)
    return text


def _trials(run_folder: Path) -> Iterator[str]:
    """What was tried, and what was not and why."""
    file = run_folder / "checks/1/trials.json"
    document = json.loads(file.read_text()) if file.exists() else None
    if document is None:
        yield "  no trials\n"
        return
    for row in sorted(document["runs"], key=lambda row: (row["kind"], row["on"], row["author"])):
        details = json.loads((run_folder / row["details"]).read_text())
        ends = ", ".join(f"{id} {end}" for id, end, *_ in details.get("cases") or ())
        again = f", once more {details['again']['status']}" if details.get("again") else ""
        place = f"{row['author'] or 'the base'} on {row['on'] or 'the base'}"
        settings = " with settings" if row["configuration"] else ""
        yield f"  {row['kind']}: {place}, {row['check']} {row['status']}{again}{settings}: {ends}\n"
        yield f"      {', '.join(row['paths'])}\n" if row["paths"] else ""
    for row in sorted(document["not_tried"], key=str):
        yield f"  not tried, {row['kind']}: {row['author']} on {row['on']}: {row['why']}\n"
    yield f"  {document['used']['runs']} runs\n"


def main() -> int:
    """Writes what is said of these races, or of all."""
    for row in rows():
        if len(sys.argv) > 1 and row["name"] not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory(dir=SCRATCH_ROOT) as folder:
            hydra = Hydra(Path(folder), make_repository(Path(folder) / "shop"))
            GOLDEN.mkdir(exist_ok=True)
            golden(row).write_text(run(row, hydra))
    return 0


if __name__ == "__main__":
    sys.exit(main())
