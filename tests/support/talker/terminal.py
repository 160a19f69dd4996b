"""An agent that insists on a terminal, and decorates what it says there."""
# mypy: ignore-errors

import json
import os
import sys
from pathlib import Path


def tell(kind, **facts):
    line = json.dumps({"type": kind, **facts})
    sys.stdout.write(f"\x1b]0;working\x07\x1b[2Kworking\r\x1b[32m{line[:9]}\x1b[0m{line[9:]}\n")
    sys.stdout.flush()


if "--help" in sys.argv:
    print("Usage: toy [options]\nToy 1.0.0\n  --json  x\n  --mode <mode>  x\n  --model <m>  x")
elif "--version" in sys.argv:
    print("toy 1.0.0")
elif not (os.isatty(0) and os.isatty(1)):
    sys.exit("a terminal is needed")
else:
    task = sys.stdin.read()
    Path("task.txt").write_text(f"{task}{os.environ['TERM']}\n")
    tell("start", version="1.0.0", mode="all")
    tell("say", text=task.strip())
    tell("done", text="done")
