"""Benchmarks of Triton on the modelled clock: the same answer each time, so few launches are enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .runtime import runtime

Milliseconds = Any  # a float, or a list of them, as Triton's functions return


def modelled_ms(work: Callable[[], object]) -> float:
    """What one run of `work` takes on the device, after one that compiles and fills caches."""
    work()
    device = runtime()
    start, end = device.event(), device.event()
    device.record(start, 0)
    work()
    device.record(end, 0)
    device.wait_for_event(end)
    return device.elapsed_ms(start, end)


def _summary(value: float, quantiles: Sequence[float] | None, return_mode: str) -> Milliseconds:
    if quantiles is not None:
        return value if len(quantiles) == 1 else [value] * len(quantiles)
    return [value] if return_mode == "all" else value


def do_bench(
    fn: Callable[[], object],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Milliseconds:
    """In place of `triton.testing.do_bench`: two runs, whatever time is asked for. Milliseconds."""

    def work() -> None:
        for tensor in grad_to_none or ():
            tensor.grad = None
        fn()

    return _summary(modelled_ms(work), quantiles, return_mode)


def do_bench_cudagraph(
    fn: Callable[[], object],
    rep: float = 20,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Milliseconds:
    """In place of `triton.testing.do_bench_cudagraph`: the clock knows no host time that a graph would save."""
    return do_bench(fn, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)
