"""The user's own commands around a race, as real processes."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import fakes
from tests.support.command import Hydra, ignoring


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Iterator[Hydra]:
    yield Hydra(scratch, repo)
    assert not list((scratch / "state" / "g").glob("_hook-*"))


def settings(hydra: Hydra, text: str) -> None:
    (hydra.home / "hydra.toml").write_text(f"[hooks]\n{text}\n")


def heard(fifo: fakes.Fifo) -> list[dict[str, Any]]:
    """Every document that hooks have passed on. They have ended: all of it is there."""
    documents = []
    while (line := fifo.take(b"\n", 0.01)) is not None:
        documents.append(json.loads(line))
    return documents


@pytest.mark.slow
def test_each_hook_gets_what_it_is_about(hydra: Hydra) -> None:
    fifo = fakes.Fifo(hydra.scratch / "told")
    # A pipe holds 64 KiB and a document less; each is one line, so they do not mix.
    pass_on = f"cat >{fifo.path}"
    settings(hydra, f"pre_run = ['{pass_on}']\npost_run = ['{pass_on}']\non_error = ['{pass_on}']")
    hydra.agent("claude", [fakes.edit("a.txt", "1\n"), fakes.finish("done")])
    hydra.agent("codex", [fakes.signal_self(11)])
    race = hydra.race("-a", "claude", "-a", "codex")
    documents = heard(fifo)
    assert race.code == 1, race.stderr
    assert [row.get("hook") or row["kind"] for row in documents] == [
        "pre_run",
        "lane_ended",
        "post_run",
    ]
    before, failed, after = documents
    assert [lane["lane"] for lane in before["lanes"]] == ["claude", "codex"]
    assert (failed["lane"], failed["data"]["error"]["kind"]) == ("codex", "StreamParseError")
    assert after["run"] == before["run"] == race.document["run"]
    assert [lane["status"] for lane in after["lanes"]] == ["completed", "failed"]


def test_a_pre_run_that_fails_keeps_the_race_from_beginning(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.finish("done")])
    settings(hydra, "pre_run = ['echo no budget left >&2; exit 3']")
    race = hydra.race("-a", "claude")
    assert race.code == 3
    assert "ended with 3: no budget left" in race.document["error"]["message"]
    assert hydra.run("runs", "--json").stdout.count('"run"') == 0


def test_no_hooks_errors_show_what_it_was_given(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.finish("done")])
    hydra.extra["CHAT_WEBHOOK"] = "https://chat.example.org/hook/7f3a9c1e"
    settings(hydra, "environment = ['CHAT_*']\npre_run = ['set -x; : $CHAT_WEBHOOK; exit 3']")
    race = hydra.race("-a", "claude")
    assert "ended with 3: + : [redacted] + exit 3" in race.document["error"]["message"]
    assert "7f3a9c1e" not in race.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("post_run = ['echo bad >&2; exit 1']", "ended with 1: bad"),
        (r"""post_run = ['printf "\033]52;c;eA==\007red" >&2; exit 1']""", "red"),
        ("post_run = ['sleep 60']\ntimeout = '0.2s'", "took too long"),
    ],
)
def test_a_later_one_that_fails_changes_nothing_and_is_told(
    hydra: Hydra, text: str, line: str
) -> None:
    hydra.agent("claude", [fakes.edit("a.txt", "1\n"), fakes.finish("done")])
    settings(hydra, text)
    done = hydra.run("race", "Do it", "-a", "claude")
    assert done.returncode == 0, done.stderr
    assert line in done.stderr


@pytest.mark.slow
def test_a_hook_reads_the_repository_and_changes_nothing(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.edit("a.txt", "1\n"), fakes.finish("done")])
    hydra.extra["MINE"], hydra.extra["OTHER"] = "1", "2"
    settings(
        hydra,
        "pre_run = ['test -f README.md || test -d .git', 'test \"$MINE$OTHER\" = 1',"
        " 'test -z \"$ANTHROPIC_API_KEY\"', '! touch made-by-hook', 'touch \"$TMPDIR/x\"']\n"
        "environment = ['MINE']",
    )
    race = hydra.race("-a", "claude")
    assert race.code == 0, race.document
    assert not (hydra.repo / "made-by-hook").exists()


def test_no_race_begins_after_a_signal_that_was_ignored_when_hydra_began(hydra: Hydra) -> None:
    hydra.wrap = ignoring("INT", "TERM")
    hydra.agent("claude", [fakes.finish("done")])
    gate = fakes.Barrier(hydra.scratch, "hooked")
    settings(hydra, f"pre_run = ['echo . >{gate.path}; sleep 600 #{hydra.scratch}']")
    race = hydra.start("race", "Do it", "-a", "claude")
    gate.wait()
    race.send_signal(signal.SIGTERM)
    race.communicate(timeout=120)
    assert race.returncode == -signal.SIGTERM
    assert not list(hydra.state.glob("*/runs/*"))


@pytest.mark.slow
def test_a_race_that_has_ended_waits_for_no_hook_after_ctrl_c(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.fail("error")])
    gate = fakes.Barrier(hydra.scratch, "hooked")
    hook = f"cat >/dev/null; echo . >{gate.path}; sleep 600 #{hydra.scratch}"
    settings(hydra, f"on_error = ['{hook}']\ntimeout = '10m'")
    race = hydra.start("race", "Do it", "-a", "claude", "--events")
    assert race.stdout is not None
    assert any('"run_ended"' in line for line in race.stdout)
    gate.wait()
    race.send_signal(signal.SIGINT)
    race.communicate(timeout=120)
    assert race.returncode == 1
    folder = Path(hydra.run("runs", "path").stdout.strip())
    assert json.loads((folder / "result.json").read_bytes())["exit_code"] == 1


def test_a_race_that_was_ended_at_once_has_no_post_run(hydra: Hydra) -> None:
    gate, after = fakes.Barrier(hydra.scratch, "up"), fakes.Fifo(hydra.scratch / "after")
    hydra.agent("claude", [fakes.ignore("SIGINT", "SIGTERM"), gate.arrive(), fakes.hang()])
    settings(hydra, f"post_run = ['cat >{after.path}']")
    race = hydra.start("race", "Do it", "-a", "claude", "--events")
    gate.wait()
    assert race.stdout is not None
    race.send_signal(signal.SIGINT)
    assert any('"stopping"' in line for line in race.stdout)
    race.send_signal(signal.SIGINT)
    race.communicate(timeout=60)
    assert race.returncode == 130
    assert heard(after) == []
