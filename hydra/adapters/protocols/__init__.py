"""Protocols in which an agent is talked to while it works: sans-I/O, shared by adapters."""
