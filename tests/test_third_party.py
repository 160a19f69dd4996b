"""Adapters that others have written: found, marked, held experimental, and never in the way."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hydra.adapters import plugins, registry
from hydra.adapters.contract import Parser
from hydra.adapters.plugins import GuardedParser, guard
from hydra.conformance.contract import suite
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.results import CaseVerdict
from hydra.errors import UsageError
from hydra.records.agent import Capability, CapabilitySet, DetectResult, Origin, Tier
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from tests.support import fakes
from tests.support.command import Hydra, completed
from tests.support.thirdparties import EXAMPLE, broken, install, install_toy

OPT_IN = "--allow-experimental-adapters"
TASK = "write a.txt hello"


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    """`hydra` with a folder of installed packages that is empty yet."""
    site = scratch / "site"
    site.mkdir()
    return Hydra(scratch, repo, extra={"PYTHONPATH": str(site)})


@pytest.fixture
def toy(hydra: Hydra) -> Hydra:
    """The same with the example installed, and its agent on PATH."""
    hydra.path.insert(0, install_toy(site(hydra)))
    return hydra


def site(hydra: Hydra) -> Path:
    return hydra.scratch / "site"


def settings(hydra: Hydra, text: str) -> None:
    (hydra.home / "hydra.toml").write_text(text)


def listed(hydra: Hydra, *args: str) -> tuple[dict[str, dict[str, object]], list[str]]:
    done = hydra.run("agents", "--json", *args)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    return {row["key"]: row for row in document["agents"]}, document["problems"]


# --- found and marked ------------------------------------------------------------------------


@pytest.mark.slow
def test_one_is_found_by_its_entry_point_and_marked_wherever_it_is_listed(toy: Hydra) -> None:
    agents, problems = listed(toy, OPT_IN)
    assert list(agents) == [*registry.OWN, "toy"]
    assert problems == []
    assert [agent["third_party"] for agent in agents.values()] == [
        *[False] * len(registry.OWN),
        True,
    ]
    origin = {"adapter": "toy_adapter:ADAPTER", "distribution": "toy-adapter", "version": "1.0"}
    assert agents["toy"]["origin"] == origin
    assert agents["toy"]["tier"] == "experimental"
    value = agents["toy"]["found"]
    assert isinstance(value, dict)
    assert (value["ready"], value["version"]) == (True, "1.0.0")
    table = toy.run("agents").stdout
    row = next(line for line in table.splitlines() if line.strip().startswith("toy "))
    assert "third party" in row
    name = toy.run("agents", "toy", OPT_IN).stdout
    assert "toy-adapter 1.0 (toy_adapter:ADAPTER)" in name
    assert "--json --mode all" in name
    doctor = json.loads(toy.run("doctor", "--json").stdout)
    assert [a["key"] for a in doctor["agents"] if a["third_party"]] == ["toy"]
    assert "third party" in toy.run("doctor", OPT_IN).stdout


@pytest.mark.slow
def test_it_races_by_opt_in_and_its_lane_says_whose_it_is(toy: Hydra) -> None:
    done = toy.run("race", TASK, "--json", "-a", "toy", OPT_IN)
    assert done.returncode == 0, done.stdout + done.stderr
    (lane,) = json.loads(done.stdout)["lanes"]
    assert (lane["status"], lane["usable"], lane["version"]) == ("completed", True, "1.0.0")
    assert (lane["third_party"], lane["tier"]) == (True, "experimental")
    assert lane["origin"]["distribution"] == "toy-adapter"
    assert "+hello" in toy.run("diff", "toy").stdout
    plan = toy.run("race", TASK, "-a", "2xtoy:toy-2", OPT_IN, "--dry-run").stdout
    assert plan.count("experimental, third party: toy-adapter 1.0") == 2
    assert "--model toy-2" in plan


def test_without_the_opt_in_it_is_refused_and_none_of_its_code_runs(toy: Hydra) -> None:
    terms = ("race", "x", "-a", "2xtoy:m")
    mark = toy.scratch / "imported"
    with (site(toy) / "toy_adapter" / "__init__.py").open("a") as module:
        module.write(f"\nopen({str(mark)!r}, 'w')\n")
    done = toy.run(*terms)
    assert done.returncode == 2
    assert "toy is a third party's adapter (toy-adapter 1.0)" in done.stderr
    assert OPT_IN in done.stderr
    assert not mark.exists()
    toy.run(*terms, "--dry-run", OPT_IN)
    assert mark.exists()


@pytest.mark.slow
def test_one_that_says_tier_1_is_experimental_all_the_same(hydra: Hydra) -> None:
    hydra.path.insert(0, install_toy(site(hydra)))
    text = (site(hydra) / "toy_adapter" / "__init__.py").read_text()
    assert text.count("Tier.EXPERIMENTAL") == 1
    (site(hydra) / "toy_adapter" / "__init__.py").write_text(
        text.replace("Tier.EXPERIMENTAL", "Tier.TIER1")
    )
    agents, _ = listed(hydra)
    assert agents["toy"]["tier"] == "experimental"
    assert agents["toy"]["found"] is None  # not probed without the opt-in
    assert hydra.run("race", "x", "-a", "toy").returncode == 2
    done = hydra.run("race", "x", "--dry-run", OPT_IN)  # no agent named: Tier 1 alone
    assert done.returncode == 4, done.stdout


@pytest.mark.slow
def test_ones_own_hydra_toml_names_one_and_a_repositorys_may_not(hydra: Hydra) -> None:
    folder = install_toy(site(hydra))
    (site(hydra) / "toy_adapter-1.0.dist-info" / "entry_points.txt").unlink()
    assert "toy" not in listed(hydra)[0]
    named = '[agents.toy]\nadapter = "toy_adapter:ADAPTER"\n'
    (hydra.repo / "hydra.toml").write_text(named)
    done = hydra.run("race", "x", "-a", "toy", OPT_IN)
    assert done.returncode == 2
    assert 'there is no agent "toy"' in done.stderr
    settings(hydra, f'{named}path = "{folder}/toy"\n')
    done = hydra.run("race", "x", "-a", "toy", OPT_IN)
    assert done.returncode == 2
    assert "agents.toy.adapter may not be set by a repository's hydra.toml" in done.stderr
    (hydra.repo / "hydra.toml").write_text('[agents.toy]\nmodel = "toy-3"\n')
    done = hydra.run("race", TASK, "--json", "-a", "toy", OPT_IN)
    (lane,) = json.loads(done.stdout)["lanes"]
    assert (lane["status"], lane["model"]) == ("completed", "toy-3")
    origin = {"adapter": "toy_adapter:ADAPTER", "distribution": None, "version": None}
    assert lane["origin"] == origin


def test_settings_and_variables_of_an_installed_one_are_known(toy: Hydra) -> None:
    toy.path.clear()
    settings(toy, '[agents.toy]\nmodel = "from-file"\n')
    toy.extra["HYDRA_TOY_PATH"] = str(EXAMPLE / "agent" / "toy")
    plan = json.loads(toy.run("race", TASK, "--json", "--dry-run", "-a", "toy", OPT_IN).stdout)
    (lane,) = plan["lanes"]
    assert lane["error"] is None, lane["error"]
    assert lane["model"] == "from-file"
    settings(toy, '[agents.tyo]\nmodel = "x"\n')
    done = toy.run("agents")
    assert done.returncode == 2
    assert "the nearest is toy" in done.stderr


# --- never from the repository ---------------------------------------------------------------


def evil(folder: Path, mark: Path) -> None:
    """A module and its metadata, such as a repository might hold."""
    folder.mkdir(exist_ok=True)
    (folder / "my_pkg.py").write_text(f"open({str(mark)!r}, 'w')\nADAPTER = None\n")
    install(folder, "evil", {"evil": "my_pkg:ADAPTER"})


@pytest.mark.slow
@pytest.mark.parametrize("path", ["", ".", "{repo}/src"])
def test_what_lies_in_the_repository_is_not_importable(hydra: Hydra, path: str) -> None:
    mark = hydra.scratch / "imported"
    evil(hydra.repo, mark)
    evil(hydra.repo / "src", mark)
    own = path.format(repo=hydra.repo)
    hydra.extra["PYTHONPATH"] = f"{own}:{site(hydra)}" if own else str(site(hydra))
    agents, problems = listed(hydra)
    assert "evil" not in agents
    assert problems == []
    settings(hydra, '[agents.evil]\nadapter = "my_pkg:ADAPTER"\n')
    done = hydra.run("race", "x", "-a", "evil", OPT_IN)
    assert done.returncode == 2
    assert "there is no module my_pkg to import" in done.stderr
    assert not mark.exists()
    # One's own of that name is what the user means, wherever Hydra is started.
    install_toy(site(hydra))
    (site(hydra) / "my_pkg.py").write_text("from toy_adapter import ADAPTER\n")
    settings(hydra, '[agents.toy]\nadapter = "my_pkg:ADAPTER"\n')
    origin = listed(hydra)[0]["toy"]["origin"]
    assert isinstance(origin, dict)
    assert origin["adapter"] == "my_pkg:ADAPTER"
    assert not mark.exists()


def test_what_is_installed_in_a_folder_of_the_repository_counts(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `.venv` in the repository is where many have Hydra itself."""
    packages = repo / ".venv" / "lib" / "site-packages"
    packages.mkdir(parents=True)
    monkeypatch.chdir(repo)
    standard = str(Path(json.__file__).parent.parent)
    monkeypatch.setattr(
        sys, "path", ["", str(repo), str(repo / "src"), standard, str(packages), str(repo)]
    )
    assert plugins.importable() == [standard, str(packages), str(repo)]
    monkeypatch.chdir(repo.parent)  # no repository: only this very folder is left out
    assert plugins.importable() == sys.path[1:]


def test_python_m_hydra_takes_no_module_from_the_current_folder(hydra: Hydra) -> None:
    for name in ("click", "trio", "structlog"):
        (hydra.repo / f"{name}.py").write_text("raise SystemExit(99)\n")
    assert hydra.run("agents").returncode == 0


# --- what is wrong with one is said, and stops nobody else -----------------------------------

CANNOT = {
    "nowhere": ("nowhere:ADAPTER", "", "there is no module nowhere to import"),
    "needs": ("needs:ADAPTER", "import not_there_either", "no module not_there_either"),
    "raising": ("raising:ADAPTER", "raise RuntimeError('boom')", "raises RuntimeError: boom"),
    "leaving": ("leaving:ADAPTER", "raise SystemExit(3)", "raises SystemExit: 3"),
    "unwritten": ("unwritten:ADAPTER", "def", "raises SyntaxError"),
    "nameless": ("nameless:ADAPTER", "", "has no attribute 'ADAPTER'"),
    "number": ("number:ADAPTER", "ADAPTER = 7", "it is no adapter: it has no"),
    "a-class": ("klass:Toy", "from toy_adapter import Toy", "it is a class"),
    "renamed": ("renamed:ADAPTER", "from toy_adapter import ADAPTER", "its own key is 'toy'"),
    "odd": (
        "odd:ADAPTER",
        "from toy_adapter import *\nfrom msgspec.structs import replace\nclass Odd(Toy):\n"
        "    descriptor = replace(DESCRIPTOR, key='odd', environment=('*',))\n"
        "    def key(self): return 'odd'\nADAPTER = Odd()",
        "environment has '*'",
    ),
    "failing": (
        "failing:ADAPTER",
        "class F:\n    @property\n    def descriptor(self): raise OSError('no disk')\n"
        "ADAPTER = F()",
        "raises OSError: no disk",
    ),
}


def test_one_that_cannot_be_used_is_named_with_a_next_step(hydra: Hydra) -> None:
    install_toy(site(hydra))
    for key, (spec, source, _) in CANNOT.items():
        if source or key == "nameless":
            module = site(hydra) / f"{spec.partition(':')[0]}.py"
            module.write_text(f"print('noise')\n{source}\n")
        install(site(hydra), f"dist-{key}", {key: spec})
    agents, problems = listed(hydra)
    assert list(agents) == [*registry.OWN, "toy"]
    assert len(problems) == len(CANNOT)
    for key, (spec, _, text) in CANNOT.items():
        (problem,) = [
            problem
            for problem in problems
            if f"the adapter {key} ({spec}) cannot be used: " in problem
        ]
        assert text in problem
        assert problem.endswith(")")  # the next step
    shown = hydra.run("doctor").stdout
    assert all(f"the adapter {key}" in " ".join(shown.split()) for key in CANNOT)


@pytest.mark.parametrize("key", ["nowhere", "raising"])
def test_a_race_that_asks_for_one_that_cannot_be_used_is_refused(hydra: Hydra, key: str) -> None:
    spec, source, text = CANNOT[key]
    if source:
        (site(hydra) / f"{key}.py").write_text(f"{source}\n")
    install(site(hydra), f"dist-{key}", {key: spec})
    done = hydra.run("race", "x", "--json", "-a", key, "-a", "claude", OPT_IN)
    assert done.returncode == 2
    document = json.loads(done.stdout)["error"]
    assert text in document["message"]
    assert document["hint"]


@pytest.mark.slow
def test_the_race_of_others_goes_on_and_warns(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.edit("a.txt", "x\n"), fakes.finish()])
    settings(hydra, '[agents.toy]\nadapter = "nowhere:ADAPTER"\n')
    race = hydra.race("-a", "claude", OPT_IN)
    assert race.code == 0
    (warning,) = [text for text in race.document["warnings"] if "nowhere" in text]
    assert "the adapter toy (nowhere:ADAPTER) cannot be used" in warning
    assert "agents.toy.adapter in" in warning
    quiet = hydra.race("-a", "claude")
    assert quiet.code == 0
    assert not [text for text in quiet.document["warnings"] if "nowhere" in text]


@pytest.mark.slow
def test_no_one_takes_the_name_of_hydras_own(hydra: Hydra) -> None:
    install_toy(site(hydra))
    hydra.agent("claude", [fakes.edit("a.txt", "x\n"), fakes.finish()])
    install(site(hydra), "impostor", {"claude": "toy_adapter:ADAPTER", "2xfoo": "a:b"})
    agents, problems = listed(hydra)
    assert agents["claude"]["third_party"] is False
    assert [
        p for p in problems if "impostor 1.0 is called claude, as an adapter of Hydra's own" in p
    ]
    assert [p for p in problems if "is called '2xfoo', which no agent can be" in p]
    assert hydra.race("-a", "claude", OPT_IN).code == 0
    settings(hydra, '[agents.claude]\nadapter = "toy_adapter:ADAPTER"\n')
    done = hydra.run("race", "x", "-a", "claude")
    assert done.returncode == 2
    assert "agents.claude.adapter: claude is one of Hydra's own" in done.stderr
    assert "hint: give the agent a name of its own" in done.stderr


@pytest.mark.slow
def test_of_two_by_one_name_none_is_taken_until_the_user_names_one(toy: Hydra) -> None:
    install(site(toy), "other-toy", {"toy": "other_toy:ADAPTER"}, "2.0")
    agents, problems = listed(toy)
    assert "toy" not in agents
    assert "called toy: other-toy 2.0 and toy-adapter 1.0" in problems[0]
    done = toy.run("race", "x", "-a", "toy", OPT_IN)
    assert done.returncode == 2
    assert "uninstall all but one" in done.stderr
    settings(toy, '[agents.toy]\nadapter = "toy_adapter:ADAPTER"\n')
    agents, problems = listed(toy)
    assert problems == []
    assert agents["toy"]["third_party"] is True
    assert toy.run("race", TASK, "-a", "toy", OPT_IN).returncode == 0


def test_the_same_distribution_twice_on_the_path_is_one(toy: Hydra, scratch: Path) -> None:
    install_toy(scratch / "again")
    toy.extra["PYTHONPATH"] = f"{site(toy)}:{scratch / 'again'}"
    agents, problems = listed(toy)
    assert "toy" in agents
    assert problems == []


# --- a parser, or any other method, that fails -----------------------------------------------

RAISES = "    def take(self, line):\n        raise ZeroDivisionError('oops')"
NONSENSE = "    def parse_line(self, line):\n        return [AgentEvent('run_ended')]"
BAD_END = "    def end(self, exit, files):\n        raise ZeroDivisionError('oops')"


@pytest.mark.parametrize(
    ("parser", "reason", "text"),
    [
        (RAISES, "no_terminal_event", "without its closing event"),
        (NONSENSE, "no_terminal_event", "without its closing event"),
        (BAD_END, "adapter_failed", "failed on what the agent wrote: ZeroDivisionError: oops"),
    ],
    ids=["raises", "nonsense", "raises at the end"],
)
def test_a_parser_that_fails_ends_its_lane_and_no_other(
    toy: Hydra, parser: str, reason: str, text: str
) -> None:
    toy.agent("claude", [fakes.edit("b.txt", "x\n"), fakes.finish()])
    spec = broken(site(toy), "bad", "bad", parser=parser)
    settings(toy, f'[agents.bad]\nadapter = "{spec}"\n')
    done = toy.run("race", TASK, "--json", "-a", "bad", "-a", "claude", OPT_IN)
    assert done.returncode == 1, done.stdout + done.stderr
    lanes = {lane["lane"]: lane for lane in json.loads(done.stdout)["lanes"]}
    assert lanes["claude"]["status"] == "completed"
    bad = lanes["bad"]
    assert bad["status"] == "failed"
    assert (bad["error"]["kind"], bad["error"]["reason"]) == ("StreamParseError", reason)
    assert text in bad["error"]["message"]
    assert bad["patch"]["files"] == 1  # what the agent did is there all the same


@pytest.mark.slow
@pytest.mark.parametrize(
    ("methods", "text"),
    [
        ("    def detect(self, binary, probes):\n        return 1 // 0", "detect()"),
        ("    def detect(self, binary, probes):\n        return None", "gives no DetectResult"),
        ("    def build_command(self, request, found):\n        return 1 // 0", "build_command()"),
        ("    def build_command(self, request, found):\n        return 'toy'", "no BuiltCommand"),
    ],
)
def test_other_methods_that_fail_keep_their_lane_from_starting(
    toy: Hydra, methods: str, text: str
) -> None:
    toy.agent("claude", [fakes.edit("b.txt", "x\n"), fakes.finish()])
    settings(toy, f'[agents.bad]\nadapter = "{broken(site(toy), "bad", "bad", methods=methods)}"\n')
    race = toy.race("-a", "bad", "-a", "claude", OPT_IN)
    assert race.code == 1, race.stderr
    assert race.lane("claude")["status"] == "completed"
    error = race.lane("bad")["error"]
    assert (race.lane("bad")["status"], error["reason"]) == ("not_started", "adapter_failed")
    assert text in error["message"]
    assert "hydra conformance --adapter bad:ADAPTER" in error["hint"]


class Made:
    """A parser that gives what it was made with."""

    def __init__(self, value: object) -> None:
        self.value = value

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        return self.value  # type: ignore[return-value]

    parse_raw = parse_line

    def end(self, exit: ExitStatus, files: object) -> list[AgentEvent]:
        return self.value  # type: ignore[return-value]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        [None],
        iter([AgentEvent("message")]),
        [AgentEvent("run_ended")],
        [AgentEvent("message", None, {})],  # type: ignore[arg-type]
        [AgentEvent("message", "", {"text": object()})],
        [AgentEvent("message", "", {"text": float("nan")})],
        [AgentEvent("message", "", {1: "x"})],  # type: ignore[dict-item]
        [AgentEvent("failed", "", {"error": "Boom", "terminal": True})],
        [AgentEvent("failed", "", {"error": "TimedOut", "numbers": {"limit": "x"}})],
    ],
    ids=str.split("none text null iterator hydras sub object nan field-name error numbers"),
)
def test_what_is_no_event_never_gets_further(value: object) -> None:
    parser: Parser = GuardedParser(Made(value), "the adapter")
    for parse in (parser.parse_line, parser.parse_raw):
        with pytest.raises((ValueError, TypeError)):
            parse(b"x")
    (ending,) = parser.end(ExitStatus(code=0), {})
    assert (ending.kind, ending.data["error"]) == ("failed", "StreamParseError")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sign_in", "yes"),
        ("sign_in_detail", None),
        ("flags", "--json"),
        ("capabilities", None),
        ("capabilities", CapabilitySet(json_stream=True)),  # type: ignore[arg-type]
        ("capabilities", CapabilitySet(plain_text=Capability(True, "seen"))),  # type: ignore[arg-type]
    ],
)
def test_a_result_that_nobody_could_show_is_the_adapters_failure(field: str, value: object) -> None:
    class Odd:
        descriptor = example().adapter.descriptor

        def detect(self, binary: str, probes: object) -> DetectResult:
            document: dict[str, Any] = {field: value}
            return DetectResult(adapter="toy", binary=Path(binary), **document)

        def capabilities(self, flags: object) -> object:
            return value

    guarded = guard(Odd(), Origin("odd:ADAPTER"))  # type: ignore[arg-type]
    result = guarded.detect("/bin/toy", {})
    assert result.error is not None
    assert (result.error.reason, result.sign_in.value) == ("adapter_failed", "unknown")
    assert guarded.capabilities(frozenset()) == Odd.descriptor.capabilities


@pytest.mark.parametrize(
    ("field", "value"),
    [("minimum_version", 2), ("capabilities", CapabilitySet(json_stream=True))],  # type: ignore[arg-type]
)
def test_a_descriptor_that_nobody_could_show_is_refused(field: str, value: object) -> None:
    class Odd:
        descriptor = replace(example().adapter.descriptor, **{field: value})

        def key(self) -> str:
            return "toy"

        detect = capabilities = build_command = parser = key

    with pytest.raises(UsageError, match=rf"descriptor: .*\$\.{field}"):
        plugins.checked(Odd(), plugins.PluginReference("toy", Origin("odd:ADAPTER"), "a test"))


def test_good_events_pass_through_untouched() -> None:
    events = [AgentEvent("message", "", {"text": "hi"}), AgentEvent("completed")]
    assert GuardedParser(Made(events), "x").parse_line(b"") == events


# --- it costs nothing where nobody asks for it -----------------------------------------------


def test_a_race_of_hydras_own_looks_for_no_one_else(toy: Hydra) -> None:
    toy.agent("claude", [fakes.finish()])
    terms = [sys.executable, "-X", "importtime", "-m", "hydra"]
    for command in (("--help",), ("race", "x", "-a", "claude", "--dry-run")):
        done = subprocess.run(
            [*terms, *command],
            cwd=toy.repo,
            env=toy.environ,
            capture_output=True,
            text=True,
            check=True,
        )
        loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert "hydra.cli" in loaded
        assert not loaded & {"importlib.metadata", "toy_adapter"}


# --- the example of docs/ ----------------------------------------------------------------------


def example() -> ContractSubject:
    path = [str(EXAMPLE), *sys.path]
    named = plugins.PluginReference("toy", Origin("toy_adapter:ADAPTER"), "a test")
    adapter = plugins.load(named, path)
    return ContractSubject(adapter, EXAMPLE / "toy_adapter" / "fixtures", third_party=True)


def test_the_example_is_short_and_passes_the_suite_as_it_is() -> None:
    lines = (EXAMPLE / "toy_adapter" / "__init__.py").read_text().splitlines()
    assert len(lines) < 100
    cases = list(suite.run(example()))
    assert [(c.name, c.differences) for c in cases if c.verdict is CaseVerdict.FAILED] == []
    skipped = {case.name: case.reason for case in cases if case.verdict is CaseVerdict.SKIPPED}
    assert set(skipped) <= {"detect.sign_in"}
    assert len(cases) > 25


def test_the_guard_marks_the_example_and_changes_nothing_else() -> None:
    adapter = example().adapter
    origin = Origin("toy_adapter:ADAPTER", "toy-adapter", "1.0")
    guarded = guard(adapter, origin)
    assert guarded.descriptor.third_party == origin
    assert guarded.descriptor.tier is Tier.EXPERIMENTAL
    subject = ContractSubject(guarded, example().recordings, third_party=True)
    assert [c for c in suite.run(subject) if c.verdict is CaseVerdict.FAILED] == []


def test_its_recordings_are_what_its_agent_says(scratch: Path) -> None:
    """Each was written by running it: the same tasks give the same lines today."""
    folder = EXAMPLE / "toy_adapter" / "fixtures" / "toy" / "1.0.0"
    agent = str(EXAMPLE / "agent" / "toy")
    for name, task, terms in (
        ("edit", "write a.txt hello there\nIs this all?\n", ("--mode", "edit")),
        ("denied", "delete a.txt\n", ("--mode", "look")),
        (
            "delete",
            "write a.txt x\ndelete a.txt\ndelete b.txt\n",
            ("--mode", "all", "--model", "toy-2"),
        ),
        ("empty", "", ("--mode", "edit")),
    ):
        place = scratch / name
        place.mkdir()
        done = completed([sys.executable, agent, "--json", *terms], cwd=place, input=task)
        assert done.stdout == (folder / f"stream.{name}.jsonl").read_text()
        assert json.loads((folder / "exits.json").read_text())[name] == done.returncode
    for option in ("help", "version"):
        done = subprocess.run(
            [sys.executable, agent, f"--{option}"], capture_output=True, text=True, check=True
        )
        assert done.stdout == (folder / f"{option}.txt").read_text()


@pytest.mark.slow
def test_the_example_installs_with_pip_and_passes_by_its_entry_point(hydra: Hydra) -> None:
    terms = (
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--target",
        str(site(hydra)),
    )
    done = subprocess.run((*terms, str(EXAMPLE)), capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("pip cannot build here: it reaches no package index")
    done = hydra.run("conformance", "toy", "--json", timeout=300)
    document = json.loads(done.stdout)
    failed = [case for case in document["cases"] if case["verdict"] == "failed"]
    assert failed == []
    assert done.returncode == 0, done.stderr
    assert len(document["cases"]) > 30


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["", "toy", ":X", "a:", "a b:C", "a:B()", "a/b:C"])
def test_what_names_no_adapter_on_a_command_line(spec: str) -> None:
    with pytest.raises(UsageError, match="names no adapter") as error:
        plugins.from_words(spec)
    assert "my_pkg:ADAPTER" in error.value.hint


def test_a_command_line_names_what_lies_in_the_current_folder(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.chdir(scratch)
    (scratch / "in_the_making.py").write_text("from toy_adapter import ADAPTER\n")
    assert plugins.from_words("in_the_making:ADAPTER").key() == "toy"


def test_what_an_agent_is_asked_for_by() -> None:
    for text in ("toy", "2xtoy", "toy:m", "3xtoy:a:b", " toy "):
        assert registry.key_of(text) == "toy"
