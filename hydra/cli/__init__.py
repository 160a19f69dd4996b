"""The command line: its group, which knows the commands by name, options, streams, errors."""

import gc
import sys

_OBJECTS_MORE = 50_000
"""New objects after which Python looks for garbage: after 700, its default, it looks 70 times
through what a race has imported, 30,000 objects that are never garbage: 12 ms."""


def main(argv: list[str] | None = None) -> int:
    """Entry point of `hydra` and `hydra-race`; gives the exit code, or ends with it.

    `--version` is answered before click is imported, which is half of what a start costs.
    """
    arguments = sys.argv[1:] if argv is None else argv
    if arguments in (["--version"], ["-V"]):
        return _print_version()
    gc.set_threshold(_OBJECTS_MORE)
    try:
        from hydra.cli.entry import leave, run
    except KeyboardInterrupt:  # `run` answers it from here on
        return 130

    code = run(arguments)
    if argv is None:
        leave(code)
    return code


def _print_version() -> int:
    from hydra import __version__

    try:
        print(f"hydra {__version__}", flush=True)
    except OSError as error:
        from hydra.cli.exit_report import tell

        return tell(error, as_json=False)
    return 0
