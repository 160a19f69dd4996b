"""What `hydra conformance` found, for a terminal, as Markdown, JSON and JUnit XML."""
