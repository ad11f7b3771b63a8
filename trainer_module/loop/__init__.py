"""The training loop, cut by who owns what."""
