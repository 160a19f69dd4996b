"""The options of `hydra compare` that ask an agent: what is said meanwhile, and what stops it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import DURATION, F, require_race_platform

if TYPE_CHECKING:
    from hydra.commands.review.review import ReviewReport


def options(function: F) -> F:
    """`--review`, `--separate`, and what bounds them."""
    for option in (
        click.option(
            "--allow-experimental-adapters",
            "experimental",
            is_flag=True,
            help="Let an experimental agent be asked.",
        ),
        click.option(
            "--budget", type=DURATION, help="The longest that each of the two may take (5m)."
        ),
        click.option(
            "--separate",
            metavar="AGENT",
            help="Ask this agent for tests that tell the patches apart, and run them.",
        ),
        click.option(
            "--review",
            metavar="AGENT",
            help="Ask this agent what is to be known of the patches; it changes no rank.",
        ),
    ):
        function = option(function)
    return function


def consult(document: Mapping[str, Any]) -> int:
    """Asks whom the options name; 0, or the exit code where it was interrupted."""
    names = [name for name in ("review", "separate") if document[name] is not None]
    if not names:
        _check_alone(document)
        return 0
    require_race_platform()
    from hydra.commands.review import discriminate
    from hydra.commands.review import review as reviewing

    ways = {"review": reviewing.review, "separate": discriminate.separate}
    for name in names:
        done = ways[name](_asker(document, document[name]), document["run"])
        _tell(done)
        if done.interrupted:
            from hydra.errors import EXIT_INTERRUPTED, EXIT_TERMINATED

            return EXIT_INTERRUPTED if done.interrupted == 2 else EXIT_TERMINATED
    return 0


def _check_alone(document: Mapping[str, Any]) -> None:
    for name, option in (("budget", "--budget"), ("experimental", "--allow-experimental-adapters")):
        if document[name]:
            from hydra.errors import UsageError

            raise UsageError(
                f"{option} is for --review and --separate",
                hint="name an agent: hydra compare --review claude",
            )


def _asker(document: Mapping[str, Any], agent: str) -> Any:
    from hydra.commands.review.reviewer import BUDGET, Asker

    return Asker(
        agent=agent,
        budget=BUDGET if document["budget"] is None else document["budget"],
        experimental=document["experimental"],
        tell=_say,
    )


def _say(line: str) -> None:
    from hydra.report.text import clean

    sys.stderr.write(f"hydra: {clean(line)}\n")
    sys.stderr.flush()


def _tell(done: ReviewReport) -> None:
    for warning in done.warnings:
        _say(f"warning: {warning}")
    if done.says:
        _say(done.says)
