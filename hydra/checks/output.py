"""A check's output on its way to its file: redacted, and capped as an agent's is."""

from __future__ import annotations

from pathlib import Path

from hydra.paths import make_private
from hydra.process.sink import RawSink
from hydra.redaction import Redactor


class Output:
    """One file. `take` may be called from Trio's own thread and never raises."""

    def __init__(self, path: Path, limit: int, redactor: Redactor) -> None:
        """Raises `OSError` where the file cannot be made."""
        make_private(path.parent)
        self.path = path
        self._sink = RawSink(path, limit)
        self._redactor = redactor
        self._content = b""
        self._piece = max(limit // 16, 1)

    def take(self, chunk: bytes) -> None:
        """What arrived. What may begin a secret waits for the next piece."""
        data = self._content + chunk
        cut = self._redactor.cut(data)
        self._content = data[cut:]
        self._write(data[:cut])

    def close(self) -> None:
        """Ends the file; blocks."""
        content, self._content = self._content, b""
        self._write(content)
        self._sink.close()

    @property
    def dropped(self) -> int:
        """Bytes over the limit; known once closed."""
        return self._sink.dropped

    @property
    def failed(self) -> bool:
        """Whether something did not reach the disk."""
        return self._sink.failed > 0

    def _write(self, data: bytes) -> None:
        if data:
            clean, _ = self._redactor.redact(data)
            # The head takes whole writes, so one that is larger than itself would leave it empty.
            for at in range(0, len(clean), self._piece):
                self._sink.write(clean[at : at + self._piece])
