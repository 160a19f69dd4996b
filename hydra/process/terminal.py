"""A terminal for an agent that refuses to run without one: one side is the agent's, one ours."""

from __future__ import annotations

import fcntl
import os
import struct
import termios

ROWS, COLUMNS = 24, 80
TERM = "xterm"
"""Its kind, where the adapter sets no other: whoever insists on a terminal turns `dumb` down."""

_LOCAL_FLAGS = 3


def opened() -> tuple[int, int]:
    """(our side, the agent's side), both close-on-exec, of `ROWS` lines with `COLUMNS` columns.

    What is written to it is not echoed: the record is what the agent says, not what it is told.
    """
    ours, theirs = os.openpty()
    settings = termios.tcgetattr(theirs)
    settings[_LOCAL_FLAGS] &= ~(termios.ECHO | termios.ECHONL)
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return ours, theirs
