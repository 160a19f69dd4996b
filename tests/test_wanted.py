"""What a lane asks for: which word wins, and what is refused by name before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydra.adapters import registry
from hydra.adapters.probe import settings
from hydra.adapters.supported import check_supported
from hydra.config.load import load
from hydra.config.schema import Config, Profile, RaceSettings
from hydra.errors import ConfigError, UnsupportedFlag
from hydra.race.lane_plan import resolve, resolve_options
from hydra.records.agent import SpawnRequest
from hydra.records.request import Budget, Effort, Lane, Permission

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
    return load(user=("user.toml", text))


def lane(spec: str, item: Config) -> Lane:
    return registry.lanes([spec], registry.OWN, item.agents_of_profiles)[0]


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
    item = config()
    runner = lane(spec, item)
    options = resolve_options(item, runner)
    assert (runner.id, options.model, options.effort) == (id, model, effort)


def test_a_profile_brings_its_preface_environment_and_the_smaller_budget() -> None:
    item = config()
    options = resolve_options(item, lane("2xreviewer", item))
    assert options.preface == "Look first."
    assert options.environment == ("ACME_*",)
    assert options.budget == Budget(turns=9, cost_usd=3, seconds=90)
    assert options.permission is Permission.EDIT


@pytest.mark.parametrize(
    ("race", "profile", "text"),
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
    race: str | None, profile: str | None, text: str | None
) -> None:
    item = Config(
        race=RaceSettings(permission=Permission(race) if race else None),
        profiles={
            "p": Profile(agent="claude", permission=Permission(profile) if profile else None)
        },
    )
    options = resolve_options(item, Lane(id="p", adapter="claude", profile="p"))
    assert options.permission == text


def request(**changes: object) -> SpawnRequest:
    return SpawnRequest(prompt="x", worktree=Path("/lane/x"), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("agent", "document", "text"),
    [
        ("cursor-agent", {"effort": Effort.HIGH}, "effort high"),
        ("claude", {"service_tier": "fast"}, "service tier 'fast'"),
        ("codex", {"service_tier": "slow"}, "it has fast, flex"),
        ("claude", {"network": False}, "keeps its tools off the network"),
        ("openclaw", {"permission": Permission.EDIT}, "nothing like permission edit"),
        ("hermes", {"permission": Permission.PLAN}, "nothing like permission plan"),
        ("opencode", {"permission": Permission.DEFAULT}, "nothing like permission default"),
        ("acp", {"permission": Permission.PLAN}, "nothing like permission plan"),
        ("aider", {"resume": "abc"}, "cannot go on with a session"),
        ("cline", {"resume": "abc"}, "cannot go on with a session"),
        ("copilot", {"resume": "abc", "fork": True}, "a copy of a session"),
    ],
)
def test_what_a_cli_cannot_do_is_refused_by_name(
    agent: str, document: dict[str, object], text: str
) -> None:
    with pytest.raises(UnsupportedFlag, match=text) as refused:
        check_supported(registry.OWN[agent].descriptor, request(**document))
    assert refused.value.failure.reason == "capability"
    assert refused.value.hint


CURSOR = '[profiles.r]\nagent = "cursor-agent"\n'


IN_RACE, IN_AGENT = '[race]\neffort = "max"\n', '[agents.cursor-agent]\nservice_tier = "fast"'


@pytest.mark.parametrize(
    ("spec", "text", "flags", "hint"),
    [
        ("r@low", CURSOR + 'effort = "high"', {}, "leave @low out for cursor-agent"),
        ("r", CURSOR + 'effort = "high"', {}, "take effort out of [profiles.r]"),
        ("r", CURSOR, {"race.effort": "high"}, "leave --effort out for cursor-agent"),
        ("r", IN_RACE + CURSOR, {}, "take effort out of [race] in /u/hydra.toml"),
        ("r", CURSOR + IN_AGENT, {}, "take service_tier out of [agents.cursor-agent]"),
    ],
)
def test_the_hint_names_what_the_user_wrote(
    spec: str, text: str, flags: dict[str, object], hint: str
) -> None:
    item = load(user=("/u/hydra.toml", text), flags=flags)
    runner = lane(spec, item)
    options = resolve_options(item, runner)
    with pytest.raises(UnsupportedFlag) as refused:
        check_supported(
            registry.OWN["cursor-agent"].descriptor,
            request(effort=options.effort, service_tier=options.service_tier),
            effort_at=resolve(item, runner, "effort")[1],
            tier_at=resolve(item, runner, "service_tier")[1],
        )
    assert refused.value.hint == hint


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[profiles.x]\nmodel = "m"', r"\[profiles.x\] has no agent"),
        (
            '[profiles.x]\nagent = "claud"',
            "x.agent: no agent is called 'claud'; did you mean claude",
        ),
        (
            '\n[agents.cluade]\npath = "/x"',
            "line 3: no agent is called 'cluade'; did you mean claude",
        ),
        ('[agents."a.b"]\nmodel = "m"', 'no agent can be called "a.b": a name is of'),
        ('[agents.2xa]\nadapter = "a:B"', "2xa is no name that an agent can have"),
        ('[profiles.claude]\nagent = "codex"', 'can be called "claude": an agent is called so'),
        ('[profiles.X]\nagent = "codex"', "a name is of a-z"),
        ('[profiles."x.y"]\nagent = "codex"', 'can be called "x.y": a name is of a-z'),
        ('[profiles.2xr]\nagent = "codex"', "that is a count"),
        ('[profiles.x]\nagent = "codex"\npermission = "unrestricted"', "--unsafe-full-access"),
        ('[profiles.x]\nagent = "codex"\npreface = ""', "takes text"),
        ('[profiles.x]\nagent = "codex"\npreface = "a\\u0000b"', "takes text"),
        ('[profiles.x]\nagent = "codex"\neffort = "huge"', "low, medium, high or max"),
        ("[budget]\ncost = 0", "takes a number of 0.01"),
    ],
)
def test_an_agent_or_a_profile_that_is_none(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "hydra.toml").write_text(text)
    with pytest.raises(ConfigError, match=line):
        settings.load(None, {"HYDRA_CONFIG": str(tmp_path / "hydra.toml")}, {})


@pytest.mark.parametrize("more", ['agent = "codex"', 'preface = "Be kind."'])
def test_two_profiles_of_one_name(more: str) -> None:
    """Also where the repository's would be none without the user's."""
    name = '[profiles.x]\nagent = "codex"'
    theirs = ("shop/hydra.toml", f"[profiles.x]\n{more}")
    with pytest.raises(
        ConfigError, match=r"two profiles are called x: user\.toml, line 2 and shop"
    ):
        load(user=("user.toml", name), repository=theirs)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda path: None, "cannot be read"),
        (lambda path: path.symlink_to("/etc/hostname"), "outside the repository"),
        (lambda path: path.mkdir(), "is not a file of at most 64KiB"),
        (lambda path: path.symlink_to("p.md"), "cannot be read"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "is not UTF-8 text"),
        (lambda path: path.write_bytes(b"a\0b"), "holds NUL bytes"),
        (lambda path: path.write_bytes(b"x" * 70_000), "is not a file of at most 64KiB"),
    ],
)
def test_a_preface_file_that_cannot_be_taken(make: object, text: str, tmp_path: Path) -> None:
    assert callable(make)
    make(tmp_path / "p.md")
    item = config('[profiles.r]\nagent = "codex"\npreface_file = "p.md"')
    with pytest.raises(ConfigError, match=text):
        settings.with_prefaces(item, [lane("r", item)], tmp_path)


@pytest.mark.parametrize("path", ["/etc/hostname", "~/.netrc", "../x", ".git/config"])
def test_a_repositorys_preface_file_is_inside_it(path: str) -> None:
    text = f'[profiles.x]\nagent = "codex"\npreface_file = "{path}"'
    with pytest.raises(ConfigError, match="takes a path inside the repository"):
        load(repository=("shop/hydra.toml", text))


def test_no_link_leads_a_preface_into_gits_own_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("url = https://me:secret@example.org\n")
    (tmp_path / "p.md").symlink_to(".git/config")
    item = config('[profiles.r]\nagent = "codex"\npreface_file = "p.md"')
    with pytest.raises(ConfigError, match=r"lies in \.git"):
        settings.with_prefaces(item, [lane("r", item)], tmp_path)
