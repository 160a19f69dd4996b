"""All cases."""

from __future__ import annotations

from tests.support.cheats.case import Case
from tests.support.cheats.doors import CASES_OF_DOORS
from tests.support.cheats.node import CASES_OF_NODE
from tests.support.cheats.python_files import CASES_OF_FILES
from tests.support.cheats.rooms import CASES_OF_ROOMS
from tests.support.cheats.tools import CASES_OF_TOOLS

CASES: tuple[Case, ...] = (
    *CASES_OF_TOOLS,
    *CASES_OF_FILES,
    *CASES_OF_NODE,
    *CASES_OF_DOORS,
    *CASES_OF_ROOMS,
)
