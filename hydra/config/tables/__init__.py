"""The keys of `hydra.toml`, one file for each matter of it; `config/keys.py` has them all."""
