"""Models in `hydra agents` and in a race, as a person runs them; servers on loopback, scripted."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hydra.adapters.probe.local_models import KINDS, MOST, Server, base_url, models_of
from hydra.race.recovery import history
from hydra.records.plan import Rates
from hydra.report.models import server_words
from tests.support import fakes
from tests.support.command import Hydra

STEPS = [fakes.edit("a.txt", "new\n"), fakes.finish("done")]
TOLD = {"input": 100_000, "output": 10_000, "cached": 60_000}


# --- the command -----------------------------------------------------------------------------


def test_the_list_fits_80_columns_and_says_of_which_day_its_prices_are(hydra: Hydra) -> None:
    hydra.extra["COLUMNS"] = "80"
    done = hydra.run("agents", "--models")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "claude-opus-5-5" in done.stdout
    assert "as read on 2026-11-22" in done.stdout
    unknown = next(line for line in done.stdout.splitlines() if "gpt-6.1-sol" in line)
    assert unknown.split()[3:6] == ["?", "?", "?"]


def test_one_whole_with_its_sources(hydra: Hydra) -> None:
    hydra.extra["COLUMNS"] = "80"
    text = hydra.run("agents", "--model", "opus").stdout
    assert text.startswith("claude-opus-5-5\n")
    assert "$4 in, $20 out, $0.2 cached" in text
    assert "Claude Code 2.1.330, 2026-11-22" in text
    assert max(map(len, text.splitlines())) <= 80


def test_what_an_agent_would_be_told_and_warned_of(hydra: Hydra) -> None:
    assert "claude       is told opus\n" in hydra.run("agents", "claude", "--model", "opus").stdout
    document = json.loads(hydra.run("agents", "codex", "--model", "opus", "--json").stdout)
    assert document["told"] == "claude-opus-5-5"
    assert document["warnings"][0].startswith("codex takes models of the family gpt")
    assert document["models"][0]["rates"]["read"] == "2026-11-22"
    text = hydra.run("agents", "gemini", "--model", "flash").stdout
    assert "its own CLI decides" in text


def test_only_those_that_an_agent_takes(hydra: Hydra) -> None:
    document = json.loads(hydra.run("agents", "gemini", "--models", "--json").stdout)
    assert {row["family"] for row in document["models"]} == {"gemini"}
    assert document["words"]["flash"] == ""
    assert document["local"] is None


def test_a_model_or_an_agent_that_nobody_knows(hydra: Hydra) -> None:
    done = hydra.run("agents", "--model", "opsu")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Hydra knows no model 'opsu'; did you mean opus?" in done.stderr
    assert hydra.run("agents", "claud", "--models").returncode == 2


@pytest.mark.slow
def test_own_entries_are_listed_first_and_a_repositorys_are_refused(hydra: Hydra) -> None:
    entry = '[models.large]\nid = "gw-7"\ninput_price = 2\noutput_price = 8\n'
    (hydra.home / "hydra.toml").write_text(entry)
    document = json.loads(hydra.run("agents", "claude", "--model", "large", "--json").stdout)
    assert document["told"] == "gw-7"
    assert document["models"][0]["source"] == "your own hydra.toml"
    assert "gw-7" in hydra.run("agents", "--models").stdout.splitlines()[1]
    (hydra.repo / "hydra.toml").write_text(entry)
    done = hydra.run("race", "Do it", "--dry-run")
    assert done.returncode == 2
    assert "models.large.id may not be set by a repository's hydra.toml" in done.stderr


# --- a race ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_claude_is_told_the_alias_and_others_the_id(hydra: Hydra) -> None:
    hydra.agent("claude", STEPS)
    hydra.agent("codex", STEPS)
    race = hydra.race("-a", "claude:opus", "-a", "codex:opus", "-a", "claude:opsu", "--dry-run")
    argv = race.lane("claude-opus")["command"]["argv"]
    assert argv[argv.index("--model") + 1] == "opus"
    argv = race.lane("codex-opus")["command"]["argv"]
    assert argv[argv.index("--model") + 1] == "claude-opus-5-5"
    assert race.lane("codex-opus")["model"] == "opus"
    assert "family gpt" in race.lane("codex-opus")["warnings"][-1]
    lost = race.lane("claude-opsu")
    assert "opsu" in lost["command"]["argv"]
    assert lost["warnings"][-1].endswith("did you mean opus?")
    assert lost["rates"] is None


@pytest.mark.slow
def test_tokens_without_a_cost_are_reckoned_and_marked_wherever_they_stand(hydra: Hydra) -> None:
    hydra.agent("codex", STEPS, usage=TOLD)
    hydra.agent("claude", STEPS, usage={**TOLD, "cost": 0.5})
    race = hydra.race("-a", "codex:gpt-6-sol", "-a", "codex", "-a", "claude:opus")
    lane = race.lane("codex-gpt-6-sol")
    assert lane["usage"]["cost_usd"] is None
    dollars = (40_000 * 2 + 60_000 * 0.2 + 10_000 * 10) / 1e6
    assert lane["usage_estimate"]["cost_usd"] == pytest.approx(dollars)
    assert lane["usage_estimate"]["prices_of"] == "2026-11-22"
    assert "OpenCode 1.18.33" in lane["usage_estimate"]["source"]
    assert lane["attempts"][0]["usage_estimate"] == lane["usage_estimate"]
    for name in ("codex", "claude-opus"):  # no model was named; a cost was told
        assert race.lane(name)["usage_estimate"] is None
    document = race.document["verdict"]["lanes"]
    assert [row["usage_estimate"] for row in document if row["lane"] == "codex-gpt-6-sol"] == [
        lane["usage_estimate"]
    ]
    hydra.extra["COLUMNS"] = "160"
    for shown in (hydra.run("runs", "show").stdout, hydra.run("compare").stdout):
        marked = [line for line in shown.splitlines() if "~$" in line]
        assert [line.split()[1] for line in marked] == ["codex-gpt-6-sol"], shown
        assert "~$0.19" in marked[0]
    assert "~\\$0.19" in hydra.run("compare", "--markdown").stdout


@pytest.mark.slow
def test_the_prices_of_a_lane_come_back_from_the_record(hydra: Hydra) -> None:
    hydra.agent("codex", STEPS, usage=TOLD)
    race = hydra.race("-a", "codex:gpt-6-sol", "-a", "codex")
    folder = Path(race.document["folder"])
    named, bare = history.plan(folder).lanes
    assert named.rates is not None
    assert named.rates == Rates(2, 10, 0.2, None, named.rates.read, named.rates.source)
    assert bare.rates is None


def test_a_service_tier_has_prices_that_nobody_here_knows(hydra: Hydra) -> None:
    (hydra.home / "hydra.toml").write_text('[agents.codex]\nservice_tier = "fast"\n')
    hydra.agent("codex", STEPS)
    assert hydra.race("-a", "codex:gpt-6-sol", "--dry-run").lane("codex-gpt-6-sol")["rates"] is None


# --- servers on this machine -------------------------------------------------------------------


class _Scripted(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Scripted)
        server.names.append(self.path)
        server.released.wait(server.holds)
        self.send_response(server.status)
        self.end_headers()
        self.wfile.write(server.body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Scripted(ThreadingHTTPServer):
    """Answers every request alike; one that `holds` does so only once it is released."""

    def __init__(self, body: object, status: int = 200, holds: float = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Scripted)
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status, self.holds = status, holds
        self.names: list[str] = []
        self.released = threading.Event()
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # whoever asked has gone

    def end(self) -> None:
        self.released.set()
        self.shutdown()
        self.server_close()


@pytest.fixture
def closed() -> Iterator[str]:
    """A port on which nobody listens."""
    with socket.socket() as item:
        item.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{item.getsockname()[1]}"


def servers(hydra: Hydra, *values: Scripted | str) -> list[dict[str, object]]:
    for kind, value in zip(KINDS, values, strict=True):
        hydra.extra[kind.variable] = value if isinstance(value, str) else value.place
    try:
        documents: list[dict[str, object]] = json.loads(
            hydra.run("agents", "--local", "--json").stdout
        )["local"]
        return documents
    finally:
        for value in values:
            if isinstance(value, Scripted):
                value.end()


@pytest.mark.slow
def test_each_server_is_asked_in_its_own_way_and_its_models_are_guarded(hydra: Hydra) -> None:
    ollama = Scripted({"models": [{"name": "qwen3:8b"}, {"name": ""}, "x"]})
    studio = Scripted({"data": [{"id": "gemma", "max_context_length": 4096}]})
    vllm = Scripted({"object": "list", "data": [{"id": "acme/coder", "max_model_len": 32768}]})
    documents = servers(hydra, ollama, studio, vllm)
    assert [row["models"] for row in documents] == [
        [{"id": "qwen3:8b", "context": None, "harness": "guarded"}],
        [{"id": "gemma", "context": 4096, "harness": "guarded"}],
        [{"id": "acme/coder", "context": 32768, "harness": "guarded"}],
    ]
    assert [scripted.names for scripted in (ollama, studio, vllm)] == [
        ["/api/tags"],
        ["/v1/models"],
        ["/v1/models"],
    ]


@pytest.mark.slow
def test_what_is_not_there_is_slow_or_answers_nonsense(hydra: Hydra, closed: str) -> None:
    slow = Scripted({"models": []}, holds=60)
    started = time.monotonic()
    documents = servers(hydra, slow, closed, Scripted(b"<html>"))
    assert time.monotonic() - started < 20
    assert [(row["running"], row["problem"], row["models"]) for row in documents] == [
        (True, "no answer within 2 s", []),
        (False, None, []),
        (True, "it answered with status 200, and no list of models", []),
    ]
    huge = Scripted({"models": [{"name": "x" * 2_000_000}]})
    documents = servers(hydra, huge, Scripted({"data": []}, status=404), "10.1.2.3:8000")
    assert "over 1048576 bytes" in str(documents[0]["problem"])
    assert documents[1]["problem"] == "it answered with status 404, and no list of models"
    assert (documents[2]["running"], documents[2]["url"]) == (False, None)
    assert "HYDRA_VLLM_HOST names no port of this machine" in str(documents[2]["problem"])


@pytest.mark.slow
def test_doctor_asks_them_only_with_experimental_adapters(hydra: Hydra, closed: str) -> None:
    ollama = Scripted({"models": [{"name": "qwen3:8b"}]})
    hydra.extra |= {"HYDRA_LMSTUDIO_HOST": closed, "HYDRA_VLLM_HOST": closed}
    hydra.extra["OLLAMA_HOST"] = ollama.place
    try:
        assert json.loads(hydra.run("doctor", "--json").stdout)["local_models"] == []
        assert ollama.names == []
        text = hydra.run("doctor", "--allow-experimental-adapters").stdout
    finally:
        ollama.end()
    assert f"Ollama: 1 model, guarded ({ollama.place})" in text
    assert "vLLM" not in text


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("localhost:5", "http://127.0.0.1:5"),
        ("http://127.0.0.1:9/", "http://127.0.0.1:9"),
        (":7", "http://127.0.0.1:7"),
        ("[::1]:8", "http://[::1]:8"),
        ("http://localhost", "http://127.0.0.1:80"),
        ("https://localhost:9", ""),
        ("example.com", ""),
        ("127.0.0.1.example.com:80", ""),
        ("me@127.0.0.1:80", ""),
        ("127.0.0.1:99999", ""),
        ("[::", ""),
    ],
)
def test_where_a_server_is_asked(text: str, url: str) -> None:
    assert base_url(KINDS[0], {"OLLAMA_HOST": text}) == url


@pytest.mark.parametrize("answer", [None, [], "x", {}, {"models": {}}, {"data": 3}])
def test_what_is_no_list_of_models(answer: object) -> None:
    assert models_of(answer) is None


def test_a_list_that_was_cut_is_not_told_as_whole() -> None:
    rows = [{"name": f"m{number}"} for number in range(MOST + 1)]
    for count, text in ((MOST + 1, f"{MOST} models or more,"), (MOST - 1, f"{MOST - 1} models,")):
        models = models_of({"models": rows[:count]})
        assert models is not None
        assert server_words(Server("Ollama", "http://127.0.0.1:1", models)).startswith(text)
