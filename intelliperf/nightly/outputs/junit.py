"""JUnit XML: one case per place, failed where something became slower, in error where it could not be looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as xml

from intelliperf.nightly.outcome import NightReport, PlaceOutcome, Step, TargetOutcome

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0


def junit(report: NightReport) -> str:
    """Ends with a newline."""
    suites = xml.Element("testsuites", name="intelliperf nightly", time=f"{60 * report.spent.minutes:.3f}")
    for target in report.targets:
        suite = xml.SubElement(suites, "testsuite", name=_clean(target.name), timestamp=report.started_at.rstrip("Z"))
        for place in target.places:
            _case(suite, target, place, report)
        for number, problem in enumerate(target.problems, 1):
            case = xml.SubElement(suite, "testcase", classname=_clean(target.name), name=f"problem {number}", time="0")
            xml.SubElement(case, "error", message=_clean(problem.splitlines()[0])).text = _clean(problem)
        _count(suite)
    _count(suites)
    xml.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(suites, encoding="unicode") + "\n"


def _case(suite: xml.Element, target: TargetOutcome, place: PlaceOutcome, report: NightReport) -> None:
    name = f"{place.place.workload} on {place.place.device}"
    case = xml.SubElement(
        suite, "testcase", classname=_clean(target.name), name=_clean(name), time=f"{place.seconds:.3f}"
    )
    if place.step is Step.FAILED:
        xml.SubElement(case, "error", message=_clean(place.problem.partition("\n")[0])).text = _clean(place.problem)
    elif place.step is Step.SKIPPED:
        xml.SubElement(case, "skipped", message=_clean(place.problem))
    for regression in report.regressions:
        if regression.place == place.place:
            lines = [f"{line['file']}:{line['line']}: {line['metric']}" for line in regression.lines]
            text = "\n".join((regression.sentence, *regression.commits, *lines))
            xml.SubElement(case, "failure", message=_clean(regression.sentence), type="regression").text = _clean(text)
    shown = list(_said(place, report))
    if shown:
        xml.SubElement(case, "system-out").text = _clean("\n".join(shown))


def _said(place: PlaceOutcome, report: NightReport) -> Iterator[str]:
    if place.step is Step.UNCHANGED:
        yield "unchanged"
    yield from (f"{found.kernel}: {found.formula}: {found.sentence}" for found in place.new_findings)


def _count(element: xml.Element) -> None:
    cases = list(element.iter("testcase"))
    element.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(tag) is not None for case in cases)))


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
