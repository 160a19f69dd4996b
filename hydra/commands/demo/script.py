"""The steps of a script, one small function each; docs/how-to/demo.md shows them together, with
those that a test alone has (`steps.STEPS` is all that the driver knows)."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from hydra.commands.demo.steps import STEPS

Step = dict[str, object]


def say(text: str) -> Step:
    """The agent says `text`."""
    return {"say": text}


def think(text: str) -> Step:
    """The agent reasons."""
    return {"think": text}


def edit(path: str, content: str) -> Step:
    """Writes a whole file with the agent's own tool, folders made."""
    return {"edit": {"path": path, "content": content}}


def replace(path: str, old: str, new: str) -> Step:
    """Replaces `old` once; where it is not found the tool fails and the run goes on."""
    return {"edit": {"path": path, "replace": [old, new]}}


def delete(path: str) -> Step:
    """Removes a file with the agent's own tool."""
    return {"delete": path}


def shell(*argv: str, show: str = "") -> Step:
    """Runs a real command in a session of its own. `show` is what the stream tells of it."""
    text = show or (argv[2] if argv[:2] == ("sh", "-c") else shlex.join(argv))
    return {"shell": {"argv": list(argv), "show": text}}


def finish(text: str = "") -> Step:
    """The run ends well. A script that ends without an ending ends so too."""
    return {"finish": text}


def pause(seconds: float) -> Step:
    """A human pace. For demonstrations only: tests order things by `touch` and `wait_for`."""
    return {"pause": seconds}


def check(steps: Sequence[Step]) -> None:
    """Raises `ValueError` where a step is none that the driver knows."""
    for step in steps:
        for name, value in step.items():
            if name not in STEPS:
                raise ValueError(f"no step is called {name!r}; there are: {', '.join(STEPS)}")
            if name == "repeat" and isinstance(value, dict):
                check(value["steps"])
