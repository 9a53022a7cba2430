"""Report files: valid against the published schema, in good order, safe to show."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from reported import accepted_report, healthy_report

from intelliperf.project.journal import Journal
from intelliperf.records import (
    Check,
    CheckStatus,
    Diagnosis,
    Ending,
    Origin,
    OriginKind,
    OtherTime,
    Outcome,
    Provenance,
    Report,
    Scope,
    Strength,
)
from intelliperf.report import files, verdicts, wording
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
    assert titles[1:] == ["Gates: ACCEPTED", "Finding", "Gain", "Device time", "Attempts", "Notes", "Patch"]
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) in (5, 6) for row in rows), "a cell breaks its row"
    assert "modelled by the emulator, not measured on hardware" in text
    assert "300 + 30 tokens, $0.0300" in text


def test_a_patch_cannot_end_the_block_that_it_stands_in(report: Report) -> None:
    text = summary(dataclasses.replace(report, patch="--- a\n+++ b\n ```\n+<script>\n"))
    assert "\n````diff\n--- a\n+++ b\n ```\n+<script>\n````\n" in text


def _judged(report: Report, **changes: object) -> Report:
    """With another verdict of the accepted attempt."""
    *others, last = report.attempts
    assert last.verdict is not None
    verdict = dataclasses.replace(last.verdict, **changes)  # type: ignore[arg-type]
    return dataclasses.replace(report, attempts=(*others, dataclasses.replace(last, verdict=verdict)))


def test_the_first_three_lines_say_how_it_was_shown_and_what_was_not_checked(report: Report) -> None:
    shown = _judged(report, strength=Strength.TOLERANCE, proof="out: within rtol 1e-06")
    first, second, third = summary(shown).splitlines()[:3]
    assert first.startswith("# atomicContention: tally(int const*, int*, int): modelled 4.00×")
    assert first.endswith("on the emulator; results equal within a tolerance")
    assert second == "- shown, for this command: out: within rtol 1e-06"
    assert third == "- not checked: unit tests: no command"
    assert "out: within rtol 1e-06" in page(shown) and page(shown).index("not checked") < page(shown).index(
        "<h2>Change"
    )


def test_a_table_names_each_gate_what_it_saw_where_and_what_it_rejects_as_a_control(report: Report) -> None:
    check = Check("buffers", CheckStatus.PASSED, "400 bytes | 1 point", "the emulator, as MI300X", "a flipped bit")
    text = summary(_judged(report, checks=(check,)))
    assert "| buffers | passed | 400 bytes \\| 1 point | the emulator, as MI300X | a flipped bit |" in text
    assert (
        '<td data-of="on">the emulator, as MI300X</td><td data-of="rejects, as a control">a flipped bit</td>'
        in page(_judged(report, checks=(check,)))
    )


def test_what_was_accepted_on_a_gpu_without_the_emulators_gates_says_so_in_its_headline(report: Report) -> None:
    device = dataclasses.replace(report.device, emulated=False)
    told = "NOT judged on the emulator"
    on_gpu = dataclasses.replace(report, backend="cuda", device=device)
    assert told in wording.headline(on_gpu)
    assert told not in wording.headline(report)
    beside = Check("emulator: buffers", CheckStatus.PASSED, "", "the emulator, as H100")
    assert told not in wording.headline(_judged(on_gpu, checks=(beside,)))


def test_a_refused_patch_is_said_to_be_refused_and_nothing_else(report: Report) -> None:
    wrong = report.attempts[1]
    assert wrong.candidate is not None
    candidate = dataclasses.replace(wrong.candidate, origin=Origin(OriginKind.USER, "given.patch"))
    refused = dataclasses.replace(
        report, ending=Ending.REFUSED, accepted=None, measurements=(), patch="", not_checked=(),
        attempts=(dataclasses.replace(wrong, candidate=candidate),),
    )  # fmt: skip
    for text in (summary(refused), page(refused), closing(refused, Path("/run"))):
        assert "patch refused: WRONG_OUTPUT: out[17]: 3.0" in text
        assert "bottleneck found" not in text and "improved" not in text
    assert closing(refused, Path("/run")).count("out[17]: 3.0") == 1
    assert summary(refused).startswith("# verify: patch refused: ")
    assert "what the gates after the one that refused it look at" in summary(refused)
    assert wrong.verdict is not None
    slow = dataclasses.replace(
        refused.attempts[0], verdict=dataclasses.replace(wrong.verdict, outcome=Outcome.NOT_FASTER)
    )
    headline = wording.headline(dataclasses.replace(refused, attempts=(slow,)))
    assert headline.startswith("patch refused for its time alone, no gate found it wrong: NOT_FASTER")


def test_verdicts_are_published_apart_from_the_report(report: Report, tmp_path: Path) -> None:
    """After a change of the records: write `intelliperf.report.verdicts.schema()` to its SCHEMA_PATH."""
    assert json.loads(verdicts.SCHEMA_PATH.read_text()) == verdicts.schema()
    with Journal(tmp_path / "run") as journal:
        files.write(report, journal)
    written = json.loads((tmp_path / "run" / "verdict.json").read_text())
    jsonschema.validate(written, verdicts.schema())
    assert written["accepted"] and written["not_checked"] == ["unit tests: no command"]
    assert [(one["outcome"], one["not_checked"]) for one in written["verdicts"]] == [
        ("WRONG_OUTPUT", []),
        ("ACCEPTED", ["unit tests: no command"]),
    ]


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
            if tag not in ("meta", "col"):
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    checker = Checker()
    checker.feed(page(report))
    assert checker.open == []
    assert "script" not in checker.seen and "details" in checker.seen
    assert not re.search(r"https?:|(?:src|href)=", page(report)), "nothing comes from the network"


def _colours() -> Iterator[tuple[str, dict[str, str]]]:
    style = (Path(files.__file__).parent / "page.css").read_text()
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    shown = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", light))
    yield "light", shown
    yield "dark", {**shown, **dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", dark))}


def _luminance(colour: str) -> float:
    """Of sRGB, as WCAG 2.2 defines relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("mode", [0, 1])
def test_every_text_of_the_page_can_be_read_in_light_and_in_dark(mode: int) -> None:
    name, colours = list(_colours())[mode]
    for text in ("text", "muted", "good", "bad", "link"):
        for ground in ("page", "soft"):
            brighter, darker = sorted((_luminance(colours[text]), _luminance(colours[ground])), reverse=True)
            assert (brighter + 0.05) / (darker + 0.05) >= 4.5, f"{text} on {ground}, {name}"
    for drawn in ("before", "after", "heat"):  # 3:1 is what WCAG asks of graphics
        brighter, darker = sorted((_luminance(colours[drawn]), _luminance(colours["soft"])), reverse=True)
        assert (brighter + 0.05) / (darker + 0.05) >= 3, f"{drawn}, {name}"


def test_the_page_draws_gains_and_blamed_lines_and_shows_the_patch_once(report: Report) -> None:
    (item,) = report.evidence
    text = "\n".join(["#include <x>", *[""] * (item.line - 2), item.text, "}"])
    shown = page(report, {item.file: text})
    assert shown.count("&lt;/pre&gt;&lt;script&gt;") == 1, "the patch, and not again under its attempt"
    assert '<rect class="before" width="100.00%"' in shown and '<rect class="after" width="25.00%"' in shown
    assert f'<span class="at">{item.line}</span><svg role="img" aria-label="100 % of what is blamed">' in shown
    assert f'<span class="at">{item.line + 1}</span><span></span><span>}}</span>' in shown
    changed = page(report, {item.file: text.replace(item.text, "other")})
    assert f'<span class="at">{item.line + 1}</span>' not in changed, "a file that is another by now is not a context"


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


def test_a_bottleneck_that_the_application_does_not_feel_is_no_headline(report: Report) -> None:
    assert report.finding is not None
    large = Diagnosis(dataclasses.replace(report.finding, gain_ceiling=2.0), ())
    found = dataclasses.replace(
        report, ending=Ending.DIAGNOSED, accepted=None, measurements=(), attempts=(), diagnoses=(large,)
    )
    assert wording.headline(found).startswith("diagnosed: atomicContention in ")
    small = Diagnosis(dataclasses.replace(report.finding, gain_ceiling=1.005), ())
    copies = OtherTime("copies to the device", 6, 4e6, 0.988, Provenance.MODELLED)
    told = wording.headline(dataclasses.replace(found, diagnoses=(small,), other_time=(copies,)))
    assert told.startswith(
        "diagnosed: no kernel limits the application (99 %: copies to the device); "
        "removing one alone gains at most 1.005×: "
    )
    note = "not pursued: the kernel could become 1.01× as fast, and less than 1.48× is not accepted"
    left = dataclasses.replace(
        found, ending=Ending.NOTHING_TO_IMPROVE, diagnoses=(dataclasses.replace(small, note=note),)
    )
    assert wording.headline(left) == f"nothing to improve: {wording.finding_in_short(small)}: {note}"


def test_findings_of_two_instances_of_a_kernel_are_told_apart(report: Report) -> None:
    assert report.finding is not None

    def found(name: str, symbol: str) -> Diagnosis:
        profile = report.finding.profile
        kernel = dataclasses.replace(profile.kernel, name=name, symbol=symbol)
        return Diagnosis(dataclasses.replace(report.finding, profile=dataclasses.replace(profile, kernel=kernel)), ())

    both = (found("sum<float*, 2>", "_Z1a"), found("sum<int, 2>", "_Z1b"), found("void ns::scan<int>(int*)", "_Z1c"))
    shown = [wording.finding_in_short(one, both).removeprefix("atomicContention in ") for one in both]
    assert shown == ["sum<float*, 2>", "sum<int, 2>", "scan"]
    command = wording.next_command(dataclasses.replace(report, ending=Ending.DIAGNOSED, diagnoses=both))
    pattern = shlex.split(command)[4]
    assert re.search(pattern, "sum<float*, 2>") and not re.search(pattern, "sum<int, 2>")


def test_a_diagnosis_without_a_finding_says_so(report: Report) -> None:
    nothing = dataclasses.replace(
        report, ending=Ending.DIAGNOSED, accepted=None, finding=None, measurements=(), attempts=(), diagnoses=()
    )
    assert wording.headline(dataclasses.replace(nothing, formula="all")) == "diagnosed: no finding"
    assert wording.headline(dataclasses.replace(nothing, formula="transfers")) == "diagnosed: no finding of transfers"


def test_a_gain_that_the_application_does_not_feel_is_no_headline(report: Report) -> None:
    small = tuple(
        dataclasses.replace(m, ratio=1.01, low=1.0, high=1.019) if m.scope is Scope.APPLICATION else m
        for m in report.measurements
    )
    assert "improved, but" in wording.headline(dataclasses.replace(report, measurements=small))
    assert "improved, but" not in wording.headline(report)


def test_a_line_of_an_inlined_helper_is_told_with_where_it_was_called(report: Report, tmp_path: Path) -> None:
    (line,) = report.evidence
    caller = dataclasses.replace(line.chain[0], line=12, function="caller")
    seen = dataclasses.replace(line, chain=(*line.chain, caller))
    diagnosed = dataclasses.replace(report, attempts=(), ending=Ending.DIAGNOSED)
    told = [
        closing(dataclasses.replace(diagnosed, diagnoses=(Diagnosis(report.finding, (one,)),)), tmp_path)
        for one in (line, seen)
    ]
    assert "inlined at" not in told[0]
    assert f"{line.file.name}:{line.line} (inlined at " in told[1] and f"{line.file.name}:12): " in told[1]
