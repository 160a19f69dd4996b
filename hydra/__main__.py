"""`python -m hydra` is `hydra`."""

from hydra.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
