"""What was seen of each version of an agent, and which capabilities that proves."""
