"""A lane's ground: where one agent works, and the only place it may write.

`Workspace` is what the rest of Hydra knows of it; today there is one kind, a private repository
with a worktree. A layered one comes later, so nothing outside this room may assume a plain folder.
"""
