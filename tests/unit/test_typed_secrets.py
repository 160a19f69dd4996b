"""A secret in every place that a person can type one: what runs has it, and nothing that stays."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from hydra.redaction import notice, redacted
from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.faults import HYDRA_DIES, Faults
from tests.support.shelf import JOURNAL, MOVED
from tests.support.verdict_races import RIGHT, TESTS, UNITTEST, shop

FORMS = {
    "variable": "API_TOKEN={}",
    "short": "PASSWORD={}",
    "spaces": "DB_PASSWORD='{} and more'",
    "option": "--api-key {}",
    "header": "Authorization: Bearer {}",
    "address": "https://ada:{}@example.com/x",
    "token-address": "pip install git+https://{}@example.com/x",
    "token-user": "https://{}:x-oauth-basic@example.com/x",
    "login": "curl -u ada:{} https://example.com",
    "login-options": "curl -fsSLu 'ada:{} and more' https://example.com",
    "quoted-login": """sh -c 'curl --user "ada:{}" https://example.com'""",
    "login-token": "curl --proxy-user={}: https://example.com",
    "any-scheme": "curl -H 'Authorization: ApiKey {}' https://example.com",
    "any-header": 'curl --header "X-Session-Token: {}" https://example.com',
    "json": '{{"token": "{}"}}',
    "toml": 'secret = "{}"',
}


def value(place: str) -> str:
    return f"zq7-{place}-5f3a9c1e"


KEYS = {
    "anthropic": "sk-ant-api03-zq7Fw3kLm9Xc2Vb8Nq4Rt6Yh1Uj5",
    "openai": "sk-proj-zq7Fw3kLm9Xc2Vb8Nq4Rt6Yh1Uj5",
    "github": "ghp_zq7Fw3kLm9Xc2Vb8Nq4Rt6Yh1Uj5Ab3Cd9Ef",
    "fine-grained": "github_pat_zq7Fw3kLm9Xc2Vb8Nq4Rt6Yh1Uj5Ab3Cd9Ef",
    "aws": "AKIAZQ7FW3KLM9XC2VB8",
    "google": "AIzazq7Fw3kLm9Xc2Vb8Nq4Rt6Yh1Uj5Ab3Cd9E",
    "gitlab": "glpat-zq7Fw3kLm9Xc2Vb8Nq4R",
    "npm": "npm_zq7Fw3kLm9Xc2Vb8Nq4Rt6Yh1Uj5Ab3Cd9Ef",
    "slack": "xoxa-zq7-Fw3kLm9Xc2Vb8Nq4Rt6",
}
PEM = "zq7MIIEowIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi"


@pytest.fixture(autouse=True)
def _none_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hydra.redaction._typed", frozenset())


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_typed_secret_goes(form: str) -> None:
    secret = "zq7tiny" if form == "short" else value(form)
    text = f"Mend it: {FORMS[form].format(secret)} is what I use"
    notice(text)
    assert secret not in redacted(text)
    assert redacted(text).startswith("Mend it: ")
    assert redacted({"repository": f"/{text}", "x": [text]})["x"] == [redacted(text)]


@pytest.mark.parametrize("form", ["variable", "option", "header", "address", "login", "any-header"])
def test_a_long_secret_goes_to_its_end(form: str) -> None:
    """A key of a cluster's settings, a token of a package index."""
    secret = "".join(value(f"{number}") for number in range(150))
    text = f"Mend it: {FORMS[form].format(secret)} is what I use"
    notice(text)
    assert "-149-" not in redacted(text)
    assert "-149-" not in redacted(f"{secret} again")


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_each_form_of_a_key_goes(key: str) -> None:
    notice(f"use {key} for it")
    assert redacted(f"use {key} for it") == "use [redacted] for it"


def test_a_private_key_goes_and_so_does_the_value_of_a_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_SECRET", "correct horse")
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{PEM}\n-----END RSA PRIVATE KEY-----"
    notice(f"deploy by\n{pem}", "as correct horse")
    assert redacted(f"{pem} correct horse").count("[redacted]") == 2


@pytest.mark.parametrize(
    "text",
    [
        "sorted(items, key=itemgetter(1))",
        "TOKEN=$CI_TOKEN pytest",
        "password = hash_password2(text)",
        "the token lexer, see parser2",
        'environment = ["API_KEY", "DB_TOKEN_2"]',
        "key=value and KEY: the first column",
        "the key: src/keys2.py has it",
        "git clone https://example.com/a:b/c@d",
        "git clone https://ada@example.com/x or ssh://git@example.com/x",
        "git clone https://$TOKEN_2@example.com/x or https://ada:${PASSWORD_2}@example.com",
        "curl -u $NAME_2:$PASSWORD_2 -H 'Authorization: Bearer $TOKEN_2' example.com",
        "curl example.com/id | docker run -u 1000:10001000 x",
        "npm install lodash@4.17.21 https://example.com/@scope/name@1.2.3.tgz",
        "curl -H 'Accept: application/vnd.x2+json' example.com",
    ],
)
def test_code_and_prose_stay(text: str) -> None:
    notice(text)
    assert redacted(text) == text


COMMON = (
    "curl -u ada:postgres example.com/postgres",
    "curl -H 'Private-Token: postgres' https://example.com/postgres",
    "DB_PASSWORD=postgres pytest tests/postgres",
    "postgres://app:postgres@localhost/db of src/postgres.py",
    "SSL_KEY=certs/server.key serve certs/server.key",
    "the key: lib/v2/loader is slow, see lib/v2/loader",
    "find -----BEGIN RSA PRIVATE KEY----- in src/scanner/rules.py, then src/scanner/rules.py",
)
"""What a secret is called that is a word or a file elsewhere; each ends in that."""


@pytest.mark.parametrize("text", COMMON)
def test_a_word_and_a_file_go_with_their_name_alone(text: str) -> None:
    notice(text)
    last = text.rpartition(" ")[2]
    assert redacted(text).endswith(last)
    assert redacted([last]) == [last]
    paired = "=" in text or "@" in text or "curl" in text
    assert ("[redacted]" in redacted(text)) == paired


def test_a_word_that_a_variable_holds_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "postgres")
    notice("Mend the queries of postgres")
    assert redacted("src/postgres.py") == "src/postgres.py"


def test_a_stranger_s_secrets_go_with_their_names_alone() -> None:
    """Who writes a repository's hydra.toml would else choose what no screen shows."""
    secret = value("theirs")
    text = f"API_TOKEN={secret} curl -u ada:{secret} https://ada:{secret}@example.com"
    notice(text, trusted=False)
    assert secret not in redacted(text)
    assert redacted(f"{secret} is shown") == f"{secret} is shown"


def test_what_a_record_is_read_back_by_stays() -> None:
    secret = value("same")
    notice(f"API_TOKEN={secret}")
    landing = {"ref": f"refs/heads/{secret}", "lanes": [secret], "loose": [f"{secret}.py"]}
    lanes = {"lanes": [{"lane": secret, "message": f"I use {secret}"}], "top": secret}
    assert redacted(landing) == landing
    assert redacted(lanes)["lanes"] == [{"lane": secret, "message": "I use [redacted]"}]


def test_half_a_character_of_an_agent_s_is_no_obstacle() -> None:
    notice(f"API_TOKEN={value('half')}")
    half = "half \ud83d, \udcff and \udfff"
    assert redacted({"text": [half]}) == {"text": [half]}
    assert redacted(f"{half} {value('half')}") == f"{half} [redacted]"


# ---- at the command line


class Search:
    """All that Hydra wrote and printed, looked through for what was typed."""

    def __init__(self, hydra: Hydra) -> None:
        self.hydra = hydra
        self.prints: list[tuple[str, str]] = []

    def run(self, *args: str, stdin: str | None = None) -> tuple[int, str]:
        done = self.hydra.run(*args, stdin=stdin, timeout=60)
        self.prints.append((" ".join(args[:3]), done.stdout + done.stderr))
        return done.returncode, done.stdout + done.stderr

    def hits(self, secrets: Sequence[str]) -> list[tuple[str, str]]:
        texts = [(name, text.encode()) for name, text in self.prints]
        for top in (self.hydra.state, self.hydra.scratch / "cache", self.hydra.scratch / "out"):
            texts += [(str(path.relative_to(self.hydra.scratch)), data) for path, data in read(top)]
        for repository in (self.hydra.repo, *self.hydra.state.glob("*/runs/*/patches.git")):
            log = git(repository, "log", "--all", "--format=%B%D")
            texts.append((f"commits of {repository.name}", log.encode()))
        return [(name, s) for name, text in texts for s in secrets if s.encode() in text]


def read(top: Path) -> Iterator[tuple[Path, bytes]]:
    for path in sorted(top.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            if "objects" in path.parts and data[:1] == b"\x78":
                data = zlib.decompress(data)
            yield path, str(path.relative_to(top)).encode() + b"\n" + data


PLACES = (
    *("task", "file", "stdin", "check", "made", "setup", "args", "hook", "preface", "remote"),
    *("variable", "message", "reason", "again", "again-setup", "wrong", "dry", "edited"),
    *("lone", "login", "header", "model"),
)
SECRETS = [*map(value, PLACES), "made-up-anthropic-key", "zq7tiny"]

SETTINGS = f"""
[agents.claude]
args = ["--append-system-prompt", "API_KEY={value("args")}"]
[hooks]
post_run = ["API_TOKEN={value("hook")} sh -c 'exit 3'"]
[profiles.careful]
agent = "claude"
preface = "log in by https://ada:{value("preface")}@example.com"
[remotes.box]
mode = "ssh"
host = "ssh://ada:{value("remote")}@127.0.0.1:9"
[profiles.far]
agent = "claude"
remote = "box"
"""


@pytest.mark.slow
def test_nothing_that_was_typed_stays(hydra: Hydra, scratch: Path) -> None:
    shop(hydra.repo)
    (scratch / "out").mkdir()
    (hydra.home / "hydra.toml").write_text(SETTINGS)
    task = f"API_TOKEN={value('task')} Mend pages by made-up-anthropic-key PASSWORD=zq7tiny"
    calls = fakes.Calls(scratch)
    # It repeats what it was told, and so do the check and the set-up.
    steps = [
        fakes.say(f"I use {value('task')}"),
        fakes.stderr(f"{value('task')}\n"),
        fakes.edit("src/pager.py", RIGHT),
        fakes.finish(f"{value('task')}, done"),
    ]
    hydra.agent("claude", steps, record=calls.path)
    hydra.extra["HYDRA_LOG"] = str(scratch / "out" / "log")
    search = Search(hydra)

    echoed = f'curl -H "X-Key: {value("header")}" https://{value("lone")}@example.com'
    check = f"env API_TOKEN={value('check')} sh -c 'echo $API_TOKEN {echoed}; {UNITTEST}'"
    made = f"python3 -c pass; make API_TOKEN={value('made')} || true"
    login = f"curl -u ada:{value('login')} example.com"
    before = f"API_TOKEN={value('setup')} sh -c 'echo $API_TOKEN {login}'"
    code, shown = search.run(
        *("race", task, "-a", "claude", "-a", "careful", "-vv"),
        *("--check", check, "--check", made, "--setup", before),
    )
    assert code == 0, shown
    told = [str(call["stdin"]) for call in calls.so_far() if call["stdin"]]
    calls.close()
    assert any(task in text for text in told)
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), fakes.finish("done")])
    (run,) = hydra.state.glob("*/runs/*")
    output = next((run / "checks" / "1" / "_base").glob("*.txt"), None)
    assert output is None or "[redacted]" in output.read_text()
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["title"].startswith("API_TOKEN=[redacted] Mend pages")

    hydra.extra["HYDRA_SETUP"] = f"API_TOKEN={value('variable')} true"
    search.run("race", "-", "-a", "far", "--events", stdin=f"API_TOKEN={value('stdin')}")
    search.run("race", "-", "-a", "claude", "--events", stdin=f"TOKEN={value('stdin')}")
    del hydra.extra["HYDRA_SETUP"]
    file = scratch / "task.md"
    file.write_text(f"Use https://ada:{value('file')}@example.com")
    search.run("race", "--file", str(file), "-a", "claude", "--json", "--no-check")
    agent = f"claude:https://ada:{value('model')}@example.com/m"
    for more in ((), ("--json",)):
        task = f"API_TOKEN={value('dry')}"
        code, shown = search.run("race", task, "-a", agent, "--dry-run", *more)
        assert (code, "claude-https-ada-redacted-example.com-m" in shown) == (0, True), shown
    search.run("race", "Do it", "--chekc", f"API_TOKEN={value('wrong')} x")
    search.run("race", "Do it", "--effort", f"API_TOKEN={value('wrong')}", "--json")

    first = ("-r", run.name)
    search.run("compare", "--html", str(scratch / "out" / "page.html"), *first)
    search.run("compare", "--markdown", *first)
    search.run("compare", "--json", *first)
    search.run("runs")
    search.run("runs", "--json")
    search.run("runs", "show", run.name)
    search.run("diff", "claude", "--mbox", *first)
    search.run("diff", "claude", "--json", *first)

    # What the record lacks is not run without it.
    code, shown = search.run("check", *first)
    assert (code, "--check and --setup" in shown) == (3, True), shown
    code, shown = search.run("check", "--check", UNITTEST, *first)
    assert (code, "was typed in --setup" in shown) == (3, True), shown
    again = f"API_TOKEN={value('again')} {UNITTEST}"
    setup = ("--setup", f"API_TOKEN={value('again-setup')} true")
    for _ in range(2):
        code, shown = search.run("check", "--check", again, *setup, "--json", *first)
        names = {row["check"] for row in json.loads(shown[: shown.rindex("}") + 1])["baseline"]}
        assert (code, names) == (0, {"unittest"}), shown

    (hydra.repo / "other.txt").write_text("mine\n")
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "commit", "-qm", "Another")
    code, shown = search.run("merge", "claude", *first)
    assert (code, "--no-check" in shown) == (5, True), shown
    assert "its checks cannot be run: a secret was typed in --check and --setup" in shown
    message, reason = f"Mend it\n\nAPI_TOKEN={value('message')}", f"by TOKEN={value('reason')}"
    code, shown = search.run(
        "merge", "claude", "--no-check", "-m", message, "--override", reason, *first
    )
    assert code == 0, shown
    assert git(hydra.repo, "log", "-1", "--format=%B").startswith(f"{message}\n")
    assert search.run("merge", "--undo")[0] == 0
    editor = hydra.home / "editor"
    editor.write_text(f"#!/bin/sh\necho 'Mend: API_TOKEN={value('edited')}' >\"$1\"\n")
    editor.chmod(0o755)
    hydra.extra |= {"EDITOR": str(editor), "GIT_EDITOR": str(editor)}
    code, shown = search.run("merge", "claude", "--no-check", "--edit", "--json", *first)
    assert code == 0, shown
    # The user's own words are in the user's own commit as they are, and nowhere else.
    assert git(hydra.repo, "log", "-1", "--format=%s") == f"Mend: API_TOKEN={value('edited')}"
    assert search.hits(SECRETS) == [(f"commits of {hydra.repo.name}", value("edited"))]


@pytest.mark.slow
def test_a_killed_race_leaves_no_typed_secret(hydra: Hydra, scratch: Path) -> None:
    at_work = fakes.Barrier(scratch, "at-work")
    hydra.agent("claude", [*at_work.stop(), fakes.finish()])
    race = hydra.start("race", f"API_TOKEN={value('task')} Do it", "-a", "claude", "--no-check")
    at_work.wait()
    race.kill()
    race.communicate()
    at_work.close()
    search = Search(hydra)
    search.run("runs", "show")
    assert search.hits([value("task")]) == []


@pytest.mark.slow
def test_a_secret_that_is_a_word_or_a_branch_too_changes_no_verdict_and_no_landing(
    hydra: Hydra,
) -> None:
    branch = f"fix-{value('branch')}"
    git(hydra.repo, "checkout", "-qb", branch)
    shop(hydra.repo, {"tests/test_pages.py": None, "tests/test_postgres.py": TESTS})
    line = f"DB_PASSWORD=postgres API_TOKEN={value('branch')} {UNITTEST}"
    (hydra.home / "hydra.toml").write_text(f'[race]\ncheck = ["{line}"]\n')
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), fakes.finish("done")])
    race = hydra.race("-a", "claude")
    assert race.document["verdict"]["lanes"][0]["state"] == "proved", race
    (check,) = race.lane("claude")["checks"]
    assert (check["check"], check["command"].count("=[redacted]")) == ("unittest", 2)
    details = next(Path(race.document["folder"]).glob("checks/1/claude/*.json"))
    assert "test_postgres" in details.read_text()
    before = git(hydra.repo, "rev-parse", "HEAD")
    message = ("-m", f"API_TOKEN={value('branch')} Mend it")
    assert hydra.run("merge", "claude", *message).returncode == 0
    undone = hydra.run("merge", "--undo")
    assert undone.returncode == 0, undone.stderr
    assert git(hydra.repo, "rev-parse", branch) == before


@pytest.mark.slow
def test_what_is_ordinary_or_a_stranger_s_blanks_nothing(hydra: Hydra) -> None:
    shop(hydra.repo, {"hydra.toml": '# SHOP_TOKEN="fixes the failing test"\n'})
    hydra.extra["SHOP_PASSWORD"] = "ordinary"
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), fakes.finish("done")])
    race = hydra.race("-a", "claude", "--check", f"echo an ordinary line; {UNITTEST}")
    (output,) = Path(race.document["folder"]).glob("checks/1/claude/*.txt")
    assert output.read_text().startswith("an ordinary line\n")
    assert "fixes the failing test" in hydra.run("compare").stdout


@pytest.mark.slow
def test_a_killed_landing_leaves_no_typed_secret(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.edit("a.txt", "a\n"), fakes.finish("done")])
    hydra.race("-a", "claude", "--no-check")
    options = ("--override", f"by API_TOKEN={value('reason')}", "-m", f"TOKEN={value('message')}")
    search, faults = Search(hydra), Faults(hydra.scratch / "calls")
    for place, deed in ((JOURNAL, "kill"), (MOVED, HYDRA_DIES)):
        hydra.extra |= faults.environ({place: deed})
        assert hydra.run("merge", "claude", "--no-check", *options).returncode == -9
        for name in faults.environ({}):
            del hydra.extra[name]
        assert search.hits([value("reason")]) == []
        search.run("runs")
        own = [(f"commits of {hydra.repo.name}", value("message"))] * (place == MOVED)
        assert search.hits([value("reason"), value("message")]) == own
    (landing,) = hydra.state.glob("*/runs/*/landings/*.json")
    assert json.loads(landing.read_text())["override"] == "by API_TOKEN=[redacted]"
