"""`[hooks]`: the user's own commands around a race."""

from hydra.config.key import NO, Key, Table, plain
from hydra.config.kinds import seconds, strings
from hydra.config.tables.common import variables

_HOOKS = Table("hooks", NO)


def _hook(leaf: str, meaning: str) -> Key:
    commands = strings(plain, separator="\n")
    return _HOOKS.key(leaf, commands, meaning, default=(), example='["notify-send Hydra"]')


HOOKS: tuple[Key, ...] = (
    _hook(
        "pre_run", "Commands before a race; one that does not end with 0 keeps it from beginning."
    ),
    _hook("post_run", "Commands after it, once its result stands."),
    _hook("on_error", "Commands for each lane that ended with an error."),
    _HOOKS.key("timeout", seconds(0.1, 3600), "How long each of them may take.", default=60.0),
    variables(_HOOKS, "they are", '["SLACK_WEBHOOK"]'),
)
