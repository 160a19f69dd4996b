"""hydra.toml: every key, every refusal, and precedence."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hydra.config.load import DEFAULT, load, read_file
from hydra.config.schema import FIXED, KEYS, LOWER, NAMED, NO, AgentSettings, Config, Key, OwnModel
from hydra.config.values import duration, format_duration, format_size, size
from hydra.errors import ConfigError
from hydra.records.codec import as_json, shaped
from hydra.records.request import Limits, Permission, TrialCap
from tests.support.config_example import EXAMPLE, PAGE, default_text, example, page, row

AGENTS = ("claude", "codex", "cursor-agent")
CASES = tomllib.loads((Path(__file__).parent / "data" / "settings.toml").read_text())
OTHER_MODES = "(container|image|pod|namespace|context) "
"""Keys of a remote that do not go with the mode of the example."""


def user(text: str, **more: object) -> Config:
    return load(user=("user.toml", text), agent_keys=AGENTS, **more)  # type: ignore[arg-type]


def repository(text: str, own: str = "", **more: object) -> Config:
    return load(
        user=("user.toml", own),
        repository=("shop/hydra.toml", text),
        agent_keys=AGENTS,
        **more,  # type: ignore[arg-type]
    )


def refusal(text: str, own: str | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        user(text) if own is None else repository(text, own)
    return caught.value


def uncommented(text: str) -> str:
    return re.sub(rf"^#(?=\S)(?!{OTHER_MODES})", "", text, flags=re.MULTILINE)


# --- units ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("90s", 90), ("10m", 600), ("1h30m", 5400), ("1h 30m", 5400), ("500ms", 0.5)),
        *(("1.5h", 5400), ("2d", 172800), ("0s", 0), (" 10m ", 600)),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "m", "10 minutes", "30m1h", "-1s", "1e3s", "10mm", "nan", "ten"]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a duration: write it as"):
        duration(text)


def test_a_number_alone_is_told_which_unit_to_take() -> None:
    with pytest.raises(ConfigError, match='10 is a duration without a unit: write "10m" or "10s"'):
        duration("10")
    with pytest.raises(ConfigError, match='100 is a size without a unit: write "100MB"'):
        size("100")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        *(("100MB", 100_000_000), ("4MiB", 4 * 1024**2), ("2GiB", 2 * 1024**3), ("512B", 512)),
        *(("1.5kB", 1500), ("4mib", 4 * 1024**2), ("1 GB", 10**9), ("3TiB", 3 * 1024**4)),
    ],
)
def test_sizes(text: str, count: int) -> None:
    assert size(text) == count


@pytest.mark.parametrize("text", ["", "4M", "MB", "-1MB", "1e3MB", "4 Mb its"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a size: write it as"):
        size(text)


@given(st.integers(0, 30 * 86400 * 1000))
def test_a_duration_comes_back_from_its_text(milliseconds: int) -> None:
    assert duration(format_duration(milliseconds / 1000)) == milliseconds / 1000


@given(st.integers(0, 2**50))
def test_a_size_comes_back_from_its_text(count: int) -> None:
    assert size(format_size(count)) == count


# --- precedence and sources ----------------------------------------------------------------


def test_nothing_set_is_all_defaults() -> None:
    config = load()
    assert replace(config, sources={}) == Config()
    assert config.limits == Limits()
    assert set(config.sources) == set(FIXED)
    assert set(config.sources.values()) == {DEFAULT}


def test_flags_environment_repository_user_defaults() -> None:
    """Each place wins over those below it, one taken away after the other."""
    own = ("user.toml", "[race]\nmax_parallel = 2")
    theirs = ("hydra.toml", "[race]\nmax_parallel = 3")
    environ = {"HYDRA_MAX_PARALLEL": "5"}
    flags = {"race.max_parallel": 6}
    configs = [
        load(user=own, repository=theirs, environ=environ, flags=flags),
        load(user=own, repository=theirs, environ=environ),
        load(user=own, repository=theirs),
        load(user=own),
        load(),
    ]
    assert [(c.race.max_parallel, c.sources["race.max_parallel"]) for c in configs] == [
        (6, "--max-parallel"),
        (5, "HYDRA_MAX_PARALLEL"),
        (3, "hydra.toml"),
        (2, "user.toml"),
        (4, "default"),
    ]


def test_a_list_from_a_higher_place_replaces_the_lower_one() -> None:
    config = repository('[race]\ncopy = [".env"]', '[race]\ncopy = ["a", "b"]')
    assert config.race.copies == (".env",)


def test_flags_that_were_not_given_change_nothing() -> None:
    """click gives None, () and False for what is not on the command line."""
    config = user(
        '[race]\ninclude_dirty = true\nagents = ["claude"]\nmax_parallel = 2',
        flags={"race.agents": (), "race.max_parallel": None, "race.include_dirty": False},
    )
    assert config.race.include_dirty
    assert config.race.agents == ("claude",)
    assert config.race.max_parallel == 2


def test_no_network_is_a_flag_that_was_given() -> None:
    config = user("[race]\nnetwork = true", flags={"race.network": False})
    assert config.race.network is False
    assert config.sources["race.network"] == "--no-network"


def test_a_duration_from_the_command_line_is_as_it_was_typed() -> None:
    assert load(flags={"limits.idle": "90s"}).limits.idle == 90
    with pytest.raises(
        ConfigError, match=r'^--idle-timeout: takes a duration of 1ms to 30d, not "0s"$'
    ):
        load(flags={"limits.idle": "0s"})


# --- the environment -----------------------------------------------------------------------

_ENVIRONMENT: dict[str, tuple[str, object]] = {
    "judge.protected_paths": ("a:b/", ("a", "b/")),
    "race.agents": ("claude, 2xcodex", ("claude", "2xcodex")),
    "race.permission": ("plan", Permission.PLAN),
    "race.network": ("off", False),
    "race.allow_experimental_adapters": ("1", True),
    "race.max_parallel": ("7", 7),
    "race.copy": (".env:conf/local.toml", (".env", "conf/local.toml")),
    "race.share": ("models:data/big", ("models", "data/big")),
    "race.setup": ("npm ci\nmake deps", ("npm ci", "make deps")),
    "race.keep": ("all", "all"),
    "race.include_dirty": ("yes", True),
    "race.allow_filter": ("nbstripout,git-crypt", ("nbstripout", "git-crypt")),
}


_ENVIRONMENT |= {
    "race.check": ("pytest -q\nlint=ruff check .", ("pytest -q", "ruff check .")),
    "race.effort": ("high", "high"),
    "checks.network": ("private", "private"),
    "checks.environment": ("DATABASE_URL,ACME_*", ("DATABASE_URL", "ACME_*")),
    "confine.show": ("~/lib:/data", ("~/lib", "/data")),
}


def _value(config: Config, name: str) -> object:
    if name == "race.check":
        return tuple(check.command for check in config.checks.checks)
    section, _, _ = name.partition(".")
    at = config.trials if name.startswith("judge.trial_") else getattr(config, section, config)
    return getattr(at, FIXED[name].field)


@pytest.mark.parametrize("name", [key.name for key in FIXED.values() if key.environment])
def test_every_variable_sets_its_key(name: str) -> None:
    samples = {"duration": ("7s", 7.0), "size": ("2MiB", 2 * 1024**2), "number": ("7", 7)}
    text, value = _ENVIRONMENT.get(name) or samples[FIXED[name].kind.name]
    config = load(environ={FIXED[name].environment: text})
    assert _value(config, name) == value
    assert config.sources[name] == FIXED[name].environment


def test_an_empty_variable_counts_as_unset_and_a_wrong_one_is_named() -> None:
    assert load(environ={"HYDRA_NETWORK": " "}).race.network is None
    with pytest.raises(ConfigError, match=r'^HYDRA_NETWORK: takes true or false, not "maybe"$'):
        load(environ={"HYDRA_NETWORK": "maybe"})


def test_an_agents_path_and_model_from_the_environment() -> None:
    config = load(
        environ={
            "HOME": "/home/ada",
            "HYDRA_CURSOR_AGENT_PATH": "~/bin/agent",
            "HYDRA_CLAUDE_MODEL": "on",
            "HYDRA_OTHER_PATH": "/bin/other",
        },
        agent_keys=AGENTS,
    )
    assert config.agent("cursor-agent").path == "/home/ada/bin/agent"
    assert config.agent("claude") == AgentSettings(model="on")
    assert set(config.agents) == {"cursor-agent", "claude"}
    assert config.sources["agents.claude.model"] == "HYDRA_CLAUDE_MODEL"


def test_unsafe_access_has_neither_a_variable_nor_a_key() -> None:
    config = load(environ={"HYDRA_UNSAFE_FULL_ACCESS": "1"})
    assert config.race.permission is None
    with pytest.raises(ConfigError, match="given by --unsafe-full-access alone"):
        load(environ={"HYDRA_PERMISSION": "unrestricted"})


def test_unsafe_access_by_its_flag_alone() -> None:
    config = user('[race]\npermission = "plan"', flags={"race.unsafe_full_access": True})
    assert config.race.permission is Permission.UNRESTRICTED
    assert config.sources["race.permission"] == "--unsafe-full-access"
    with pytest.raises(ConfigError, match="contradict each other"):
        load(flags={"race.unsafe_full_access": True, "race.permission": "plan"})


# --- mistakes ------------------------------------------------------------------------------


HUGE = [
    {"file": "a = " + "[" * 5000, "says": "user.toml: nested too deeply"},
    {"file": f"[limits]\nuntracked = {'9' * 5000}", "says": "a number has too many"},
    {"file": f"[limits]\nuntracked = 0x{'f' * 5000}", "says": "not a number that large"},
]


@pytest.mark.parametrize("case", [*CASES["mistake"], *HUGE], ids=lambda case: case["says"][:50])
def test_a_mistake_is_one_sentence_with_its_place(case: dict[str, Any]) -> None:
    error = refusal(case["file"])
    assert error.message.startswith("user.toml")
    assert case["says"] in error.message
    assert case.get("hint", "") in error.hint
    assert "\n" not in error.message
    assert len(error.message) < 400


ODD = (
    *("true", "3", "-1", "1.5", "nan", "1979-05-27", "9" * 5000, '""', '"x"', '"10m"', '"\\n\\t"'),
    *('"\\u0000"', '"\\uFFFF/../x"', "[]", "[1]", '["x"]', "[[]]", "{}", "{x = 1}", '[{x = "y"}]'),
)
"""A value of each type of TOML's, and some at its edges."""


@settings(max_examples=300)
@given(st.sampled_from([key.name for key in KEYS if key.file]), st.sampled_from(ODD))
def test_a_value_of_any_type_is_taken_or_told_in_a_sentence(name: str, value: str) -> None:
    key = _key(name)
    section = key.section.replace("<key>", "claude").replace("<name>", "reviewer")
    _taken_or_told(f"[{section}]\n{key.leaf} = {value}")


@given(st.integers(0, len(EXAMPLE.read_text())))
def test_settings_that_are_cut_anywhere_are_taken_or_told_in_a_sentence(length: int) -> None:
    _taken_or_told(uncommented(EXAMPLE.read_text())[:length])


def _taken_or_told(text: str) -> None:
    error: ConfigError | None = None
    try:
        config = user(text, environ={"HOME": "/home/ada"})
    except ConfigError as raised:
        error = raised
    if error is None:
        assert shaped(as_json(config), Config) == config
    else:
        assert error.exit_code == 2
        assert error.message.startswith("user.toml")
        assert len(error.message.splitlines()) == 1
        assert len(error.message) < 400


@pytest.mark.parametrize("case", CASES["theirs"], ids=lambda case: case["says"][:50])
def test_what_a_repository_may_not_grant_itself(case: dict[str, Any]) -> None:
    error = refusal(case["file"], case["own"])
    assert case["says"] in error.message
    assert case.get("hint", "") in error.hint


@pytest.mark.parametrize("name", [key.name for key in KEYS if not key.file])
def test_what_no_file_may_say(name: str) -> None:
    key = FIXED[name]
    for own in (None, ""):
        error = refusal(f"[race]\n{key.leaf} = true", own)
        assert f"line 2: {name} may not be set by a file" in error.message
        assert key.flag in error.hint


# --- the repository's file -----------------------------------------------------------------


def _key(name: str) -> Key:
    return FIXED.get(name) or NAMED[name.partition(".")[0]][name.rpartition(".")[2]]


def _shown(name: str) -> str:
    key = _key(name)
    section = key.section.replace("<key>", "claude").replace("<name>", "reviewer")
    return f"[{section}]\n{key.leaf} = {key.example or default_text(key)}"


REST = {
    "mode": '\nhost = "gpubox"',
    "host": '\nmode = "ssh"',
    **dict.fromkeys(("container", "image"), '\nmode = "docker"'),
    "pod": '\nmode = "k8s"',
    **dict.fromkeys(("namespace", "context"), '\nmode = "k8s"\npod = "agents-0"'),
}
"""What else a remote needs that has this key."""


@pytest.mark.parametrize("name", [key.name for key in KEYS if key.file and key.repository == NO])
def test_what_a_repository_may_not_set_is_told_where_it_belongs(name: str) -> None:
    more = '\nagent = "claude"' if name.startswith("profiles.") else ""
    if name.startswith("models."):
        needed = ("id", "input_price", "output_price") if "_price" in name else ("id",)
        others = [leaf for leaf in needed if not name.endswith(f".{leaf}")]
        shown = (_shown(f"models.<name>.{leaf}") for leaf in others)
        more = "".join(f"\n{text.partition(chr(10))[2]}" for text in shown)
    if name.startswith("remotes."):
        more = REST.get(name.rpartition(".")[2], '\nmode = "ssh"\nhost = "gpubox"')
    if name.endswith(".remote"):
        more += '\n[remotes.gpubox]\nmode = "ssh"\nhost = "gpubox"'
    user(_shown(name) + more, environ={"HOME": "/home/ada"})  # in one's own file it is right
    error = refusal(_shown(name), "")
    assert "shop/hydra.toml, line 2" in error.message
    assert "may not be set by a repository's hydra.toml" in error.message
    assert "$HYDRA_CONFIG" in error.hint
    if name == "agents.<key>.path":
        assert "set HYDRA_CLAUDE_PATH" in error.hint


@pytest.mark.parametrize(
    "name", [key.name for key in KEYS if key.repository not in (NO, LOWER) and "<" not in key.name]
)
def test_what_a_repository_may_set(name: str) -> None:
    assert repository(_shown(name)).sources[name] == "shop/hydra.toml"


@pytest.mark.parametrize(
    ("mine", "theirs", "outcome"),
    [
        (None, "plan", Permission.PLAN),
        (None, "edit", Permission.EDIT),
        (None, "full-auto", None),
        ("edit", "plan", Permission.PLAN),
        ("edit", "edit", Permission.EDIT),
        ("full-auto", "edit", Permission.EDIT),
        ("default", "plan", Permission.PLAN),
        ("config", "config", Permission.CONFIG),
    ],
)
def test_a_repository_lowers_the_permission(
    mine: str | None, theirs: str, outcome: Permission | None
) -> None:
    own = f'[race]\npermission = "{mine}"' if mine else ""
    config = repository(f'[race]\npermission = "{theirs}"', own)
    assert config.race.permission is outcome
    lowered = outcome is not None and outcome.value != mine
    expected = "shop/hydra.toml" if lowered else "user.toml" if mine else DEFAULT
    assert config.sources["race.permission"] == expected


def test_what_the_flag_says_is_not_a_quarrel_with_the_repository() -> None:
    assert repository("[race]\nnetwork = false").race.network is False
    assert repository("[race]\nnetwork = true", "[race]\nnetwork = true").race.network is True
    config = repository('[race]\npermission = "edit"', flags={"race.permission": "plan"})
    assert config.race.permission is Permission.PLAN
    raised = '[race]\npermission = "full-auto"'
    own = '[race]\npermission = "plan"'
    assert repository(raised, own, environ={"HYDRA_PERMISSION": "edit"}).race.permission == "edit"


@pytest.mark.parametrize(
    ("own", "theirs", "more", "trusted"),
    [
        ("", "", {}, True),
        ('[race]\nsetup = ["a"]', "", {}, True),
        ("", '[race]\nsetup = ["a"]', {}, False),
        ('[race]\nsetup = ["a"]', '[race]\nsetup = ["a"]', {}, False),
        ("", '[race]\nsetup = ["a"]', {"flags": {"race.setup": ("b",)}}, True),
        ("", '[race]\nsetup = ["a"]', {"environ": {"HYDRA_SETUP": "b"}}, True),
    ],
)
def test_whose_set_up_it_is(own: str, theirs: str, more: dict[str, object], trusted: bool) -> None:
    assert repository(theirs, own, **more).race.setup_trusted is trusted


# --- the example and the docs ----------------------------------------------------------------


def test_a_repository_lowers_what_trials_may_cost_and_never_raises_it() -> None:
    config = repository('[judge]\ntrial_runs = 3\ntrial_time = "1m"')
    assert config.trials == TrialCap(3, 60.0)
    assert repository("[judge]\ntrial_runs = 40").sources["judge.trial_runs"] == DEFAULT
    settings = repository("[judge]\ntrial_runs = 99", flags={"judge.trial_runs": 50})
    assert settings.trials.runs == 50
    assert repository("[judge]\ntrial_runs = 2", flags={"judge.trial_runs": 0}).trials.runs == 0


def test_a_repository_adds_protected_paths_and_takes_none_away() -> None:
    mine, theirs = (
        '[judge]\nprotected_paths = ["a", "b/"]',
        '[judge]\nprotected_paths = ["b/", "*.c"]',
    )
    config = repository(theirs, mine)
    assert config.protected_paths == ("a", "b/", "*.c")
    assert config.sources["judge.protected_paths"] == "user.toml, shop/hydra.toml"
    environ = {"HYDRA_PROTECTED_PATHS": "x:y"}
    assert repository(theirs, mine, environ=environ).protected_paths == ("x", "y")
    assert repository("[judge]\nprotected_paths = []", mine).protected_paths == ("a", "b/")


def test_the_example_is_what_the_table_of_keys_says() -> None:
    """After a change of KEYS write it anew: `python -m tests.support.config_example`."""
    assert EXAMPLE.read_text(encoding="utf-8") == example()


def test_the_example_sets_nothing_and_uncommented_it_sets_every_key() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert replace(user(text), sources={}) == Config()
    config = user(uncommented(text), environ={"HOME": "/home/ada"})
    lines = {
        name.replace("agents.claude", "agents.<key>")
        .replace("checks.unit", "checks.<name>")
        .replace("profiles.reviewer", "profiles.<name>")
        .replace("remotes.gpubox", "remotes.<name>")
        .replace("models.large", "models.<name>")
        for name in _set_by_file(config)
    }
    rest = {key.name for key in KEYS if re.match(OTHER_MODES, f"{key.leaf} ")}
    assert lines == {key.name for key in KEYS if key.file} - rest
    assert config.limits == Limits()


def _set_by_file(config: Config) -> set[str]:
    return {name for name, source in config.sources.items() if source == "user.toml"}


def test_the_docs_have_a_row_for_every_key() -> None:
    """After a change of KEYS write them anew: `python -m tests.support.config_example`."""
    text = PAGE.read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == [row(key) for key in KEYS]
    stale = text.replace("| `race.keep` | word |", "| `race.keeps` | number |")
    assert page(stale) == page(text) == text


def test_a_model_of_the_users_own() -> None:
    text = (
        '[models.large]\nid = "gw/7"\nfamily = "claude"\naliases = ["big"]\ncontext = 9\n'
        'input_price = 2\noutput_price = 0.5\ncached_price = 0\nprices_read = "2026-11-22"\n'
    )
    config = user(text)
    model = OwnModel("gw/7", "claude", ("big",), 9, None, 2, 0.5, 0, "2026-11-22")
    assert config.models == {"large": model}
    assert user(text.replace('"2026-11-22"', "2026-11-22")) == config  # TOML's own date


# --- reading the file ----------------------------------------------------------------------


def test_what_is_there_but_no_settings_file(scratch: Path) -> None:
    import os

    path = scratch / "hydra.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"is not UTF-8 text \(byte 0\)"):
        read_file(path)
    path.write_bytes(b"#" * (1024**2 + 1))
    with pytest.raises(ConfigError, match="is not a file of at most 1 MiB"):
        read_file(path)
    path.unlink()
    os.mkfifo(path)  # a plain open would wait for a writer for ever
    with pytest.raises(ConfigError, match="is not a file of at most 1 MiB"):
        read_file(path)
