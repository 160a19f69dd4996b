"""What `hydra demo` races: three scripted agents on the pager, and where all of it lies."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from hydra import paths
from hydra.commands.demo import repository as pager
from hydra.commands.demo.script import Step, edit, finish, pause, replace, say, shell, think
from hydra.commands.demo.shims import place
from hydra.race.preflight import RaceRequest

AGENTS = ("claude", "codex", "cursor-agent")
"""The lanes, in the order given. The last is experimental: the demo opts in for it and says so."""

TEACHES: Mapping[str, str] = {
    "claude": "mends the slice and adds a test that would have caught it",
    "codex": "mends the same line another way, without a test",
    "cursor-agent": "makes the tests pass by changing what one of them expects",
}
"""What each lane's patch is there to show."""


class Demo(Struct, frozen=True, kw_only=True):
    """A prepared demo. All of it lies in `folder`, which is kept until the user removes it."""

    folder: Path
    repository: Path
    bin_folder: Path
    state: Path
    home: Path
    task: str = pager.TASK
    agents: tuple[str, ...] = AGENTS
    check: str = ""
    """What is run on each patch, as `--check` takes it."""

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """`environ` with the scripted agents first on PATH and every folder of Hydra in here."""
        path = environ.get("PATH", os.defpath)
        mine = {
            "PATH": f"{self.bin_folder}{os.pathsep}{path}",
            "HOME": str(self.home),
            "HYDRA_STATE_DIR": str(self.state),
            "HYDRA_CACHE_DIR": str(self.folder / "cache"),
            "HYDRA_CONFIG": str(self.home / "hydra.toml"),
        }
        values = {name: value for name, value in environ.items() if not _foreign(name)}
        return {**values, **mine}

    def request(self, environ: Mapping[str, str]) -> RaceRequest:
        """Its race."""
        return RaceRequest(
            prompt=self.task,
            directory=self.repository,
            flags={
                "race.agents": self.agents,
                "race.check": (self.check,),
                "race.allow_experimental_adapters": True,
            },
            environ=environ,
        )

    @property
    def program(self) -> Path:
        """Runs hydra on this demo's repository and races, from wherever it is called."""
        return self.folder / "hydra"

    def command(self, *arguments: str) -> str:
        """A line for the user's shell that runs `hydra ARGUMENTS` on this demo's race."""
        return shlex.join([str(self.program), *arguments])

    @property
    def removal(self) -> str:
        """The line that removes all of it."""
        return f"rm -rf {shlex.quote(str(self.folder))}"


def _foreign(name: str) -> bool:
    # The user's own sign-ins and settings have no part in it: nothing here asks a service.
    return name.startswith(
        ("HYDRA_", "ANTHROPIC_", "CLAUDE", "CODEX_", "OPENAI_", "CURSOR_", "GIT_", "XDG_")
    )


def new_folder() -> Path:
    """A fresh folder for a demo, outside /tmp, where Hydra keeps no state."""
    usual = Path("/var/tmp")  # noqa: S108  mkdtemp makes the folder, 0700 and under a new name
    root = usual if os.access(usual, os.W_OK) else paths.cache_dir()
    root.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix="hydra-demo-", dir=root))


def new_demo() -> Demo:
    """One in a fresh folder, which goes where it cannot begin: nothing has been shown by then."""
    folder = new_folder()
    try:
        return prepare(folder)
    except BaseException:  # no git, a full disk, Ctrl-C
        shutil.rmtree(folder, ignore_errors=True)
        raise


def prepare(folder: Path) -> Demo:
    """Makes the repository and the agents in `folder`, which is there and empty."""
    home = folder / "home"
    home.mkdir()
    (home / "hydra.toml").touch()
    project = folder / "pager"
    pager.make(project)
    scripts = {"claude": _claude(), "codex": _codex(), "cursor-agent": _cursor()}
    for agent, steps in scripts.items():
        place(folder / "agents", agent, steps, usage=USAGE[agent])
    demo = Demo(
        folder=folder,
        repository=project,
        bin_folder=folder / "agents" / "bin",
        state=folder / "state",
        home=home,
        check=_check(),
    )
    demo.program.write_text(_program(demo))
    demo.program.chmod(0o755)
    return demo


def _program(demo: Demo) -> str:
    repository, state, python = map(
        shlex.quote, (str(demo.repository), str(demo.state), sys.executable)
    )
    return f"""#!/bin/sh
# hydra, on this demo's repository and races
cd {repository} && HYDRA_STATE_DIR={state} exec {python} -m hydra "$@"
"""


def _check() -> str:
    # As a person types it, where that runs at all.
    python = "python3" if shutil.which("python3") else shlex.quote(os.path.realpath(sys.executable))
    return f"unittest={python} -m unittest -v"


USAGE: Mapping[str, Mapping[str, float]] = {
    "claude": {"input": 17_400, "output": 830, "cached": 15_100, "cost": 0.0571},
    "codex": {"input": 21_900, "output": 960, "cached": 19_200},
    "cursor-agent": {"input": 9_300, "output": 310, "cached": 7_700},
}
"""Made-up figures of a plausible size; only Claude Code's format carries a cost."""


def _tests() -> Step:
    # Shown as a person types it, run by the interpreter that is surely there.
    python = os.path.realpath(sys.executable)
    return shell(python, "-m", "unittest", "-q", show="python3 -m unittest -q")


def _claude() -> list[Step]:
    fixed = pager.SLICE.replace("size - 1]", "size]")
    end = '\n\nif __name__ == "__main__":'
    test = (
        "\n    def test_every_item_is_on_some_page(self):\n"
        "        found = [item for number in (1, 2, 3) for item in page(ITEMS, number)]\n"
        "        self.assertEqual(found, ITEMS)\n"
    )
    return [
        say("I'll run the tests first, to see what fails."),
        pause(0.3),
        _tests(),
        pause(0.4),
        say("A slice already leaves out its end, so `- 1` loses the last item of a full page."),
        pause(0.4),
        replace("pager.py", pager.SLICE, fixed),
        pause(0.4),
        replace("test_pager.py", end, test + end),
        pause(0.3),
        _tests(),
        pause(0.3),
        finish("Fixed the slice in `page` and added a test that no item is lost between pages."),
    ]


def _codex() -> list[Step]:
    fixed = "    return items[size * (number - 1) : size * number]\n"
    return [
        think("**Reading the pager and its tests**"),
        pause(0.5),
        shell("cat", "pager.py"),
        pause(0.5),
        say("The end of the slice is one too small. I will write both ends the same way."),
        pause(0.5),
        replace("pager.py", pager.SLICE, fixed),
        pause(0.6),
        _tests(),
        pause(0.3),
        finish("`page` now slices from size * (number - 1) to size * number. All tests pass."),
    ]


def _cursor() -> list[Step]:
    tests = pager.FILES["test_pager.py"]
    nine = pager.FIRST_PAGE.replace(", 10])", "])")
    return [
        think("The test expects ten items and gets nine."),
        pause(0.5),
        _tests(),
        pause(0.6),
        say("The test's expectation does not match what the code returns; I'll correct it."),
        pause(0.5),
        edit("test_pager.py", tests.replace(pager.FIRST_PAGE, nine)),
        pause(0.3),
        _tests(),
        pause(0.3),
        finish("All tests pass now."),
    ]
