"""Numbers and outcomes in words, the same in every report."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from intelliperf.project.kernelnames import unqualified
from intelliperf.records import (
    NEEDLESS,
    SHELL,
    Application,
    Attempt,
    Device,
    Diagnosis,
    Ending,
    Kernel,
    KernelProfile,
    Measurement,
    MemorySpace,
    Metric,
    OriginKind,
    Outcome,
    Provenance,
    Report,
    Scope,
    SourceEvidence,
    Strength,
    Usage,
    Verdict,
    is_light,
)
from intelliperf.records.timeline import HostLine
from intelliperf.sentences import (
    EMULATOR,
    duration,
    figures,
    percent,
    readings,
    times,
    why_not_to_patch,
)

_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")  # in a regular expression, which -k takes
_TELLABLE = 1.001
_FOR_TIME = " for its time alone, no gate found it wrong"
_WORTH_A_HEADLINE = 1.02  # gain of the whole application below which a kernel's own would mislead


def gain(measurement: Measurement, device: Device) -> str:
    """ "modelled 11.8× (11.2 to 12.1) for MI300X on the emulator" or "3.20× (3.15 to 3.26) measured on H100".

    Where something else emulates the device, that is named: "modelled 2.10× on the software gfx90a".
    """
    ratio = f"{measurement.ratio:.2f}×"
    if measurement.high > measurement.low:
        ratio += f" ({measurement.low:.2f} to {measurement.high:.2f})"
    where = f"on {device.runs_on or device.name}"
    if device.emulated and not device.runs_on:
        where = f"for {device.name} on the emulator"
    if measurement.provenance is Provenance.MODELLED:
        return f"modelled {ratio} {where}"
    return f"{ratio} {measurement.provenance.value} {where}"


def expected_exit(application: Application) -> str:
    return f"{application.exit_status}, as --expect-exit says"


def command_line(command: Sequence[str]) -> str:
    """As one would type it."""
    if tuple(command[:2]) == SHELL and len(command) == len(SHELL) + 1:
        return command[-1]
    return shlex.join(command)


def build_line(commands: Sequence[Sequence[str]], reason: str) -> str:
    """How the program is built, and where that comes from."""
    return f"{'; '.join(map(command_line, commands)) or 'nothing'} ({reason})"


_SCOPES = {
    Scope.KERNEL: "the kernel",
    Scope.APPLICATION: "all device time of the application",
    Scope.PROCESS: "the process from start to end",
}


def scope(measurement: Measurement, application: Application | None) -> str:
    """ "the kernel", by its name where it is one of several. Without the application nothing is said of its end."""
    if application is not None and application.stop_after is not None and measurement.scope is not Scope.KERNEL:
        return f"all device time until --stop-after-launches {application.stop_after}"
    if application is None and measurement.scope is Scope.APPLICATION:
        return "all device time of the run"
    return measurement.kernel or _SCOPES[measurement.scope]


def shares(report: Report) -> tuple[str, ...]:
    """Of the report's kernels and then its other time, in tenths of a percent that add up to 100 if these are all.

    Rounded down, and what is then missing goes to those that lost most by it.
    """
    exact = [1000 * share for share in ([p.share for p in report.profiles] + [o.share for o in report.other_time])]
    tenths = [math.floor(value + 1e-9) for value in exact]
    missing = round(sum(exact)) - sum(tenths)
    for index in sorted(range(len(exact)), key=lambda i: tenths[i] - exact[i])[: max(0, missing)]:
        tenths[index] += 1
    return tuple(f"{value / 10:.1f} %" for value in tenths)


def device_time(report: Report) -> Iterator[tuple[str, str, str, str, KernelProfile | None]]:
    """All of it, kernel by kernel and then the rest: share, time, number, what, and the kernel's profile."""
    shown = iter(shares(report))
    for profile in report.profiles:
        time = f"{duration(sum(profile.device_time_ns))} {profile.time_provenance.value}"
        yield next(shown), time, _times(profile.dispatches, "dispatch", "dispatches"), profile.kernel.name, profile
    for other in report.other_time:
        time = f"{duration(other.time_ns)} {other.provenance.value}"
        yield next(shown), time, _times(other.count, "time", "times"), other.what, None


def _times(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def origin(attempt: Attempt) -> str:
    source = attempt.candidate.origin if attempt.candidate else attempt.declined.origin if attempt.declined else None
    if source is None:
        return "unknown"
    kinds = {OriginKind.RULE: "rule", OriginKind.MODEL: "model", OriginKind.REPLAY: "replay", OriginKind.USER: "patch"}
    return f"{kinds[source.kind]} {source.name}"


def outcome(attempt: Attempt) -> tuple[str, str]:
    """Name and detail of what became of an attempt."""
    if attempt.verdict is not None:
        return attempt.verdict.outcome.value, attempt.verdict.detail
    return "DECLINED", attempt.declined.reason if attempt.declined else ""


def kind_of(item: SourceEvidence) -> str:
    """ "global load", "local store", "code" …"""
    return item.access.value if item.space is MemorySpace.NONE else f"{item.space.value} {item.access.value}"


def ways(evidence: Sequence[SourceEvidence]) -> tuple[str, ...]:
    """How the lines were found, where that is told."""
    return tuple(dict.fromkeys(item.found_by for item in evidence if item.found_by))


def counted(item: SourceEvidence, device: Device) -> str:
    """What the line did against what an ideal access would have done, and its part of the kernel's time."""
    parts = [str(reading) for reading in readings(item, device) if reading.gain > 1] + figures(item)
    share = item.quantities.get(Metric.TIME_SHARE)
    if share is not None:
        parts.append(f"{percent(share.value)} of the kernel's {share.provenance.value} time")
    errors = [q.error / q.value for q in item.quantities.values() if q.error and q.value]
    if errors:
        parts.append(f"sampled, ± {percent(max(errors))} at most")
    return "; ".join(parts)


def cost(usage: Usage) -> str:
    if not usage.input_tokens and not usage.output_tokens:
        return "no model call"
    price = f"${usage.usd:.4f}" if usage.usd is not None else "price not known"
    return f"{usage.input_tokens} + {usage.output_tokens} tokens, {price}"


def economy(report: Report) -> str:
    """What the model and the judge's time came to, per attempt, accepted attempt and percent gained."""
    judged_ = [attempt for attempt in report.attempts if attempt.verdict is not None]
    if not judged_:
        return ""
    accepted = sum(attempt.accepted for attempt in report.attempts)
    whole = next((m for m in report.measurements if m.scope is Scope.APPLICATION), None)
    saved = 100 * (1 - 1 / whole.ratio) if whole is not None and whole.ratio > 1 else None
    calls = sum(attempt.usage.input_tokens > 0 for attempt in report.attempts)
    told = []
    for total, unit, number_ in ((report.usage.usd, "${:.4f}", calls), (report.seconds, "{:.1f} s", len(judged_))):
        if not total or not number_:
            continue
        parts = [f"{unit.format(total / number_)} per attempt"]
        parts += [f"{unit.format(total / accepted)} per accepted one"] if accepted else []
        parts += [f"{unit.format(total / saved)} per percent of device time saved"] if saved else []
        told.append(", ".join(parts))
    return "; ".join(told)


def headline(report: Report) -> str:
    """One sentence: how the run ended."""
    kernels = [m for m in report.measurements if m.scope is Scope.KERNEL]
    if report.accepted is not None and kernels and report.finding is not None:
        whole = next((m for m in report.measurements if m.scope is Scope.APPLICATION), None)
        if whole is not None and whole.ratio < _WORTH_A_HEADLINE:
            names = report.finding.profile.kernel.name if len(kernels) == 1 else f"{len(kernels)} kernels"
            told = (
                f"{names} improved, but {scope(whole, report.application)} gains little: {gain(whole, report.device)}"
            )
        elif len(kernels) == 1:
            told = f"{report.finding.profile.kernel.name}: {gain(kernels[0], report.device)}"
        else:
            told = f"{len(kernels)} kernels improved"
            told += f"; {scope(whole, report.application)}: {gain(whole, report.device)}" if whole is not None else ""
        return told + _strength(report)
    if report.ending is Ending.NOTHING_TO_IMPROVE:
        shown = "a bottleneck" if report.formula == "all" else report.formula
        beside = f"; {process_in_short(report)}" if report.process else ""
        if report.diagnoses:
            return f"nothing to improve: {_unpursued(report)}{beside}"
        return f"nothing to improve: no kernel shows {shown} beyond its threshold{beside}"
    given = told_by_headline(report)
    if given is not None:
        name, detail = outcome(given)
        slow = given.verdict is not None and given.verdict.outcome is Outcome.NOT_FASTER
        return f"patch refused{_FOR_TIME if slow else ''}: {name}: {detail}"
    if report.diagnoses and report.diagnoses[0].note and not report.attempts:
        return f"{report.ending.value}: {_unpursued(report)}"
    if report.finding is not None:
        told = _main_finding(report) if report.diagnoses else report.finding.sentence
        return f"{report.ending.value}: {told}"
    if report.process:
        return f"{report.ending.value}: {process_in_short(report)}"
    return f"{report.ending.value}: no finding{'' if report.formula == 'all' else f' of {report.formula}'}"


def _unpursued(report: Report) -> str:
    """The first finding of a run that pursued none, with the reason."""
    first, more = report.diagnoses[0], len(report.diagnoses) - 1
    whom = finding_in_short(first, report.diagnoses) + (f" (and {more} more)" if more else "")
    return f"{whom}: {first.note or 'not pursued'}"


def told_by_headline(report: Report) -> Attempt | None:
    """The given patch that was refused, of which the headline has outcome and reason."""
    given = [a for a in report.attempts if a.verdict is not None and a.origin.kind is OriginKind.USER]
    improved = report.accepted is not None or report.ending is Ending.NOTHING_TO_IMPROVE
    return given[-1] if given and not improved else None


def _main_finding(report: Report) -> str:
    """The first diagnosis; where the application would hardly feel its end, that stands first, with what it would."""
    first = report.diagnoses[0]
    told, ceiling = finding_in_short(first, report.diagnoses), first.finding.gain_ceiling
    if ceiling >= _WORTH_A_HEADLINE:
        return told
    longest = max(report.other_time, key=lambda other: other.share, default=None)
    elsewhere = f" ({percent(longest.share)}: {longest.what})" if longest is not None and longest.share >= 0.5 else ""
    return f"no kernel limits the application{elsewhere}; removing one alone gains at most {times(ceiling)}: {told}"


def process_in_short(report: Report) -> str:
    """The first of what no kernel can mend: "transfers in the whole process, solver.cu:31"."""
    first = report.process[0]
    where = f", {first.lines[0].file.name}:{first.lines[0].line}" if first.lines else ""
    return f"{first.formula} in the whole process{where}"


def process_time(report: Report) -> str:
    """Where the whole process's time goes, in one sentence; empty where that is not known."""
    told = report.process_time
    if told is None or told.total_ns <= 0:
        return ""
    here = " on this machine" if report.device.emulated else ""
    ceiling = told.total_ns / max(told.without_kernels_ns, told.total_ns * 1e-3)
    return (
        f"{duration(told.total_ns)} from the start of main to the end of all work: kernels {duration(told.kernels_ns)} "
        f"and copies {duration(told.copies_ns)} ({told.device.value}), the host's own work {duration(told.host_ns)} "
        f"({told.host.value}{here}); if kernels took no time, "
        f"{f'at most {times(ceiling)}' if ceiling >= _TELLABLE else f'less than {times(_TELLABLE)}'} as fast"
    )


def host_place(line: HostLine, shown: Callable[[Path], str]) -> str:
    """ "solver.cu:31 (called at solver.cu:80): 59 uploads, 4 MB: upload(w, weights);"."""
    by = f" (called at {line.by})" if line.by else ""
    return f"{shown(line.file)}:{line.line}{by}: {line.what}: {line.text}"


def judged(report: Report) -> tuple[Verdict, ...]:
    """The verdicts that the report rests on: those of all accepted attempts, else that of a patch that was refused.

    Where recorded dispatches decided, that of the whole application comes first.
    """
    found = [(a, a.verdict) for a in report.attempts if a.verdict is not None]
    accepted = tuple(verdict for _, verdict in found if verdict.accepted)
    if report.whole is not None:
        return report.whole, *accepted
    return accepted or tuple(verdict for a, verdict in found if a.origin.kind is OriginKind.USER)[-1:]


def strength(report: Report) -> Strength | None:
    """The weakest of all accepted attempts."""
    order = list(Strength)
    found = [verdict.strength for verdict in judged(report) if verdict.strength is not None]
    return max(found, key=order.index, default=None)


def only_on_hardware(report: Report) -> bool:
    """Was something accepted without any gate of the emulator?"""
    checks = [check for verdict in judged(report) if verdict.accepted for check in verdict.checks]
    return bool(checks) and report.backend != "emulator" and not any(c.device.startswith(EMULATOR) for c in checks)


def _strength(report: Report) -> str:
    weakest = strength(report)
    told = f"; results {weakest.value}" if weakest is not None else ""
    return told + ("; NOT judged on the emulator" if only_on_hardware(report) else "")


def subject(report: Report) -> str:
    """What a title begins with: the formula, or that a patch was to be judged."""
    given = any(attempt.origin.kind is OriginKind.USER for attempt in report.attempts)
    return "verify" if given else report.formula


def opened(report: Report) -> str:
    """What was not checked, in one line; where that is nothing, it is said, too."""
    light = [item for item in report.not_checked if is_light(item)]
    told = [item for item in report.not_checked if item not in light]
    refused = judged(report) if report.accepted is None else ()
    if any(check.detail == NEEDLESS for verdict in refused for check in verdict.checks) or (refused and not told):
        told.append("what the gates after the one that refused it look at")
    if told and light:
        return f"{'; '.join(told)}; needless, or not asked for: {'; '.join(light)}"
    return "; ".join(told or light) or "no gate left anything out"


def shown_first(report: Report) -> Iterator[tuple[str, str]]:
    """What must be read before anything else, by title: what was shown, and what was not checked.

    What the whole application shows is of all changes; those that led to it are told further below.
    """
    verdicts = judged(report) if report.whole is None else (report.whole,)
    if not verdicts:
        return
    for verdict in verdicts:
        if verdict.accepted:
            yield "shown, for this command", verdict.proof or verdict.detail
    yield "not checked", opened(report)


def finding_in_short(diagnosis: Diagnosis, among: Sequence[Diagnosis] = ()) -> str:
    """ "atomicContention in signal_energy, signal_energy.hip:25", told apart from those `among` which it stands."""
    where = f", {place_of(diagnosis.evidence[0])}" if diagnosis.evidence else ""
    return f"{diagnosis.finding.formula} in {_called(diagnosis.finding.profile.kernel, among)}{where}"


def _called(kernel: Kernel, among: Sequence[Diagnosis]) -> str:
    """`reduce`; where another instance of it has a finding as well, the name that the profile has for this one."""
    short = unqualified(kernel.name)
    others = {one.finding.profile.kernel.name for one in among} - {kernel.name}
    return kernel.name if any(unqualified(other) == short for other in others) else short


def next_command(report: Report, given: Sequence[str] = ()) -> str:
    """What to type after a diagnosis to have its first finding improved that can be; empty where there is none.

    `given`: options of the diagnosis that the next run needs as well.
    """
    findings = [one.finding for one in report.diagnoses if not why_not_to_patch(one.finding.profile)]
    if not findings:
        return ""
    finding = findings[0]
    pattern = _SPECIAL.sub(r"\\\g<0>", _called(finding.profile.kernel, report.diagnoses))
    words = ["intelliperf", "-f", finding.formula, "-k", pattern]
    return command_line([*words, *given, "--", *report.application.command])


def place_of(item: SourceEvidence) -> str:
    """File and line, and the column where it is known."""
    place = f"{item.file.name}:{item.line}"
    return f"{place}:{item.column}" if item.column else place
