"""How Hydra is proved against the real CLIs: a scripted model server (docs/model-server.md)."""
