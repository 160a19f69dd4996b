"""Agents and set-up know their run and lane; checks know nothing that tells lanes apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import fakes
from tests.support.command import Hydra
from tests.support.processes import namespaces_work

SHOWN = "env | grep -E '^HYDRA_(RUN|LANE)=' | sort"


@pytest.mark.slow
def test_an_agent_and_its_set_up_know_their_run_and_lane(scratch: Path, repo: Path) -> None:
    hydra = Hydra(scratch, repo)
    agents = fakes.shell("sh", "-c", f"{SHOWN} > agents.txt; cp set-up.txt seen.txt")
    hydra.agent("claude", [agents, fakes.finish("done")])
    race = hydra.race(
        *("-a", "2xclaude", "--setup", f"{SHOWN} > set-up.txt"),
        *(
            "--check",
            f"a={SHOWN}; env | grep -E 'claude|base|HYDRA_LANE' | grep -v PATH=; echo none",
        ),
    )
    for lane in ("claude", "claude-2"):
        expected = f"HYDRA_LANE={lane}\nHYDRA_RUN={race.document['run']}\n"
        for name in ("agents.txt", "seen.txt"):
            patches = Path(race.document["folder"], "patches.git")
            shown = hydra.execute("git", f"--git-dir={patches}", "show", f"{lane}:{name}")
            assert shown.stdout == expected
        (check,) = race.lane(lane)["checks"]
        assert Path(race.document["folder"], check["output"]).read_text() == "none\n"
    (base,) = race.document["baseline"]
    assert Path(race.document["folder"], base["output"]).read_text() == "none\n"


confined = pytest.mark.skipif(not namespaces_work(), reason="bwrap confines nothing here")


@pytest.mark.slow
@confined
def test_packages_that_a_lane_downloads_itself_are_not_shown(scratch: Path, repo: Path) -> None:
    hydra = Hydra(scratch, repo)
    places = (".cargo/registry", ".cargo/git", "go/pkg/mod", ".cache/uv", ".cache/coursier")
    for place in places:
        (hydra.home / place).mkdir(parents=True)
        (hydra.home / place / "private.txt").write_text("a package of nobody's business\n")
    tool = hydra.home / ".cargo" / "bin" / "tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho a tool\n")
    tool.chmod(0o755)
    hydra.path.append(tool.parent)
    # Go leaves its modules in folders that nobody may write.
    own = 'mkdir -p "$GOMODCACHE/m@v1/sub" && chmod -R 555 "$GOMODCACHE/m@v1"'
    files = " ".join(f"{place}/*" for place in places)
    script = f"cd; (tool; cat {files} 2>&-; {own}; echo [$GOFLAGS]) > $OLDPWD/seen"
    hydra.agent("claude", [fakes.shell("sh", "-c", script), fakes.finish("done")])
    race = hydra.race("-a", "claude")
    patches = Path(race.document["folder"], "patches.git")
    seen = hydra.execute("git", f"--git-dir={patches}", "show", "claude:seen")
    assert seen.stdout == "a tool\n[]\n"
    assert list((hydra.state / "g").glob("*/claude")) == []
