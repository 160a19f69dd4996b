"""What Hydra knows of each agent CLI: one file an agent, data plus pure functions and a parser."""
