"""Runs that an earlier Hydra has left, kept as archives, and all that is shown of them.

    python -m tests.support.earlier record NAME   # tests/earlier/NAME.tar.xz, by the Hydra of now
    python -m tests.support.earlier show          # tests/data/golden/NAME.txt of all, and more

A run is recorded once for a version, and never again: the Hydra of tomorrow has to read it. What is
shown is written anew where a change of words was meant; read the diff.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from click.testing import CliRunner

from hydra import paths
from hydra.cli.group import COMMANDS
from hydra.cli.group import hydra as hydra_command
from tests.conftest import SCRATCH_ROOT, git, make_repository
from tests.support import fakes, golden_text, verdict_screens
from tests.support.command import Hydra, end_started
from tests.support.faults import Faults
from tests.support.outputs import comparisons, outputs
from tests.support.processes import wait_until
from tests.support.races import verdicts
from tests.support.readings import readings
from tests.support.screens import screens
from tests.support.shelf import gives
from tests.support.verdict_races import CODE, RIGHT, TESTS, UP, WRONG, Judged, shop

ARCHIVES = Path(__file__).parents[1] / "earlier"
GOLDEN = Path(__file__).parents[1] / "data" / "golden"
_PREFIX, _ARCHIVED = "hydra-test-", "archived"
"""Scratch folders have names of one length: one takes another's place in any file, and the places
of bytes that events name stay true."""
_STAMPS = "stamps.json"
"""Each file's inode and time in nanoseconds, which an archive does not keep: a landing under way
knows its files by them."""
_ENVIRONMENT = {
    "TZ": "UTC",
    "COLUMNS": "100",
    "GIT_AUTHOR_DATE": "2026-11-25T12:00:00Z",
    "GIT_COMMITTER_DATE": "2026-11-25T12:00:00Z",
}
_EVEN = "    def test_even(self):\n"
_MORE = TESTS.replace(
    _EVEN, f"    def test_more(self):\n        self.assertEqual(pages(7, 3), 3)\n\n{_EVEN}"
)


# --- what is recorded --------------------------------------------------------------------------


def finished(hydra: Hydra) -> None:
    """A race of four lanes that has ended, with checks, trials and a verdict."""
    shop(hydra.repo)
    breaks = RIGHT.replace("items[:size]", "items[size:]")
    emptied = TESTS.replace(UP, "        pass\n")
    Judged(
        hydra,
        {
            "right": {"src/pager.py": RIGHT, "tests/test_pages.py": _MORE},
            "wrong": {"src/pager.py": WRONG},
            "breaks": {"src/pager.py": breaks},
            "empties": {"src/pager.py": f"# mine\n{CODE}", "tests/test_pages.py": emptied},
        },
    ).run()


def killed(hydra: Hydra) -> None:
    """A race whose Hydra was killed while one agent worked and the other was done."""
    shop(hydra.repo)
    barrier = fakes.Barrier(hydra.scratch, "edited")
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), *barrier.stop(), fakes.finish("-")])
    hydra.agent("codex", [fakes.edit("src/pager.py", WRONG), fakes.finish("done")])
    process = hydra.start("race", "Do it", "-a", "claude", "-a", "codex", "--no-check")
    barrier.wait()
    (events,) = hydra.state.glob("*/runs/*/events.jsonl")
    assert wait_until(lambda: '"lane_ended"' in events.read_text())
    process.kill()
    process.wait()
    barrier.close()


def half_landed(hydra: Hydra) -> None:
    """A landing that was killed as the first of its files had changed places."""
    finished(hydra)
    hydra.extra |= Faults(hydra.scratch / "calls").environ({gives("*"): "then kill -9 $PPID"})
    assert hydra.run("merge", "claude-right", "--no-check").returncode == -signal.SIGKILL


SCENARIOS: Mapping[str, Callable[[Hydra], None]] = {
    "finished": finished,
    "killed": killed,
    "half-landed": half_landed,
}


# --- archives ----------------------------------------------------------------------------------


def record(name: str) -> Path:
    """Runs a scenario with the Hydra of now, and keeps its scratch folder; the archive."""
    with _scratch() as scratch:
        SCENARIOS[name](Hydra(scratch, make_repository(scratch / "shop")))
        end_started()
        stamps = {str(path.relative_to(scratch)): _stamp(path) for path in _files(scratch)}
        (scratch / _STAMPS).write_text(json.dumps(stamps))
        _replace(scratch, scratch.name, _PREFIX + _ARCHIVED)
        archive = ARCHIVES / f"{name}.tar.xz"
        with tarfile.open(archive, "w:xz", format=tarfile.PAX_FORMAT) as tar:
            for part in ("shop", "state", _STAMPS):
                tar.add(scratch / part, part, filter=_plain)
    return archive


def _stamp(path: Path) -> tuple[int, int]:
    status = path.lstat()
    return status.st_ino, status.st_mtime_ns


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return None if entry.isfifo() else entry


def unpack(name: str, scratch: Path) -> Hydra:
    """Lays an archive out in a test's folder, as if it had been made there."""
    with tarfile.open(ARCHIVES / f"{name}.tar.xz") as tar:
        tar.extractall(scratch, filter="tar")
    _replace(scratch, _PREFIX + _ARCHIVED, scratch.name)
    numbers = {}
    for name_of_file, (inode, time) in json.loads((scratch / _STAMPS).read_text()).items():
        path = scratch / name_of_file
        if os.path.lexists(path):
            os.utime(path, ns=(time, time), follow_symlinks=False)
            numbers[str(inode)] = str(path.lstat().st_ino)
    for journal in (scratch / "state").glob("*/landing/journal.json"):
        text = re.sub(r"\d+", lambda match: numbers.get(match[0], match[0]), journal.read_text())
        journal.write_text(text)
    repo = scratch / "shop"
    (state,) = (scratch / "state").glob("shop-*")
    state.rename(state.with_name(paths.repository_key(repo)))
    return Hydra(scratch, repo, extra=_ENVIRONMENT)


def _replace(scratch: Path, old: str, new: str) -> None:
    """One name for another of its length in all files and links; no time of a file moves."""
    assert len(old) == len(new)
    for path in _files(scratch):
        if path.is_symlink():
            target = str(path.readlink())
            if old in target:
                path.unlink()
                path.symlink_to(target.replace(old, new))
        elif path.is_file() and old.encode() in (data := path.read_bytes()):
            before = path.stat()
            path.chmod(0o600)
            path.write_bytes(data.replace(old.encode(), new.encode()))
            path.chmod(before.st_mode)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _files(scratch: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(scratch):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in (*names, *links))


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=SCRATCH_ROOT) as folder:
        yield Path(folder)


# --- what is shown -----------------------------------------------------------------------------

_PAGE = "compare --html -"
READING = (
    "runs",
    "git status --short --branch",
    "runs --json",
    "runs show",
    "runs show --json",
    "runs path",
    "compare",
    "compare --json",
    "compare --markdown",
    _PAGE,
    "diff LANE",
    "diff LANE --stat",
    "diff LANE --hunks",
    "diff LANE --json",
    "diff LANE --mbox",
    "diff LANE OTHER --stat",
    "merge LANE --dry-run --no-check",
    "merge OTHER --dry-run --no-check",
)
LANDING = (
    "merge LANE --no-check -m Land",
    "git show --format=%s",
    "runs show",
    "compare",
    "merge --undo",
    "git status --short --branch",
    "git log --format=%s",
    "runs show --json",
    "runs rm @ --yes",
    "git for-each-ref --format=%(refname)",
    "runs",
)
LINES: Mapping[str, Sequence[str]] = {
    "finished": (*READING, *LANDING),
    "killed": (*(line for line in READING if line != _PAGE), *LANDING),
    # The race is the one of `finished`.
    "half-landed": (*READING[:2], "runs show", *LANDING[:7], "runs --json", *LANDING[8:]),
}
_LANES = {"killed": ("codex", "claude")}


def shown(name: str, scratch: Path) -> str:
    """All that an archive's run is shown as, and what comes of landing and removing it."""
    hydra = unpack(name, scratch)
    lane, other = _LANES.get(name, ("claude-right", "claude-wrong"))
    (run,) = (scratch / "state").glob("*/runs/2*")
    names = {"LANE": lane, "OTHER": other, "@": run.name}
    before = _commits(hydra)
    calls = []
    for line in LINES[name]:
        terms = [names.get(term, term) for term in line.split()]
        call = hydra.execute if terms[0] == "git" else hydra.run
        calls.append((line, call(*terms)))
        if line == LANDING[0]:
            made = _commits(hydra) - before
    return "\n".join(_parts(calls, scratch, made))


def _parts(calls: Iterable[_Call], scratch: Path, made: Iterable[str]) -> Iterator[str]:
    """Each call as it is kept; the parts of documents are shown once."""
    documents = golden_text.Documents()
    for line, done in calls:
        text, errors = (_settled(each, scratch, made) for each in (done.stdout, done.stderr))
        if "--json" in line:
            assert done.stdout == json.dumps(json.loads(done.stdout), indent=2) + "\n", line
            text = documents.lay_out(text, line)
        elif line == _PAGE:
            text = _page(text, documents)
        typed = line if line.startswith("git ") else f"hydra {line}"
        yield f"$ {typed}\nexit {done.returncode}\n{text}--- stderr\n{errors}"


def _page(text: str, documents: golden_text.Documents) -> str:
    """A page without its style and script, which are files of hydra/report/html."""
    text = re.sub(r"(?s)(<style>).*?(</style>)", r"\1STYLE\2", text)
    text = re.sub(r"(?s)(<script>).*?(</script>)", r"\1SCRIPT\2", text)
    text = re.sub(r"'sha256-[^']*'", "DIGEST", text)
    return re.sub(
        r'(<script type="application/json" id="(\S+)">)(.*)(</script>)',
        lambda block: f"{block[1]}\n{documents.lay_out(block[3], f'page {block[2]}')}{block[4]}",
        text,
    )


def documents(name: str) -> Iterator[tuple[str, bytes]]:
    """The documents of an archive's run, by their names in its folder."""
    with tarfile.open(ARCHIVES / f"{name}.tar.xz") as tar:
        for entry in tar:
            _, runs, path = entry.name.partition("/runs/")
            file = tar.extractfile(entry) if path.endswith((".json", ".jsonl")) else None
            if runs and file is not None:
                yield path.partition("/")[2], file.read()


def _commits(hydra: Hydra) -> set[str]:
    """What branches lead to, the user's and a run's."""
    places = [hydra.repo, *hydra.state.glob("*/runs/*/patches.git")]
    return {commit for place in places for commit in git(place, "rev-list", "--all").splitlines()}


_Call = tuple[str, subprocess.CompletedProcess[str]]
_AGE = r"now|\d+ (?:min|h|d|s)\b"
_TIMES = {
    r"shop-[0-9a-f]{10}\b": "shop-KEY",
    r'"(landed|undone|age)": [0-9.]+': r'"\1": "TIME"',
    r"landings/\d{8}t\d{6}-\w{4}\.json": "landings/TIME.json",
    rf"  age +({_AGE})": "  age  AGE",
    rf"  ({_AGE})  Do it": "  AGE  Do it",
    rf"; ({_AGE}), ": "; AGE, ",
    r"(?m)^  run +age +task": "  run  age  task",
    r"\b[0-9.]+ [kM]B\b": "SIZE",
    r'"(size|bytes)": \d+': r'"\1": "SIZE"',
    r"(?m)^-- \n[0-9.]+$": "-- \nGIT",
}


def _settled(text: str, scratch: Path, commits: Iterable[str]) -> str:
    """Without what is another each time: the folder, what time it is, and what that makes of it."""
    text = text.replace(scratch.name, _PREFIX + _ARCHIVED)
    for commit in commits:
        text = re.sub(rf"\b{commit[:7]}[0-9a-f]*", "COMMIT", text)
    for pattern, term in _TIMES.items():
        text = re.sub(pattern, term, text)
    return text


def helps() -> str:
    """What `--help` shows of every command, and which lines `--help-all` has instead; in a process
    of its own, for once all options were shown they are shown by `--help` too until it ends."""
    terms = [sys.executable, "-m", "tests.support.earlier", "help"]
    root = Path(__file__).parents[2]
    return subprocess.run(terms, cwd=root, capture_output=True, text=True, check=True).stdout


def _helps() -> str:
    parts = []
    for text in ("", *COMMANDS, *(f"runs {name}" for name in ("show", "path", "rm"))):
        short, whole = (
            CliRunner().invoke(hydra_command, [*text.split(), option], terminal_width=80).output
            for option in ("--help", "--help-all")
        )
        lines = difflib.ndiff(_even(short), _even(whole))
        more = "".join(f"{line}\n" for line in lines if line[0] in "+-")
        parts.append(f"$ hydra {text} --help\n{short}\n$ hydra {text} --help-all\n{more}")
    return "\n".join(parts)


def _even(text: str) -> list[str]:
    """Lines without their columns, which are wider where a longer option stands."""
    return [" ".join(line.split()) for line in text.splitlines()]


ALWAYS = {
    "help": helps,
    "findings": readings,
    "races": verdicts,
    "outputs": outputs,
    "comparisons": comparisons,
    "screens": screens,
    "verdict-screens": verdict_screens.screens,
}
"""What is shown without any run."""


def golden(name: str) -> Path:
    """Where that is kept."""
    return GOLDEN / f"{name}.txt"


def main() -> int:
    """Records one, or writes what is shown of all."""
    what, *names = sys.argv[1:]
    if what == "help":
        sys.stdout.write(_helps())
        return 0
    if what == "record":
        for name in names:
            print(record(name))
        return 0
    for name in names or SCENARIOS:
        with _scratch() as scratch:
            golden(name).write_text(shown(name, scratch))
    for name, write in ALWAYS.items():
        golden(name).write_text(write())
    return 0


if __name__ == "__main__":
    sys.exit(main())
