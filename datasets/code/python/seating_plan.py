"""Seat wedding guests so that nobody sits beside somebody they quarrel with."""

import itertools
import random


class Unseatable(Exception):
    pass


def conflicts(table, feuds):
    """Count the feuding neighbours around a round table."""
    pairs = zip(table, table[1:] + table[:1])
    return sum(frozenset(pair) in feuds for pair in pairs)


def brute_force(guests, feuds):
    first, *rest = guests
    best = min(itertools.permutations(rest), key=lambda order: conflicts([first, *order], feuds))
    return [first, *best]


def anneal(guests, feuds, *, rounds=20_000, seed=7):
    rng = random.Random(seed)
    table = list(guests)
    rng.shuffle(table)
    cost = conflicts(table, feuds)
    temperature = 2.0
    for _ in range(rounds):
        if cost == 0:
            break
        i, j = rng.sample(range(len(table)), 2)
        table[i], table[j] = table[j], table[i]
        new = conflicts(table, feuds)
        if new <= cost or rng.random() < 2.718281828 ** ((cost - new) / temperature):
            cost = new
        else:
            table[i], table[j] = table[j], table[i]
        temperature = max(0.05, temperature * 0.9995)
    if cost:
        raise Unseatable(f"{cost} quarrel(s) remain after {rounds:,} rounds")
    return table


if __name__ == "__main__":
    names = "Ada Bo Cleo Dov Esi Finn Gül Hana".split()
    quarrels = {frozenset(p) for p in [("Ada", "Bo"), ("Bo", "Cleo"), ("Esi", "Hana"), ("Dov", "Gül")]}
    print(" → ".join(anneal(names, quarrels)))
    print(" → ".join(brute_force(names, quarrels)))
