"""What Hydra's own adapters share: the base that is given data alone, and a line's own words."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hydra.adapters import registry
from hydra.adapters.base import CliAdapter
from hydra.adapters.contract import Adapter, Descriptor, Probe
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Flag, Line
from hydra.errors import UnsupportedFlag
from hydra.model import Capability, CapabilitySet, DetectResult, ProbeOutput, SpawnRequest, Tier

JSON = Flag("--json", "to read what it does", required=True, drops=("json_stream",))
MODE = Flag("--mode", "to say what it may do")
YOLO = Flag("--yolo", "to work without asking")
HELP = "Options:\n  --json\n  --mode <MODE>\n"


class Made(CliAdapter):
    descriptor = Descriptor(
        key="made",
        label="Made",
        homepage="https://example.com",
        tier=Tier.EXPERIMENTAL,
        binaries=("made",),
        install_hint="make it",
        capabilities=CapabilitySet(json_stream=Capability(True)),
        probes=(Probe(name="version", args=("--version",)), Probe(name="help", args=("--help",))),
    )
    identity = Identity(re.compile(r"^made (\d+\.\d+)$", re.M), re.compile("Made"))
    table = (JSON, MODE, YOLO)


def probes(help: str) -> dict[str, ProbeOutput]:
    told = {"version": "made 1.0\n", "help": help}
    return {
        name: ProbeOutput(name=name, argv=("made", f"--{name}"), exit_code=0, stdout=text)
        for name, text in told.items()
    }


def line(*flags: str) -> Line:
    return Line("made", "Made", frozenset(flags), hint="make it")


MASKING = [one for one in registry.everyone() if one.descriptor.masked]


@pytest.mark.parametrize("adapter", MASKING, ids=lambda one: one.key())
def test_a_lane_is_warned_of_what_is_not_hidden_from_its_agent(adapter: Adapter) -> None:
    found = DetectResult(
        adapter=adapter.key(),
        binary=Path("/bin/agent"),
        flags=frozenset(flag.name for flag in _table(adapter)),
    )
    asked = SpawnRequest(
        prompt="task",
        worktree=Path("/lane/shop"),
        model="made-up",
        instructions=adapter.descriptor.masked,
    )
    bare = adapter.build_command(asked, found)
    hidden = adapter.build_command(replace(asked, masked=True), found)
    assert bare.warnings
    assert hidden.warnings == ()
    assert replace(bare, warnings=()) == hidden


def _table(adapter: Adapter) -> Sequence[Flag]:
    assert isinstance(adapter, CliAdapter)
    return adapter.table


def test_data_alone_makes_key_detect_and_capabilities() -> None:
    made = Made()
    found = made.detect("/bin/made", probes(HELP))
    assert (made.key(), found.adapter, found.version, found.error) == ("made", "made", "1.0", None)
    assert found.flags == {"--json", "--mode"}
    assert found.capabilities == made.capabilities(found.flags) == made.descriptor.capabilities
    gone = made.detect("/bin/made", probes("Options:\n  --mode <MODE>\n"))
    assert gone.error is not None
    assert gone.error.kind == "UnsupportedFlag"
    assert not made.capabilities(gone.flags).json_stream.present


def test_a_line_is_begun_by_what_was_found_and_ended_by_the_users_own_words() -> None:
    made = Made()
    found = made.detect("/bin/made", probes(HELP))
    begun = made.line(found)
    assert begun == line("--json", "--mode")
    begun.add(JSON)
    begun.add(YOLO)
    request = SpawnRequest(prompt="Fix it", worktree=Path("/lane/shop"), extra_args=("--own",))
    command = begun.command(request, found, env=(("A", "1"),), stdin=b"Fix it")
    assert command.argv == ("/bin/made", "--json", "--own")
    assert (command.cwd, command.dropped) == (request.worktree, ("--yolo",))
    assert (command.env, command.stdin, command.files) == ((("A", "1"),), b"Fix it", ())


def test_what_it_cannot_do_is_refused_in_the_adapters_own_words() -> None:
    failure = Made().cannot("Made has no network", "race it without").failure
    assert (failure.kind, failure.reason) == ("UnsupportedFlag", "capability")
    assert (failure.message, failure.hint) == ("Made has no network", "race it without")


def test_what_was_asked_for_is_there_or_refused() -> None:
    here, none = line("--mode", "--yolo"), line()
    here.need(YOLO)
    here.need(MODE, "plan")
    here.need_words(MODE, "--mode=plan")
    assert here.args == ["--yolo", "--mode", "plan", "--mode=plan"]
    with pytest.raises(UnsupportedFlag, match=r"^this Made has no --mode, which is needed to say"):
        none.need(MODE, "plan")
    with pytest.raises(UnsupportedFlag, match=r"^this Made has no --mode plan, which is needed"):
        none.need_words(MODE, "--mode", "plan")


def test_a_mode_has_a_flag_in_its_stead_or_none() -> None:
    whole, left = line("--mode", "--yolo"), line("--yolo")
    whole.add_mode(MODE, "yolo", YOLO)
    assert (whole.args, whole.dropped) == (["--mode", "yolo"], [])
    left.add_mode(MODE, "yolo", YOLO)
    assert (left.args, left.dropped) == (["--yolo"], ["--mode"])
    for instead in (YOLO, None):
        with pytest.raises(UnsupportedFlag, match="no --mode yolo, which is needed to say"):
            line("--json").add_mode(MODE, "yolo", instead)


@pytest.mark.parametrize("key", ["droid", "omp", "gemini", "claude"])
def test_an_adapter_loads_no_other(key: str) -> None:
    program = (
        "import sys\n"
        "from hydra.adapters import registry\n"
        f"registry.get({key!r}).parser()\n"
        "print(*(name.removeprefix('hydra.adapters.') for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    others = {"acp", "cursor", "opencode_http", "pi_rpc", "unrunnable", *registry.OWN} - {key}
    assert not others & set(done.stdout.split())
