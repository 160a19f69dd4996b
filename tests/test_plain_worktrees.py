"""The same work in a lane at the checkout's path and in a plain worktree makes the same patch."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import git, make_repository
from tests.support import fakes
from tests.support.command import Race
from tests.support.trust import Place, by_ordinary, needs_bwrap, place

__all__ = ["place"]

pytestmark = pytest.mark.slow

COMMIT = "git add -A && git commit -qm work"
NEW = "git init -q n && echo a > n/a && git -C n add a && git -C n commit -qm a"
SHAPES = {
    "deletes": "rm README.md; rm -r old; git rm -q rows.txt",
    "renames": "git mv src/pager.py src/pages.py; mv old young; mv young/deep .",
    "modes": "chmod +x README.md; chmod -x run.sh; chmod 600 rows.txt",
    "symlinks": "ln -sf ../run.sh src/pager.py; rm link; cp run.sh link; ln -s /nowhere out;"
    " rm -r old; ln -s src old",
    "nested": f"{NEW}; echo b > n/b; echo c > n/c; git -C n add c; git init -q n/deep;"
    " echo d > n/deep/d; mkdir e; git init -q e",
    "nested_staged": f"{NEW}; echo b > n/a; git -C n add a; git -C n stash -q; echo c > n/c;"
    " git -C n add c; rm n/c; rm -r lib/src; echo s > lib/s; git -C lib stash -qu",
    "cloned": "git clone -q . n; echo a > n/a; git -C n add a; git -C n commit -qm a;"
    " git clone -q --shared . m; echo b > m/b; git -C m add b; git -C m commit -qm b; echo c > m/b",
    "separate": "mkdir node_modules; git init -q --separate-git-dir=$PWD/node_modules/s n;"
    " echo a > n/a; git -C n add a; git -C n commit -qm a; echo b > n/a; git -C n stash -q;"
    " echo c > n/c; git -C n add c; rm n/c; git init -q --separate-git-dir=node_modules/t n/m;"
    " echo m > n/m/m; git -C n/m add m; git -C n/m commit -qm m; echo o > n/m/m",
    "borrowing": f"{NEW}; git clone -q --shared n k; echo b > k/b; git -C k add b;"
    " git -C k commit -qm b; echo c > k/a; git -C k stash -q",
    "unborn": "git init -q --separate-git-dir=$PWD/.git-store n; echo a > n/a; rm -r .git-store",
    "submodule": "echo new > lib/new; rm lib/README.md; echo changed > lib/src/pager.py",
    "submodule_committed": "echo new > lib/new; cd lib; git checkout -qb work;"
    f" {COMMIT}; cd ..; {COMMIT}",
    "submodule_added": "git -c protocol.file.allow=always submodule --quiet add ./lib more;"
    " echo a > more/a; git -C more add a; echo s > more/s; git -C more stash -qu; cd more;"
    " echo '*.o' > .gitignore; echo w > w.o; echo i > i.o; git add -f w.o; git init -q deep;"
    " echo d > deep/d",
    "submodule_removed": "git submodule --quiet deinit -f lib; git rm -q lib",
    "lfs": "echo changed >> big.bin; cp big.bin two.bin; git add two.bin; rm two.bin;"
    f" echo other > three.bin; {COMMIT}; rm three.bin",
    "line_ends": "printf 'a\\r\\nb\\n' > rows.txt; printf 'x\\r\\n' > new.txt;"
    " printf 'x\\r\\n' > new.bat; cp rows.txt raw.dat",
    "filters": "echo quiet > a.up; echo new > b.up; git add b.up; rm b.up; cat a.up > seen",
    "names": "touch \"$(printf 'latin-\\351')\" \"$(printf 'new\\nline')\" ' -rf' ':(top)x' 'a\"b';"
    " mkdir \"$(printf 'd\\377')\"; echo a > \"$(printf 'd\\377/\\303\\251')\"; rm -- -dash",
    "staged": "echo a > a; git add a; rm a; echo b > rows.txt; git add rows.txt; echo c > rows.txt;"
    " git add -N old; git update-index --assume-unchanged README.md; echo d > README.md",
    "stashed": "echo a > a; git stash -qu; echo b > rows.txt; git stash -q; echo c > c.log;"
    " git stash -qa; echo d > d",
    "committed": f"echo a > a; {COMMIT}; git checkout -qb side; echo b > b; {COMMIT};"
    f" git tag v9; git checkout -q --detach HEAD~2; echo c > c; {COMMIT}; echo d > d",
    "rewritten": f"echo a > a; {COMMIT}; git reset -q --hard HEAD~; git checkout -q --orphan o;"
    f" echo b > b; {COMMIT}; rm -f b; git notes add -m note",
    "ignored": "mkdir -p node_modules/x; echo a > node_modules/x/a; echo b > b.log; echo c > c.log;"
    " git add -f c.log; echo k > .env; git init -q node_modules/n; echo d > node_modules/n/d;"
    " git -C node_modules/n add d",
    "worktrees": f"git worktree add -q w -b w; cd w; echo a > a; {COMMIT}; echo b > b; git add b;"
    " echo c > c; cd ..; git worktree add -q --detach v; echo d > v/d; git -C v add d; rm -r v",
    "replaced": f"rm -rf .git; git init -q; echo a > a; {COMMIT}; echo b > a; git stash -q",
    "emptied": "find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +",
}
"""What an agent does in a lane of its own, by the name of its shape."""

LANES = {f"claude-{n}" if n > 1 else "claude": shape for n, shape in enumerate(SHAPES, 1)}

IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A"), ("EMAIL", "a@example.com"), ("DATE", "1700000000 +0000"))
}
VARIABLES = "".join(f"export {name}='{value}'\n" for name, value in IDENTITY.items())


def furnished(place: Place) -> None:
    """A repository with one of everything that git converts, links or ignores."""
    top, allow = place.repo, ("-c", "protocol.file.allow=always")
    library = make_repository(place.scratch / "library")
    (top / "old" / "deep").mkdir(parents=True)
    for name in ("old/a", "old/deep/b", "run.sh", "-dash"):
        (top / name).write_text(f"{name}\n")
    (top / "run.sh").chmod(0o755)
    (top / "link").symlink_to("README.md")
    (top / ".gitattributes").write_text("*.up filter=shout\n*.txt text\n*.bat text eol=crlf\n")
    (top / "rows.txt").write_bytes(b"a\nb\n")
    (top / "a.up").write_text("loud\n")
    (top / ".gitignore").write_text("*.log\n.env\nnode_modules/\n")
    git(top, "config", "filter.shout.clean", "tr a-z A-Z")
    git(top, "config", "filter.shout.smudge", "tr A-Z a-z")
    git(top, "lfs", "install", "--local", "--skip-smudge")
    git(top, "lfs", "install", "--local", "--force")
    git(top, "lfs", "track", "*.bin")
    (top / "big.bin").write_bytes(b"large\n" * 100)
    git(top, *allow, "submodule", "--quiet", "add", str(library), "lib")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "Everything")


def script() -> str:
    """Each lane does the work of its own shape; what fails in one is the same in both."""
    cases = (f"{lane}) {SHAPES[shape]} ;;" for lane, shape in LANES.items())
    return "\n".join((VARIABLES, "case $HYDRA_LANE in", *cases, "esac", "true"))


def raced(place: Place) -> Race:
    number = len(SHAPES)
    place.agent("claude", [fakes.shell("sh", "-c", script()), fakes.finish("done")])
    flags = ("--allow-filter", "shout", "--max-parallel", "4", "--no-check")
    return place.race("-a", f"{number}xclaude", *flags)


def objects(race: Race) -> dict[str, dict[str, str]]:
    """Each lane's names in patches.git, its patch and what was kept beside it, to all of the trees
    and files below: each path to its mode, kind and content's name."""
    patches = Path(race.document["folder"], "patches.git")
    owned = ("-c", "safe.directory=*")
    lanes: dict[str, dict[str, str]] = {name: {} for name in SHAPES}
    for ref in git(patches, *owned, "for-each-ref", "--format=%(refname)").split():
        lane = next((part for part in ref.split("/") if part in LANES), "")
        if lane:
            name = ref.replace(lane, "claude")
            tree = git(patches, *owned, "rev-parse", f"{ref}^{{tree}}")
            listed = git(patches, *owned, "ls-tree", "-r", "-t", "--full-tree", ref)
            # All of them are there.
            git(patches, *owned, "rev-list", "--objects", "--no-object-names", ref)
            lanes[LANES[lane]][name] = f"{tree}\n{listed}"
    return lanes


def account_of(race: Race) -> dict[str, list[object]]:
    """What the race tells of each patch: its size, what is missing, what lies beside it."""
    facts = ("files", "insertions", "deletions", "incomplete", "left_behind", "stranded")
    lanes = {LANES[lane["lane"]]: lane["patch"] for lane in race.document["lanes"]}
    return {
        shape: [
            *(patch[fact] for fact in facts),
            *(
                note.replace(race.document["folder"], "RUN")
                for note in patch["notes"]
                if "worktree is kept" not in note
            ),
        ]
        for shape, patch in lanes.items()
    }


@pytest.mark.full
@by_ordinary
def test_every_hard_shape_is_the_same_patch(place: Place) -> None:
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not here")
    needs_bwrap(place.uid)
    furnished(place)
    place.hand_over()
    confined = raced(place)
    place.without("bwrap")
    plain = raced(place)
    kinds = [race.document["confinement"]["kind"] for race in (confined, plain)]
    assert kinds[0] == "bwrap" != kinds[1]
    assert objects(confined) == objects(plain)
    assert account_of(confined) == account_of(plain)


@by_ordinary
def test_a_recovery_knows_where_the_lane_had_its_tree(place: Place) -> None:
    needs_bwrap(place.uid)
    gate = fakes.Barrier(place.scratch, "worked")
    work = f"{VARIABLES}git init -q --separate-git-dir=$PWD/s.log n; echo a > n/a; git -C n add a"
    stash = "git -C n commit -qm a; echo work > n/a; git -C n stash -q"
    place.agent("claude", [fakes.shell("sh", "-c", f"{work}; {stash}"), *gate.stop()])
    place.hand_over()
    killed = place.start("race", "Do it", "-q", "-a", "claude", "--no-check")
    gate.wait()
    killed.kill()
    killed.communicate()
    gate.close()
    assert "recovered" in place.run("runs").stderr
    (patches,) = place.state.glob("*/runs/*/patches.git")
    assert place.git("show", "refs/left/claude/1/nested/n/stash:a", cwd=patches) == "work"
