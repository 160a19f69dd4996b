"""A third party's adapter of an agent that is talked to (`talker`, beside this file)."""
# mypy: ignore-errors

import json
import re

from msgspec.structs import replace
from toy_adapter import DESCRIPTOR, Toy, ToyStream

from hydra.adapters import event_builders
from hydra.adapters.contract import CloseInput, Finish, Write
from hydra.adapters.detection import AgentIdentity
from hydra.records.agent import ServerCall

FLOOD = b" " * 1024**2


class TalkerStream(ToyStream):
    label = "Talker"

    def take(self, line):
        if line.get("hydra") == "sse" and isinstance(line.get("data"), dict):
            return super().take(line["data"])
        if line.get("hydra") == "http_failed":
            self.ending = [
                event_builders.failed("AgentFailed", "agent_error", str(line.get("text")))
            ]
            return []
        if line.get("hydra") or line.get("type") in ("ask", "serving", "idle"):
            return [event_builders.progress("notice", text=json.dumps(line))]
        return super().take(line)


class TalkerTalk(TalkerStream):
    def __init__(self, command):
        super().__init__()
        self.password = dict(command.session_params)["TALKER_PASSWORD"]
        self.todo = [self.write(prompt=command.stdin.decode())]
        self.url = ""

    def write(self, **what):
        return Write(json.dumps(what).encode() + b"\n")

    def call(self, id, path, **more):
        headers = (("Authorization", f"Bearer {self.password}"),)
        return ServerCall(id, more.pop("method", "GET"), self.url + path, headers, **more)

    def take(self, line):
        events = super().take(line)
        kind, hydra = line.get("type"), line.get("hydra")
        if hydra == "sse" and isinstance(line.get("data"), dict):
            kind = line["data"].get("type")
        if kind == "ask":
            self.todo.append(self.write(answer=line.get("id")))
        elif kind == "serving":
            self.url = line["url"]
            self.todo.append(self.call("events", "/events", events=True))
        elif hydra == "http" and line.get("id") == "events":
            self.todo.append(self.call("go", "/go", method="POST", body=b"{}"))
        elif kind == "say" and line.get("text") == "flood me":
            self.todo += [Write(FLOOD)] * 30
        elif kind == "say" and line.get("text") == "confuse me":
            self.todo.append("no act at all")
        elif kind == "idle" or hydra == "http_failed":
            self.todo.append(Finish())
        elif kind == "done" and not hydra:
            self.todo.append(CloseInput())
        return events

    def acts(self):
        todo, self.todo = self.todo, []
        return todo


class Talker(Toy):
    descriptor = replace(
        DESCRIPTOR,
        key="talker",
        label="Talker",
        binaries=("talker",),
        interactive=True,
        protocol="acp",
    )
    identity = AgentIdentity(re.compile(r"^toy (\d+\.\d+\.\d+)$", re.M), re.compile(r"^Toy ", re.M))
    parser = TalkerStream

    def key(self):
        return "talker"

    def build_command(self, request, document):
        return replace(
            super().build_command(request, document), per_attempt_secrets=("TALKER_PASSWORD",)
        )

    def conversation(self, command):
        return TalkerTalk(command)


TALKER = Talker()
