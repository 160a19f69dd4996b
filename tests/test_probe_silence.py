"""Of every agent that Hydra runs: a probe that gave no answer is told as that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.probe.probes import SETTINGS_LAST, SIGN_IN, Question, unanswered
from hydra.conformance.selection import chosen
from hydra.records.agent import ProbeOutput


def test_each_agents_help_and_version_tell_why_they_could_not_be_asked() -> None:
    lines: list[str] = []
    for subject in chosen([], [], None, os.environ)[0]:
        descriptor = subject.adapter.descriptor
        answers = subject.versions()[-1].probes(descriptor.probes) if subject.versions() else {}
        help = "exec_help" if subject.key == "codex" else "help"
        for name in {"version", help} & answers.keys():
            silent = replace(answers[name], exit_code=126, stdout="", stderr="bwrap: no")
            failed = {**answers, name: silent}
            error = unanswered(subject.detect(failed), descriptor, failed).error
            lines.append(error.message if error else f"{subject.key} {name}: ready")
    untold = [line for line in lines if not line.endswith("cannot be started: bwrap: no")]
    assert untold == ["acp help: ready"]  # no flag of it is needed
    assert len(lines) > 30


@pytest.mark.parametrize(("code", "seconds"), [(1, SETTINGS_LAST), (126, 0.0), (-9, 0.0)])
def test_a_sign_in_that_could_not_be_asked_for_is_not_remembered(code: int, seconds: float) -> None:
    codex = registry.get("codex").descriptor
    (probe,) = (probe for probe in codex.probes if probe.name == SIGN_IN)
    question = Question(descriptor=codex, probe=probe, binary=Path("/x"), key="x")
    assert question.lasts(ProbeOutput(argv=("x",), exit_code=code)) == seconds
