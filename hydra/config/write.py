"""Settings back to TOML: `dumps` for a whole Config, `template` for a person to fill in."""

from collections.abc import Mapping
from textwrap import fill
from typing import Any

from hydra.config.key import LOWER, NO, Key
from hydra.config.keys import KEYS
from hydra.config.model import Config, Profile
from hydra.records.request import Budget, Permission

_INTROS = {
    "race": "How a race runs when the command line does not say it.",
    "limits": 'When Hydra steps in. Durations and sizes carry a unit: "90s", "1h30m", "4MiB".',
    "checks": "How checks run; `check` in [race] names them in short.",
    "checks.<name>": "A check with more to say than its command. The highest place that names any "
    "check names them all: a flag, HYDRA_CHECK, the repository's file, your own.",
    "judge": "The verdict, and what it may try beyond the checks: the base's tests on each patch, "
    "each lane's new tests on the others.",
    "judge.weights": "The score beside the verdict; the rank does not follow it.",
    "retry": "A lane that failed by no fault of its own is tried again from the base, if it has "
    "changed nothing. Each try costs.",
    "hooks": "Your own commands around a race; each gets a JSON document on its standard input.",
    "confine": "The agents see the system, the tools that PATH names, and nothing else of this "
    "machine: your home folder is empty for them. `hydra doctor --view` lists what they see.",
    "budget": "What one lane may use up, whichever agent it is. Its patch is kept at the limit.",
    "agents.<key>": "One table for each agent that `hydra agents` lists.",
    "profiles.<name>": "An agent under a name of your own: `-a reviewer`.",
    "remotes.<name>": "Another machine, container or pod, for `remote` of an agent or a profile "
    "(docs/how-to/remote.md). Nothing of Hydra confines an agent there.",
    "models.<name>": "A model under a name of your own: `-a claude:large`.",
}

_EXAMPLES = {
    "agents.<key>": "agents.claude",
    "checks.<name>": "checks.unit",
    "profiles.<name>": "profiles.reviewer",
    "remotes.<name>": "remotes.gpubox",
    "models.<name>": "models.large",
}

_REPOSITORY_NOTES = {
    LOWER: "A repository's file may only lower it.",
    NO: "Only in your own file.",
}


def dumps(config: Config) -> str:
    """TOML that `load(user=...)` reads back to the same settings.

    What no file may say (unrestricted access, experimental adapters) is left out.
    """
    import tomli_w

    document: dict[str, Any] = {
        "race": _table(config.race, "race"),
        "limits": _table(config.limits, "limits"),
    }
    checks = _table(config.checks, "checks")
    for check in config.checks.checks:
        checks[check.name] = _table(check, "checks.<name>")
    document["checks"] = checks
    judge = _table(config.judge, "judge")
    document["judge"] = {**judge, "weights": _table(config.judge.weights, "judge.weights")}
    document["hooks"] = _table(config.hooks, "hooks")
    document["confine"] = _table(config.confine, "confine")
    document["retry"] = _table(config.retry, "retry")
    document["budget"] = _table(config.budget, "budget")
    agents = {agent: _table(settings, "agents.<key>") for agent, settings in config.agents.items()}
    if agents:
        document["agents"] = agents
    if config.profiles:
        document["profiles"] = {
            name: _profile(profile) for name, profile in config.profiles.items()
        }
    if config.remotes:
        document["remotes"] = {
            name: _table(remote, "remotes.<name>") for name, remote in config.remotes.items()
        }
    if config.models:
        document["models"] = {
            name: _table(model, "models.<name>") for name, model in config.models.items()
        }
    return tomli_w.dumps(document)


def _profile(profile: Profile) -> dict[str, object]:
    return _table(profile, "profiles.<name>", _table_of(profile.budget))


def _table_of(budget: Budget) -> dict[str, object]:
    return {field: getattr(budget, field) for field in Budget.__dataclass_fields__}


def _table(
    record: object, section: str, more: Mapping[str, object] | None = None
) -> dict[str, object]:
    """`more` are fields that the record holds in a record of its own."""
    table = {}
    for key in KEYS:
        if key.section == section and key.file and key.name != "race.check":
            value = (more or {}).get(key.field, getattr(record, key.field, None))
            if value not in (None, "") and value is not Permission.UNRESTRICTED:
                table[key.leaf] = key.kind.write(value)
    return table


def template(
    intro: str, *, repository: bool, guesses: Mapping[str, tuple[object, str]] | None = None
) -> str:
    """A hydra.toml in which every setting is commented out and shows its default.

    Prose starts with `# `, a setting with `#` alone, so taking one character away sets it.
    `repository` leaves out what a repository's file may not say. `guesses` are values to show in
    place of the default, by dotted key, each with a few words on where it comes from.
    """
    head = (
        f"{intro} A line that starts with # and no space is a setting: take the # away to set it."
    )
    parts = [_prose(head)]
    for section, text in _INTROS.items():
        keys = [key for key in KEYS if key.section == section and key.file]
        shown = [key for key in keys if not (repository and key.repository == NO)]
        parts.append(f"{_prose(text)}\n[{_EXAMPLES.get(section, section)}]")
        parts += [_setting(key, (guesses or {}).get(key.name)) for key in shown]
    return "\n\n".join(parts) + "\n"


def _setting(key: Key, guess: tuple[object, str] | None) -> str:
    notes = [key.meaning]
    notes += [f"Default: {key.shown}."] if key.shown else []
    notes += [_REPOSITORY_NOTES[key.repository]] if key.repository in _REPOSITORY_NOTES else []
    notes += [f"{guess[1]}."] if guess else []
    value = _toml(guess[0]) if guess else key.example or default_text(key)
    return f"{_prose(' '.join(notes))}\n#{key.leaf} = {value}"


def _prose(text: str) -> str:
    return fill(text, 88, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def default_text(key: Key) -> str:
    """A key's default as TOML, or in words where it is not a value."""
    return key.shown or _toml(key.kind.write(key.default))


def _toml(value: object) -> str:
    import tomli_w

    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").rstrip("\n")
