"""What a lane asks for: which word wins, and what is refused by name before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydra.adapters import registry
from hydra.app import settings
from hydra.config import Config, load
from hydra.config.records import Profile, RaceSettings
from hydra.errors import ConfigError, UnsupportedFlag, UsageError
from hydra.model import Budget, Effort, Lane, Permission, SpawnRequest
from hydra.wanted import check_mapped, smaller, wanted

PROFILE = """
[race]
effort = "low"
permission = "full-auto"
[agents.claude]
model = "sonnet"
effort = "medium"
[budget]
turns = 9
cost = 3
[profiles.reviewer]
agent = "claude"
model = "opus"
effort = "high"
permission = "edit"
preface = "Look first."
environment = ["ACME_*"]
turns = 20
time = "90s"
"""


def config(text: str = PROFILE) -> Config:
    return load(user=("user.toml", text), agent_keys=tuple(registry.OWN))


def lane(spec: str, told: Config) -> Lane:
    return registry.lanes([spec], registry.OWN, told.agents_of_profiles)[0]


@pytest.mark.parametrize(
    ("spec", "id", "model", "effort"),
    [
        ("reviewer", "reviewer", "opus", "high"),
        ("reviewer@max", "reviewer-max", "opus", "max"),
        ("reviewer:haiku@low", "reviewer-haiku-low", "haiku", "low"),
        ("claude", "claude", "sonnet", "low"),
        ("claude:a@b", "claude-a-b", "a@b", "low"),
        ("codex:gpt-5.5@high", "codex-gpt-5.5-high", "gpt-5.5", "high"),
        ("codex@high", "codex-high", None, "high"),
    ],
)
def test_the_nearer_word_wins(spec: str, id: str, model: str | None, effort: str) -> None:
    told = config()
    one = lane(spec, told)
    asked = wanted(told, one)
    assert (one.id, asked.model, asked.effort) == (id, model, effort)


def test_a_profile_brings_its_preface_environment_and_the_smaller_budget() -> None:
    told = config()
    asked = wanted(told, lane("2xreviewer", told))
    assert asked.preface == "Look first."
    assert asked.environment == ("ACME_*",)
    assert asked.budget == Budget(turns=9, cost_usd=3, seconds=90)
    assert asked.permission is Permission.EDIT


@pytest.mark.parametrize(
    ("race", "profile", "held"),
    [
        ("plan", "full-auto", "plan"),
        ("full-auto", "plan", "plan"),
        ("edit", "config", "edit"),
        ("plan", "config", "plan"),
        ("full-auto", "config", "config"),
        ("unrestricted", "default", "default"),
        ("default", "full-auto", "default"),
        ("config", "edit", "config"),
        ("config", "plan", "plan"),
        (None, "edit", "edit"),
        ("edit", None, "edit"),
        (None, None, None),
    ],
)
def test_of_two_permissions_the_lower_holds(
    race: str | None, profile: str | None, held: str | None
) -> None:
    told = Config(
        race=RaceSettings(permission=Permission(race) if race else None),
        profiles={
            "p": Profile(agent="claude", permission=Permission(profile) if profile else None)
        },
    )
    asked = wanted(told, Lane(id="p", adapter="claude", profile="p"))
    assert asked.permission == held


def test_no_limit_is_no_smaller_than_any() -> None:
    assert smaller(Budget(turns=3), Budget(turns=5, tool_calls=2)) == Budget(turns=3, tool_calls=2)


def request(**changes: object) -> SpawnRequest:
    return SpawnRequest(prompt="x", worktree=Path("/lane/x"), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("agent", "asked", "words"),
    [
        ("cursor-agent", {"effort": Effort.HIGH}, "effort high"),
        ("claude", {"service_tier": "fast"}, "service tier 'fast'"),
        ("codex", {"service_tier": "slow"}, "it has fast, flex"),
    ],
)
def test_what_a_cli_cannot_do_is_refused_by_name(
    agent: str, asked: dict[str, object], words: str
) -> None:
    with pytest.raises(UnsupportedFlag, match=words) as refused:
        check_mapped(registry.OWN[agent].descriptor, request(**asked))
    assert refused.value.failure.reason == "capability"
    assert agent in refused.value.hint


CURSOR = '[profiles.r]\nagent = "cursor-agent"\n'


@pytest.mark.parametrize(
    ("spec", "text", "flags", "hint"),
    [
        ("cursor-agent@high", "", {}, "leave @high out for cursor-agent"),
        ("r", CURSOR + 'effort = "high"', {}, "take effort out of [profiles.r]"),
        ("r@low", CURSOR + 'effort = "high"', {}, "leave @low out for cursor-agent"),
        ("r", CURSOR, {"race.effort": "high"}, "leave --effort out for cursor-agent"),
        (
            "r",
            '[race]\neffort = "max"\n' + CURSOR,
            {},
            "take effort out of [race] in /u/hydra.toml",
        ),
        (
            "r",
            CURSOR + '[agents.cursor-agent]\neffort = "high"',
            {},
            "take effort out of [agents.cursor-agent]",
        ),
        ("r", CURSOR + 'service_tier = "fast"', {}, "take service_tier out of [profiles.r]"),
        (
            "r",
            CURSOR + '[agents.cursor-agent]\nservice_tier = "fast"',
            {},
            "take service_tier out of [agents.cursor-agent]",
        ),
    ],
)
def test_the_hint_names_what_the_user_wrote(
    spec: str, text: str, flags: dict[str, object], hint: str
) -> None:
    told = load(user=("/u/hydra.toml", text), flags=flags, agent_keys=tuple(registry.OWN))
    one = lane(spec, told)
    asked = wanted(told, one)
    with pytest.raises(UnsupportedFlag) as refused:
        check_mapped(
            registry.OWN["cursor-agent"].descriptor,
            request(effort=asked.effort, service_tier=asked.service_tier),
            effort_at=asked.effort_at,
            tier_at=asked.tier_at,
        )
    assert refused.value.hint == hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[profiles.x]\nmodel = "m"', "names no agent"),
        ('[profiles.x]\nagent = "claud"', 'no agent "claud"'),
        ('[profiles.claude]\nagent = "codex"', 'can be called "claude": an agent is called so'),
        ('[profiles.X]\nagent = "codex"', "a name is of a-z"),
        ('[profiles."x.y"]\nagent = "codex"', 'can be called "x.y": a name is of a-z'),
        ('[profiles.2xr]\nagent = "codex"', "that is a count"),
        ('[profiles.x]\nagent = "codex"\npermission = "unrestricted"', "--unsafe-full-access"),
        ('[profiles.x]\nagent = "codex"\npreface = ""', "takes text"),
        ('[profiles.x]\nagent = "codex"\neffort = "huge"', "low, medium, high or max"),
        ("[budget]\ncost = 0", "must be 0.01"),
    ],
)
def test_a_profile_that_is_none(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        config(text)


def test_two_profiles_of_one_name() -> None:
    one = '[profiles.x]\nagent = "codex"'
    with pytest.raises(
        ConfigError, match=r"two profiles are called x: user\.toml, line 2 and shop"
    ):
        load(user=("user.toml", one), repository=("shop/hydra.toml", one), agent_keys=("codex",))


@pytest.mark.parametrize("key", ['permission = "edit"', 'environment = ["A"]'])
def test_a_repositorys_profile_says_less(key: str) -> None:
    text = f'[profiles.x]\nagent = "codex"\n{key}'
    with pytest.raises(ConfigError, match="may not be set by a repository"):
        load(repository=("shop/hydra.toml", text), agent_keys=("codex",))


def test_a_name_that_is_neither_agent_nor_profile_is_told_both() -> None:
    with pytest.raises(UsageError, match="did you mean reviewer"):
        lane("reviwer", config())


def test_a_preface_file_of_the_repository_is_read(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "reviewer.md").write_text("Read all of it.\n")
    told = config(
        '[profiles.r]\nagent = "codex"\npreface = "A."\npreface_file = "docs/reviewer.md"'
    )
    read = settings.with_prefaces(told, [lane("r", told)], tmp_path)
    assert wanted(read, lane("r", read)).preface == "A.\n\nRead all of it."
    assert settings.with_prefaces(told, [lane("codex", told)], tmp_path) == told


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "cannot be read"),
        (lambda path: path.symlink_to("/etc/hostname"), "outside the repository"),
        (lambda path: path.mkdir(), "is no file"),
        (lambda path: path.symlink_to("p.md"), "cannot be read"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "no UTF-8"),
        (lambda path: path.write_bytes(b"a\0b"), "holds NUL bytes"),
        (lambda path: path.write_bytes(b"x" * 70_000), "over 64 KiB"),
    ],
)
def test_a_preface_file_that_cannot_be_taken(make: object, words: str, tmp_path: Path) -> None:
    assert callable(make)
    make(tmp_path / "p.md")
    told = config('[profiles.r]\nagent = "codex"\npreface_file = "p.md"')
    with pytest.raises(ConfigError, match=words):
        settings.with_prefaces(told, [lane("r", told)], tmp_path)


@pytest.mark.parametrize("path", ["/etc/hostname", "~/.netrc", "../x", ".git/config"])
def test_a_repositorys_preface_file_is_inside_it(path: str) -> None:
    text = f'[profiles.x]\nagent = "codex"\npreface_file = "{path}"'
    with pytest.raises(ConfigError, match="is not a path inside the repository"):
        load(repository=("shop/hydra.toml", text), agent_keys=("codex",))


def test_no_link_leads_a_preface_into_gits_own_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("url = https://me:secret@example.org\n")
    (tmp_path / "p.md").symlink_to(".git/config")
    told = config('[profiles.r]\nagent = "codex"\npreface_file = "p.md"')
    with pytest.raises(ConfigError, match=r"lies in \.git"):
        settings.with_prefaces(told, [lane("r", told)], tmp_path)
