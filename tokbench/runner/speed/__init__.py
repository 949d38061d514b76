"""The speed pass: some of the text timed, one tokenizer at a time, each in a process of its own.

`stage` begins it, `passages` chooses the text, `turns` says who is timed when, `stopwatch` times, in the
process of the tokenizer. `timings` are its records; `summary` finds their median and its interval, `rows` makes
figures of that, and `doubts` says what speaks against them.
"""
