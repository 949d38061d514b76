"""The transformer against one in plain numpy, its gradient against differences, and its training."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tokbench_probe.shape import Budget, Course, Shape, fitted

jax = pytest.importorskip("jax", reason="needs jax: pip install 'tokbench[probe]'")

from tokbench_probe import learning, transformer  # noqa: E402

Floats = NDArray[np.float64]
SMALL = Shape(symbols=11, layers=2, width=8, hidden=20, context=6)


def parameters(shape: Shape = SMALL) -> dict[str, Floats]:
    """By chance, and far from those that training begins with."""
    chance = np.random.default_rng(1)
    return {
        name: chance.normal(1 if each.ndim < 3 and name != "embedding" else 0, 0.5, each.shape)
        for name, each in transformer.initial(shape, 0).items()
    }


def plain(p: dict[str, Floats], ids: list[int]) -> Floats:
    """The chances of all symbols after each of some, by loops over places and heads: ``(places, symbols)``."""

    def normed(x: Floats, gain: Floats) -> Floats:
        return x / np.sqrt((x**2).mean() + 1e-6) * gain

    def turned(x: Floats, place: int) -> Floats:
        half = len(x) // 2
        out = np.empty_like(x)
        for i in range(half):
            angle = place * 10_000 ** (-i / half)
            out[i] = x[i] * np.cos(angle) - x[half + i] * np.sin(angle)
            out[half + i] = x[i] * np.sin(angle) + x[half + i] * np.cos(angle)
        return out

    x = [p["embedding"][each].copy() for each in ids]
    width = len(x[0])
    size = width // 2
    for n in range(len(p["up"])):
        query, key, value = (
            [
                normed(each, p["before_attention"][n]) @ p["attention"][n][:, k * width : (k + 1) * width]
                for each in x
            ]
            for k in range(3)
        )
        for at in range(len(ids)):
            heads = []
            for h in (0, 1):
                part = slice(h * size, (h + 1) * size)
                scores = [
                    turned(query[at][part], at) @ turned(key[to][part], to) / np.sqrt(size)
                    for to in range(at + 1)
                ]
                shares = np.exp(scores) / np.exp(scores).sum()
                heads.append(sum(share * value[to][part] for to, share in enumerate(shares)))
            x[at] = x[at] + np.concatenate(heads) @ p["attended"][n]
            inner = normed(x[at], p["before_hidden"][n]) @ p["up"][n]
            x[at] = x[at] + np.maximum(inner, 0) ** 2 @ p["down"][n]
    scores = np.array([normed(each, p["last"]) @ p["embedding"].T for each in x])
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


def test_losses_are_those_found_plainly() -> None:
    p, windows = parameters(), np.random.default_rng(2).integers(0, 11, (3, 7))
    with jax.enable_x64(True):
        found = np.asarray(jax.jit(transformer.nats)(p, windows))
    expected = [
        [-np.log(chances[symbol]) for chances, symbol in zip(plain(p, list(w[:-1])), w[1:], strict=True)]
        for w in windows
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_the_gradient_is_that_of_differences() -> None:
    p, windows = parameters(), np.random.default_rng(2).integers(0, 11, (2, 7))
    chance = np.random.default_rng(3)
    with jax.enable_x64(True):
        slope, loss = jax.jit(jax.grad(learning.loss))(p, windows), jax.jit(learning.loss)
        for name, each in p.items():
            way = chance.normal(size=each.shape)
            there, back = (loss(p | {name: each + sign * 1e-5 * way}, windows) for sign in (1, -1))
            assert float((slope[name] * way).sum()) == pytest.approx(
                float(there - back) / 2e-5, rel=1e-5, abs=1e-8
            )


@pytest.mark.parametrize("length", [3, 6, 7, 9, 12, 13, 40])
def test_each_symbol_is_read_once_after_half_a_context_or_more(length: int) -> None:
    p, stream = parameters(), np.random.default_rng(4).integers(0, 11, length).astype(np.int32)
    found = learning.read(p, stream, 6, batch=2)
    assert found.shape == (length - 1,)
    for at in range(1, length):
        begin = max(0, (at - 4) // 3 * 3)
        expected = -np.log(plain(p, list(stream[begin:at]))[-1][stream[at]])
        assert found[at - 1] == pytest.approx(expected, abs=2e-3)
        assert begin == 0 or at - begin > 3


def test_training_learns_and_repeats_for_a_seed() -> None:
    stream = np.tile(np.array([0, 1, 2, 3, 4, 5, 6, 7], np.int32), 40)
    course = Course(batch=4, steps=60, rate=3e-2)
    steps: list[int] = []
    first = learning.trained(stream, SMALL, course, 0, steps.append)
    again, other = (learning.trained(stream, SMALL, course, seed) for seed in (0, 1))
    assert steps == list(range(1, 61))
    losses = [learning.read(each, stream[:33], 6, 4) for each in (first, again, other)]
    assert losses[0].mean() < 0.5 < np.log(8)
    assert np.array_equal(losses[0], losses[1])
    assert not np.array_equal(losses[0], losses[2])


def test_a_step_is_adamw() -> None:
    """The first step goes by the rate against the sign of the slope, and matrices decay; gains do not."""
    p = {name: np.asarray(each, np.float32) for name, each in parameters().items()}
    windows = np.random.default_rng(2).integers(0, 11, (2, 7))
    slope = jax.jit(jax.grad(learning.loss))(p, windows)
    nothing = [{name: jax.numpy.asarray(np.zeros_like(each)) for name, each in p.items()} for _ in range(2)]
    given = {name: jax.numpy.array(each) for name, each in p.items()}
    after, _, _ = learning.learned(given, *nothing, windows, np.float32(0.01), np.float32(1))
    for name, each in p.items():
        sure = np.abs(slope[name]) > 1e-3
        decay = 0.1 * each if name in ("embedding", "attention", "attended", "up", "down") else 0
        expected = each - 0.01 * (np.sign(slope[name]) + decay)
        np.testing.assert_allclose(np.asarray(after[name])[sure], expected[sure], atol=1e-4)


def test_windows_are_of_the_stream_and_go_through_all_of_it() -> None:
    stream = np.arange(50, dtype=np.int32)
    windows = learning.windows_of(stream, 7, np.random.default_rng(0))
    some = [next(windows) for _ in range(200)]
    assert all(np.array_equal(each, np.arange(each[0], each[0] + 8)) for each in some)
    assert set(np.concatenate(some).tolist()) == set(range(50))
    shortest = learning.windows_of(stream[:8], 7, np.random.default_rng(0))
    assert next(shortest).tolist() == list(range(8))


def test_parameters_are_as_many_as_counted() -> None:
    for shape in (SMALL, fitted("x", 500, 0.4, Budget())):
        made = jax.eval_shape(lambda shape=shape: transformer.initial(shape, 0))
        assert shape.parameters == sum(each.size for each in made.values())
