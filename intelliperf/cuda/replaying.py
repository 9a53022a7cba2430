"""Recorded dispatches on an NVIDIA GPU: the processes that launch them again, and what their clock says."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from intelliperf.cuda import native, player
from intelliperf.cuda.toolkit import find_toolkit
from intelliperf.errors import ApplicationFailed, NotReplayable, ProtocolError
from intelliperf.processes.process import run
from intelliperf.processes.sandbox import Sandbox
from intelliperf.profiling.conditions import Conditions, describe
from intelliperf.profiling.pairs import Comparison, Pair, Sample
from intelliperf.protocols import BufferKey, Plans, Timing
from intelliperf.records import Application, Launcher, Scope

# Of the environment nothing reaches it, and so not where Python looks for modules.
_START = f"import sys, runpy; sys.path[:] = {sys.path!r}; runpy.run_module({player.__name__!r}, run_name='__main__')"
_PLAYER = (sys.executable, "-I", "-c", _START)
_BUDGET_S = 10.0  # of timing; a clear answer takes a fraction of a second


def launching(application: Application, program: Path, plan: Path) -> Application:
    """Each dispatch once. Those who watch are told what lay where in the memory that it maps."""
    told = player.parts_of(player.ranges_of(json.loads(plan.read_text())["dispatches"]))
    return replace(
        application,
        command=(*_PLAYER, "launch", str(plan), str(program)),
        launcher=Launcher(),
        environment=(*application.environment, (player.PARTS, told)),
        exit_status=0,
    )


def played(application: Application) -> Path | None:
    """The program whose recorded dispatches `launching` makes; None for an application of its own."""
    return Path(application.command[-1]) if application.command[: len(_PLAYER)] == _PLAYER else None


def homes(recorded: Iterable[tuple[int, int, BufferKey]]) -> dict[BufferKey, BufferKey]:
    """See `protocols.Backend`; without addresses that were several allocations' in turn.

    A replay maps all memory first, from the lowest address up.
    """
    found: dict[tuple[int, int], set[BufferKey]] = {}
    for address, size, key in recorded:
        found.setdefault((address, size), set()).add(key)
    return {
        ("mapped", number, ""): next(iter(keys))
        for number, (_, keys) in enumerate(sorted(found.items()), 1)
        if len(keys) == 1
    }


def timed(
    application: Application,
    programs: Sequence[Path],
    plans: Plans,
    logs: Path,
    sandbox: Sandbox,
    flush: native.Flush | None,
    deadline_s: float,
    repeats: int = 1,
) -> list[Comparison]:
    """`repeats` comparisons. Raises `NotReplayable`, and `ApplicationFailed` where the launches fail."""
    records, out = logs / "records", logs / "pairs.json"
    environment = {**dict(application.environment), **native.trace_environment(records, flush)}
    budget_s = min(_BUDGET_S, deadline_s / 2)
    words = ["time", str(plans[0]), *map(str, programs), "--other-plan", str(plans[1])]
    words += [
        "--records",
        str(records),
        "--out",
        str(out),
        "--cupti",
        str(find_toolkit().cupti_library),
        "--passed-over",
        flush.name if flush else "",
    ]
    words += ["--budget", str(budget_s), "--repeats", str(repeats)]
    argv = sandbox.wrap((*_PLAYER, *words), writable=(application.project, logs), names=[*environment])
    completed = run(argv, application.directory, deadline_s, logs, "replay", environment)
    said = completed.tail("stderr", 2000).strip().splitlines()[-1:] or [completed.describe()]
    if completed.exit_status == player.NOT_REPLAYABLE:
        raise NotReplayable(said[0])
    if not completed.ok:
        raise ApplicationFailed(f"the replayed launches cannot be timed: {said[0]}")
    try:
        found = json.loads(out.read_text())
        return [
            Comparison(tuple(Pair(Sample(before, before), Sample(after, after)) for before, after in one))
            for one in found
        ]
    except (OSError, ValueError, TypeError) as error:
        raise ProtocolError(f"{out} holds no pairs of times ({error})") from error


def timing_of(compared: Sequence[Comparison], conditions: Conditions, flushed: bool, plan: Path) -> Timing:
    (only,) = compared
    kernel = tuple(m for m in only.measurements if m.scope is Scope.KERNEL)
    how = "what they do not change left in the caches"
    if player.launches_first(json.loads(plan.read_text())):
        how = "code loaded anew and data uploaded, as before the application's first launch"
    if flushed:
        how = f"{how}, then the L2 emptied"
    notes = [
        f"{len(only.pairs)} pairs of replays in one process, in turn by chance, memory restored before each, {how}: "
        f"a change of {100 * only.detectable:.2g} % would have shown 4 times in 5"
    ]
    if conditions.readings:
        notes.append(f"during them: {describe([conditions])}")
    return Timing(kernel, notes=tuple(notes))
