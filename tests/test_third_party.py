"""Adapters that others have written: found, marked, held experimental, and never in the way."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import plugins, registry
from hydra.adapters.plugins import guard
from hydra.conformance.contract import suite
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.results import CaseVerdict
from hydra.errors import UsageError
from hydra.records.agent import Origin, Tier
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.thirdparties import EXAMPLE, broken, install, install_toy

OPT_IN = "--allow-experimental-adapters"
TASK = "write a.txt hello"
SPEC = "toy_adapter:ADAPTER"
BARE = {"adapter": SPEC, "distribution": None, "version": None}


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    """`hydra` with a folder of installed packages that is empty yet."""
    (scratch / "site").mkdir()
    return Hydra(scratch, repo, extra={"PYTHONPATH": str(scratch / "site")})


@pytest.fixture
def toy(hydra: Hydra) -> Hydra:
    """The same with the example installed, and its agent on PATH."""
    hydra.path.insert(0, install_toy(site(hydra)))
    return hydra


def site(hydra: Hydra) -> Path:
    return hydra.scratch / "site"


def settings(hydra: Hydra, text: str) -> None:
    (hydra.home / "hydra.toml").write_text(text)


def adapters(**specs: str) -> str:
    return "".join(f'[agents.{key}]\nadapter = "{spec}"\n' for key, spec in specs.items())


def listed(hydra: Hydra, *args: str) -> tuple[dict[str, dict[str, Any]], list[str]]:
    done = hydra.run("agents", "--json", *args)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    return {row["key"]: row for row in document["agents"]}, document["problems"]


def refused(hydra: Hydra, agent: str, *args: str) -> str:
    """Why a race of it is none."""
    done = hydra.run("race", "x", "-a", agent, *args)
    assert done.returncode == 2, done.stdout
    return done.stderr


# --- found and marked ----------------------------------------------------------------------------


@pytest.mark.slow
def test_it_races_by_opt_in_alone_and_its_lane_says_whose_it_is(toy: Hydra) -> None:
    mark = toy.scratch / "imported"
    with (site(toy) / "toy_adapter" / "__init__.py").open("a") as module:
        module.write(f"\nopen({str(mark)!r}, 'w')\n")
    text = refused(toy, "2xtoy:m")
    assert "toy is a third party's adapter (toy-adapter 1.0)" in text
    assert (OPT_IN in text, mark.exists()) == (True, False)  # none of its code has run
    toy.extra["HYDRA_TOY_MODEL"] = "toy-3"
    done = toy.run("race", TASK, "--json", "-a", "toy", OPT_IN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert mark.exists()
    (lane,) = json.loads(done.stdout)["lanes"]
    assert (lane["status"], lane["usable"], lane["version"]) == ("completed", True, "1.0.0")
    assert (lane["third_party"], lane["tier"], lane["model"]) == (True, "experimental", "toy-3")
    assert lane["origin"]["distribution"] == "toy-adapter"
    assert "+hello" in toy.run("diff", "toy").stdout
    plan = toy.run("race", TASK, "-a", "2xtoy:toy-2", OPT_IN, "--dry-run").stdout
    assert plan.count("experimental, third party: toy-adapter 1.0") == 2
    assert "--model toy-2" in plan


@pytest.mark.slow
def test_ones_own_hydra_toml_names_one_and_a_repositorys_may_not(toy: Hydra) -> None:
    (site(toy) / "toy_adapter-1.0.dist-info" / "entry_points.txt").unlink()
    assert "toy" not in listed(toy)[0]
    (toy.repo / "hydra.toml").write_text(adapters(toy=SPEC))
    settings(toy, adapters(toy=SPEC))
    text = refused(toy, "toy", OPT_IN)
    assert "agents.toy.adapter may not be set by a repository's hydra.toml" in text
    (toy.repo / "hydra.toml").write_text('[agents.toy]\nmodel = "toy-3"\n')
    toy.path.clear()
    toy.extra["HYDRA_TOY_PATH"] = str(EXAMPLE / "agent" / "toy")
    done = toy.run("race", TASK, "--json", "-a", "toy", OPT_IN)
    (lane,) = json.loads(done.stdout)["lanes"]
    assert (lane["status"], lane["model"]) == ("completed", "toy-3")
    assert lane["origin"] == BARE
    settings(toy, adapters(toy=SPEC) + '[agents.tyo]\nmodel = "x"\n')
    done = toy.run("agents")
    assert (done.returncode, "did you mean toy?" in done.stderr) == (2, True)


# --- never from the repository -------------------------------------------------------------------


@pytest.mark.slow
def test_what_lies_in_the_repository_is_not_importable(hydra: Hydra) -> None:
    mark = hydra.scratch / "imported"
    for folder in (hydra.repo, hydra.repo / "src"):
        folder.mkdir(exist_ok=True)
        (folder / "my_pkg.py").write_text(f"open({str(mark)!r}, 'w')\nADAPTER = None\n")
        install(folder, "evil", {"evil": "my_pkg:ADAPTER"})
    for path in ("", ".:", f"{hydra.repo}/src:"):
        hydra.extra["PYTHONPATH"] = f"{path}{site(hydra)}"
        settings(hydra, "")
        agents, problems = listed(hydra)
        assert ("evil" in agents, problems) == (False, [])
        settings(hydra, adapters(evil="my_pkg:ADAPTER"))
        assert "there is no module my_pkg to import" in refused(hydra, "evil", OPT_IN)
    # One's own of that name is what the user means, wherever Hydra is started.
    install_toy(site(hydra))
    (site(hydra) / "my_pkg.py").write_text("from toy_adapter import ADAPTER\n")
    settings(hydra, adapters(toy="my_pkg:ADAPTER"))
    hydra.extra["PYTHONPATH"] = str(site(hydra))
    for name in ("click", "trio", "structlog"):
        (hydra.repo / f"{name}.py").write_text("raise SystemExit(99)\n")
    assert listed(hydra)[0]["toy"]["origin"]["adapter"] == "my_pkg:ADAPTER"
    assert not mark.exists()


# --- what is wrong with one is said, and stops nobody else ---------------------------------------

ODD = (
    "from toy_adapter import *\nfrom msgspec.structs import replace\nclass Odd(Toy):\n"
    "    descriptor = replace(DESCRIPTOR, key='odd', environment=('*',))\n"
    "    def key(self): return 'odd'\nADAPTER = Odd()"
)
FAILING = (
    "class F:\n    @property\n    def descriptor(self): raise OSError('no disk')\nADAPTER = F()"
)
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
    "odd": ("odd:ADAPTER", ODD, "environment has '*'"),
    "failing": ("failing:ADAPTER", FAILING, "raises OSError: no disk"),
}


@pytest.mark.slow
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
        start = f"the adapter {key} ({spec}) cannot be used: "
        (problem,) = [problem for problem in problems if start in problem]
        assert text in problem
        assert problem.endswith(")")  # the next step
    shown = " ".join(hydra.run("doctor").stdout.split())
    assert all(f"the adapter {key}" in shown for key in CANNOT)
    done = hydra.run("race", "x", "--json", "-a", "raising", "-a", "claude", OPT_IN)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, "boom" in error["message"], bool(error["hint"])) == (2, True, True)


@pytest.mark.slow
def test_no_one_takes_a_name_of_hydras_own_and_of_two_by_one_name_none(toy: Hydra) -> None:
    install(site(toy), "impostor", {"claude": SPEC, "2xfoo": "a:b"})
    toy.extra["PYTHONPATH"] += f":{toy.scratch / 'again'}"
    install_toy(toy.scratch / "again")  # the same distribution twice is one
    agents, problems = listed(toy)
    assert (agents["claude"]["third_party"], "toy" in agents) == (False, True)
    for text in (
        "impostor 1.0 is called claude, as an adapter of Hydra's own",
        "is called '2xfoo', which no agent can be",
    ):
        assert any(text in problem for problem in problems)
    settings(toy, adapters(claude=SPEC))
    text = refused(toy, "claude")
    assert "agents.claude.adapter: claude is one of Hydra's own" in text
    assert "hint: give the agent a name of its own" in text
    settings(toy, "")
    install(site(toy), "other-toy", {"toy": "other_toy:ADAPTER"}, "2.0")
    agents, problems = listed(toy)
    assert "toy" not in agents
    assert any("called toy: other-toy 2.0 and toy-adapter 1.0" in text for text in problems)
    assert "uninstall all but one" in refused(toy, "toy", OPT_IN)
    settings(toy, adapters(toy=SPEC))
    assert listed(toy)[0]["toy"]["third_party"] is True
    assert toy.run("race", TASK, "-a", "toy", OPT_IN).returncode == 0


# --- a parser, or any other method, that fails ---------------------------------------------------

PARSERS = {
    "raises": (
        "    def take(self, line):\n        raise ZeroDivisionError('oops')",
        *("no_terminal_event", "without its closing event"),
    ),
    "nonsense": (
        "    def parse_line(self, line):\n        return [AgentEvent('run_ended')]",
        *("no_terminal_event", "without its closing event"),
    ),
    "end": (
        "    def end(self, exit, files):\n        raise ZeroDivisionError('oops')",
        *("adapter_failed", "failed on what the agent wrote: ZeroDivisionError: oops"),
    ),
}
METHODS = {
    "detects": ("detect(self, binary, probes):\n        return 1 // 0", "detect()"),
    "finds": ("detect(self, binary, probes):\n        return None", "gives no DetectResult"),
    "builds": ("build_command(self, request, found):\n        return 1 // 0", "build_command()"),
    "says": ("build_command(self, request, found):\n        return 'toy'", "no BuiltCommand"),
}


@pytest.mark.slow
def test_one_that_fails_ends_its_lane_and_no_other(toy: Hydra) -> None:
    toy.agent("claude", [fakes.edit("b.txt", "x\n"), fakes.finish()])
    specs = {key: broken(site(toy), key, key, parser=row[0]) for key, row in PARSERS.items()}
    for key, (method, _) in METHODS.items():
        specs[key] = broken(site(toy), key, key, methods=f"    def {method}")
    settings(toy, adapters(**specs))
    asked = [word for key in ("claude", *specs) for word in ("-a", key)]
    done = toy.run("race", TASK, "--json", *asked, OPT_IN)
    assert done.returncode == 1, done.stdout + done.stderr
    lanes = {lane["lane"]: lane for lane in json.loads(done.stdout)["lanes"]}
    assert lanes["claude"]["status"] == "completed"
    for key, (_, reason, text) in PARSERS.items():
        error = lanes[key]["error"]
        assert (lanes[key]["status"], error["kind"]) == ("failed", "StreamParseError")
        assert (error["reason"], text in error["message"]) == (reason, True)
        assert lanes[key]["patch"]["files"] == 1  # what the agent did is there all the same
    for key, (_, text) in METHODS.items():
        error = lanes[key]["error"]
        assert (lanes[key]["status"], error["reason"]) == ("not_started", "adapter_failed")
        assert text in error["message"]
        assert f"hydra conformance --adapter {key}:ADAPTER" in error["hint"]


# --- it costs nothing where nobody asks for it ---------------------------------------------------


def test_a_race_of_hydras_own_looks_for_no_one_else(toy: Hydra) -> None:
    toy.agent("claude", [fakes.finish()])
    argv = (sys.executable, "-X", "importtime", "-m", "hydra", "race", "x", "-a", "claude")
    done = toy.execute(*argv, "--dry-run")
    assert done.returncode == 0, done.stderr
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "hydra.cli" in loaded
    assert not loaded & {"importlib.metadata", "toy_adapter"}


# --- the example of docs/ ------------------------------------------------------------------------


def example() -> ContractSubject:
    named = plugins.PluginReference("toy", Origin(SPEC), "a test")
    adapter = plugins.load(named, [str(EXAMPLE), *sys.path])
    return ContractSubject(adapter, EXAMPLE / "toy_adapter" / "fixtures", third_party=True)


def test_the_example_is_short_and_passes_the_suite_guarded_or_not() -> None:
    assert len((EXAMPLE / "toy_adapter" / "__init__.py").read_text().splitlines()) < 100
    origin = Origin(SPEC, "toy-adapter", "1.0")
    guarded = guard(example().adapter, origin)
    assert guarded.descriptor.third_party == origin
    assert guarded.descriptor.tier is Tier.EXPERIMENTAL
    subject = ContractSubject(guarded, example().recordings, third_party=True)
    for tried in (example(), subject):
        cases = list(suite.run(tried))
        assert [(c.name, c.differences) for c in cases if c.verdict is CaseVerdict.FAILED] == []
        skipped = {case.name for case in cases if case.verdict is CaseVerdict.SKIPPED}
        assert (skipped <= {"detect.sign_in"}, len(cases) > 25) == (True, True)


# --- names ---------------------------------------------------------------------------------------


def test_what_a_command_line_names_an_adapter_by(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for spec in ("", "toy", ":X", "a:", "a b:C", "a:B()", "a/b:C"):
        with pytest.raises(UsageError, match="names no adapter") as error:
            plugins.from_words(spec)
        assert "my_pkg:ADAPTER" in error.value.hint
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.chdir(scratch)  # of the current folder, for this alone
    (scratch / "in_the_making.py").write_text("from toy_adapter import ADAPTER\n")
    assert plugins.from_words("in_the_making:ADAPTER").key() == "toy"
    for text in ("toy", "2xtoy", "toy:m", "3xtoy:a:b", " toy "):
        assert registry.key_of(text) == "toy"
