"""`hydra demo`: scripted agents that speak the real wire formats, and a repository to race on.

Nothing is imported here: the scripted agents start through this package and must start fast.
"""
