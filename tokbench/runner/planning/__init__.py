"""What a run is asked for: the suite, and the plan in which all that it names is resolved and checked."""
