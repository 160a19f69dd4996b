"""What is recorded of a CLI: scrubbed, the same bytes every time, and nothing by hand is lost."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import registry
from hydra.adapters.proofs import records
from hydra.conformance import recorded
from hydra.conformance.live.expectation import USAGE
from hydra.conformance.live.observation import LiveRun, Observation
from hydra.conformance.race_run import RacedLane
from hydra.conformance.recording import LONGEST, record
from hydra.conformance.results import Case, CaseVerdict
from hydra.conformance.scrub import scrub
from hydra.records.agent import ProbeOutput
from hydra.records.codec import shaped
from hydra.records.events import Event
from hydra.records.outcome import ExitStatus, Status, Usage
from tests.adapter_recordings import FIXTURES

UUIDS = ("6f1c0c4e-8a7b-4a53-9d0e-0c6a1f0a2b3c", "11111111-2222-4333-8444-555555555555")
KEY = "sk-ant-made-up-claude-0123456789"


def dashed(path: str) -> str:
    """A path as Claude Code writes it into a folder's name."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def stream(place: str, session: str, port: int) -> str:
    """A run of Claude Code as it looks on one machine at one moment."""
    memory = f"{place}/home/.claude/projects/{dashed(place)}-shop"
    error = f"no answer from http://127.0.0.1:{port}/v1 with {KEY}"
    at = f"2026-11-{10 + port % 10}T12:00:0{port % 10}.{port}Z"
    result = {"is_error": False, "num_turns": 2, "result": "done", "duration_ms": port}
    lines: tuple[dict[str, object], ...] = (
        {"type": "system", "subtype": "init", "cwd": f"{place}/shop", "memory": memory},
        {"type": "system", "subtype": "api_retry", "attempt": 1, "error": error, "at": at},
        {"type": "result", "subtype": "success", **result},
    )
    more: tuple[dict[str, object], ...] = ({"retry_delay_ms": 500 + port % 100}, {}, {})
    rows = ({**line, **add, "session_id": session} for line, add in zip(lines, more, strict=True))
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)


def seen(
    folder: Path,
    name: str = "edit",
    text: str = "",
    ended: dict[str, object] | None = None,
    **more: object,
) -> Observation:
    """An observation whose files lie in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    out, err = folder / f"{name}.jsonl", folder / f"{name}.txt"
    out.write_text(text or stream(str(folder), UUIDS[0], 40123))
    err.write_text(f"warning: {folder}/home\n")
    exit = shaped(ended or {"code": 0, "survivors": ["sh"]}, ExitStatus)
    usage = Usage(input_tokens=5)
    kinds = (("progress", "notice"), ("message", ""), ("message", ""))
    run = LiveRun(
        lane=RacedLane(lane="claude", status=Status.COMPLETED, exit=exit, usage=usage),
        events=[Event(seq=0, wall=0, mono=0, run="r", kind=kind, sub=sub) for kind, sub in kinds],
        patch={"a.py": "M"},
        raw=out,
        raw_stderr=err,
        places={f"{folder}/shop": "/lane/shop", f"{folder}/home": "/home/user"},
    )
    facts: dict[str, Any] = {"situation": name, "agent": "claude", "version": "9.9.9"}
    return Observation(run=run, proves=("edit",), **facts | more)


def files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_two_recordings_of_the_same_run_are_the_same_bytes(scratch: Path) -> None:
    for name, session, port in (("one", UUIDS[0], 40123), ("another", UUIDS[1], 51999)):
        text = stream(str(scratch / name), session, port)
        record(scratch / f"root-{name}", [seen(scratch / name, text=text)])
    assert files(scratch / "root-one") == files(scratch / "root-another")


def test_nothing_of_the_machine_and_no_key_is_kept(scratch: Path) -> None:
    record(scratch / "root", [seen(scratch / "run")])
    whole = b"".join(files(scratch / "root").values()).decode()
    for text in (str(scratch), dashed(str(scratch)), UUIDS[0], "40123", KEY, "2026-11-1"):
        assert text not in whole
    assert '"cwd":"/lane/shop"' in whole
    assert "/home/user/.claude/projects/-lane-shop" in whole


def test_what_was_different_stays_different_and_a_longer_path_goes_first() -> None:
    text = scrub(f'"{UUIDS[0]}" "{UUIDS[1]}" "{UUIDS[0]}" msg_hydra_77 msg_hydra_9', {})
    first, second, third, *served = text.split()
    assert first == third != second
    assert len(set(served)) == 2
    places = {"/x/place": "/scratch", "/x/place/shop": "/lane/shop"}
    shown = scrub("/x/place/shop/a -x-place-shop-a /x/place/b", places)
    assert shown == "/lane/shop/a -lane-shop-a /scratch/b"
    for wait, kept in ((1000, 1000), (30000, 30000), (1212, 500)):  # a whole second was named
        assert scrub(f'{{"retry_delay_ms":{wait}}}', {}) == f'{{"retry_delay_ms":{kept}}}'


@pytest.mark.slow
def test_what_is_scrubbed_already_stays_as_it_is() -> None:
    """Of every third recorded stream: a second time changes nothing."""
    for path in sorted(FIXTURES.glob("*/*/stream.*"))[::3]:
        once = scrub(path.read_text(encoding="utf-8", errors="surrogateescape"), {})
        assert scrub(once, {}) == once, path


def test_the_record_says_what_was_seen_and_a_stream_is_read_back(scratch: Path) -> None:
    cases = [
        Case(suite="contract", agent="claude", name="lines", verdict=CaseVerdict.PASSED),
        Case(suite="contract", agent="claude", name="limits", verdict=CaseVerdict.SKIPPED),
        Case(suite="live", agent="claude", name="edit", verdict=CaseVerdict.PASSED),
    ]
    stopped = seen(
        *(scratch / "run", "plan"), ended={"code": None, "signal": 15}, differences=("something",)
    )
    record(scratch / "root", [seen(scratch / "run"), stopped], cases)
    (entry,) = records.read_all(scratch / "root", "claude")
    edit = entry.situations["edit"]
    assert (edit.passed, entry.situations["plan"].passed) == (True, False)
    assert edit.exit == {"code": 0, "signal": None}
    assert edit.events == ("message",)
    assert edit.usage == {name: name == "input_tokens" for name in USAGE}
    assert (edit.patch, edit.proves) == ({"a.py": "M"}, ("edit",))
    assert edit.stream == "stream.edit.jsonl"
    assert entry.contract == {"lines": True}
    first, stop = recorded.Recording(scratch / "root/claude/9.9.9").streams()
    assert (first.exit.code, stop.exit.signal) == (0, 15)
    assert first.expected is not None
    assert [row["kind"] for row in first.expected] == [*["progress"] * 3, "completed"]
    assert b"/home/user" in first.stderr


def test_a_stream_that_is_too_long_is_left_out(scratch: Path) -> None:
    long = stream(str(scratch), UUIDS[0], 1) + "x" * LONGEST
    record(scratch / "root", [seen(scratch / "run")])
    record(scratch / "root", [seen(scratch / "run", text=long)])
    folder = scratch / "root/claude/9.9.9"
    (entry,) = records.read_all(scratch / "root", "claude")
    assert entry.situations["edit"].stream == ""
    assert not list(folder.glob("stream.*"))
    assert json.loads((folder / "exits.json").read_text()) == {}


def test_a_stream_recorded_by_hand_is_never_replaced(scratch: Path) -> None:
    folder = scratch / "root/claude/9.9.9"
    folder.mkdir(parents=True)
    (folder / "stream.edit.jsonl").write_text("by hand\n")
    (folder / "exits.json").write_text('{"edit": 3}')
    for _ in range(2):  # the second time its own stream is there as well
        record(scratch / "root", [seen(scratch / "run")])
    assert (folder / "stream.edit.jsonl").read_text() == "by hand\n"
    assert json.loads((folder / "exits.json").read_text()) == {"edit": 3, "live-edit": 0}
    (entry,) = records.read_all(scratch / "root", "claude")
    assert entry.situations["edit"].stream == "stream.live-edit.jsonl"


@pytest.mark.parametrize(("whole", "rest"), [(False, {"edit", "plan"}), (True, {"edit"})])
def test_situations_that_were_not_tried_this_time(
    scratch: Path, whole: bool, rest: set[str]
) -> None:
    record(scratch / "root", [seen(scratch / "run"), seen(scratch / "run", "plan")])
    record(scratch / "root", [seen(scratch / "run")], whole=whole)
    (entry,) = records.read_all(scratch / "root", "claude")
    folder = scratch / "root/claude/9.9.9"
    assert set(entry.situations) == rest
    assert {p.name for p in folder.glob("stream.*.jsonl")} == {f"stream.{n}.jsonl" for n in rest}
    assert set(json.loads((folder / "exits.json").read_text())) == rest


def test_answers_to_probes(scratch: Path) -> None:
    def answer(name: str, stdout: str, code: int = 0, stderr: str = "") -> ProbeOutput:
        return ProbeOutput(
            name=name, argv=("claude",), exit_code=code, stdout=stdout, stderr=stderr
        )

    # Where they are asked, of an older version too; a help text may break at a hyphen.
    run = "/scr/hydra-conformance-a1_b"
    places = (f"{run}/probes/home", f"{run}/older/probes/home".replace("-c", "-\nc"), run)
    reads = [f"  --print  reads {place}/x\n" for place in places]
    answers = {
        "version": answer("version", "9.9.9 (Claude Code)\n"),
        "help": answer("help", "Usage: claude\n" + "".join(reads)),
        "sign_in": answer("sign_in", "", 1, "not signed in\n"),
    }
    record(scratch / "root", [], outputs={"claude": answers})
    folder = scratch / "root/claude/9.9.9"
    assert {p.name for p in folder.iterdir()} == {
        "version.txt",
        "help.txt",
        "sign-in.no.txt",
        "sign-in.no.stderr.txt",
    }
    rows = recorded.Recording(folder).answers()
    assert [output.exit_code for output in rows["sign_in"]] == [1]
    named = ["/home/user/x", "/home/user/x", "/scratch/x"]
    assert rows["help"][0].stdout == "Usage: claude\n" + "".join(
        f"  --print  reads {name}\n" for name in named
    )


def test_an_answer_that_was_recorded_by_hand_stays(scratch: Path) -> None:
    folder = scratch / "root/claude/9.9.9"
    folder.mkdir(parents=True)
    (folder / "auth-status.key.json").write_text("{}")
    answers = {
        "version": ProbeOutput(name="version", argv=(), exit_code=0, stdout="9.9.9 (Claude Code)"),
        "sign_in": ProbeOutput(name="sign_in", argv=(), exit_code=0, stdout="other"),
    }
    record(scratch / "root", [], outputs={"claude": answers})
    assert {p.name for p in folder.iterdir()} == {"version.txt", "auth-status.key.json"}
    no = ProbeOutput(name="sign_in", argv=(), exit_code=1, stdout="not signed in")
    record(scratch / "root", [], outputs={"claude": {**answers, "sign_in": no}})
    assert (folder / "sign-in.no.txt").read_text() == "not signed in"  # of which there was none


def test_every_recorded_version_is_free_of_the_machine_it_was_recorded_on() -> None:
    for adapter in registry.everyone():
        for folder in (FIXTURES / adapter.key()).glob("*/"):
            for path in folder.glob("*"):
                text = path.read_text(encoding="utf-8", errors="replace")
                text = text.replace("/$bunfs/root/", "")  # inside a program that bun has packed
                for part in ("/var/tmp/", "/root/", "sk-ant-", "0123456789"):
                    assert part not in text, f"{path}: {part}"
