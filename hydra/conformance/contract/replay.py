"""A program that poses as any agent from what was recorded of it. Run by its path, never imported.

Its one argument before the agent's own is a JSON file:

- `answers`: `[{"args", "stdout", "stderr", "exit"}]`, given where the arguments are exactly those;
- otherwise it reads stdin to its end and writes `stdout` (lines) and `stderr`;
- `touch`: a file that it writes in its folder: what it was started with, and what stdin held;
- then it hangs (`"hangs": true`) until a signal ends it, or exits with `exit` (below 0: by that
  signal).
"""

import hashlib
import json
import os
import signal
import sys
from pathlib import Path


def main() -> int:
    """What the file says."""
    # Python's own answer to SIGINT is a traceback: an agent is ended by it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    script = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    argv = sys.argv[2:]
    for answer in script["answers"]:
        if answer["args"] == argv:
            sys.stdout.write(answer["stdout"])
            sys.stderr.write(answer["stderr"])
            return int(answer["exit"])
    prompt = sys.stdin.buffer.read()
    if script["touch"]:
        told = {
            "argv": argv,
            "environ": sorted(os.environ),
            "stdin": [len(prompt), hashlib.sha256(prompt).hexdigest()],
        }
        Path(script["touch"]).write_text(json.dumps(told), encoding="utf-8")
    for line in script["stdout"]:
        sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
        sys.stdout.buffer.flush()
    sys.stderr.write(script["stderr"])
    sys.stderr.flush()
    if script["hangs"]:
        while True:
            signal.pause()
    code = int(script["exit"])
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(main())
