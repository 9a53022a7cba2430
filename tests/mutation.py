"""How many changes of records, validation and formulas the unit tests notice: `make mutation`.

cosmic-ray makes the changes (operators, constants, comparisons, conditions) one at a time, in a copy of the tracked
files, and runs the tests that speak of the module. Prints, by module, how many were noticed, and each that was not.
Exit status 1 below `LEAST`. `--sample N` takes N changes per module, the same ones each time.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

from treecopy import ROOT, copy_tree

WORK = ROOT / "build" / "mutation"
LEAST = 0.85
TIMEOUT_S = 120.0
_OF_FORMULAS = ("formulas", "formulas_memory", "formulas_execution", "formulas_lines", "formulas_contention")
_OF_FORMULAS += ("formulas_access", "formula_limits", "rocprof_formulas")
FORMULAS = " ".join(f"tests/unit/test_{name}.py" for name in _OF_FORMULAS)
RECORDS = "tests/unit/test_records.py tests/unit/test_reports.py tests/unit/test_codec.py"
# What is changed, and the tests that have to notice.
TARGETS = {
    "intelliperf/records/applications.py": RECORDS,
    "intelliperf/records/candidates.py": RECORDS,
    "intelliperf/records/kernels.py": RECORDS,
    "intelliperf/records/reports.py": RECORDS,
    "intelliperf/records/verdicts.py": RECORDS,
    "intelliperf/formulas/base.py": FORMULAS,
    "intelliperf/formulas/atomic_contention.py": FORMULAS,
    "intelliperf/formulas/bank_conflict.py": FORMULAS,
    "intelliperf/formulas/memory_access.py": FORMULAS,
    "intelliperf/validation/buffers/tolerance.py": "tests/unit/test_validation_comparison.py",
    "intelliperf/validation/strength.py": "tests/unit/test_validation_strength.py",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="changes per module; default: all")
    parser.add_argument("--only", help="a part of the modules' paths")
    asked = parser.parse_args()
    copy_tree(WORK)
    noticed = made = 0
    for module, tests in TARGETS.items():
        if asked.only is None or asked.only in module:
            results = _mutated(module, tests, asked.sample)
            noticed += sum(results.values())
            made += len(results)
            print(f"{module}: {sum(results.values())} of {len(results)} noticed")
            for where, seen in results.items():
                if not seen:
                    print(f"  survived: {where}")
    share = noticed / made if made else 0.0
    print(f"in all {noticed} of {made} noticed ({share:.0%}); wanted {LEAST:.0%}")
    return 0 if share >= LEAST else 1


def _mutated(module: str, tests: str, sample: int | None) -> dict[str, bool]:
    """By place and operator, whether a test failed. Raises `RuntimeError` where the tests fail without any change."""
    name = Path(module).stem
    command = f"{sys.executable} -m pytest -q -x -n 0 -p no:cacheprovider {tests}"
    config, session = WORK / f"{name}.toml", WORK / f"{name}.sqlite"
    config.write_text(
        f'[cosmic-ray]\nmodule-path = "{module}"\ntimeout = {TIMEOUT_S}\nexcluded-modules = []\n'
        f'test-command = "{command}"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    if subprocess.run(command.split(), cwd=WORK, capture_output=True).returncode != 0:
        raise RuntimeError(f"{tests} fail without any change")
    _cosmic_ray("init", config.name, session.name)
    _leave_out_what_no_test_can_notice(WORK / module, session)
    if sample is not None:
        _thin_out(session, sample)
    _cosmic_ray("exec", config.name, session.name)
    found: dict[str, bool] = {}
    for line in _cosmic_ray("dump", session.name).splitlines():
        work, result = json.loads(line)
        change = work["mutations"][0]
        line, column = change["start_pos"]
        where = f"{module}:{line}:{column} {change['operator_name']} {change['occurrence']}"
        if result is not None:
            found[where] = result["test_outcome"] != "survived"
    return found


def _leave_out_what_no_test_can_notice(module: Path, session: Path) -> None:
    """Annotations, which nobody evaluates, and `is` made `==` beside what is equal to nothing else."""
    tree = ast.parse(module.read_text())
    annotations = [
        note
        for node in ast.walk(tree)
        for note in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if note is not None
    ]
    singletons = [node for node in ast.walk(tree) if isinstance(node, ast.Compare) and _with_a_singleton(node)]
    with sqlite3.connect(session) as database:
        columns = "job_id, operator_name, start_pos_row, start_pos_col"
        rows = database.execute(f"select {columns} from mutation_specs").fetchall()
        for job, operator, *place in rows:
            nowhere = singletons if operator.endswith(("_Is_Eq", "_IsNot_NotEq")) else []
            if any(_within(node, *place) for node in annotations + nowhere):
                database.execute("delete from mutation_specs where job_id = ?", (job,))
                database.execute("delete from work_items where job_id = ?", (job,))


def _with_a_singleton(compared: ast.Compare) -> bool:
    """None, True, False or a member of an enumeration, in one comparison and by identity."""
    (other,) = compared.comparators if len(compared.comparators) == 1 else (None,)
    return isinstance(other, ast.Constant) or isinstance(other, ast.Attribute) and other.attr.isupper()


def _within(node: ast.expr, row: int, column: int) -> bool:
    return (node.lineno, node.col_offset) <= (row, column) <= (node.end_lineno or 0, node.end_col_offset or 0)


def _thin_out(session: Path, sample: int) -> None:
    with sqlite3.connect(session) as database:
        places = "start_pos_row, start_pos_col, operator_name, occurrence"
        jobs = [row[0] for row in database.execute(f"select job_id from mutation_specs order by {places}")]
        kept = set(random.Random(11).sample(jobs, min(sample, len(jobs))))
        for job in set(jobs) - kept:
            database.execute("delete from mutation_specs where job_id = ?", (job,))
            database.execute("delete from work_items where job_id = ?", (job,))


def _cosmic_ray(*words: str) -> str:
    argv = ["cosmic-ray", *words]
    done = subprocess.run(argv, cwd=WORK, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"cosmic-ray {words[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
