"""A made-up CLI that refreshes its sign-in inside lanes: nobody may lose theirs by a race.

Its service knows one valid refresh token at a time (rotation): each use makes the next one, an
old one is refused. That is the strictest a real service can be.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import make_repository
from tests.support import fakes
from tests.support.processes import namespaces_work, wait_until
from tests.support.trust import Place, exactly, furnish

DONE = fakes.finish("done")
FILE = ".claude/.credentials.json"
PYTHON = os.path.realpath(sys.executable)

CLI = """
import json, os, sys, time, urllib.error, urllib.request
service, what = sys.argv[1:]
folder = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.environ["HOME"], ".claude")
path = os.path.join(folder, ".credentials.json")
def held():
    with open(path) as file:
        return json.load(file)
def ask(verb, token):
    request = urllib.request.Request(service + verb, data=token.encode())
    try:
        return json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request))
    except urllib.error.HTTPError:
        return None
def write(data):
    with open(path + ".new", "w") as file:
        file.write(data)
    os.replace(path + ".new", path)
fresh = ask("/refresh", held()["claudeAiOauth"]["refreshToken"])
if fresh:
    write(json.dumps({"claudeAiOauth": fresh}))
elif what == "signs-out":
    write("{}")
end = time.monotonic() + 120
while time.monotonic() < end:
    try:
        if ask("/use", held()["claudeAiOauth"]["accessToken"]):
            sys.exit(0)
    except (OSError, ValueError, KeyError):
        pass
    time.sleep(0.05)
sys.exit(1)
"""


class Service:
    """The made-up service: refreshes wait for each other until `together` of them have come."""

    def __init__(self, together: int) -> None:
        self.number = 0
        self.refused = 0
        self._guard = threading.Lock()
        self._meet = threading.Barrier(together)
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                token = self.rfile.read(int(self.headers["Content-Length"])).decode()
                answer = service.answer(self.path, token)
                self.send_response(200 if answer else 401)
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing on the screen."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def tokens(self) -> dict[str, str]:
        """The sign-in that is good now."""
        return {
            "accessToken": f"made-up-access-{self.number}",
            "refreshToken": f"made-up-refresh-{self.number}",
        }

    def answer(self, verb: str, token: str) -> dict[str, str] | None:
        if verb == "/use":
            return {"is": "good"} if token == self.tokens()["accessToken"] else None
        self._meet.wait(120)
        with self._guard:
            if token != self.tokens()["refreshToken"]:
                self.refused += 1
                return None
            self.number += 1
            return self.tokens()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


everywhere = pytest.mark.parametrize(
    "place",
    ["confined", pytest.param("unconfined", marks=pytest.mark.full)],
    indirect=True,
)


@pytest.fixture
def place(request: pytest.FixtureRequest, stack: ExitStack) -> Iterator[Place]:
    """A HOME whose sign-in is the service's first; `unconfined`: no bwrap on PATH."""
    where = getattr(request, "param", "confined")
    if where == "confined" and not namespaces_work():
        pytest.skip("bwrap confines nothing here")
    scratch = Path(tempfile.mkdtemp(prefix="hydra-signin-", dir="/var/tmp"))
    stack.callback(shutil.rmtree, scratch, ignore_errors=True)
    place = Place(scratch, make_repository(scratch / "shop"))
    furnish(place.home)
    sign_in(place, {"accessToken": "made-up-access-0", "refreshToken": "made-up-refresh-0"})
    place.extra = {"ANTHROPIC_API_KEY": "", "CODEX_API_KEY": ""}
    if where == "unconfined":
        place.path = [scratch / "agents" / "bin"]
        place.without("bwrap")
    yield place
    assert fakes.left(str(scratch)) == []


def sign_in(place: Place, tokens: dict[str, str]) -> None:
    (place.home / FILE).write_text(json.dumps({"claudeAiOauth": tokens}))


def signed_in(place: Place) -> Any:
    return json.loads((place.home / FILE).read_text()).get("claudeAiOauth")


def apart_from_the_sign_in(place: Place) -> dict[str, object]:
    """HOME but for the credentials file and its folder's time."""
    rows = exactly(place.home)
    return {path: what for path, what in rows.items() if path not in (FILE, ".claude")}


def in_lane(script: str) -> fakes.Step:
    """A shell command in a lane; F is its credentials file."""
    folder = 'D="${CLAUDE_CONFIG_DIR:-$HOME/.claude}"; F="$D/.credentials.json"\n'
    return fakes.shell("sh", "-c", f"exec >>said 2>&1\n{folder}{script}", show="the CLI")


def the_cli(place: Place, service: Service, what: str = "keeps") -> fakes.Step:
    program = place.scratch / "cli.py"
    program.write_text(CLI)
    text = shlex.join([PYTHON, str(program), service.url, what])
    return in_lane(f"{text} && echo signed in")


@everywhere
@pytest.mark.slow
@pytest.mark.parametrize("loser", ["keeps", "signs-out"])
def test_two_lanes_refresh_at_once_and_all_three_stay_signed_in(
    place: Place, stack: ExitStack, loser: str
) -> None:
    service = Service(together=2)
    stack.callback(service.close)
    place.agent("claude", [the_cli(place, service, loser), DONE])
    before = apart_from_the_sign_in(place)
    race = place.race("-a", "2xclaude")
    assert race.code == 1, race
    assert (service.number, service.refused) == (1, 1)
    assert signed_in(place) == service.tokens()
    for lane in ("claude", "claude-2"):
        assert place.taken(race.document["folder"], lane) == "signed in"
    assert apart_from_the_sign_in(place) == before
    assert (place.home / FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_a_refresh_reaches_the_user_while_the_agent_still_works(
    place: Place, stack: ExitStack
) -> None:
    service = Service(together=1)
    stack.callback(service.close)
    os.mkfifo(place.scratch / "go")
    stay = in_lane(f"read x < {place.scratch}/go")
    place.agent("claude", [the_cli(place, service), stay, DONE])
    with place.start("race", "Do it", "-a", "claude", "--json") as racing:
        assert wait_until(lambda: signed_in(place) == service.tokens() and service.number == 1)
        assert racing.poll() is None
        (place.scratch / "go").write_text("go\n")
        document = json.loads(racing.communicate()[0])
    assert document["lanes"][0]["status"] == "completed"


@pytest.mark.slow
def test_the_users_own_newer_sign_in_wins_and_comes_to_the_lanes(place: Place) -> None:
    barrier = fakes.Barrier(place.scratch, "there")
    newer = {"accessToken": "made-up-access-9", "refreshToken": "made-up-refresh-9"}
    stale = '{"claudeAiOauth": {"accessToken": "stale", "refreshToken": "stale"}}'
    refreshes = in_lane(f"echo '{stale}' > $F")
    waits = in_lane("until grep -q refresh-9 $F; do sleep 0.1; done; echo it came")
    place.agent(
        "claude",
        [*barrier.stop(), refreshes, DONE],
        cases=[("/claude-2/", [barrier.arrive(), waits, DONE])],
    )
    with place.start("race", "Do it", "-a", "2xclaude", "--json") as racing:
        barrier.wait(2)
        sign_in(place, newer)
        barrier.open()
        document = json.loads(racing.communicate()[0])
    barrier.close()
    assert signed_in(place) == newer
    assert place.taken(document["folder"], "claude-2") == "it came"


BROKEN = {
    "torn": """printf '{"claudeAiOauth": {"accessToken": "made-up-ac' > $F""",
    "empty": ": > $F",
    "signed-out": "echo '{}' > $F",
    "blank": """echo '{"claudeAiOauth": {"accessToken": "", "refreshToken": ""}}' > $F""",
    "half": """echo '{"claudeAiOauth": {"accessToken": "new"}}' > $F""",
    "a-list": """echo '["accessToken", "refreshToken"]' > $F""",
    "gone": "rm $F",
    "a-link": "ln -sf $HOME/notes/plan.txt $F",
    "a-pipe": "rm $F; mkfifo $F",
    "a-folder": "rm $F; mkdir $F",
    "huge": """{ printf '{"x":"'; head -c 3000000 /dev/zero | tr '\\0' x; printf '"}'; } > $F""",
}


@pytest.mark.slow
def test_what_is_no_whole_sign_in_never_reaches_the_user(place: Place) -> None:
    """Neither by an agent that ends, nor by one that is killed."""
    lanes = [[in_lane(how), DONE] for how in BROKEN.values()]
    lanes += [[in_lane(BROKEN[how]), fakes.signal_self(9)] for how in ("torn", "signed-out")]
    cases = [(f"/claude-{number}/", steps) for number, steps in enumerate(lanes, 2)]
    place.agent("claude", [DONE], cases=cases)
    before = exactly(place.home)
    race = place.race("-a", f"{len(lanes) + 1}xclaude")
    assert len(race.document["lanes"]) == len(lanes) + 1
    assert exactly(place.home) == before


@pytest.mark.slow
@everywhere
def test_only_the_sign_in_goes_back_and_nothing_that_runs_later(place: Place) -> None:
    good = '{"claudeAiOauth": {"accessToken": "new-access", "refreshToken": "new-refresh"}}'
    script = f"""
    echo '{good}' > $F
    echo evil > $D/settings.json; mkdir -p $D/hooks; echo evil > $D/hooks/evil.sh
    echo evil > $D/.credentials.json.sh; echo evil > $D/.claude.json
    """
    place.agent("claude", [in_lane(script), DONE])
    before = apart_from_the_sign_in(place)
    place.race("-a", "claude")
    assert signed_in(place)["accessToken"] == "new-access"
    assert apart_from_the_sign_in(place) == before


@pytest.mark.slow
@everywhere
def test_a_settings_folder_swapped_for_a_link_brings_no_other_programs_keys(place: Place) -> None:
    other = place.home / ".local/share/opencode"
    other.mkdir(parents=True)
    (other / "auth.json").write_text('{"tokens": {"access_token": "of another program"}}')
    (other / ".credentials.json").write_text('{"claudeAiOauth": {"accessToken": "of another"}}')
    swap = 'H="${TMPDIR%/*}/home"; mv $H/$NAME $H/away; ln -s $OTHER $H/$NAME; ls -lA $H'
    for name, agent in ((".claude", "claude"), (".codex", "codex")):
        place.agent(agent, [in_lane(f"OTHER={other} NAME={name}; {swap}"), DONE])
    before = exactly(place.home)
    race = place.race("-a", "claude", "-a", "codex")
    for lane in ("claude", "codex"):
        assert str(other) in place.taken(race.document["folder"], lane)
    assert exactly(place.home) == before
