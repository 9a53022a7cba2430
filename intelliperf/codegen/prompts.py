"""A task and the attempts so far, as the sections of a prompt. Pure: the same input gives the same words."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.codegen.disclosure import fenced, shown_text
from intelliperf.codegen.excerpts import annotated_source, hot_lines, source_path
from intelliperf.codegen.exchange import Prompt
from intelliperf.codegen.facts import buffers, costs
from intelliperf.protocols import Task
from intelliperf.records import Attempt, CheckStatus, Device, Finding, Geometry, OriginKind, Outcome, Verdict
from intelliperf.sentences import finding_sentence, line_sentence, number

_EVIDENCE_LINES = 12
_MOVED = 4  # lines of an earlier attempt that are told with their counters
_SHORT = 600  # characters of an earlier attempt's rationale
_HIP_SUFFIXES = (".hip",)
_CUDA_SUFFIXES = (".cu", ".cuh")
_PYTHON_SUFFIX = ".py"


@dataclass(frozen=True)
class Size:
    """How much is shown, in characters. COMPACT is for models with a small context window."""

    source: int
    attempts: int
    diff: int
    detail: int


FULL = Size(source=80_000, attempts=40_000, diff=8_000, detail=4_000)
COMPACT = Size(source=20_000, attempts=6_000, diff=1_500, detail=1_000)


def rewrite_prompt(task: Task, attempts: Sequence[Attempt], size: Size = FULL) -> Prompt:
    """The request for the next candidate."""
    shown = _file_names(task)
    hot = hot_lines(task)
    compiled = [("compiled", "\n".join(task.compiled))] if task.compiled else []
    sections = (
        ("task", _task(task, len(attempts) + 1)),
        ("knowledge", task.knowledge.strip() or "none"),
        ("finding", _findings(task)),
        ("evidence", _evidence(task, shown)),
        ("costs", costs(task.finding.profile)),
        ("buffers", buffers(task.finding.profile.kernel.name)),
        ("device", device_facts(task.device)),
        *compiled,
        ("source", annotated_source(task, hot, size.source)),
        ("accepted_elsewhere", _precedents(task, size)),
        ("reviewers", _reviews(task, size)),
        ("earlier_attempts", _attempts(task, attempts, size)),
    )
    return Prompt(len(attempts) + 1, sections, language="triton" if is_triton(task) else "")


def _file_names(task: Task) -> Callable[[Path], str]:
    """Project-relative where the file is one of the sources, the bare name otherwise: no machine paths."""
    return lambda file: source_path(file, task.sources) or file.name


def _roots(task: Task) -> tuple[Path, ...]:
    """Directories whose absolute paths compilers and programs may print: the scratch copy and the original."""
    roots = {task.project}
    for item in task.evidence:
        path = source_path(item.file, task.sources)
        if path is not None and item.file.is_absolute():
            roots.add(Path(item.file.as_posix().removesuffix(f"/{path}") or "/"))
    return tuple(sorted((root for root in roots if root != Path("/")), key=lambda root: -len(root.as_posix())))


def _task(task: Task, attempt: int) -> str:
    kernel = task.finding.profile.kernel
    profile = task.finding.profile
    geometries = {f"grid {g.grid}, block {g.block}, {_threads(g):,} threads" for g in profile.geometries}
    command = shown_text(shlex.join(task.command), _roots(task)) or "not known"
    return "\n".join(
        (
            f"Kernel: {kernel.name}",
            f"Language: {language(task)}",
            f"Program: {command} (sizes in it are examples: the kernel must be right for others)",
            f"Launched {profile.dispatches} times as: {'; '.join(sorted(geometries)[:4]) or 'not recorded'}",
            f"Attempt: {attempt}{_plan(task)}",
            f"Accepted from: {task.device.least_gain:.2f}x of the kernel's time, with all checks passed; "
            f"removing what the finding names, and nothing else, would give {_ceiling(task.finding):.2f}x",
            "Files that may be edited: those under `source`, named after `FILE:`",
        )
    )


def _plan(task: Task) -> str:
    """Proposals that are made at the same time do not see each other: each is asked for another plan."""
    number_, of = task.plan
    if of == 1:
        return ""
    told = f"; {of} candidates are written at the same time without seeing each other, and this is number {number_}"
    if number_ == 1:
        return f"{told}: follow the plan that promises most"
    return f"{told}: rank the plans that differ in their mechanism, and follow number {number_} of them, not the first"


def _threads(geometry: Geometry) -> int:
    return math.prod(geometry.grid) * math.prod(geometry.block)


def _findings(task: Task) -> str:
    """The one that is pursued, and what else the kernel shows: a change may cure both, or move the one to the other."""
    others = [f"also: {finding_sentence(other)}" for other in task.others]
    return "\n".join([finding_sentence(task.finding), *others])


def is_triton(task: Task) -> bool:
    """Do the blamed lines lie in Python?"""
    files = [item.file.name for item in task.evidence] or list(task.compile_arguments)
    return any(name.endswith(_PYTHON_SUFFIX) for name in files)


def _ceiling(finding: Finding) -> float:
    """Of the kernel alone; severity is the share of all time that can be saved."""
    share = finding.profile.share
    saved = min(finding.severity / share, 1.0) if share > 0 else 0.0
    return 1.0 / max(1.0 - saved, 1e-3)


def language(task: Task) -> str:
    """From the names of the compiled files and their compiler's flags, else from the device's vendor."""
    if is_triton(task):
        return "Triton (Python)"
    for path, arguments in task.compile_arguments.items():
        if path.endswith(_HIP_SUFFIXES) or "hip" in arguments:
            return "HIP C++"
        if path.endswith(_CUDA_SUFFIXES) or "cuda" in arguments:
            return "CUDA C++"
    return "HIP C++" if task.device.vendor == "amd" else "CUDA C++"


def _evidence(task: Task, shown: Callable[[Path], str]) -> str:
    sentences = [
        f"{rank}. {line_sentence(task.finding, item, task.evidence, task.device, shown)}"
        for rank, item in enumerate(task.evidence[:_EVIDENCE_LINES], start=1)
    ]
    more = len(task.evidence) - len(sentences)
    return "\n".join([*sentences, *([f"and {more} more lines"] if more > 0 else [])]) or "no source line"


def device_facts(device: Device) -> str:
    """The limits that a rewrite has to know."""
    limits = device.limits
    kind = "modelled by an emulator" if device.emulated else "real hardware"
    return "\n".join(
        (
            f"{device.name} ({device.vendor}, {device.architecture}), {kind}",
            f"wave size {device.wave_size} lanes; {limits.compute_units} compute units "
            f"at {limits.clock_hz / 1e9:.2f} GHz",
            f"at most {limits.max_waves_per_compute_unit} waves, {limits.registers_per_compute_unit:,} registers "
            f"and {number(limits.lds_bytes_per_compute_unit)} bytes of LDS (shared memory) per compute unit",
            f"at most {number(limits.lds_bytes_per_block)} bytes of LDS per block, "
            f"in {limits.lds_banks} banks of 4 bytes",
            f"L1 {limits.l1_bytes // 1024} KiB per compute unit, L2 {limits.l2_bytes / 2**20:.3g} MiB",
            ", ".join(
                f"{name} {rate / 1e12:.3g} {unit}"
                for name, rate, unit in (
                    ("DRAM", limits.dram_bytes_per_s, "TB/s"),
                    ("L2", limits.l2_bytes_per_s, "TB/s"),
                    ("fp32", limits.fp32_flops_per_s, "TFLOP/s"),
                )
                if rate is not None
            ),
        )
    )


def _attempts(task: Task, attempts: Sequence[Attempt], size: Size) -> str:
    """Rules that declined in a line each; of the others the newest in full, earlier ones with what they tried."""
    if not attempts:
        return "none"
    roots = _roots(task)
    newest = max((a.index for a in attempts if a.candidate is not None), default=attempts[-1].index)
    told: list[str] = []
    used = 0
    for attempt in reversed(attempts):
        full = _attempt(task, attempt, size) if attempt.index == newest else _briefly(task, attempt)
        text = full if used + len(full) <= size.attempts else _headline(attempt, roots)
        used += len(text)
        told.append(text)
    return "\n".join(reversed(told))


def _precedents(task: Task, size: Size) -> str:
    """What was accepted for other findings and in earlier runs, the newest in full: a sibling may want the same."""
    known = [*task.earlier_runs, *task.precedents]
    told = [
        f"{a.formula} in {a.kernel}, by {_origin(a)}{'' if a in task.precedents else ', in an earlier run'}"
        for a in known
    ]
    if not told:
        return "none"
    last = known[-1]
    return "\n".join([*told, fenced("diff", _cut(shown_text(last.diff), size.diff))])


def _reviews(task: Task, size: Size) -> str:
    """What reviewers said of earlier patches, those for this kernel first; one that was refused with its diff."""
    symbol, formula = task.finding.profile.kernel.symbol, task.finding.formula
    ordered = sorted(task.reviews, key=lambda one: (one.symbol != symbol, one.formula != formula))
    told: list[str] = []
    left = size.attempts
    for review in ordered:
        text = f"A patch for {review.formula} in {review.kernel} was {review.said}."
        text += "\n" + fenced("reason", _cut(shown_text(review.words), size.detail)) if review.words else ""
        own = review.symbol == symbol and review.refuses
        text += "\n" + fenced("diff", _cut(shown_text(review.diff), size.diff)) if own and review.diff else ""
        left -= len(text)
        if left < 0:
            break
        told.append(text)
    return "\n".join(told) or "none"


def _origin(attempt: Attempt) -> str:
    origin = attempt.candidate.origin if attempt.candidate else attempt.declined.origin if attempt.declined else None
    if origin is None:
        return "unknown"
    return f"rule {origin.name}" if origin.kind is OriginKind.RULE else "you"


def _headline(attempt: Attempt, roots: Sequence[Path]) -> str:
    outcome = attempt.verdict.outcome.value if attempt.verdict else "NO CANDIDATE"
    reason = attempt.verdict.detail if attempt.verdict else attempt.declined.reason if attempt.declined else ""
    first = next(iter(shown_text(reason, roots).splitlines()), "")
    return f"Attempt {attempt.index} by {_origin(attempt)}: {outcome}\n" + fenced("reason", first[:300])


def _briefly(task: Task, attempt: Attempt) -> str:
    """What it tried, and what became of it with the numbers; without its diff."""
    roots = _roots(task)
    if attempt.verdict is None or attempt.candidate is None:
        return _headline(attempt, roots)
    tried = fenced("rationale", _cut(shown_text(attempt.candidate.rationale), _SHORT)) if attempt.candidate else ""
    return "\n".join([_headline(attempt, roots), tried, *_measured(attempt.verdict, roots), *_moved(task, attempt)])


def _attempt(task: Task, attempt: Attempt, size: Size) -> str:
    roots = _roots(task)
    parts = [f"Attempt {attempt.index} by {_origin(attempt)}: {_outcome(attempt)}"]
    reason = attempt.verdict.detail if attempt.verdict else attempt.declined.reason if attempt.declined else ""
    parts.append(fenced("reason", _cut(shown_text(reason, roots), size.detail)))
    if attempt.verdict is not None:
        parts += [*_measured(attempt.verdict, roots), *_moved(task, attempt)]
    if attempt.candidate is not None and attempt.candidate.rationale:
        parts.append(fenced("rationale", _cut(shown_text(attempt.candidate.rationale), size.detail)))
    if attempt.diff:
        parts.append(fenced("diff", _cut(shown_text(attempt.diff), size.diff)))
    return "\n".join(parts)


def _outcome(attempt: Attempt) -> str:
    if attempt.verdict is None:
        return "NO CANDIDATE"
    if attempt.verdict.outcome is Outcome.ACCEPTED:
        return "ACCEPTED; the source above contains it. Improve on it."
    return f"{attempt.verdict.outcome.value}; it is not in the source above."


def _measured(verdict: Verdict, roots: Sequence[Path]) -> list[str]:
    lines = [
        f"check failed: {check.name}\n" + fenced("check", shown_text(check.detail, roots))
        for check in verdict.checks
        if check.status is CheckStatus.FAILED and check.detail and check.detail != verdict.detail
    ]
    lines += [
        f"{m.scope.value} time ({m.provenance.value}): {m.baseline_ns / 1e3:.4g} us before, "
        f"{m.candidate_ns / 1e3:.4g} us after, {number(m.ratio)}x (95 % interval {number(m.low)} to {number(m.high)})"
        for m in verdict.measurements
    ]
    if verdict.metric_before is not None and verdict.metric_after is not None:
        lines.append(f"watched metric: {number(verdict.metric_before.value)} -> {number(verdict.metric_after.value)}")
    return lines


def _moved(task: Task, attempt: Attempt) -> list[str]:
    """Where the kernel's time went before and after, and what its lines did with the candidate."""
    if attempt.after is None:
        return []
    told = [f"before -> after: {costs(task.finding.profile, attempt.after)}"]
    shown = _file_names(task)
    lines = [line_sentence(task.finding, item, attempt.lines, task.device, shown) for item in attempt.lines[:_MOVED]]
    return [*told, *(["its lines: " + "\n".join(lines)] if lines else [])]


def _cut(text: str, limit: int) -> str:
    """The first errors matter most, the end often says what happened: the middle goes."""
    if len(text) <= limit:
        return text
    head = limit * 3 // 4
    return f"{text[:head]}\n[... {len(text) - limit} characters left out ...]\n{text[-(limit - head) :]}"
