"""An agent that is talked to: its task comes as a JSON line, and says what it does, a line each."""
# mypy: ignore-errors

import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def tell(kind, **facts):
    print(json.dumps({"type": kind, **facts}), flush=True)


def heard():
    line = sys.stdin.readline()
    return json.loads(line) if line else None


class Server(BaseHTTPRequestHandler):
    """`/events` is told what happens once `/go` was asked; `cut` breaks that off."""

    protocol_version = "HTTP/1.1"
    went, hung_up, plan = threading.Event(), threading.Event(), ""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        Server.went.wait()
        self.event({"type": "say", "text": "by events"})
        if Server.plan == "cut":
            self.wfile.write(b'20\r\ndata: {"type": "sa')
            self.close_connection = True
            return
        Path("served.txt").write_text("served\n")
        self.event({"type": "done", "text": "served"})
        if Server.plan == "hold":
            self.event({"type": "say", "text": "reached"})
        else:
            self.event({"type": "idle"})
        while self.rfile.read(1):
            pass
        Server.hung_up.set()

    def do_POST(self):
        good = self.headers["authorization"] == f"Bearer {os.environ['TALKER_PASSWORD']}"
        self.send_response(200 if good else 401)
        self.send_header("content-length", "0")
        self.end_headers()
        if good:
            Server.went.set()

    def event(self, data):
        line = b"data: " + json.dumps(data).encode() + b"\n\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))


def serve(plan):
    Server.plan = plan

    def leave(*_):
        # Whether whoever talked to it had hung up before it was told to go.
        Path("hung-up.txt").write_text(f"{Server.hung_up.wait(0.2)}\n")
        os._exit(5)

    signal.signal(signal.SIGINT, leave)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    tell("serving", url=f"http://127.0.0.1:{server.server_port}")
    server.serve_forever()


def do(verb, rest):
    if verb == "write":
        name, _, text = rest.partition(" ")
        Path(name).write_text(f"{text}\n")
    elif verb == "ask":
        tell("ask", id=rest)
        tell("say", text=f"heard {heard()}")
    elif verb == "serve":
        serve(rest)
    elif verb == "leak":
        tell("say", text=f"my password is {os.environ['TALKER_PASSWORD']}")
    elif verb == "deaf":
        os.close(0)
    elif verb == "flood":
        tell("say", text="flood me")
        for _ in range(50):
            tell("noise", text="x" * 1024**2)
    elif verb == "hang":
        tell("say", text="reached")
        while True:
            time.sleep(1000)
    else:
        tell("say", text=f"{verb} {rest}".strip())


def main():
    if "--help" in sys.argv:
        print("Usage: toy [options]\nToy 1.0.0\n  --json  x\n  --mode <mode>  x\n  --model <m>  x")
    elif "--version" in sys.argv:
        print("toy 1.0.0")
    else:
        task = heard()["prompt"]
        tell("start", version="1.0.0", model="m", mode="all")
        for line in filter(None, task.splitlines()):
            do(*line.partition(" ")[::2])
        tell("done", text="done")
        while task and "deaf" not in task and sys.stdin.readline():
            pass
        # Sent away, it calls that an error.
        sys.exit(0 if "deaf" in task else 3)


main()
