"""What decorators made of a launch's numbers: constants by `triton.heuristics`, configurations that a tuner leaves out.

A launch that is run once more with another number keeps the constants that were compiled into its kernel. It tells
something only where the program would have had the same ones: these numbers are found by asking the decorators again.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

_MOST_S = 0.25
_NEAR, _BESIDE = 512, 32
_TIMES = (0.5, 2, 27)  # as large, as launches are altered
_MOST_RANGES = 256

_Question = Callable[[Mapping[str, Any]], object]  # what is derived from these numbers
_open: list[tuple[dict[str, Any], _Question]] = []  # of the launches under way, the innermost last


def follow(autotuner: Any) -> None:
    """`autotuner`: Triton's module of decorators."""
    _follow_heuristics(autotuner.Heuristics)
    _follow_tuner(autotuner.Autotuner)


def _follow_heuristics(decorator: Any) -> None:
    run = decorator.run

    def followed(self: Any, *args: Any, **kwargs: Any) -> Any:
        def derived(numbers: Mapping[str, Any]) -> object:
            known = dict(numbers)
            for name, heuristic in self.values.items():
                known[name] = heuristic(dict(known))
            return [known[name] for name in self.values]

        with _deriving({**dict(zip(self.arg_names, args)), **kwargs}, derived):
            return run(self, *args, **kwargs)

    decorator.run = followed


def _follow_tuner(tuner: Any) -> None:
    run, bench = tuner.run, tuner._bench

    def followed(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _with_choice(self, lambda: self.best_config, run, args, kwargs, kwargs)

    def tried(self: Any, *args: Any, config: Any, **meta: Any) -> Any:
        return _with_choice(self, lambda: config, bench, args, {**meta, "config": config}, meta)

    tuner.run, tuner._bench = followed, tried


def _with_choice(
    tuner: Any, chosen: Callable[[], Any], call: Any, args: Any, kwargs: Mapping[str, Any], meta: Mapping[str, Any]
) -> Any:
    prune = getattr(tuner, "early_config_prune", None)
    if prune is None:
        return call(tuner, *args, **kwargs)
    names = dict(zip(tuner.arg_names, args))

    def suits(numbers: Mapping[str, Any]) -> object:
        positional = {name: numbers[name] for name in names}
        others = {name: value for name, value in numbers.items() if name not in names}
        return chosen() in prune(tuner.configs, positional, **others)

    with _deriving({**names, **meta}, suits):
        return call(tuner, *args, **kwargs)


@contextmanager
def _deriving(numbers: dict[str, Any], question: _Question) -> Iterator[None]:
    _open.append((numbers, question))
    try:
        yield
    finally:
        _open.pop()


def held(parameters: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Of the launch under way: a parameter's index, first and last of each range in which all that is derived stays.

    Parameters with which nothing changes are left out. `parameters`: as in the emulator's metadata.
    """
    until = time.monotonic() + _MOST_S
    found = []
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for parameter in parameters if _open else ():
            values = [numbers[parameter["name"]] for numbers, _ in _open if parameter["name"] in numbers]
            if values and type(values[0]) is int and not parameter["pointer"]:
                ranges = _ranges(parameter["name"], values[0], until)
                if ranges is not None:
                    found.append([parameter["index"], *(end for one in ranges for end in one)])
    return found


def _ranges(name: str, value: int, until: float) -> list[list[int]] | None:
    """None where no value changes anything."""
    questions = [(numbers, question) for numbers, question in _open if name in numbers]
    now = [_answer(question, numbers) for numbers, question in questions]
    ranges: list[list[int]] = []
    all_hold = True
    for other in _worth_asking(value):
        holds = other == value or (
            time.monotonic() < until
            and all(
                _answer(question, {**numbers, name: other}) == one for (numbers, question), one in zip(questions, now)
            )
        )
        all_hold &= holds
        if holds and ranges and ranges[-1][1] == other - 1:
            ranges[-1][1] = other
        elif holds:
            ranges.append([other, other])
    return None if all_hold else sorted(ranges, key=lambda one: abs(one[0] - value))[:_MOST_RANGES]


def _answer(question: _Question, numbers: Mapping[str, Any]) -> object:
    try:
        return question(numbers)
    except Exception as error:  # noqa: BLE001  # the program's own code, on numbers that it never had
        return type(error)


def _worth_asking(value: int) -> list[int]:
    places = [(value, _NEAR), *((int(value * times), _BESIDE) for times in _TIMES)]
    return sorted({one for place, far in places for one in range(max(0, place - far), place + far + 1)})
