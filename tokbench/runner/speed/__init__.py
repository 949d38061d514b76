"""The speed pass: chooses text, times each tokenizer on it in its own process, turns timings into figures."""
