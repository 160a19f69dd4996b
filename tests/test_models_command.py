"""Models in `hydra agents` and in a race, as a person runs them; servers on loopback, scripted."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters.probe.local_models import KINDS, MOST, Server, base_url, models_of
from hydra.race.recovery import history
from hydra.records.plan import Rates
from hydra.report.models import server_words
from tests.support import fakes
from tests.support.command import Hydra

STEPS = [fakes.edit("a.txt", "new\n"), fakes.finish("done")]
TOLD = {"input": 100_000, "output": 10_000, "cached": 60_000}
ENTRY = '[models.large]\nid = "gw-7"\ninput_price = 2\noutput_price = 8\n'


def shown(hydra: Hydra, *args: str) -> str:
    done = hydra.run("agents", *args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def document(hydra: Hydra, *args: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(shown(hydra, *args, "--json"))
    return data


@pytest.mark.slow
def test_the_list_and_each_of_it_fit_80_columns_and_say_of_which_day_prices_are(
    hydra: Hydra,
) -> None:
    hydra.extra["COLUMNS"] = "80"
    rows, opus = shown(hydra, "--models"), shown(hydra, "--model", "opus")
    assert max(map(len, (rows + opus).splitlines())) <= 80
    assert "claude-opus-5-5" in rows
    assert "as read on 2026-11-22" in rows
    unknown = next(line for line in rows.splitlines() if "gpt-6.1-sol" in line)
    assert unknown.split()[3:6] == ["?", "?", "?"]
    assert opus.startswith("claude-opus-5-5\n")
    assert "$4 in, $20 out, $0.2 cached" in opus
    assert "Claude Code 2.1.330, 2026-11-22" in opus
    for args, text in (
        (("--model", "opsu"), "Hydra knows no model 'opsu'; did you mean opus?"),
        (("claud", "--models"), "claud"),
    ):
        done = hydra.run("agents", *args)
        assert (done.returncode, done.stdout, text in done.stderr) == (2, "", True)


@pytest.mark.slow
def test_what_an_agent_would_be_told_and_warned_of(hydra: Hydra) -> None:
    assert "claude       is told opus\n" in shown(hydra, "claude", "--model", "opus")
    assert "its own CLI decides" in shown(hydra, "gemini", "--model", "flash")
    data = document(hydra, "codex", "--model", "opus")
    assert data["told"] == "claude-opus-5-5"
    assert data["warnings"][0].startswith("codex takes models of the family gpt")
    assert data["models"][0]["rates"]["read"] == "2026-11-22"
    data = document(hydra, "gemini", "--models")
    assert {row["family"] for row in data["models"]} == {"gemini"}
    assert (data["words"]["flash"], data["local"]) == ("", None)
    (hydra.home / "hydra.toml").write_text(ENTRY)
    data = document(hydra, "claude", "--model", "large")
    assert (data["told"], data["models"][0]["source"]) == ("gw-7", "your own hydra.toml")
    assert "gw-7" in shown(hydra, "--models").splitlines()[1]
    (hydra.repo / "hydra.toml").write_text(ENTRY)
    done = hydra.run("race", "Do it", "--dry-run")
    text = "models.large.id may not be set by a repository's hydra.toml"
    assert (done.returncode, text in done.stderr) == (2, True)


# --- a race --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_claude_is_told_the_alias_and_others_the_id(hydra: Hydra) -> None:
    hydra.agent("claude", STEPS)
    hydra.agent("codex", STEPS)
    (hydra.home / "hydra.toml").write_text('[agents.codex]\nservice_tier = "fast"\n')
    names = ("claude:opus", "codex:opus", "claude:opsu", "codex:gpt-6-sol")
    race = hydra.race(*(word for name in names for word in ("-a", name)), "--dry-run")
    for lane, model in (("claude-opus", "opus"), ("codex-opus", "claude-opus-5-5")):
        argv = race.lane(lane)["command"]["argv"]
        assert argv[argv.index("--model") + 1] == model
    assert race.lane("codex-opus")["model"] == "opus"
    assert "family gpt" in race.lane("codex-opus")["warnings"][-1]
    lost = race.lane("claude-opsu")
    assert ("opsu" in lost["command"]["argv"], lost["rates"]) == (True, None)
    assert lost["warnings"][-1].endswith("did you mean opus?")
    # A service tier has prices that nobody knows.
    assert race.lane("codex-gpt-6-sol")["rates"] is None


@pytest.mark.slow
def test_tokens_without_a_cost_are_reckoned_and_marked_wherever_they_stand(hydra: Hydra) -> None:
    hydra.agent("codex", STEPS, usage=TOLD)
    hydra.agent("claude", STEPS, usage={**TOLD, "cost": 0.5})
    race = hydra.race("-a", "codex:gpt-6-sol", "-a", "codex", "-a", "claude:opus")
    lane = race.lane("codex-gpt-6-sol")
    assert lane["usage"]["cost_usd"] is None
    guess = lane["usage_estimate"]
    dollars = (40_000 * 2 + 60_000 * 0.2 + 10_000 * 10) / 1e6
    assert guess["cost_usd"] == pytest.approx(dollars)
    assert (guess["prices_of"], "OpenCode 1.18.33" in guess["source"]) == ("2026-11-22", True)
    assert lane["attempts"][0]["usage_estimate"] == guess
    for name in ("codex", "claude-opus"):  # no model was named; a cost was told
        assert race.lane(name)["usage_estimate"] is None
    ranked = {row["lane"]: row for row in race.document["verdict"]["lanes"]}
    assert ranked["codex-gpt-6-sol"]["usage_estimate"] == guess
    hydra.extra["COLUMNS"] = "160"
    for text in (hydra.run("runs", "show").stdout, hydra.run("compare").stdout):
        (marked,) = [line for line in text.splitlines() if "~$" in line]
        assert (marked.split()[1], "~$0.19" in marked) == ("codex-gpt-6-sol", True)
    assert "~\\$0.19" in hydra.run("compare", "--markdown").stdout
    # And prices come back from the record.
    rates = {lane.id: lane.rates for lane in history.plan(Path(race.document["folder"])).lanes}
    named = rates["codex-gpt-6-sol"]
    assert named is not None
    assert named == Rates(2, 10, 0.2, None, named.read, named.source)
    assert rates["codex"] is None


# --- servers on this machine ---------------------------------------------------------------------


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
        threading.Thread(target=self.serve_forever, daemon=True).start()

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


def asked(hydra: Hydra, command: tuple[str, ...], *values: Scripted | str) -> str:
    """What the command says with these servers there."""
    for kind, value in zip(KINDS, values, strict=True):
        place = value if isinstance(value, str) else f"127.0.0.1:{value.server_address[1]}"
        hydra.extra[kind.variable] = place
    try:
        return hydra.run(*command).stdout
    finally:
        for value in values:
            if isinstance(value, Scripted):
                value.end()


def servers(hydra: Hydra, *values: Scripted | str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(asked(hydra, ("agents", "--local", "--json"), *values))[
        "local"
    ]
    return rows


@pytest.mark.slow
def test_each_server_is_asked_in_its_own_way_and_what_it_says_is_guarded(
    hydra: Hydra, closed: str
) -> None:
    ollama = Scripted({"models": [{"name": "qwen3:8b"}, {"name": ""}, "x"]})
    studio = Scripted({"data": [{"id": "gemma", "max_context_length": 4096}]})
    vllm = Scripted({"object": "list", "data": [{"id": "acme/coder", "max_model_len": 32768}]})
    rows = servers(hydra, ollama, studio, vllm)
    models = [("qwen3:8b", None), ("gemma", 4096), ("acme/coder", 32768)]
    assert [row["models"] for row in rows] == [
        [{"id": id, "context": context, "harness": "guarded"}] for id, context in models
    ]
    assert [server.names for server in (ollama, studio, vllm)] == [
        ["/api/tags"],
        *([["/v1/models"]] * 2),
    ]
    slow = Scripted({"models": []}, holds=60)
    rows = servers(hydra, slow, closed, Scripted(b"<html>"))
    nothing = "it answered with status {}, and no list of models"
    assert [(row["running"], row["problem"], row["models"]) for row in rows] == [
        (True, "no answer within 2 s", []),
        (False, None, []),
        (True, nothing.format(200), []),
    ]
    huge = Scripted({"models": [{"name": "x" * 2_000_000}]})
    rows = servers(hydra, huge, Scripted({"data": []}, status=404), "10.1.2.3:8000")
    assert "over 1048576 bytes" in str(rows[0]["problem"])
    assert rows[1]["problem"] == nothing.format(404)
    assert (rows[2]["running"], rows[2]["url"]) == (False, None)
    assert "HYDRA_VLLM_HOST names no port of this machine" in str(rows[2]["problem"])


@pytest.mark.slow
def test_doctor_asks_them_only_with_experimental_adapters(hydra: Hydra, closed: str) -> None:
    for option, names in (("--json", []), ("--allow-experimental-adapters", ["/api/tags"])):
        ollama = Scripted({"models": [{"name": "qwen3:8b"}]})
        text = asked(hydra, ("doctor", option), ollama, closed, closed)
        assert ollama.names == names
        assert ("Ollama: 1 model, guarded" in text) is bool(names)
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


def test_what_is_no_list_of_models_and_one_that_was_cut() -> None:
    answers: tuple[Any, ...] = (None, [], "x", {}, {"models": {}}, {"data": 3})
    for answer in answers:
        assert models_of(answer) is None
    rows = [{"name": f"m{number}"} for number in range(MOST + 1)]
    for count, text in ((MOST + 1, f"{MOST} models or more,"), (MOST - 1, f"{MOST - 1} models,")):
        models = models_of({"models": rows[:count]})
        assert models is not None
        assert server_words(Server("Ollama", "http://127.0.0.1:1", models)).startswith(text)
