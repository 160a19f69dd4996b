"""Makes `hydra.toml.example` and the tables of docs/reference/configuration.md of the schema:
`python -m tests.support.config_example`."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import fill

import tomli_w

from hydra.config.schema import KEYS, LOWER, NEVER, NO, Key

EXAMPLE = Path(__file__).parents[2] / "hydra.toml.example"
PAGE = EXAMPLE.parent / "docs" / "reference" / "configuration.md"

_INTRO = (
    "Every setting of Hydra with its default. Your own file is $HYDRA_CONFIG, else "
    "~/.config/hydra/hydra.toml; a repository's is hydra.toml at its top, and may say less "
    "(docs/reference/configuration.md). "
    "A line that starts with # and no space is a setting: take the # away to set it."
)

_INTROS = {
    "race": "How a race runs when the command line does not say it.",
    "limits": 'When Hydra steps in. Durations and sizes carry a unit: "90s", "1h30m", "4MiB".',
    "checks": "How checks run; `check` in [race] names them in short.",
    "checks.<name>": "A check with more to say than its command. The highest place that names any "
    "check names them all: a flag, HYDRA_CHECK, the repository's file, your own.",
    "judge": "The verdict, and what it may try beyond the checks: the base's tests on each patch, "
    "each lane's new tests on the others.",
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


def example() -> str:
    """A hydra.toml in which every setting is commented out and shows its default.

    Prose starts with `# `, a setting with `#` alone, so taking one character away sets it.
    """
    parts = [_prose(_INTRO)]
    for section, text in _INTROS.items():
        parts.append(f"{_prose(text)}\n[{_EXAMPLES.get(section, section)}]")
        parts += [
            _setting(key) for key in KEYS if key.section == section and key.repository != NEVER
        ]
    return "\n\n".join(parts) + "\n"


def _setting(key: Key) -> str:
    notes = [key.meaning]
    notes += [f"Default: {key.shown}."] if key.shown else []
    notes += [_REPOSITORY_NOTES[key.repository]] if key.repository in _REPOSITORY_NOTES else []
    return f"{_prose(' '.join(notes))}\n#{key.leaf} = {key.example or default_text(key)}"


def _prose(text: str) -> str:
    return fill(text, 88, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def default_text(key: Key) -> str:
    """A key's default as TOML, or in words where it is not a value."""
    return key.shown or _toml(key.kind.write(key.default))


def _toml(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").rstrip("\n")


def page(text: str) -> str:
    """The page with the rows of each section's table as the schema has them."""
    for section in _INTROS:
        rows = "".join(f"{row(key)}\n" for key in KEYS if key.section == section)
        written = rf"^(\| `{re.escape(section)}\.\w+` \|.*\n)+"
        if table := re.search(written, text, re.MULTILINE):
            text = text.replace(table[0], rows)
    return text


def row(key: Key) -> str:
    """A key as a row of the page."""
    default = key.shown or f"`{default_text(key)}`"
    may = "may lower it" if key.repository == LOWER else key.repository
    ways = " ".join(f"`{way}`" for way in (key.environment, *key.flag.split(" / ")) if way)
    cells = (f"`{key.name}`", key.kind.name, default, key.meaning, may)
    return f"| {' | '.join(cells)} | {ways} |"


if __name__ == "__main__":
    EXAMPLE.write_text(example(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
