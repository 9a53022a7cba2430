"""`intelliperf replay RUN`: recorded dispatches launched again, without the application and without its project."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from intelliperf import __version__
from intelliperf.backends import open_backend
from intelliperf.cli.options import ReplayOptions
from intelliperf.cli.runs import find_run, is_finished
from intelliperf.devices.models import resolve
from intelliperf.errors import NotReplayable, UsageError
from intelliperf.processes.sandbox import Sandbox
from intelliperf.project.versions import KEPT_CODE
from intelliperf.recordings import latecode
from intelliperf.recordings.contents import Recording
from intelliperf.recordings.export import export, unpack
from intelliperf.recordings.file import SUFFIX, RecordingFile
from intelliperf.recordings.image import make_ready, reshaped
from intelliperf.recordings.trailers import own_shapes
from intelliperf.records import Application, Kernel
from intelliperf.report.files import read
from intelliperf.report.wording import command_line, gain
from intelliperf.sentences import duration
from intelliperf.validation.replaygate import RECORDINGS, program_name
from intelliperf.validation.runs.lockstep import Setting
from intelliperf.validation.runs.recording import MACHINE, deviations, left_otherwise

_NO_GAIN = 3  # exit status: a version that leaves something else, or is not faster


@dataclass(frozen=True)
class Source:
    """A recording, and the other version that belongs to it."""

    path: Path
    candidate: Path | None
    named: str = "candidate"


def replay_run(options: ReplayOptions) -> int:
    """Exit status 3 where a candidate leaves other content than the original, or is not faster."""
    found = _found(options)
    if options.export is not None:
        return _export(found, options.export)
    return max(_replay(source, options) for source in found)


def _found(options: ReplayOptions) -> list[Source]:
    """Raises `UsageError` where no recording matches."""
    if options.run is not None and options.run.is_file():
        sources = [Source(options.run, options.candidate)]
    else:
        run = find_run(options, lambda one: any(_recordings(one)), "recorded")
        sources = [_of_run(run, path, options) for path in _recordings(run)]
        if not sources:
            raise UsageError(f"{run} has no recordings: none of its candidates was judged on recorded dispatches")
    matching, names = [], []
    for source in sources:
        with RecordingFile(source.path) as file:
            names.append(file.recording.kernel)
        if options.kernel is None or re.search(options.kernel, names[-1]):
            matching.append(source)
    if not matching:
        raise UsageError(f"no recorded kernel matches --kernel {options.kernel}; there are: {', '.join(names)}")
    return matching


def _recordings(run: Path) -> list[Path]:
    return sorted((run / RECORDINGS).glob(f"*{SUFFIX}"))


def _of_run(run: Path, path: Path, options: ReplayOptions) -> Source:
    if options.candidate is not None or not is_finished(run):
        return Source(path, options.candidate)
    with RecordingFile(path) as file:
        kernel = Kernel(file.recording.symbol, file.recording.kernel)
    for attempt in reversed([attempt for attempt in read(run).attempts if attempt.accepted]):
        program = path.parent / program_name(kernel, f"{attempt.index:03d}")
        if program.exists():
            return Source(path, program, f"accepted attempt {attempt.index}")
    return Source(path, None)


def _export(found: Sequence[Source], to: Path) -> int:
    if len(found) > 1:
        raise UsageError("--export takes one recording: name its kernel with --kernel")
    (source,) = found
    with RecordingFile(source.path) as file:
        made = export(file, to, source.candidate)
    size = to.stat().st_size / 1e6
    print(f"wrote {to}: {made.kernel}, {made.describe()}, {size:.1f} MB")
    print("it holds the application's data and its program: give it only to those who may have both")
    return 0


def _replay(source: Source, options: ReplayOptions) -> int:
    with ExitStack() as stack:
        file = stack.enter_context(RecordingFile(source.path))
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="intelliperf-replay-")))
        recording = file.recording
        _refuse_foreign(source.path, recording)
        original = _original(file, scratch / "original")
        stored = unpack(file, recording.candidate[0], scratch / "candidate") if recording.candidate else None
        other = source.candidate.resolve() if source.candidate else stored
        sandbox = Sandbox.probe(scratch)
        chip = resolve(recording.device) if recording.backend == "emulator" and recording.device else None
        backend, _ = open_backend(recording.backend, scratch / "device", chip, sandbox, original)
        device = backend.probe()
        setting = Setting(
            backend, Kernel(recording.symbol, recording.kernel), sandbox, scratch / "logs", options.run_timeout
        )
        setting.logs.mkdir()
        plan = make_ready(file, scratch / "image")
        unsteady = deviations(setting, backend.replayed(original, plan), file)
        size = source.path.stat().st_size / 1e6
        print(f"{recording.kernel}: {recording.describe()} of {command_line(recording.command)}, {size:.1f} MB")
        for note in recording.notes:
            print(f"  {note}")
        told = f", but for what differs each time: {', '.join(unsteady)}" if unsteady else ""
        print(f"  the original reproduces what was recorded{told}")
        candidate, own = (original, plan) if other is None else _version(other, recording, plan, scratch / "other")
        same = True if other is None else _compared(setting, backend.replayed(candidate, own), file, source, unsteady)
        timing = backend.time_replayed(original, candidate, (plan, own), setting.kernel, options.run_timeout)
        (measured,) = timing.measurements
        before, after = duration(measured.baseline_ns), duration(measured.candidate_ns)
        if other is None:
            print(f"  {before} {measured.provenance.value} on {device.name}, the recorded dispatches together")
            return 0
        print(f"  {gain(measured, device)}: {before} before, {after} after, the recorded dispatches together")
        for note in timing.notes:
            print(f"  {note}")
        return 0 if same and measured.low > 1 else _NO_GAIN


def _compared(
    setting: Setting, candidate: Application, file: RecordingFile, source: Source, unsteady: Sequence[str]
) -> bool:
    differing = [one for one in left_otherwise(setting, candidate, file, "the candidate") if one not in unsteady]
    if differing:
        print(f"  {source.named}: other bits than the original in {', '.join(differing[:4])}")
        return False
    print(f"  {source.named}: the same bits as the original in every buffer")
    return True


def _refuse_foreign(path: Path, recording: Recording) -> None:
    """Raises `NotReplayable` where this is not the release or the kind of machine that it was made with."""
    if recording.tool != __version__:
        raise NotReplayable(f"{path} was recorded by intelliperf {recording.tool}, this is {__version__}: record again")
    if recording.machine != MACHINE:
        raise NotReplayable(f"{path} was recorded on a {recording.machine} machine, this is a {MACHINE}")
    if not recording.code:
        raise NotReplayable(f"{path} holds no program: it was started by name or by a script")


def _original(file: RecordingFile, directory: Path) -> Application:
    recording = file.recording
    if recording.compiled_late:
        for stored in recording.code:
            unpack(file, stored, directory / KEPT_CODE)
        return _interpreter(directory, recording)
    (program,) = recording.code
    return _application(unpack(file, program, directory), recording)


def _version(program: Path, recording: Recording, plan: Path, directory: Path) -> tuple[Application, Path]:
    """Another version, and the plan of its launches."""
    if not program.is_file():
        raise UsageError(f"--candidate {program}: there is no such file")
    late = recording.compiled_late
    shapes = latecode.unpack(program, directory / KEPT_CODE) if late else own_shapes(program)
    if shapes is not None and len(shapes) != len(recording.dispatches):
        raise UsageError(f"--candidate {program} is of another recording: it has {len(shapes)} launches")
    version = _interpreter(directory, recording) if late else _application(program, recording)
    return version, plan if shapes is None else reshaped(plan, shapes)


def _interpreter(directory: Path, recording: Recording) -> Application:
    """Ours serves: it launches what lies in the directory, and never comes to a program."""
    from intelliperf.emulator.native import runtime_library
    from intelliperf.python.environment import presented

    application = Application((sys.executable, "-c", ""), directory, directory)
    return presented(application, recording.device, runtime_library())


def _application(program: Path, recording: Recording) -> Application:
    environment: tuple[tuple[str, str], ...] = ()
    if recording.backend == "emulator":  # the program knows where the runtime was on the machine that built it
        from intelliperf.emulator.native import runtime_library

        environment = (("LD_LIBRARY_PATH", str(runtime_library().parent)),)
    return Application((str(program),), program.parent, program.parent, environment=environment)
