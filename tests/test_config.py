"""hydra.toml: every key, every refusal, and precedence; checks and the names that commands get."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hydra.adapters.probe.settings import programs
from hydra.checks.record import file_of
from hydra.config.check_specs import in_folder, kind_of, name_of, typed
from hydra.config.load import DEFAULT, load, read_file
from hydra.config.schema import (
    FIXED,
    KEYS,
    NAMED,
    NEVER,
    NO,
    YES,
    AgentSettings,
    CheckSettings,
    Config,
    Key,
    OwnModel,
)
from hydra.config.values import SIZE, duration, format_duration
from hydra.errors import ConfigError
from hydra.records.codec import as_json, shaped
from hydra.records.request import Check, Limits, Permission, TrialCap
from tests.support.config_example import EXAMPLE, PAGE, default_text, example, page, row

AGENTS = ("claude", "codex", "cursor-agent")
CASES = tomllib.loads((Path(__file__).parent / "data" / "settings.toml").read_text())
OTHER_MODES = "(container|image|pod|namespace|context) "
"""Keys of a remote that do not go with the mode of the example."""


def user(text: str, **more: object) -> Config:
    return load(user=("user.toml", text), **more)  # type: ignore[arg-type]


def repository(text: str, own: str = "", **more: object) -> Config:
    return load(
        user=("user.toml", own),
        repository=("shop/hydra.toml", text),
        **more,  # type: ignore[arg-type]
    )


def refusal(text: str, own: str | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        user(text) if own is None else repository(text, own)
    return caught.value


def uncommented(text: str) -> str:
    return re.sub(rf"^#(?=\S)(?!{OTHER_MODES})", "", text, flags=re.MULTILINE)


# --- units ---------------------------------------------------------------------------------


DURATIONS = {
    **{"90s": 90, "10m": 600, "1h30m": 5400, "1h 30m": 5400, "500ms": 0.5},
    **{"1.5h": 5400, "2d": 172800, "0s": 0, " 10m ": 600},
}
SIZES = {
    **{"100MB": 100_000_000, "4MiB": 4 * 1024**2, "2GiB": 2 * 1024**3, "512B": 512},
    **{"1.5kB": 1500, "4mib": 4 * 1024**2, "1 GB": 10**9, "3TiB": 3 * 1024**4},
}


def test_durations_and_sizes() -> None:
    assert {text: duration(text) for text in DURATIONS} == DURATIONS
    assert {text: SIZE.read(text) for text in SIZES} == SIZES
    for text in ("", "m", "10 minutes", "30m1h", "-1s", "1e3s", "10mm", "nan", "ten"):
        with pytest.raises(ConfigError, match="is not a duration: write it as"):
            duration(text)
    for text in ("", "4M", "MB", "-1MB", "1e3MB", "4 Mb its"):
        with pytest.raises(ConfigError, match="is not a size: write it as"):
            SIZE.read(text)
    with pytest.raises(ConfigError, match='10 is a duration without a unit: write "10m" or "10s"'):
        duration("10")
    with pytest.raises(ConfigError, match='100 is a size without a unit: write "100MB"'):
        SIZE.read("100")


@given(st.integers(0, 30 * 86400 * 1000), st.integers(0, 2**50))
def test_a_duration_and_a_size_come_back_from_their_texts(milliseconds: int, count: int) -> None:
    assert duration(format_duration(milliseconds / 1000)) == milliseconds / 1000
    assert SIZE.read(SIZE.write(count)) == count


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


def test_flags_that_were_not_given_change_nothing_and_a_list_is_replaced_as_a_whole() -> None:
    """click gives None, () and False for what is not on the command line."""
    config = user(
        '[race]\ninclude_dirty = true\nagents = ["claude"]\nmax_parallel = 2\nnetwork = true',
        flags={
            **{"race.agents": (), "race.max_parallel": None, "race.include_dirty": False},
            "race.network": False,  # --no-network: that one was given
        },
    )
    race = config.race
    assert (race.include_dirty, race.agents, race.max_parallel) == (True, ("claude",), 2)
    assert (race.network, config.sources["race.network"]) == (False, "--no-network")
    config = repository('[race]\ncopy = [".env"]', '[race]\ncopy = ["a", "b"]')
    assert config.race.copies == (".env",)


def test_a_duration_from_the_command_line_is_as_it_was_typed() -> None:
    assert load(flags={"limits.idle": "90s"}).limits.idle == 90
    with pytest.raises(
        ConfigError, match=r'^--idle-timeout: takes a duration of 1ms to 30d, not "0s"$'
    ):
        load(flags={"limits.idle": "0s"})


# --- the environment -----------------------------------------------------------------------

VARIABLES: dict[str, tuple[str, object]] = {
    "judge.protected_paths": ("a:b/", ("a", "b/")),
    "race.agents": ("claude, 2xcodex", ("claude", "2xcodex")),
    "race.permission": ("plan", Permission.PLAN),
    "race.network": ("off", False),
    "race.max_parallel": ("7", 7),
    "race.copy": (".env:conf/local.toml", (".env", "conf/local.toml")),
    "race.setup": ("npm ci\nmake deps", ("npm ci", "make deps")),
    "race.include_dirty": ("yes", True),
    "race.allow_filter": ("nbstripout,git-crypt", ("nbstripout", "git-crypt")),
    "checks.environment": ("DATABASE_URL,ACME_*", ("DATABASE_URL", "ACME_*")),
    "confine.show": ("~/lib:/data", ("~/lib", "/data")),
    "limits.idle": ("7s", 7.0),
    "limits.line": ("2MiB", 2 * 1024**2),
}
"""Of each kind of value one, and every list that is cut in its own way."""


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_sets_its_key(name: str) -> None:
    key, (text, value) = FIXED[name], VARIABLES[name]
    config = load(environ={key.environment: text})
    section = getattr(config, name.partition(".")[0], config)
    assert getattr(section, key.field) == value
    assert config.sources[name] == key.environment


def test_an_empty_variable_counts_as_unset_and_a_wrong_one_is_named() -> None:
    assert load(environ={"HYDRA_NETWORK": " "}).race.network is None
    with pytest.raises(ConfigError, match=r'^HYDRA_NETWORK: takes true or false, not "maybe"$'):
        load(environ={"HYDRA_NETWORK": "maybe"})


def test_an_agents_path_and_model_from_the_environment() -> None:
    config = load(
        environ={
            "HYDRA_CURSOR_AGENT_PATH": "~/bin/agent",
            "HYDRA_CLAUDE_MODEL": "on",
            "HYDRA_OTHER_PATH": "/bin/other",
        },
        agent_keys=AGENTS,
    )
    assert programs(config, Path("/home/ada")) == {"cursor-agent": "/home/ada/bin/agent"}
    assert config.agent("claude") == AgentSettings(model="on", source="HYDRA_CLAUDE_MODEL")
    assert set(config.agents) == {"cursor-agent", "claude"}
    assert config.sources["agents.claude.model"] == "HYDRA_CLAUDE_MODEL"


def test_unsafe_access_by_its_flag_alone() -> None:
    assert load(environ={"HYDRA_UNSAFE_FULL_ACCESS": "1"}).race.permission is None
    with pytest.raises(ConfigError, match="given by --unsafe-full-access alone"):
        load(environ={"HYDRA_PERMISSION": "unrestricted"})
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
@given(st.sampled_from([key.name for key in KEYS if key.repository != NEVER]), st.sampled_from(ODD))
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


def test_what_no_file_may_say() -> None:
    for key in (key for key in KEYS if key.repository == NEVER):
        for own in (None, ""):
            error = refusal(f"[race]\n{key.leaf} = true", own)
            assert f"line 2: {key.name} may not be set by a file" in error.message
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


@pytest.mark.parametrize("name", [key.name for key in KEYS if key.repository == NO])
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
    user(_shown(name) + more)  # in one's own file it is right
    error = refusal(_shown(name), "")
    assert "shop/hydra.toml, line 2" in error.message
    assert "may not be set by a repository's hydra.toml" in error.message
    assert "$HYDRA_CONFIG" in error.hint
    if name == "agents.<key>.path":
        assert "set HYDRA_CLAUDE_PATH" in error.hint


def test_what_a_repository_may_set() -> None:
    for key in KEYS:
        if key.repository == YES and "<" not in key.name:
            assert repository(_shown(key.name)).sources[key.name] == "shop/hydra.toml"


def test_a_repository_lowers_the_permission() -> None:
    for mine, theirs, outcome in (
        (None, "plan", "plan"),
        (None, "edit", "edit"),
        (None, "full-auto", None),
        ("edit", "plan", "plan"),
        ("edit", "edit", "edit"),
        ("full-auto", "edit", "edit"),
        ("default", "plan", "plan"),
        ("config", "config", "config"),
    ):
        own = f'[race]\npermission = "{mine}"' if mine else ""
        config = repository(f'[race]\npermission = "{theirs}"', own)
        assert config.race.permission == outcome
        lowered = outcome not in (None, mine)
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


def test_whose_set_up_it_is() -> None:
    theirs = '[race]\nsetup = ["a"]'
    assert repository("").race.setup_trusted
    assert repository("", theirs).race.setup_trusted
    for own in ("", theirs):
        assert not repository(theirs, own).race.setup_trusted
    assert repository(theirs, flags={"race.setup": ("b",)}).race.setup_trusted
    assert repository(theirs, environ={"HYDRA_SETUP": "b"}).race.setup_trusted


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
    config = user(uncommented(text))
    lines = {
        name.replace("agents.claude", "agents.<key>")
        .replace("checks.unit", "checks.<name>")
        .replace("profiles.reviewer", "profiles.<name>")
        .replace("remotes.gpubox", "remotes.<name>")
        .replace("models.large", "models.<name>")
        for name in _set_by_file(config)
    }
    rest = {key.name for key in KEYS if re.match(OTHER_MODES, f"{key.leaf} ")}
    assert lines == {key.name for key in KEYS if key.repository != NEVER} - rest
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
    with pytest.raises(ConfigError, match="is not a file of at most 1MiB"):
        read_file(path)
    path.unlink()
    os.mkfifo(path)  # a plain open would wait for a writer for ever
    with pytest.raises(ConfigError, match="is not a file of at most 1MiB"):
        read_file(path)


def own(text: str) -> CheckSettings:
    return load(user=("user.toml", text)).checks


DEEP = [  # a repository's file names checks, too: neither deep nor slow
    ("A=1 " * 5000 + "make", "make", "test"),
    ("env " * 5000 + "make", "make", "test"),
    ("uv" + " -p" * 5000, "uv", "test"),
    ("cd a && " * 5000 + "make", "a: a: a: make", "test"),
    ("python" + " -x" * 5000, "python", "test"),
]


def test_a_command_gets_a_name_and_a_kind() -> None:
    for command, name, kind in (*CASES["command"], *DEEP):
        assert (name_of(command), kind_of(name, command)) == (name, kind), command[:60]


def test_a_command_in_a_folder_is_one_command() -> None:
    assert in_folder("a", "") == "a"
    assert in_folder("a -q", "b c") == "cd 'b c' && a -q"
    assert in_folder("a; b", "c") == "cd c && { a; b\n}"


def test_a_command_as_one_types_it_in_a_folder() -> None:
    for command, folder, line in (
        ("cd a && make", "", "cd a && make"),
        ("cd a && make", "a", "make"),
        ("cd a && cd b && make", "a", "cd b && make"),
        ("cd a && cd b && make", "a/b", "make"),
        ("make", "a/b", "cd ../.. && make"),
        ("cd $HERE && make", "a", "cd .. && { cd $HERE && make\n}"),
    ):
        assert typed(command, folder) == line


def test_no_two_checks_have_the_same_file() -> None:
    for names in (
        ("libA: pytest", "libB: pytest"),
        ("packages/A: test", "packages/B: test"),
        ("pkg_a: test", "pkg-a: test", "pkg-a-test"),
        ("pytest", "é: pytest", "ü: pytest"),
    ):
        files = [file_of(Check(name, "x")) for name in names]
        assert len({*files}) == len(names)
        assert all(re.fullmatch("[a-z0-9-]+", file) for file in files)
    assert file_of(Check("pytest-unit", "x")) == "pytest-unit"


def test_flags_name_checks_in_short() -> None:
    specs = ("pytest -q", "unit=pytest -q tests/unit", "FOO=1 pytest", "lint=ruff check .")
    config = load(flags={"race.check": specs})
    assert config.checks.checks == (
        Check("pytest", "pytest -q"),
        Check("unit", "pytest -q tests/unit"),
        Check("pytest-2", "FOO=1 pytest"),
        Check("lint", "ruff check .", "lint"),
    )
    assert config.checks.trusted
    assert config.sources["race.check"] == "--check"


def test_a_table_says_more() -> None:
    text = '[checks.unit]\ncommand = "ctest"\nkind = "build"\nrequired = false\njunit = "r/*.xml"\n'
    assert own(text).checks == (Check("unit", "ctest", "build", False, "r/*.xml"),)


def test_tables_and_the_short_form_stand_together() -> None:
    text = (
        '[race]\ncheck = ["ruff check ."]\n[checks]\nparallel = 3\n[checks.unit]\ncommand = "t"\n'
    )
    config = load(user=("user.toml", text))
    assert [check.name for check in config.checks.checks] == ["unit", "ruff"]
    assert config.checks.parallel == 3


def test_the_highest_place_that_names_any_names_them_all() -> None:
    user = ("user.toml", '[checks.mine]\ncommand = "a"\n[checks]\nparallel = 2\n')
    repository = ("shop/hydra.toml", '[race]\ncheck = ["b", "c=d"]\n')
    theirs = load(user=user, repository=repository).checks
    assert [check.command for check in theirs.checks] == ["b", "d"]
    assert not theirs.trusted
    assert theirs.parallel == 2
    variable = load(user=user, repository=repository, environ={"HYDRA_CHECK": "e\nf=g"}).checks
    assert [check.name for check in variable.checks] == ["e", "f"]
    assert variable.trusted
    flag = load(repository=repository, environ={"HYDRA_CHECK": "e"}, flags={"race.check": ("h",)})
    assert [check.command for check in flag.checks.checks] == ["h"]
