"""Processes that work for us and may be lost: their side, ours, a pool of them, how a user stops them."""
