"""`hydra doctor`: is everything here that a race needs?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import Command, json_option, use_color
from hydra.cli.display import cells, experimental_option

if TYPE_CHECKING:
    from hydra.commands.doctor import Checkup
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
@experimental_option
@click.option("--fresh", is_flag=True, help="Ask every agent again, not only those that changed.")
@click.option("--view", is_flag=True, help="List what agents see of this machine, and why.")
@json_option
def command(experimental: bool, fresh: bool, view: bool, **options: Any) -> None:
    """Check what a race needs, and say what to do.

    Exit 4 where neither claude nor codex is ready, 3 without git or a folder for races.
    """
    if view:
        _show_view(as_json=options["as_json"])
        return
    from hydra.commands.doctor import doctor
    from hydra.report.doctor import doctor_text

    allowed = {"race.allow_experimental_adapters": experimental}
    checkup = doctor(allowed, fresh=fresh, whole=options["as_json"])
    if options["as_json"]:
        from hydra.records.codec import dump

        sys.stdout.write(dump(_document(checkup)))
    else:
        columns, color = cells(sys.stdout), use_color(sys.stdout)
        rows = _rows(checkup, whole=False)
        text = doctor_text(_checks(checkup), rows, width=columns, color=color)
        sys.stdout.write(text)
    sys.exit(checkup.exit_code)


def _show_view(*, as_json: bool) -> None:
    from hydra.commands.doctor import seen_by_lanes
    from hydra.records.codec import dump
    from hydra.report.lane_view import view_document, view_text

    view = seen_by_lanes()
    sys.stdout.write(dump(view_document(view)) if as_json else view_text(view))


def _rows(checkup: Checkup, *, whole: bool = True) -> list[AgentRow]:
    from hydra.commands.agent_rows import rows

    results = checkup.detections
    pairs = [(a, results.get(a.key())) for a in checkup.adapters]
    return rows(pairs, whole=whole)


def _checks(checkup: Checkup) -> list[DoctorCheck]:
    from hydra.report.doctor import DoctorCheck
    from hydra.report.models import server_words

    confinement = checkup.confinement
    return [
        DoctorCheck(
            name="git",
            ok=not checkup.git_problem,
            text=checkup.git_problem or f"git {checkup.git_version}",
        ),
        DoctorCheck(
            name="confinement",
            ok=True if confinement.holds else None,
            text=f"agents are confined by {confinement.program}"
            if confinement.holds
            else f"none: {confinement.reason}",
            hint=""
            if confinement.holds
            else "without it agents may edit files and run no commands",
        ),
        DoctorCheck(
            name="folder",
            ok=not checkup.state_problem,
            text=checkup.state_problem or f"races are kept in {checkup.state}",
        ),
        DoctorCheck(
            name="repository",
            ok=None if checkup.repository_problem else True,
            text=checkup.repository_problem or _about(checkup),
        ),
        *_path(checkup),
        DoctorCheck(name="hydra", ok=True, text=checkup.program),
        *(
            DoctorCheck(name="adapter", ok=None, text=adapter_problem)
            for adapter_problem in checkup.adapter_problems
        ),
        *(
            DoctorCheck(
                name="local models", ok=None, text=f"{endpoint.name}: {server_words(endpoint)}"
            )
            for endpoint in checkup.local
        ),
    ]


def _path(checkup: Checkup) -> list[DoctorCheck]:
    from hydra.report.doctor import DoctorCheck

    if not checkup.distrusted_path:
        return []
    entries = ", ".join(f"`{entry}`" for entry in checkup.distrusted_path)
    text = f"{entries}: in the repository, so Hydra takes git, bwrap and ssh from elsewhere"
    return [DoctorCheck(name="PATH", ok=None, text=text)]


def _about(checkup: Checkup) -> str:
    about = checkup.repository
    return f"{about['root']} on {about['branch'] or 'no branch'}: {about['subject']}"


def _document(checkup: Checkup) -> dict[str, object]:
    from hydra.report.agents_document import agent_document
    from hydra.report.models import server_document

    return {
        "schema": 1,
        "git": {"version": checkup.git_version or None, "problem": checkup.git_problem or None},
        "confinement": {
            "kind": checkup.confinement.kind,
            "program": checkup.confinement.program or None,
            "reason": checkup.confinement.reason or None,
            "promises": list(checkup.confinement.promises),
        },
        "state": {
            "folder": None if checkup.state is None else str(checkup.state),
            "problem": checkup.state_problem or None,
        },
        "repository": dict(checkup.repository) or None,
        "repository_problem": checkup.repository_problem or None,
        "program": checkup.program,
        "path_distrusted": list(checkup.distrusted_path),
        "agents": [agent_document(row) for row in _rows(checkup)],
        "adapter_problems": list(checkup.adapter_problems),
        "local_models": [server_document(server) for server in checkup.local],
        "exit_code": checkup.exit_code,
    }
