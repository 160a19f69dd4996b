"""`pytest --hydra-adapter my_pkg:ADAPTER`: the contract suite among the tests of an adapter.

pytest loads this in every run of an environment that has Hydra, so it imports nothing and does
nothing until the option is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hydra.conformance.contract.subject import ContractSubject
    from hydra.conformance.results import Case


def pytest_addoption(parser: pytest.Parser) -> None:
    """The two options."""
    group = parser.getgroup("hydra", "Hydra's conformance suite")
    group.addoption(
        "--hydra-adapter",
        action="append",
        default=[],
        metavar="MODULE:NAME",
        help="run Hydra's contract suite on this adapter (repeatable)",
    )
    group.addoption(
        "--hydra-fixtures",
        metavar="DIR",
        help="its recordings, as DIR/AGENT/VERSION/ (default: fixtures/ beside its module)",
    )


@pytest.hookimpl(tryfirst=True)  # before -k and -m choose
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Adds one item for each case of each adapter that was named."""
    for spec in config.getoption("--hydra-adapter"):
        contract = _contract(session, spec, config.getoption("--hydra-fixtures"))
        items.extend(session.genitems(contract))  # counted and reported as any other


def _contract(session: pytest.Session, spec: str, fixtures: str | None) -> Contract:
    from hydra.conformance.selection import named
    from hydra.errors import HydraError
    from hydra.report.text import clean

    try:
        subject = named(spec, Path(fixtures).absolute() if fixtures else None)
    except HydraError as error:
        raise pytest.UsageError(clean(f"{error.message} ({error.hint})")) from error
    contract: Contract = Contract.from_parent(session, name=spec, nodeid=f"hydra::{subject.key}")
    contract.subject = subject
    return contract


class Contract(pytest.Collector):
    """One adapter's cases."""

    subject: ContractSubject

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each name that the suite knows."""
        from hydra.conformance.contract import suite

        for name in suite.names():
            yield CaseItem.from_parent(self, name=name, nodeid=f"{self.nodeid}[{name}]")


class Differs(Exception):
    """A case failed; its text is all that there is to show."""


class CaseItem(pytest.Item):
    """One case of the suite, over all recorded versions."""

    obj = None
    """Plugins ask every item for its function (pytest-trio does); it has none."""

    def runtest(self) -> None:
        """Raises `Differs`; skips with the suite's own reason."""
        from hydra.conformance.contract import suite

        assert isinstance(self.parent, Contract)
        cases = list(suite.run(self.parent.subject, only=(self.name,)))
        lines = [
            _failure_text(case, difference) for case in cases for difference in case.differences
        ]
        if lines:
            raise Differs("\n".join(lines))
        reasons = [case.reason for case in cases if case.reason]
        if not cases or len(reasons) == len(cases):
            from hydra.report.text import clean

            pytest.skip(clean("; ".join(dict.fromkeys(reasons))) or "it was not tried")

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The differences alone, a line each: no traceback of Hydra's."""
        if isinstance(excinfo.value, Differs):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where it stands in reports."""
        assert isinstance(self.parent, Contract)
        return self.path, None, f"{self.parent.subject.key}[{self.name}]"


def _failure_text(case: Case, difference: str) -> str:
    from hydra.report.text import clean  # it may hold what the adapter or its CLI made up

    return clean(f"{case.version}: {difference}" if case.version else difference)
