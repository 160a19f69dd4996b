"""`[budget]`: what one lane may use up; a profile has the same of its own."""

from hydra.config.key import NO, Key, Table
from hydra.config.kinds import count, points, seconds


def budget(table: Table, what: str) -> tuple[Key, ...]:
    """The keys of a budget in `table`, for `what` it is."""
    return (
        table.key(
            "turns", count(1, 100_000), f"Answers of the model that {what} may use.", example="40"
        ),
        table.key(
            "cost",
            points(0.01, 100_000),
            f"Dollars that {what} may cost, as far as its agent tells what it costs.",
            field="cost_usd",
            example="2.5",
        ),
        table.key(
            "time",
            seconds(1, 7 * 86400),
            f"Time that {what} may take; `limits.total` holds as well.",
            field="seconds",
            example='"20m"',
        ),
        table.key(
            "tool_calls", count(1, 100_000), f"Tool calls that {what} may make.", example="200"
        ),
    )


BUDGET = budget(Table("budget", NO), "one lane")
