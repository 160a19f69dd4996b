"""What a patch did to its tests and to what runs them, and what looks like working around them.

`findings` reads the texts of a patch and never runs them; what it cannot read, it says. The
trials ask the others which files to put back on the base's version, or to bring elsewhere, and
which code may change what runs the tests.
"""

from hydra.analysis.tampering.capabilities import capable
from hydra.analysis.tampering.commands import is_script
from hydra.analysis.tampering.configuration import configuration, restored
from hydra.analysis.tampering.findings import findings
from hydra.analysis.tampering.shadows import shadows as shadowing
from hydra.analysis.tampering.suite import tests_added, tests_brought, tests_changed

__all__ = [
    "capable",
    "configuration",
    "findings",
    "is_script",
    "restored",
    "shadowing",
    "tests_added",
    "tests_brought",
    "tests_changed",
]
