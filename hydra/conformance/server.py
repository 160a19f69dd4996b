"""The scripted model server: real CLIs on one side, a script on the other, 127.0.0.1 only.

Claude Code finds it by ANTHROPIC_BASE_URL, Codex by `openai_base_url = "URL/v1"` in config.toml.
docs/reference/model-server.md has the rest.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hydra.conformance.answer import PlayedAnswer, answer, document
from hydra.conformance.dialect import Dialect
from hydra.conformance.request_log import LoggedRequest, RequestLog
from hydra.conformance.routes import Route, models, route
from hydra.conformance.script import Script, load

_LONGEST_BODY = 64 * 1024**2
_NOT_FOUND = {
    "error": {"type": "not_found_error", "message": "the scripted server has no such path"}
}


class ModelServer(ThreadingHTTPServer):
    """One script, served on a free port of 127.0.0.1."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.meetings: Counter[tuple[str, int]] = Counter()
        self.log = RequestLog()
        self.stopping = threading.Event()

    @property
    def url(self) -> str:
        """The base URL without a path: `http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def requests(self) -> list[LoggedRequest]:
        """Every request so far, in order."""
        return list(self.log.requests)

    def sent(self, agent: str) -> str:
        """The bodies of every model request of one agent, to look for a sentence in them."""
        return "\n".join(request.body for request in self.requests if request.agent == agent)

    def server_close(self) -> None:
        """Stop listening and let go of every request that is held open."""
        self.stopping.set()
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is an ordinary thing here."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def serve(script: str | Script) -> Iterator[ModelServer]:
    """A running server for tests: `with serve("edit") as server: server.url, server.requests`."""
    ready = script if isinstance(script, Script) else load(script)
    with ModelServer(ready) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def do_POST(self) -> None:
        self._respond()

    def do_GET(self) -> None:
        self._respond()

    def do_HEAD(self) -> None:
        self._respond()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr: requests are in the log."""

    def _respond(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(min(length, _LONGEST_BODY))
        headers = {name.lower(): value for name, value in self.headers.items()}
        where = route(self.path)
        chosen = self._choose(where, body, headers)
        self.server.log.add(
            agent=where.agent,
            method=self.command,
            path=self.path,
            headers=headers,
            body=body.decode("utf-8", "replace"),
            answer=chosen.label,
            place=chosen.place,
        )
        self._play(chosen)

    def _choose(self, where: Route, body: bytes, headers: Mapping[str, str]) -> PlayedAnswer:
        if headers.get("upgrade", "").lower() == "websocket":
            # Codex takes 426 for "this service has no websocket" and goes on over HTTP at once.
            return document("no websocket", _NOT_FOUND, status=426)
        if self.command == "POST" and where.dialect:
            return self._model_answer(where, where.dialect, body, headers)
        if self.command in ("GET", "HEAD") and where.path.startswith("/models"):
            return document("models", models(where.path))
        if self.command == "HEAD" or where.path == "/api/hello":
            return document("probe", {})
        return document("not found", _NOT_FOUND, status=404)

    def _model_answer(
        self, where: Route, dialect: Dialect, body: bytes, headers: Mapping[str, str]
    ) -> PlayedAnswer:
        try:
            data = {**json.loads(body), **where.stated}
        except (TypeError, ValueError):
            return document("no json", {"error": {"message": "not JSON"}}, status=400)
        if where.counts:
            tokens = max(1, len(body) // 4)
            return document("count", {"input_tokens": tokens, "totalTokens": tokens})
        server = self.server
        return answer(server.script, dialect, data, headers, server.meetings, where.agent)

    def _play(self, chosen: PlayedAnswer) -> None:
        if chosen.wait and self.server.stopping.wait(chosen.wait):
            return
        if chosen.status:
            self._send(chosen)
        if chosen.ending != "close":
            self.close_connection = True
        if chosen.ending == "hold":
            self._hold()
        elif chosen.ending == "cut":
            self._cut()

    def _send(self, chosen: PlayedAnswer) -> None:
        self.send_response(chosen.status)
        self.send_header("content-type", chosen.content_type)
        for name, value in chosen.headers:
            self.send_header(name, value)
        # In chunks, so that a reply that was cut can be told from one that ended.
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if self.command == "HEAD":
            return
        for part in chosen.parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        if chosen.ending == "close":
            self.wfile.write(b"0\r\n\r\n")

    def _hold(self) -> None:
        """Keep the connection open in silence until the client goes or the server stops."""
        while not self.server.stopping.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.2)
            if readable and not self.connection.recv(1024):
                return

    def _cut(self) -> None:
        """Reset the connection instead of closing it in good order."""
        reset = b"\x01\x00\x00\x00\x00\x00\x00\x00"  # struct linger: on, 0 seconds
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
