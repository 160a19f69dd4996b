"""A third party's adapter for Hydra: all that it has to know of the agent `toy`."""

import re

from hydra.adapters import event_builders as build
from hydra.adapters.command_line import CommandBuilder, Flag, without_lost
from hydra.adapters.contract import Descriptor, Probe
from hydra.adapters.detection import AgentIdentity, ProbeReading, read
from hydra.adapters.json_fields import mapping, objects, string
from hydra.adapters.json_stream import JsonStream, RecentIds, unknown
from hydra.adapters.prompts import as_stdin
from hydra.records.agent import Capability, CapabilitySet, Confidence, Tier
from hydra.records.request import Permission

SEEN = Capability(True, Confidence.OBSERVED, "1.0.0")
DESCRIPTOR = Descriptor(
    key="toy",
    label="Toy",
    homepage="https://example.com/toy",
    tier=Tier.EXPERIMENTAL,
    binaries=("toy",),
    minimum_version="1.0.0",
    install_hint="put the file `toy` of the example on your PATH",
    sign_in_hint="it needs none",
    exit_codes={0: "it did what its task says", 1: "it failed, and its last line says why"},
    capabilities=CapabilitySet(json_stream=SEEN, approval_controls=SEEN, emits_usage=SEEN),
    probes=(Probe(name="version", args=("--version",)), Probe(name="help", args=("--help",))),
)
JSON = Flag("--json", "to read what it does", required=True, drops=("json_stream", "emits_usage"))
MODE = Flag("--mode", "to say what it may do", required=True, drops=("approval_controls",))
MODEL = Flag("--model", "to choose a model")
TABLE, MODES = (JSON, MODE, MODEL), {Permission.PLAN: "look", Permission.EDIT: "edit"}


class ToyStream(JsonStream):
    label = "Toy"

    def __init__(self):
        super().__init__()
        self.ids, self.ending = RecentIds(), []

    def take(self, line):
        kind, id, text = string(line, "type"), string(line, "id"), string(line, "text")
        if kind == "start":
            return [build.session(version=string(line, "version"), permission=string(line, "mode"))]
        if kind.startswith("tool") and f"{kind} {id}" in self.ids:
            return []  # said twice is done once
        self.ids.add(f"{kind} {id}")
        if kind == "tool":
            name, file = string(line, "name"), string(line, "file")
            return [build.tool_call(id, name, f"{name} {file}")]
        if kind == "tool_done":
            refused = line.get("refused") is True
            return [build.tool_result(id, line.get("ok") is True, text, refused)]
        if kind == "done":
            names = [string(tool, "name")[:80] for tool in objects(line, "refused")[:100]]
            self.ending = [build.completed(text, denials=names, failed_items=0)]
            used = mapping(line, "tokens")
            return build.usage(input_tokens=used.get("in"), output_tokens=used.get("out"))
        if kind == "error":
            self.ending = [build.failed("AgentFailed", "agent_error", text)]
            return []
        return build.message(text) if kind == "say" else unknown(line)

    def finish(self, exit, files):
        return self.ending


class Toy:
    descriptor = DESCRIPTOR
    parser = ToyStream  # called for each attempt: a fresh one
    identity = AgentIdentity(re.compile(r"^toy (\d+\.\d+\.\d+)$", re.M), re.compile(r"^Toy ", re.M))

    def key(self):
        return DESCRIPTOR.key

    def detect(self, binary, probes):
        fixed = {"descriptor": DESCRIPTOR, "identity": self.identity, "table": TABLE}
        return read(ProbeReading(**fixed, binary=binary, probes=probes))

    def capabilities(self, flags):
        return without_lost(DESCRIPTOR.capabilities, TABLE, flags)

    def build_command(self, request, result):
        line = CommandBuilder("toy", "Toy", result.flags, hint=DESCRIPTOR.install_hint)
        line.add(JSON)
        line.add_value(MODE, MODES.get(request.permission, "all"))
        if request.model and not line.add(MODEL, MODEL.name, request.model):
            raise line.gone(MODEL.name, MODEL.purpose)
        prompt = as_stdin(request.prompt, adapter=self.key(), limit=1_000_000, unit="bytes")
        return line.command(request, result, stdin=prompt)


ADAPTER = Toy()
