"""How a command is confined on this machine, what it then sees, and what that promises.

`compute_view` (discovery.py) finds what a race's commands need to see; a `SandboxPolicy` says what
one of them may see and write; `confine` is that as bwrap's command line. Confinement is tried, not
looked up: somebody runs `trial_argv`, `judge` reads what came of it.
"""
