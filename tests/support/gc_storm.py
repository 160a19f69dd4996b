"""The gc storm: the user tidies up their repository all the while; no byte of a patch is lost.

    python -m tests.support.gc_storm --races 200 [--no-bwrap] [--user 65534] [--seed N]

Each round gives the user work that an agent will do too (on a branch, in a stash or a tag, only
added, or held by no ref), then starts a race of two agents. While it runs, and between any two
commands after it, the user deletes branches, stashes and tags, amends, repacks and prunes at once.
Then:
  - what each agent has entered in the ledger is in a fresh repository into which patches.git was
    fetched: each file of a patch by its path, and each stash, branch, tag, commit without a branch,
    staged blob and file of another worktree by its content;
  - `hydra diff` of one of them shows each of its files, and one of `runs show`, `export`,
    `compare` and `merge --dry-run` ends as it should;
  - so it is with an earlier run, chosen by chance.
A race that is refused because its base was amended and pruned as it began has lost nothing, nor
one whose lanes could not be opened for that. What could not be brought to patches.git, for want of
processes, say, is in its lane, which stays.

The ledger is storm.py's FIFO; an agent enters a file by the name that git gives to its content.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hydra.paths import ground_dir
from tests.conftest import git
from tests.support import fakes
from tests.support.storm import LANES, Ledger, hydra_in, options_of, place, say

_BEGIN = """set -e
base=$(git rev-parse HEAD)
enter() { printf '%s\\n' "{token} {lane} $1" > '{ledger}'; }
back() { git checkout -q --detach "$base"; }
"""

_STRANDED = {
    "commit": "git add {path}; git commit -qm work; back",
    "branch": "git checkout -qb b{n}; git add {path}; git commit -qm work; back",
    "deleted": "git checkout -qb b{n}; git add {path}; git commit -qm work; back; "
    "git branch -qD b{n}",
    "tag": "git add {path}; git commit -qm work; git tag t{n}; back",
    "ref": "git add {path}; git commit -qm work; git update-ref refs/own/r{n} HEAD; back",
    "stash": "git add {path}; git stash -q",
    "untracked": "git stash -qu",
    "worktree": 'git worktree add -q --detach "$TMPDIR/w{n}"; mv {path} "$TMPDIR/w{n}/"',
    "nested": "git init -q in{n}; mv {path} in{n}; cd in{n}; git add {path}; "
    "git -c user.name=a -c user.email=b commit -qm w --allow-empty; git rm -q {path}; "
    "git -c user.name=a -c user.email=b commit -qm gone; git branch old HEAD~1; cd ..",
}
"""What an agent does with a file so that no file of its worktree has it."""

_TIDY = (
    ("reset", "-q", "--hard"),
    ("stash", "drop", "-q"),
    ("stash", "clear"),
    ("reflog", "expire", "--expire=now", "--all"),
    ("repack", "-adq"),
    ("prune", "--expire=now"),
    ("gc", "-q", "--prune=now"),
    ("commit", "-q", "--amend", "--only", "--allow-empty", "-m", "amended"),
    ("pack-refs", "--all"),
)


@dataclass
class Round:
    """One race and what is to be had of it afterwards."""

    number: int
    token: str
    run: str = ""
    entered: int = 0
    refused: bool = False
    tidied: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


class User(threading.Thread):
    """Tidies up without a pause worth the name, until it is told to stop."""

    def __init__(self, repo: Path, chance: random.Random, tidied: Counter[str]) -> None:
        super().__init__(daemon=True)
        self._repo = repo
        self._chance = chance
        self._tidied = tidied
        self._over = threading.Event()

    def run(self) -> None:
        """One command after another."""
        while not self._over.wait(self._chance.uniform(0, 0.15)):
            self.tidy()

    def stop(self) -> None:
        """Waits for the last of them."""
        self._over.set()
        self.join()

    def tidy(self) -> None:
        """One command, whatever it answers: two of them may meet."""
        refs = _git(self._repo, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags")
        others = [ref for ref in refs.split() if ref != "refs/heads/main"]
        command = self._chance.choice([*_TIDY, *[("update-ref", "-d", ref) for ref in others]])
        _git(self._repo, *command)
        self._tidied[command[0]] += 1

    def all(self) -> None:
        """Everything that no branch but main has is gone afterwards."""
        for ref in _git(self._repo, "for-each-ref", "--format=%(refname)").split():
            if ref != "refs/heads/main" and not ref.startswith("refs/hydra/"):
                _git(self._repo, "update-ref", "-d", ref)
        for command in (_TIDY[0], _TIDY[2], _TIDY[3], _TIDY[6]):
            _git(self._repo, *command)
            self._tidied[command[0]] += 1


def _git(repo: Path, *command: str) -> str:
    done = subprocess.run(
        ["git", *command], cwd=repo, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    return done.stdout


class Storm:
    """One repository, raced in again and again."""

    def __init__(self, scratch: Path, seed: int, *, bwrap: bool) -> None:
        self.chance = random.Random(seed)
        self.ledger = Ledger(scratch / "ledger")
        self.hydra = hydra_in(scratch)
        self.bwrap = bwrap
        self.rounds: list[Round] = []

    def race(self, number: int) -> Round:
        """One round."""
        done = Round(number, f"gc{os.getpid()}x{number}")
        user = User(self.hydra.repo, random.Random(self.chance.random()), done.tidied)
        shared = {f"pool{n}/f{n}.txt": f"{done.token} {n}\n" * 20 for n in range(5)}
        self._give_user(shared)
        for lane in LANES:
            self.hydra.agent(
                lane,
                [fakes.shell("sh", "-c", self._script(lane, done, shared)), fakes.finish("done")],
            )
        user.start()
        command = ["race", "Do it", "-q", *(w for lane in LANES for w in ("-a", lane))]
        raced = self.hydra.run(*command, *([] if self.bwrap else ["--unsafe-full-access"]))
        user.stop()
        self.ledger.settle()
        done.run = str(max(self.hydra.state.glob("*/runs/[!.]*"), default="", key=_name))
        done.entered = sum(len(self._entries(done, lane)) for lane in LANES)
        if "went away as the race began" in raced.stderr or self._opened_none(done):
            done.refused = True
        elif raced.returncode not in (0, 1) or not done.entered:
            done.faults.append(f"the race: exit {raced.returncode}: {raced.stderr}")
        else:
            done.faults += self._look(done, user)
            self.rounds.append(done)
        return done

    def _opened_none(self, done: Round) -> bool:
        try:
            lanes = json.loads(Path(done.run, "result.json").read_text())["lanes"]
        except (OSError, ValueError, KeyError):
            return False
        return all((lane.get("error") or {}).get("reason") == "ground" for lane in lanes)

    def _entries(self, done: Round, lane: str) -> set[str]:
        return self.ledger.entries.get((done.token, lane), set())

    def _give_user(self, shared: dict[str, str]) -> None:
        """Puts what the agents will write into the user's repository, each in its own way."""
        ways = ("branch", "stash", "tag", "added", "forgotten", "packed")
        for path, text in shared.items():
            way = self.chance.choice(ways)
            file = self.hydra.repo / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
            _git(self.hydra.repo, "add", path)
            if way == "stash":
                _git(self.hydra.repo, "stash", "-q")
            elif way != "added":
                self._commit_aside(path.partition("/")[0], way)

    def _commit_aside(self, name: str, way: str) -> None:
        repo = self.hydra.repo
        _git(repo, "checkout", "-qB", name)  # an earlier round's may be there
        _git(repo, "commit", "-qm", name)
        if way == "tag":
            _git(repo, "tag", f"t-{name}")
        _git(repo, "checkout", "-q", "main")
        if way in ("tag", "forgotten"):
            _git(repo, "branch", "-qD", name)
        if way == "packed":
            _git(repo, "repack", "-adq")

    def _script(self, lane: str, done: Round, shared: dict[str, str]) -> str:
        """What an agent types: first what is to be in no file, then the files of its patch."""
        command = _BEGIN.replace("{token}", done.token).replace("{lane}", lane)
        lines = [command.replace("{ledger}", str(self.ledger.path))]
        for n, how in enumerate(self.chance.sample(sorted(_STRANDED), 3)):
            path, text = f"s{n}.txt", f"{done.token} {lane} stranded {n}\n"
            lines += [f"printf '{text}' > {path}", _STRANDED[how].format(path=path, n=n)]
            lines.append(f"enter S:{how}:{blob(text)}")
        files = dict(self.chance.sample(sorted(shared.items()), 3))
        files |= {f"own/{n}.txt": f"{done.token} {lane} own {n}\n" * 5 for n in range(3)}
        files["forced.log"] = f"{done.token} {lane} forced\n"
        for path, text in files.items():
            lines.append(f"mkdir -p $(dirname {path}); printf '{text}' > {path}")
            lines += ["git add -f forced.log"] if path == "forced.log" else []
            lines.append(f"enter F:{path}:{blob(text)}")
        if self.chance.random() < 0.3:
            lines += ["git add -A; git commit -qm all"]
        return "\n".join(lines)

    def _look(self, done: Round, user: User) -> Iterator[str]:
        user.all()
        yield from self._compare(done)
        commands = [("runs", "show"), ("diff", "claude", "--mbox"), ("compare",)]
        commands.append(("merge", "codex", "--dry-run", "--override", "the storm's"))
        command = self.chance.choice(commands)
        shown = self.hydra.run(*command)
        if shown.returncode != (command == ("compare",)):  # no lane is proved
            yield f"hydra {' '.join(command)}: exit {shown.returncode}: {shown.stderr}"
        user.tidy()
        yield from self._diff(done, self.chance.choice(LANES))
        if self.rounds:
            yield from self._compare(self.chance.choice(self.rounds))

    def _diff(self, done: Round, lane: str) -> Iterator[str]:
        shown = self.hydra.run("diff", lane)
        if shown.returncode != 0:
            yield f"hydra diff {lane}: exit {shown.returncode}: {shown.stderr}"
        for entry in self._entries(done, lane):
            kind, path, name = entry.split(":")
            if kind == "F" and f"+++ b/{path}\n" not in shown.stdout:
                yield f"hydra diff {lane} does not show {path} ({name})"

    def _compare(self, done: Round) -> Iterator[str]:
        """The ledger with what a fresh repository has that knows nothing of the user's."""
        with tempfile.TemporaryDirectory(dir=self.hydra.scratch, prefix="fresh-") as name:
            fresh = Path(name)
            git(fresh, "init", "-q", "--bare")
            command = ["git", "fetch", "-q", f"{done.run}/patches.git", "+refs/*:refs/*"]
            fetched = subprocess.run(command, cwd=fresh, capture_output=True, text=True)
            if fetched.returncode != 0:
                yield f"{done.token}: cannot be fetched: {fetched.stderr}"
            for lane in LANES:
                for entry in sorted(self._entries(done, lane)):
                    if not (_has(fresh, lane, entry) or self._is_in_lane(done, lane, entry)):
                        yield f"{done.token} {lane}: lost {entry}"

    def _is_in_lane(self, done: Round, lane: str, entry: str) -> bool:
        ground = ground_dir(self.hydra.state, Path(done.run).name, lane)
        repository = ground / self.hydra.repo.name / ".git"
        name = entry.rpartition(":")[2]
        return repository.is_dir() and _git(repository, "cat-file", "-t", name).strip() == "blob"


def _name(run: Path) -> str:
    return run.name


def _has(fresh: Path, lane: str, entry: str) -> bool:
    kind, path, name = entry.split(":")
    if kind == "F":
        return _git(fresh, "rev-parse", f"{lane}:{path}").strip() == name
    return _git(fresh, "cat-file", "-t", name).strip() == "blob"


def blob(text: str) -> str:
    """The name that git gives to a content."""
    return hashlib.sha1(b"blob %d\0%b" % (len(text), text.encode())).hexdigest()


def storm(
    scratch: Path,
    *,
    races: int,
    seed: int,
    bwrap: bool = True,
    say: Callable[[str], None] = lambda line: None,
) -> list[Round]:
    """So many races; every round, faults or not."""
    tempest = Storm(scratch, seed, bwrap=bwrap)
    say(f"seed {seed}")
    rounds = []
    try:
        for number in range(races):
            began = time.monotonic()
            rounds.append(done := tempest.race(number))
            faults = "".join(f"\n    FAULT {fault}" for fault in done.faults)
            say(
                f"{number + 1:4} {done.entered} entries, {sum(done.tidied.values())} times tidied "
                f"up, {time.monotonic() - began:.1f} s{faults}"
            )
        return rounds
    finally:
        tempest.ledger.close()


def summary(rounds: list[Round]) -> str:
    """The figures of a storm."""
    bad = [done for done in rounds if done.faults]
    tidied = sum((done.tidied for done in rounds), Counter[str]())
    lost = sum("lost" in fault for done in rounds for fault in done.faults)
    typed = ", ".join(f"{count} {term}" for term, count in tidied.most_common())
    return (
        f"{len(rounds)} races, {sum(done.entered for done in rounds)} entries in the ledger, "
        f"{lost} lost, {len(bad)} rounds with faults, "
        f"{sum(done.refused for done in rounds)} refused as their base went away\n"
        f"the user typed {sum(tidied.values())} commands: {typed}\n"
    )


def main() -> int:
    """Prints every round, then the figures; exit 1 where a round has a fault."""
    options = options_of("gc_storm", "races")
    with place() as scratch:
        os.environ["HOME"] = str(scratch)  # git's, for the repository that is made
        rounds = storm(
            scratch, races=options.races, seed=options.seed, bwrap=not options.no_bwrap, say=say
        )
    say(summary(rounds))
    return int(any(done.faults for done in rounds))


if __name__ == "__main__":
    sys.exit(main())
