"""How Hydra is proved against the real CLIs: docs/reference/conformance.md, model-server.md."""
