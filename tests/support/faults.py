"""Faults from outside, at one call of Hydra's or of its git's: a library that is preloaded
(faults.c). It takes a C compiler: without one these tests fail."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_SOURCE = Path(__file__).with_suffix(".c")
_ROW = 256

HYDRA_DIES = "then kill -9 $(cut -d' ' -f4 /proc/$PPID/stat)"
"""After a call of git's: the Hydra that has called it is killed."""


@cache
def _library() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="hydra-faults-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    line = ("cc", "-shared", "-fPIC", "-O1", "-o", folder / "faults.so", _SOURCE)
    subprocess.run(line, check=True)
    return folder / "faults.so"


@dataclass
class Faults:
    """`at`: what happens at which call, as faults.c has it."""

    log: Path
    at: Mapping[str, str] = field(default_factory=dict)

    def environ(self, at: Mapping[str, str]) -> dict[str, str]:
        """For the next command, with these. Forgets the calls of the last one."""
        self.at = at
        for file in self.log.parent.glob(f"{self.log.name}*"):
            file.unlink()
        lines = "\n".join(f"{place}\t{deed}" for place, deed in at.items())
        return {"LD_PRELOAD": str(_library()), "FAULTS_LOG": str(self.log), "FAULTS": lines}

    @property
    def came(self) -> bool:
        """Whether each came that comes once."""
        once = [deed for deed in self.at.values() if not deed.startswith("fail ")]
        return len([*self.log.parent.glob(f"{self.log.name}.done*")]) == len(once)

    @property
    def calls(self) -> list[str]:
        """Those of the last command, in their order."""
        data = self.log.read_bytes()
        rows = (data[start : start + _ROW] for start in range(0, len(data), _ROW))
        return [row.rstrip(b"\0").decode("utf-8", "replace") for row in rows]
