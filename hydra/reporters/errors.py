"""Errors as a person reads them: what happened and why, then what to do next."""

from __future__ import annotations

from hydra.errors import NOT_INSTALLED, AgentError, AuthMissing, HydraError
from hydra.reporters.fields import Data, strings, text
from hydra.reporters.style import paint
from hydra.reporters.text import clean, command_line, cut
from hydra.reporters.wrapping import wrapped

STDERR_LINES = 12
"""Lines of an agent's stderr shown with its failure; its whole is in the run's folder."""


def error_text(error: HydraError, *, color: bool = False, width: int | None = None) -> str:
    """`error: ...` and `hint: ...`, as git, cargo and gh say it; ends with a newline."""
    lines = _headed("error:", error.message, "bad", color, width)
    if isinstance(error, AgentError):
        lines += failure_details(error.failure.as_dict(), width, hint=False)
    several = len(error.failures) > 1
    for failure in error.failures:
        plain = failure.reason == NOT_INSTALLED or failure.kind == AuthMissing.kind
        if several and plain:  # the message has all but what to do
            lines.append(line(clean(failure.adapter), clean(failure.hint)))
        else:
            lines += failure_details(failure.as_dict(), width, hint=several)
    if error.hint:
        lines += _headed("hint:", error.hint, "busy", color, None)  # it may be pasted
    return "\n".join(lines) + "\n"


def _headed(head: str, said: str, style: str, color: bool, width: int | None) -> list[str]:
    """Its first line folded, and set in beneath; lines of its own stay as they are."""
    sentence, *lines = clean(said, multiline=True).split("\n")
    first, *rest = wrapped(sentence, width, len(head) + 1, least=20)
    set_in = " " * (len(head) + 1)
    return [f"{paint(head, style, color)} {first}", *(f"{set_in}{it}" for it in rest), *lines]


def failure_details(failure: Data, width: int | None, *, hint: bool = True) -> list[str]:
    """A failure's four fields, one below the other; those that say nothing are left out."""
    command = strings(failure, "command")
    lines = labelled("adapter", clean(text(failure, "adapter")), width)
    if command:
        # Never wrapped: it is there to be pasted.
        lines += labelled("command", command_line(command), None)
    for i, said in enumerate(stderr_lines(text(failure, "stderr"))):
        lines += [line("" if i else "stderr", said if width is None else cut(said, width - 11))]
    return lines + (labelled("next", clean(text(failure, "hint")), width) if hint else [])


def labelled(label: str, said: str, width: int | None) -> list[str]:
    """`label` and what it says, wrapped to `width`; no line where nothing is said."""
    if not said:
        return []
    parts = wrapped(said, width, 11, least=20)
    return [line("" if i else label, part) for i, part in enumerate(parts)]


def line(label: str, said: str) -> str:
    """One line of a failure's details."""
    return f"  {label:7}  {said}"


def stderr_lines(stderr: str) -> list[str]:
    """The last lines of an agent's stderr that say anything, harmless."""
    said = [line.rstrip() for line in clean(stderr, multiline=True).split("\n")]
    return [line for line in said if line][-STDERR_LINES:]
