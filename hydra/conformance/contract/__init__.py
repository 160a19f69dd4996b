"""One suite that any adapter has to pass, without its CLI: from recordings and made-up input."""
