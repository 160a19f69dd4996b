"""Breaks the adapters' code in one place at a time, and sees whether the offline suite notices.

    python -m tests.support.adapter_mutations [--count 50] [--seed 1] [--all] [--list] [NAME...]

A site is found mechanically: every text in the adapters' code that is a name (a flag, a type of
event, a field, a mode) or a pattern, every comparison, `not`, `and`, `or`, every True and False,
every mode of an enumeration, every argument of a flag that says what its loss means. COUNT of
them are drawn by SEED, each is changed in a scratch copy of the package, and the suite is run
over that copy by a program of its own. Exit 1 where one survived that is not named below,
2 where the suite fails on unchanged code.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.mutation_sites import NOTHING, ROOT, Mutation, every

EQUIVALENT: dict[str, str] = {
    **{
        f"claude.py:_NOTICES: 'task_{name}' is renamed": "whatever begins with task_ is read"
        " before this table is asked"
        for name in ("started", "progress", "updated", "notification")
    },
    "json_stream.py:_brackets: len(text) > _COUNTED is len(text) <= _COUNTED": "the quicker of two"
    " ways to one count",
    "json_stream.py:_brackets: at >= 0 and opened <= DEPTH: or": "goes on to the exact count, which"
    " is judged alike",
    "json_stream.py:_brackets: opened <= DEPTH is opened > DEPTH (2)": "the same count, made twice",
    "event_builders.py:tool_result: False is True": "every caller says it",
    "json_stream.py:JsonStream.parse_line: False is True": "events that end nothing pass `_once` as"
    " they are",
    "codex.py:_KINDS: 'update' is renamed": "a kind that is not in the table is shown as"
    " Edit as well",
}
"""Changes that no input can show, by name, each with why."""

LONGEST = 180
"""Seconds after which a mutant that hangs counts as noticed."""

_RUN = """
import os, sys
sys.dont_write_bytecode = True
import ast, difflib, importlib, json, random, shlex, tempfile, threading, traceback, subprocess
import hydra.records.events, hydra.records, hydra.errors
assert hydra.__file__.startswith(sys.argv[1]), hydra.__file__
assert not [name for name in sys.modules if name.startswith(("hydra.adapters", "hydra.conf"))]

def told(agents, first):
    from hydra.conformance.contract import suite
    every = suite.built_in()
    subjects = [s for s in every if s.key in agents] or every
    for only in ((first,), ("*.as_written", "streams.known", "endings.silent"), ()):
        for case in suite.run_all(subjects, only=only, races=False):
            if case.verdict == "failed":
                return " ".join((case.agent, case.version, case.name, case.differences[0]))
    return ""

for line in sys.stdin:
    first, *agents = line.split()
    child = os.fork()
    if not child:
        try:
            said = told(agents, first)
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        print(json.dumps(said[:300]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
"""One that waits: each mutant is read by a fork of it, in which no adapter was imported before.
What is most likely to notice goes first, then the whole suite."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one. `by` is the case that noticed."""

    mutation: Mutation
    killed: bool
    by: str
    seconds: float


def run(chosen: list[Mutation], workers: int = 2) -> Iterator[Verdict]:
    """Each in a copy of the package; as they come."""
    waiting: queue.SimpleQueue[Mutation] = queue.SimpleQueue()
    done: queue.SimpleQueue[Verdict] = queue.SimpleQueue()
    for mutation in chosen:
        waiting.put(mutation)
    with tempfile.TemporaryDirectory(prefix="hydra-mutants-", dir="/var/tmp") as folder:
        copies = [_copy(Path(folder) / str(number)) for number in range(workers)]
        threads = [threading.Thread(target=_work, args=(place, waiting, done)) for place in copies]
        for thread in threads:
            thread.start()
        for _ in chosen:
            yield done.get()
        for thread in threads:
            thread.join()


def _copy(place: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "hydra", place / "hydra", ignore=ignored)
    (place / "fixtures").symlink_to(ROOT / "fixtures")
    compileall.compile_dir(place / "hydra", quiet=2)
    return place


def _work(
    place: Path, waiting: queue.SimpleQueue[Mutation], done: queue.SimpleQueue[Verdict]
) -> None:
    server = None
    try:
        while True:
            mutation = waiting.get_nowait()
            if server is None or server.poll() is not None:
                server = _server(place)
            done.put(_try(place, server, mutation))
    except queue.Empty:
        return
    finally:
        if server is not None:
            server.communicate()


def _server(place: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _RUN, str(place)],
        env={**os.environ, "PYTHONPATH": str(place)},
        cwd=place,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def _try(place: Path, server: subprocess.Popen[str], mutation: Mutation) -> Verdict:
    path = place / "hydra" / "adapters" / mutation.file
    whole, began = path.read_text(), time.monotonic()
    path.write_text(mutation.text())
    os.utime(path, (1, 1))  # another time than the one that its compiled form was made of
    clock = threading.Timer(LONGEST, os.killpg, (server.pid, signal.SIGKILL))
    clock.start()
    try:
        assert server.stdin is not None
        assert server.stdout is not None
        first = "streams.known" if "_" in mutation.file else "lines.as_written"
        server.stdin.write(f"{' '.join((first, *_agents(mutation.file)))}\n")
        server.stdin.flush()
        line = server.stdout.readline()
        by = json.loads(line) if line else f"no end within {LONGEST} s"
    finally:
        clock.cancel()
        path.write_text(whole)
    return Verdict(mutation, bool(by), by, time.monotonic() - began)


def _agents(file: str) -> tuple[str, ...]:
    """Whose suite could notice: a file of one agent's own is read by no other."""
    own = {"claude": "claude", "codex": "codex", "cursor": "cursor-agent"}
    agent = own.get(re.split(r"[_.]", file)[0])
    return (agent,) if agent else tuple(own.values())


def main(terms: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="mutations of the adapters")
    parser.add_argument("names", nargs="*", help="only those whose name holds one of these")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="every one, not COUNT of them")
    parser.add_argument("--list", action="store_true", help="name them and stop")
    namespace = parser.parse_args(terms)
    mutations = every()
    named = [
        m for m in mutations if not namespace.names or any(n in m.name for n in namespace.names)
    ]
    drawn = random.Random(namespace.seed)
    chosen = (
        named
        if namespace.all or namespace.names
        else drawn.sample(named, min(namespace.count, len(named)))
    )
    if namespace.list:
        print("\n".join(mutation.name for mutation in chosen))
        return 0
    if not _passes():
        return 2
    survived, equivalent, began = [], [], time.monotonic()
    for verdict in run(chosen, namespace.jobs):
        name = verdict.mutation.name
        if verdict.killed:
            print(f"killed    {name}\n            {verdict.by[:160]}", flush=True)
        elif name in EQUIVALENT:
            equivalent.append(name)
            print(f"same      {name}\n            {EQUIVALENT[name]}", flush=True)
        else:
            survived.append(name)
            print(f"SURVIVED  {name}", flush=True)
    killed = len(chosen) - len(survived) - len(equivalent)
    print(
        f"{len(chosen)} of {len(mutations)} mutations (seed {namespace.seed}): {killed} killed,"
        f" {len(equivalent)} change nothing, {len(survived)} survived;"
        f" {time.monotonic() - began:.0f} s"
    )
    if not _passes():
        return 2
    return 1 if survived else 0


def _passes() -> bool:
    """Whether the suite passes on the code as it is: else it would notice anything at all."""
    (verdict,) = run([NOTHING], 1)
    if verdict.killed:
        print(f"the suite fails on unchanged code: {verdict.by}")
    return not verdict.killed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
