"""Asks the CLIs what they are: version, help, sign-in, own sandbox; each question once.

Answers are remembered by the program's identity, so a warm race asks nothing. Where something
confines, probes run with a read-only HOME: even `claude auth status` writes to `~/.claude`
otherwise (seen in 2.1.330). docs/reference/doctor.md says what is kept, and for how long.
"""
