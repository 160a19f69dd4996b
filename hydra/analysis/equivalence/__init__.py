"""Where patches agree: which are the same but for their form, and what several of them changed."""
