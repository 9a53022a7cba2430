"""Writes the pages of the reference that come from the code: formulas, rules, devices, command line, schemas.

Run by `make docs`. What it writes is not kept in the repository.
"""

from __future__ import annotations

import inspect
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from intelliperf.cli.app import application
from intelliperf.cli.schema import schema as file_schema
from intelliperf.codegen.rulebook import RULES
from intelliperf.devices.models import device_file_values, sources, target_names
from intelliperf.formulas import BOTTLENECKS, OF_THE_PROCESS
from intelliperf.formulas.base import Formula, Threshold
from intelliperf.formulas.process import WORTH_TELLING, ProcessFormula
from intelliperf.report.files import schema as report_schema

REFERENCE = Path(__file__).parent / "reference"
# Programs of examples/ that show a bottleneck, as examples/README.md says.
EXAMPLES = {
    "atomicContention": ("reduction", "histogram"),
    "bankConflict": ("transpose", "scan"),
    "memoryAccess": ("particles", "rowsums"),
    "registerPressure": ("mixing",),
    "branchDivergence": ("sides",),
}


def formula_page(formula: Formula) -> Iterator[str]:
    yield f"# {formula.name}\n\n{_sentence(formula.summary)}\n"
    documented = inspect.getdoc(inspect.getmodule(type(formula)))
    yield f"{documented}\n" if documented else ""
    needs = ", ".join(f"`{metric.value}`" for metric in formula.needs)
    yield f"## What it looks at\n\n`{formula.watched.value}`, from {needs}.\n"
    yield "## When it fires\n\nEvery threshold is passed, and a tenth of the kernel's time is at stake.\n"
    rows = [f"| `{name.lstrip('_')}` | {limit.value:g} | {limit.reason} |" for name, limit in _thresholds(formula)]
    yield "\n".join(("| Threshold | Value | Why |", "|---|---|---|", *rows)) + "\n"
    yield f"## What fixes it\n\n{formula.knowledge.strip()}\n"
    rules = ", ".join(f"[{rule}](../rules/{rule}.md)" for rule in formula.rules)
    yield f"Rules, tried in this order: {rules}.\n" if rules else "No rule; a model may be asked.\n"
    shown = EXAMPLES.get(formula.name, ())
    if shown:
        yield f"## Try it\n\nIn {' or '.join(f'`examples/{name}`' for name in shown)}, "
        yield "as `examples/README.md` shows: `intelliperf -f NAME -- PROGRAM`.\n".replace("NAME", formula.name)


def process_formula_page(formula: ProcessFormula) -> Iterator[str]:
    yield f"# {formula.name}\n\n{_sentence(formula.summary)} Diagnosis only: no rule and no model changes host code.\n"
    yield f"{inspect.getdoc(inspect.getmodule(type(formula)))}\n"
    yield "## When it fires\n\nEvery threshold is passed, and the whole process could be noticeably faster.\n"
    limits = dict([*_thresholds(formula), ("WORTH_TELLING", WORTH_TELLING)])
    rows = [f"| `{name}` | {limit.value:g} | {limit.reason} |" for name, limit in sorted(limits.items())]
    yield "\n".join(("| Threshold | Value | Why |", "|---|---|---|", *rows)) + "\n"
    yield f"## What fixes it\n\n{formula.knowledge.strip()}\n"
    yield "## Where the numbers come from\n\n"
    yield "On the emulator the runtime notes every call with the return addresses on the stack, and debug information "
    yield "names the lines (files that another compiler translates need `-g`). The host's own work is measured on this "
    yield "machine, between the calls; copies and kernels are modelled; what a call itself costs the host is not known "
    yield "and left out. Hardware back ends do not show the host's calls yet.\n"


def _thresholds(formula: Formula) -> list[tuple[str, Threshold]]:
    module = inspect.getmodule(type(formula))
    named = {name: value for name, value in vars(module).items() if isinstance(value, Threshold)}
    named["MINIMUM_EXCESS"] = formula.minimum_excess
    return sorted(named.items())


def rule_page(rule: Any) -> Iterator[str]:
    served = [f"[{f.name}](../formulas/{f.name}.md)" for f in BOTTLENECKS if rule.name in f.rules]
    yield f"# {rule.name}\n\n{inspect.getdoc(inspect.getmodule(type(rule))) or ''}\n"
    yield f"Serves {', '.join(served) or 'no formula'}.\n"
    yield "Where it cannot prove from the syntax tree that the rewrite is correct, it declines, and the report has the "
    yield "reason. The judge checks its rewrites like any other.\n"


def formula_index() -> Iterator[str]:
    yield "# Formulas\n\nA formula recognises one kind of bottleneck. Without `-f` all of them are asked.\n"
    rows = [
        f"| [{f.name}](formulas/{f.name}.md) | {_sentence(f.summary)} | {len(f.rules) or ''} |" for f in BOTTLENECKS
    ]
    rows += [f"| [{f.name}](formulas/{f.name}.md) | {_sentence(f.summary)} | diagnosis only |" for f in OF_THE_PROCESS]
    yield "\n".join(("| Formula | Fires where | Rules |", "|---|---|---|", *rows)) + "\n"


def rule_index() -> Iterator[str]:
    yield "# Rules\n\nRules rewrite without a key or a network.\n"
    rows = [f"| [{rule.name}](rules/{rule.name}.md) | {_first_sentence(rule)} |" for rule in RULES]
    yield "\n".join(("| Rule | What it does |", "|---|---|", *rows)) + "\n"


def devices() -> Iterator[str]:
    yield "# Modelled chips\n\nEvery figure with the source that states it. Units are in the names.\n"
    for target in target_names():
        origin = sources(target)
        yield f"## {target}\n"
        rows = [f"| `{key}` | {value} | {origin.get(key, '')} |" for key, value in device_file_values(target).items()]
        yield "\n".join(("| Figure | Value | Source |", "|---|---|---|", *rows)) + "\n"


def command_line() -> Iterator[str]:
    yield "# Command line\n"
    group: Any = typer.main.get_command(application())
    context = group.make_context("intelliperf", [], resilient_parsing=True)
    yield f"```text\n{group.get_help(context)}\n```\n"
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = command.make_context(f"intelliperf {name}", [], resilient_parsing=True)
        yield f"## intelliperf {name}\n\n```text\n{command.get_help(inner)}\n```\n"


def schemas() -> Iterator[str]:
    yield "# Schemas\n\n## report.json\n\nPublished in the package as `report/report.schema.json`.\n"
    yield f"```json\n{json.dumps(report_schema(), indent=1)}\n```\n"
    yield "## intelliperf.toml\n\nPublished as `cli/intelliperf.schema.json`, for editors that know TOML.\n"
    yield f"```json\n{json.dumps(file_schema(), indent=1)}\n```\n"


def _first_sentence(rule: Any) -> str:
    text = " ".join((inspect.getdoc(inspect.getmodule(type(rule))) or "").split("\n\n")[0].split())
    return text.replace("|", "\\|")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


PAGES = {
    "formulas.md": formula_index,
    "rules.md": rule_index,
    "devices.md": devices,
    "cli.md": command_line,
    "schemas.md": schemas,
}


def write(directory: Path) -> list[Path]:
    """All pages, into an empty directory. Returns their paths."""
    shutil.rmtree(directory, ignore_errors=True)
    pages = {name: page() for name, page in PAGES.items()}
    pages |= {f"formulas/{formula.name}.md": formula_page(formula) for formula in BOTTLENECKS}
    pages |= {f"formulas/{formula.name}.md": process_formula_page(formula) for formula in OF_THE_PROCESS}
    pages |= {f"rules/{rule.name}.md": rule_page(rule) for rule in RULES}
    for name, parts in pages.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text("\n".join(parts), encoding="utf-8")
    return [directory / name for name in pages]


def main() -> int:
    write(REFERENCE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
