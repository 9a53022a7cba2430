"""The zoo's two figures, over all workers: what was wrong and accepted, what was honest and refused."""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for key in ("passed", "failed") for report in terminalreporter.stats.get(key, ())]
    told = Counter(str(value) for report in reports for name, value in report.user_properties if name == "zoo")
    if not told:
        return
    terminalreporter.section("the zoo")
    for kind, mistake in (("wrong", "accepted"), ("honest", "refused")):
        number = told[f"{kind} accepted"] + told[f"{kind} refused"]
        terminalreporter.line(f"{kind} {mistake}: {told[f'{kind} {mistake}']} of {number}")
