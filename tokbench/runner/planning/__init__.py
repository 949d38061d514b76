"""The request of a run: the suite, and the plan, in which everything it names is resolved and checked."""
