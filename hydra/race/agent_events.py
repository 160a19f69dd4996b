"""What an attempt's agent says while it runs, and all that follows from it at once."""

from __future__ import annotations

from dataclasses import dataclass, field

from hydra.process.control import ProcessControl
from hydra.race.context import Emit
from hydra.race.transcript import AgentTranscript
from hydra.records.agent import BuiltCommand
from hydra.records.events import AgentEvent, Raw


@dataclass
class AgentEventHandler:
    """What one agent has said so far: its story, and the warnings that it was worth."""

    command: BuiltCommand
    control: ProcessControl
    emit: Emit
    transcript: AgentTranscript = field(default_factory=AgentTranscript)
    warnings: list[str] = field(default_factory=list)

    def handle(self, event: AgentEvent, raw: Raw | None, recorded: bool = True) -> None:
        """One event of the agent's: into its story, its clocks, and the race's one order."""
        self.transcript.add(event)
        feed_clocks(self.control, event)
        data = event.data
        if event.kind == "usage":
            data = {**data, **self.transcript.usage.numbers}  # totals, which never go down
        self.emit(event.kind, event.sub, data, source="agent", raw=raw, recorded=recorded)
        for difference in differences(self.command, event):
            if difference not in self.warnings:
                self.warn(difference)

    def warn(self, text: str, **more: object) -> None:
        """A sentence for a person on how this agent runs, and `more` for programs."""
        self.warnings.append(text)
        self.emit("lane_warning", data={"text": text, **more})


def feed_clocks(control: ProcessControl, event: AgentEvent) -> None:
    """Tells the limits of what an agent has just done: progress, a tool's call, its end, and
    that it has finished."""
    if event.is_progress:
        control.progress()
    match event:
        case ("message", _, _) | ("progress", "session" | "retry", _) | ("tool_call", _, _):
            control.resumed()  # it is at work, whatever it has said before
        case ("progress", "closing", _) | ("completed", _, _):
            control.closed()
        case ("failed", _, data) if data.get("terminal"):
            control.closed()
    if event.kind == "tool_call":
        name = str(event.data.get("summary") or event.data.get("name") or "")
        control.tool_opened(str(event.data.get("id", "")), name.removeprefix("$ "))
    elif event.kind == "tool_result":
        control.tool_closed(str(event.data.get("id", "")))


def differences(command: BuiltCommand, event: AgentEvent) -> list[str]:
    """What the CLI says it really applied, where that is not what was asked for."""
    if event.kind != "progress" or event.sub != "session":
        return []
    return [
        f"asked for {what} {request}, but the CLI applied {event.data[what]}"
        for what, request in command.expected_settings
        if event.data.get(what) not in (None, "", request)
    ]
