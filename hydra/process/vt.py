"""What a terminal would show of a program's output, as far as lines of text go."""

from __future__ import annotations

import re
from collections.abc import Callable

_ESC = 0x1B
_STRINGS = b"]PX^_"
"""After ESC: OSC, DCS, SOS, PM and APC begin, which end by BEL, or by ESC and a backslash."""

_NOT_SHOWN = bytes(byte for byte in range(32) if byte not in b"\t\n\r") + b"\x7f"
_PARAMETERS = re.compile(rb"[ -?]*+")
_INTERMEDIATES = re.compile(rb"[ -/]*+")
_STRING_END = re.compile(rb"[\x07\x18\x1a\x1b\n]")

_State = Callable[[bytes, int], int]


class Stripper:
    """Takes VT sequences and control characters out of a stream, however it is cut into chunks.

    Nothing is held back but where in a sequence the stream is, and each byte is looked at once. A
    newline ends whatever has not been ended: no sequence swallows the lines after it.
    """

    def __init__(self) -> None:
        self._state: _State = self._text
        self._shown: list[bytes] = []

    def feed(self, chunk: bytes) -> bytes:
        """What of `chunk` is text; tabs, newlines and carriage returns are."""
        at = 0
        while at < len(chunk):
            at = self._state(chunk, at)
        shown = b"".join(self._shown).translate(None, _NOT_SHOWN)
        self._shown.clear()
        return shown

    def line(self, raw: bytes) -> bytes:
        """A whole line without its newline: what stands in it once it is complete. A program that
        goes back to the line's beginning writes it anew."""
        return self.feed(raw + b"\n")[:-1].rstrip(b"\r").rpartition(b"\r")[2]

    def _text(self, chunk: bytes, at: int) -> int:
        position = chunk.find(_ESC, at)
        end = len(chunk) if position < 0 else position
        self._shown.append(chunk[at:end])
        if position < 0:
            return end
        self._state = self._escape
        return end + 1

    def _escape(self, chunk: bytes, at: int) -> int:
        byte = chunk[at]
        if byte == _ESC:
            return at + 1
        if byte == ord("["):
            self._state = self._control
        elif byte in _STRINGS:
            self._state = self._string
        elif byte in b" !\"#$%&'()*+,-./":
            self._state = self._designation
        else:
            self._state = self._text
            return at if byte < 0x20 or byte > 0x7E else at + 1
        return at + 1

    def _control(self, chunk: bytes, at: int) -> int:
        return self._up_to_final(_PARAMETERS, chunk, at)

    def _designation(self, chunk: bytes, at: int) -> int:
        return self._up_to_final(_INTERMEDIATES, chunk, at)

    def _up_to_final(self, within: re.Pattern[bytes], chunk: bytes, at: int) -> int:
        passed = within.match(chunk, at)
        at = passed.end() if passed else at
        if at == len(chunk):
            return at
        self._state = self._text
        # What cannot stand in a sequence ends it, and counts itself.
        return at if chunk[at] < 0x20 or chunk[at] > 0x7E else at + 1

    def _string(self, chunk: bytes, at: int) -> int:
        match = _STRING_END.search(chunk, at)
        if match is None:
            return len(chunk)
        # ESC ends it too where no backslash follows: a new sequence then begins.
        self._state = self._escape if match[0] == b"\x1b" else self._text
        return match.start() if match[0] == b"\n" else match.end()
