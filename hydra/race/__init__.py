"""The story of a race: what it needs, its plan, its lanes, their attempts, and the verdict."""
