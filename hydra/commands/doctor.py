"""`hydra doctor`: is everything here that a race needs?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from hydra.cli.common import Command, json_option
from hydra.cli.display import experimental_option, looks, show

if TYPE_CHECKING:
    from hydra.commands.agent_probes import Checkup
    from hydra.report.doctor import DoctorCheck
    from hydra.report.listing import AgentRow


@click.command(
    cls=Command,
    examples=(
        "hydra doctor",
        "hydra doctor --view",
        "hydra doctor --allow-experimental-adapters --json",
    ),
)
@experimental_option()
@click.option("--fresh", is_flag=True, help="Ask every agent again, not only those that changed.")
@click.option("--view", is_flag=True, help="List what agents see of this machine, and why.")
@json_option
def command(experimental: bool, fresh: bool, view: bool, as_json: bool) -> None:
    """Check what a race needs, and say what to do.

    Exit 4 where neither claude nor codex is ready, 3 without git or a folder for races.
    """
    if view:
        from hydra.commands.agent_probes import seen_by_lanes
        from hydra.report.lane_view import view_document, view_text

        lanes = seen_by_lanes()
        if as_json:
            show(view_document(lanes))
        else:
            show(view_text(lanes))
        return
    from hydra.commands.agent_probes import doctor
    from hydra.commands.agent_rows import rows

    allowed = {"race.allow_experimental_adapters": experimental}
    checkup = doctor(allowed, fresh=fresh, whole=as_json)
    results = checkup.detections
    agents = rows([(a, results.get(a.key())) for a in checkup.adapters], whole=as_json)
    if as_json:
        show(_document(checkup, agents))
    else:
        from hydra.report.doctor import doctor_text

        show(doctor_text(_checks(checkup), agents, **looks()))
    sys.exit(checkup.exit_code)


def _checks(checkup: Checkup) -> list[DoctorCheck]:
    from hydra.report.doctor import DoctorCheck
    from hydra.report.models import server_words

    confinement, about = checkup.confinement, checkup.repository
    walls = f"none: {confinement.reason}"
    hint = "without it agents may edit files and run no commands"
    if confinement.holds:
        walls, hint = f"agents are confined by {confinement.program}", ""
    where = checkup.repository_problem
    if not where:
        where = f"{about['root']} on {about['branch'] or 'no branch'}: {about['subject']}"
    git, state = checkup.git_problem, checkup.state_problem
    checks = [
        DoctorCheck("git", not git, git or f"git {checkup.git_version}"),
        DoctorCheck("confinement", True if confinement.holds else None, walls, hint),
        DoctorCheck("folder", not state, state or f"races are kept in {checkup.state}"),
        DoctorCheck("repository", None if checkup.repository_problem else True, where),
    ]
    if checkup.distrusted_path:
        entries = ", ".join(f"`{entry}`" for entry in checkup.distrusted_path)
        text = f"{entries}: in the repository, so Hydra takes git, bwrap and ssh from elsewhere"
        checks.append(DoctorCheck("PATH", None, text))
    return [
        *checks,
        DoctorCheck("hydra", True, checkup.program),
        *(DoctorCheck("adapter", None, problem) for problem in checkup.adapter_problems),
        *(
            DoctorCheck("local models", None, f"{server.name}: {server_words(server)}")
            for server in checkup.local
        ),
    ]


def _document(checkup: Checkup, agents: list[AgentRow]) -> dict[str, object]:
    from hydra.report.agents_document import agent_document
    from hydra.report.models import server_document

    confinement, state = checkup.confinement, checkup.state
    return {
        "schema": 1,
        "git": {"version": checkup.git_version or None, "problem": checkup.git_problem or None},
        "confinement": {
            "kind": confinement.kind,
            "program": confinement.program or None,
            "reason": confinement.reason or None,
            "promises": list(confinement.promises),
        },
        "state": {
            "folder": None if state is None else str(state),
            "problem": checkup.state_problem or None,
        },
        "repository": dict(checkup.repository) or None,
        "repository_problem": checkup.repository_problem or None,
        "program": checkup.program,
        "path_distrusted": list(checkup.distrusted_path),
        "agents": [agent_document(row) for row in agents],
        "adapter_problems": list(checkup.adapter_problems),
        "local_models": [server_document(server) for server in checkup.local],
        "exit_code": checkup.exit_code,
    }
