"""One function a command: puts the rooms together. This is also Hydra as a library."""
