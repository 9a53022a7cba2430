"""Writes the pages of the reference that come from the code: formulas, rules, command line, report schema.

Run by `make docs`. What it writes is not kept in the repository.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.main import get_command

from intelliperf.cli.app import application
from intelliperf.codegen.rulebook import RULES
from intelliperf.formulas import BOTTLENECKS
from intelliperf.formulas.base import Formula, Threshold
from intelliperf.report.files import schema

REFERENCE = Path(__file__).parent / "reference"


def formulas() -> Iterator[str]:
    """A section per formula, with every threshold of its module and the reason for it."""
    yield "# Formulas\n\nA formula is one kind of bottleneck. Without `-f` all of them are asked.\n"
    for formula in BOTTLENECKS:
        yield f"## {formula.name}\n\n{_sentence(formula.summary)}\n"
        yield f"{formula.knowledge.strip()}\n"
        rows = [f"| `{name}` | {limit.value:g} | {limit.reason} |" for name, limit in _thresholds(formula)]
        yield "\n".join(("| Threshold | Value | Why |", "|---|---|---|", *rows)) + "\n"
        yield f"Watched: `{formula.watched.value}`. Rules: {', '.join(f'`{r}`' for r in formula.rules) or 'none'}.\n"


def _thresholds(formula: Formula) -> list[tuple[str, Threshold]]:
    module = inspect.getmodule(type(formula))
    named = {name: value for name, value in vars(module).items() if isinstance(value, Threshold)}
    named["MINIMUM_EXCESS"] = formula.minimum_excess
    return sorted(named.items())


def rules() -> Iterator[str]:
    yield "# Rules\n\nRules rewrite without a key or a network. Each declines with its reason where it cannot prove.\n"
    for rule in RULES:
        module = inspect.getmodule(type(rule))
        served = [f"`{formula.name}`" for formula in BOTTLENECKS if rule.name in formula.rules]
        yield f"## {rule.name}\n\n{inspect.getdoc(module) or ''}\n\nServes: {', '.join(served) or 'no formula'}.\n"


def command_line() -> Iterator[str]:
    yield "# Command line\n"
    group = get_command(application())
    context = typer.Context(group, info_name="intelliperf")
    yield f"```text\n{group.get_help(context)}\n```\n"
    for name in group.list_commands(context):  # type: ignore[attr-defined]
        command = group.get_command(context, name)  # type: ignore[attr-defined]
        inner = typer.Context(command, info_name=f"intelliperf {name}")
        yield f"## intelliperf {name}\n\n```text\n{command.get_help(inner)}\n```\n"


def report_schema() -> Iterator[str]:
    yield "# report.json\n\nThe JSON Schema of a run's report, published in the package as `report.schema.json`.\n"
    yield f"```json\n{json.dumps(schema(), indent=1)}\n```\n"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


PAGES = {"formulas.md": formulas, "rules.md": rules, "cli.md": command_line, "report.md": report_schema}


def main() -> int:
    REFERENCE.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (REFERENCE / name).write_text("\n".join(page()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
