"""Program that turns a report of Nsight Compute into JSON: `python ncu_dump.py EXTRAS_PYTHON REPORT`.

Runs in a child with whatever Python can load the report module of the installed ncu, and stands alone: it
imports nothing of this package. Writes one object per line: a kernel's names, its metrics, and every metric
that has a value per instruction, with the instruction's address, text and source line.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

_OVERALL = 2  # metrics with more instances than this are kept per instruction only


def _actions(path: str) -> Any:
    context = importlib.import_module("ncu_report").load_report(path)
    for number in range(context.num_ranges()):
        profiled = context.range_by_idx(number)
        for index in range(profiled.num_actions()):
            yield profiled.action_by_idx(index)


def _value(metric: Any) -> float | str | None:
    value = metric.value()
    return value if isinstance(value, (int, float, str)) else None


def _described(action: Any) -> dict[str, Any]:
    module = importlib.import_module("ncu_report")
    metrics: dict[str, Any] = {}
    instructions: dict[int, dict[str, Any]] = {}
    for name in action.metric_names():
        metric = action.metric_by_name(name)
        if metric is None:
            continue
        value = _value(metric)
        if value is not None:
            metrics[name] = value
        if metric.num_instances() < _OVERALL or not metric.has_correlation_ids():
            continue
        places = metric.correlation_ids()
        for instance in range(metric.num_instances()):
            amount = metric.as_double(instance)
            if amount:
                address = places.as_uint64(instance)
                instructions.setdefault(address, {})[name] = amount
    lines = []
    for address, amounts in sorted(instructions.items()):
        try:
            source = action.source_info(address)
            text = action.sass_by_pc(address)
        except (RuntimeError, ValueError, OverflowError):
            continue  # not an address: some metrics have other instances
        if not text:
            continue
        lines.append(
            {
                "address": address,
                "sass": text.strip(),
                "file": source.file_name() if source else None,
                "line": source.line() if source else None,
                "metrics": amounts,
            }
        )
    return {
        "kernel": action.name(module.IAction.NameBase_MANGLED),
        "name": action.name(module.IAction.NameBase_DEMANGLED),
        "metrics": metrics,
        "instructions": lines,
    }


def main() -> None:
    extras, report = sys.argv[1:3]
    sys.path.insert(0, extras)
    for action in _actions(report):
        sys.stdout.write(json.dumps(_described(action)) + "\n")


if __name__ == "__main__":
    main()
