"""What a night writes: escaped, bounded and valid."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from scriptednight import SLOW, Place, ScriptedPool

from intelliperf.nightly.outcome import NightReport
from intelliperf.nightly.outputs import files
from intelliperf.project.codec import encode
from intelliperf.project.journal import Journal


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def hostile(place: Place) -> NightReport:
    """A night with everything, in which texts are unfriendly."""
    place.write(SLOW)
    place.night(ScriptedPool(), search=False)
    place.write("//1500\n// slow\n")
    report = place.night(ScriptedPool(), place.target(), place.target(name="gone", directory=place.root / "<gone>"))
    item = report.patches[0]
    diff = "--- a\n+++ b\n+<script>alert(1)</script> \x1b[31m\x00 ``` \udcff\n" + "+x\n" * 1_500_000
    patch = dataclasses.replace(item.patch, diff=diff, kernel="k<int>|`*`")
    patches = (dataclasses.replace(item, patch=patch),)
    return dataclasses.replace(report, patches=patches)


def test_outputs_are_escaped_bounded_and_valid(hostile: NightReport, tmp_path: Path) -> None:
    with Journal.create(tmp_path / "out", "night") as journal:
        written = files.write(hostile, journal)
    texts = {path.name: path.read_text() for path in written.directory.iterdir() if path.suffix in (".html", ".md")}
    for text in texts.values():
        assert "\x1b" not in text and "\x00" not in text and len(text) < 500_000
    assert "<script>" not in texts["night.html"]
    before, fenced, after = texts["summary.md"].partition("````diff\n")  # longer than the patch's own
    assert "<script>" not in before + after.partition("\n````\n")[2] and "<script>" in fenced + after
    suites = ElementTree.parse(written.directory / "junit.xml").getroot()
    assert suites.get("failures") == "1" and int(suites.get("errors") or 0) >= 1
    night = json.loads((written.directory / "night.json").read_text())
    jsonschema.validate(night, json.loads(files.SCHEMA_PATH.read_text()))


def test_sarif_names_a_rule_and_a_place_for_each_result(hostile: NightReport, tmp_path: Path) -> None:
    with Journal.create(tmp_path / "out", "night") as journal:
        directory = files.write(hostile, journal).directory
    log = json.loads((directory / "night.sarif").read_text())
    (run,) = log["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert log["version"] == "2.1.0" and {result["ruleId"] for result in run["results"]} == {"regression"} <= rules
    for result in run["results"]:
        for location in result["locations"]:
            base = location["physicalLocation"]["artifactLocation"].get("uriBaseId")
            assert base is None or base in run["originalUriBaseIds"]
    assert not run["invocations"][0]["executionSuccessful"]


def test_the_published_schema_is_that_of_the_records() -> None:
    """After a change of the records: write `intelliperf.nightly.outputs.files.schema()` to SCHEMA_PATH."""
    assert json.loads(files.SCHEMA_PATH.read_text()) == files.schema()


def test_two_equal_nights_give_equal_reports(tmp_path: Path) -> None:
    shown = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        place = Place(tmp_path / name)
        place.write(SLOW)
        report = encode(place.night(ScriptedPool()))
        shown.append([report["patches"][0]["patch"]["identity"], report["targets"][0]["commit"]])
    assert shown[0] == shown[1]
