"""`[checks]`, and `[checks.<name>]` of a check with more to say than its command."""

from hydra.config.checks import KINDS, check_command, report_path
from hydra.config.key import Key, Table
from hydra.config.kinds import BOOLEAN, choice, count, text
from hydra.config.tables.common import variables

_CHECKS = Table("checks")
_CHECK = Table("checks.<name>")

CHECKS: tuple[Key, ...] = (
    _CHECKS.key(
        "parallel",
        count(1, 64),
        "Lanes whose checks run at once; those of one lane run one after another.",
        default=1,
        environment="HYDRA_CHECKS_PARALLEL",
    ),
    _CHECKS.key(
        "network",
        choice("auto", "private", "host"),
        "`private` gives each check its own loopback, and nothing else of a network; `host` this "
        "machine's; `auto` its own, but where the base fails without the machine's.",
        default="auto",
        environment="HYDRA_CHECKS_NETWORK",
    ),
    variables(_CHECKS, "checks are", '["DATABASE_URL", "ACME_*"]', "HYDRA_CHECKS_ENVIRONMENT"),
)

ONE_CHECK: tuple[Key, ...] = (
    _CHECK.key(
        "command",
        text(check_command),
        "What /bin/sh runs; 0 is passed.",
        shown="none: it must be there",
        example='"pytest -q"',
    ),
    _CHECK.key(
        "kind",
        choice(*KINDS),
        "`test`, `build` or `lint`: only a failing test is run once more.",
        shown="guessed from the command",
        example='"test"',
    ),
    _CHECK.key("required", BOOLEAN, "Whether a patch must pass it to be usable.", default=True),
    _CHECK.key(
        "junit",
        text(report_path),
        "Where it writes JUnit XML: a path or a glob from the top.",
        shown="what it is asked for by environment",
        example='"build/test-results/**/*.xml"',
    ),
)
