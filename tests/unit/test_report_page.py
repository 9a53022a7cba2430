"""What the page of a run draws: pairs, roofline, counters and the tree of attempts."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from reported import accepted_report
from rewrite_task import counted

from intelliperf.records import STOP_AFTER, Candidate, FileEdit, Origin, OriginKind, Report, Verdict
from intelliperf.records.metrics import Metric
from intelliperf.report import attempttree, gainfigures, roofline
from intelliperf.report.html import page

BEFORE, AFTER = "int a;\nint b;\n", "int a;\nint c;\n"


@pytest.fixture
def report(tmp_path: Path) -> Report:
    return accepted_report(tmp_path, "k.hip", BEFORE, AFTER)


def test_every_pair_is_a_dot_and_the_sentence_counts_those_that_are_faster(report: Report) -> None:
    (kernel, *others) = report.measurements
    paired = dataclasses.replace(kernel, ratio=1.2, pairs=(0.9, 1.2, 1.3), samples=3)
    shown = page(dataclasses.replace(report, measurements=(paired, *others)))
    assert shown.count('class="dot"') == 3
    assert "3 pairs of the kernel: 0.9× to 1.3×, median 1.2×; 2 of them faster" in shown
    assert 'class="pairs"' not in page(report), "a model's ratio has no pairs"


def test_a_run_that_was_ended_early_is_not_called_the_whole_application(report: Report) -> None:
    assert "all device time of the application" in page(report)
    application = dataclasses.replace(report.application, environment=((STOP_AFTER, "7"),))
    shown = page(dataclasses.replace(report, application=application))
    assert (
        "all device time until --stop-after-launches 7" in shown and "all device time of the application" not in shown
    )


def test_the_roofline_places_both_states_by_instructions_bytes_and_time(report: Report) -> None:
    (was,) = report.profiles
    quantities = {Metric.LANE_INSTRUCTIONS: counted(1e9), Metric.DRAM_BYTES: counted(1e8)}
    was = dataclasses.replace(was, quantities=quantities, device_time_ns=(1e6, 1e6))
    now = dataclasses.replace(was, device_time_ns=(1e5,))
    before, after = roofline.point(was), roofline.point(now)
    assert before is not None and after is not None
    assert (before.intensity, before.rate, after.rate) == (10.0, pytest.approx(1e12), pytest.approx(1e13))
    shown = page(dataclasses.replace(report, profiles=(was,), after=(now,)))
    # at 10 lane instructions per byte, 5.3 TB/s allow 53e12 of them per second
    assert "before (square): 10 per byte, 1e+12 per second, 1.9 % of the roof" in shown
    assert "after (circle): 10 per byte, 1e+13 per second, 19 % of the roof" in shown
    assert roofline.point(dataclasses.replace(was, quantities={})) is None, "what was not counted is not drawn"


def test_counters_that_changed_stand_in_a_table_the_greatest_change_first(report: Report) -> None:
    (was,) = report.profiles
    was = dataclasses.replace(
        was, quantities={Metric.SECTORS: counted(800), Metric.REQUESTS: counted(100), Metric.LANES: counted(7)}
    )
    now = dataclasses.replace(
        was, quantities={Metric.SECTORS: counted(100), Metric.REQUESTS: counted(90), Metric.LANES: counted(7)}
    )
    shown = gainfigures.counters(was, now)
    assert "2 counters" in shown and "lanes<" not in shown
    assert shown.index("<td>sectors_32b</td><td>800</td><td>100</td><td>-87.5 %</td>") < shown.index(
        "<td>requests</td>"
    )


def test_attempts_hang_below_the_state_that_they_were_proposed_for(report: Report) -> None:
    first, wrong, good = report.attempts
    assert wrong.candidate is not None
    other = FileEdit("k.hip", "0" * 64, AFTER.replace("c", "d"))
    later = dataclasses.replace(wrong, index=4, candidate=Candidate((other,), "more", Origin(OriginKind.RULE, "r")))
    attempts = (first, wrong, good, later)
    assert attempttree.parents(attempts) == {1: 0, 2: 0, 3: 0, 4: 3}
    assert "-int c;\n+int d;\n" in attempttree.difference(good, later)
    shown = attempttree.tree(attempts, "", {})
    assert 'aria-label="Attempts on the original"' in shown and 'aria-label="Attempts on attempt 3"' in shown
    assert shown.index("Attempts on attempt 3") < shown.index(" 4. ")
    sibling = dataclasses.replace(later, index=3)
    told = attempttree.tree((first, wrong, sibling), "", {})
    assert "What differs from attempt 2" in told and re.search(r'class="add">\+int d;', told)


def test_a_verdict_of_another_attempt_keeps_its_gates_with_the_attempt(report: Report) -> None:
    wrong = report.attempts[1]
    assert isinstance(wrong.verdict, Verdict)
    checks = (dataclasses.replace(report.attempts[2].verdict.checks[0], name="only here"),)  # type: ignore[union-attr]
    shown_wrong = dataclasses.replace(wrong, verdict=dataclasses.replace(wrong.verdict, checks=checks))
    shown = page(dataclasses.replace(report, attempts=(report.attempts[0], shown_wrong, report.attempts[2])))
    assert shown.count("only here") == 1 and "Gates of attempt 2" in shown
