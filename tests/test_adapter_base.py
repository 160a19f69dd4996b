"""What Hydra's own adapters share: the base that is given data alone, and a line's own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag
from hydra.adapters.contract import Adapter, Descriptor, Probe
from hydra.adapters.detection import AgentIdentity
from hydra.errors import UnsupportedFlag
from hydra.records.agent import (
    Capability,
    CapabilitySet,
    DetectResult,
    ProbeOutput,
    SpawnRequest,
    Tier,
)

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
    identity = AgentIdentity(re.compile(r"^made (\d+\.\d+)$", re.M), re.compile("Made"))
    table = (JSON, MODE, YOLO)


def probes(help: str) -> dict[str, ProbeOutput]:
    values = {"version": "made 1.0\n", "help": help}
    return {
        name: ProbeOutput(name=name, argv=("made", f"--{name}"), exit_code=0, stdout=text)
        for name, text in values.items()
    }


def line(*flags: str) -> CommandBuilder:
    return CommandBuilder("made", "Made", frozenset(flags), hint="make it")


MASKING = [adapter for adapter in registry.everyone() if adapter.descriptor.hidden_paths]


@pytest.mark.parametrize("adapter", MASKING, ids=lambda row: row.key())
def test_a_lane_is_warned_of_what_is_not_hidden_from_its_agent(adapter: Adapter) -> None:
    result = DetectResult(
        adapter=adapter.key(),
        binary=Path("/bin/agent"),
        flags=frozenset(flag.name for flag in _table(adapter)),
    )
    request = SpawnRequest(
        prompt="task",
        worktree=Path("/lane/shop"),
        model="made-up",
        instructions=adapter.descriptor.hidden_paths,
    )
    bare = adapter.build_command(request, result)
    hidden = adapter.build_command(replace(request, masked=True), result)
    assert bare.warnings
    assert hidden.warnings == ()
    assert replace(bare, warnings=()) == hidden


def _table(adapter: Adapter) -> Sequence[Flag]:
    assert isinstance(adapter, CliAdapter)
    return adapter.table


def test_data_alone_makes_key_detect_and_capabilities() -> None:
    item = Made()
    result = item.detect("/bin/made", probes(HELP))
    assert (item.key(), result.adapter, result.version, result.error) == (
        "made",
        "made",
        "1.0",
        None,
    )
    assert result.flags == {"--json", "--mode"}
    assert result.capabilities == item.capabilities(result.flags) == item.descriptor.capabilities
    gone = item.detect("/bin/made", probes("Options:\n  --mode <MODE>\n"))
    assert gone.error is not None
    assert gone.error.kind == "UnsupportedFlag"
    assert not item.capabilities(gone.flags).json_stream.present


def test_a_line_is_begun_by_what_was_found_and_ended_by_the_users_own_words() -> None:
    item = Made()
    result = item.detect("/bin/made", probes(HELP))
    begun = item.line(result)
    assert begun.options == {"--json", "--mode"}
    assert (begun.version, begun.args) == ("1.0", [])
    begun.add(JSON)
    begun.add(YOLO)
    request = SpawnRequest(prompt="Fix it", worktree=Path("/lane/shop"), extra_args=("--own",))
    begun.env.append(("A", "1"))
    command = begun.command(request, result, stdin=b"Fix it")
    assert command.argv == ("/bin/made", "--json", "--own")
    assert (command.cwd, command.dropped) == (request.worktree, ("--yolo",))
    assert (command.env, command.stdin, command.files) == ((("A", "1"),), b"Fix it", ())


def test_what_it_cannot_do_is_refused_in_the_adapters_own_words() -> None:
    failure = Made().cannot("Made has no network", "race it without").failure
    assert (failure.kind, failure.reason) == ("UnsupportedFlag", "capability")
    assert (failure.message, failure.hint) == ("Made has no network", "race it without")


def test_what_was_asked_for_is_there_or_refused() -> None:
    builder, none = line("--mode", "--yolo"), line()
    builder.need(YOLO)
    builder.need(MODE, "plan")
    builder.need_words(MODE, "--mode=plan")
    assert builder.args == ["--yolo", "--mode", "plan", "--mode=plan"]
    with pytest.raises(UnsupportedFlag, match=r"^this Made has no --mode, which is needed to say"):
        none.need(MODE, "plan")
    with pytest.raises(UnsupportedFlag, match=r"^this Made has no --mode plan, which is needed"):
        none.need_words(MODE, "--mode", "plan")


def test_a_mode_has_a_flag_in_its_stead_or_none() -> None:
    whole, builder = line("--mode", "--yolo"), line("--yolo")
    whole.add_mode(MODE, "yolo", YOLO)
    assert (whole.args, whole.dropped) == (["--mode", "yolo"], [])
    builder.add_mode(MODE, "yolo", YOLO)
    assert (builder.args, builder.dropped) == (["--yolo"], ["--mode"])
    for instead in (YOLO, None):
        with pytest.raises(UnsupportedFlag, match="no --mode yolo, which is needed to say"):
            line("--json").add_mode(MODE, "yolo", instead)
