"""Report files: valid against the published schema, in good order, safe to show."""

from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from reported import accepted_report, healthy_report

from intelliperf.project.journal import Journal
from intelliperf.records import OtherTime, Provenance, Report, Scope
from intelliperf.report import files, wording
from intelliperf.report.html import page
from intelliperf.report.summary import summary
from intelliperf.report.terminal import closing

BEFORE, AFTER = "a\nb <c>\n", "a\nb </pre><script>\n"


@pytest.fixture
def report(tmp_path: Path) -> Report:
    return accepted_report(tmp_path, "src/a b.hip", BEFORE, AFTER)


def test_the_published_schema_is_that_of_the_records() -> None:
    """After a change of the records: write `intelliperf.report.files.schema()` to SCHEMA_PATH."""
    assert json.loads(files.SCHEMA_PATH.read_text()) == files.schema()


@pytest.mark.parametrize("make", [lambda p: accepted_report(p, "a.hip", BEFORE, AFTER), healthy_report])
def test_a_report_is_valid_and_is_read_back(tmp_path: Path, make: object) -> None:
    report = make(tmp_path)  # type: ignore[operator]
    with Journal(tmp_path / "run") as journal:
        files.write(report, journal)
    written = json.loads((tmp_path / "run" / "report.json").read_text())
    jsonschema.validate(written, json.loads(files.SCHEMA_PATH.read_text()))
    assert files.read(tmp_path / "run") == report
    assert (tmp_path / "run" / "patch.diff").exists() is bool(report.patch)
    assert not list((tmp_path / "run").glob(".*")), "temporary files are left"


def test_the_summary_goes_from_the_result_to_the_details(report: Report) -> None:
    text = summary(report)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    assert titles[0].startswith("atomicContention: tally(int const*, int*, int): modelled 4.00×")
    assert titles[1:] == [
        "Finding",
        "Gain",
        "Device time",
        "Attempts",
        "What was checked",
        "Not checked",
        "Notes",
        "Patch",
    ]
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) in (5, 6) for row in rows), "a cell breaks its row"
    assert "modelled by the emulator, not measured on hardware" in text
    assert "300 + 30 tokens, $0.0300" in text


def test_a_healthy_program_gets_a_short_summary(tmp_path: Path) -> None:
    text = summary(healthy_report(tmp_path))
    assert "nothing to improve" in text.splitlines()[0]
    assert "## Patch" not in text and "## Attempts" not in text


def test_the_page_is_whole_and_shows_hostile_text_as_text(report: Report) -> None:
    class Checker(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []
            self.seen: set[str] = set()

        def handle_starttag(self, tag: str, attrs: object) -> None:
            self.seen.add(tag)
            if tag != "meta":
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    checker = Checker()
    checker.feed(page(report))
    assert checker.open == []
    assert "script" not in checker.seen and "details" in checker.seen
    assert "http" not in page(report), "nothing comes from the network"


def test_the_last_words_name_the_patch_and_what_was_not_checked(report: Report, tmp_path: Path) -> None:
    text = closing(report, tmp_path)
    assert f"patch:   {tmp_path}/patch.diff" in text
    assert "not checked: unit tests: no command" in text
    assert "attempt 2, model demo-model: WRONG_OUTPUT" in text


def test_shares_are_rounded_so_that_they_add_up_to_the_whole(report: Report) -> None:
    (kernel, *_) = report.profiles
    thirds = tuple(dataclasses.replace(kernel, share=1 / 3) for _ in range(2))
    others = (
        OtherTime("copies to the device", 2, 1e3, 1 / 3 - 0.0004, Provenance.MODELLED),
        OtherTime("fills", 1, 1.0, 0.0004, Provenance.MODELLED),
    )
    whole = dataclasses.replace(report, profiles=thirds, other_time=others)
    shown = [float(share.removesuffix(" %")) for share in wording.shares(whole)]
    assert round(sum(shown), 6) == 100.0
    assert max(abs(a - b) for a, b in zip(shown, (33.33, 33.33, 33.29, 0.04), strict=True)) < 0.1
    assert "| copies to the device | 2 times | 1 µs modelled | 33.3 % |" in summary(whole)


def test_a_gain_that_the_application_does_not_feel_is_no_headline(report: Report) -> None:
    small = tuple(
        dataclasses.replace(m, ratio=1.01, low=1.0, high=1.019) if m.scope is Scope.APPLICATION else m
        for m in report.measurements
    )
    assert "improved and validated, but" in wording.headline(dataclasses.replace(report, measurements=small))
    assert "improved and validated, but" not in wording.headline(report)
