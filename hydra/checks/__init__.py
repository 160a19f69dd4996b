"""Checks: commands that people name, run on each patch and on the base."""
