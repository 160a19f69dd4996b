"""Agents that run elsewhere: over ssh, in a container, in a pod (docs/how-to/remote.md).

`transport` says how a shell there is reached, `scripts` what it is told; `probe` asks before a
race, and `carrier` is the program that stands in the lane's place here while its agent runs there.
Nothing is imported here: a race that stays on this machine pays for none of it.
"""
