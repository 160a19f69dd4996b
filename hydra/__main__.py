"""`python -m hydra` is `hydra`."""

import sys

# Python has put the current folder first, where `hydra` itself would not look: in somebody's
# repository, a file there is not to stand in for a module.
if __name__ == "__main__" and not sys.flags.safe_path and not sys.flags.isolated:
    del sys.path[0]

from hydra.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
