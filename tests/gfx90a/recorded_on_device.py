"""One program twice on the software gfx90a: as it is, with the device's own counts, and recording its accesses."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import device
from instruments import Figures, Place, code_objects, device_lines, kernels_in
from programs_on_device import PROGRAMS, compile_program, dispatches_in, run_program

from intelliperf.devices import models as devices
from intelliperf.processes.process import output_of
from intelliperf.records import AccessKind, Frame
from intelliperf.rocm import native, recording
from intelliperf.rocm.machinesites import MachineAccess, Module
from intelliperf.rocm.recording import RecordedDispatch

EXAMPLES = Path(__file__).parents[2] / "examples"
CHIP = devices.record("mi250x")  # waves of 64 and 32 banks, as on gfx90a
NO_LINE = ":0"  # what the optimizer moved, or made of several lines, has none in the program's line table
Build = Callable[..., Path]  # as `compile_program`
_KINDS = {AccessKind.LOAD: "load", AccessKind.STORE: "store"}
_BUFFER_BYTES = 64 << 20
_DEADLINE_S = 120.0


@dataclass(frozen=True)
class Recorded:
    """A run of the instrumented program."""

    accesses: tuple[MachineAccess, ...]
    dispatches: tuple[RecordedDispatch, ...]


@dataclass(frozen=True)
class Twice:
    """Both programs of the same sources, built."""

    plain: Path
    recording: Path
    arguments: tuple[str, ...]
    project: Path
    scratch: Path
    kernels: tuple[str, ...]
    modules: tuple[Module, ...]

    def device_counts(self, of: Path) -> list[dict[str, Any]]:
        """By dispatch of the program's own kernels."""
        return [one for one in dispatches_in(self.scratch / f"counts-{of.name}") if one["kernel"] in self.kernels]

    def lines_on_device(self) -> dict[Place, Figures]:
        """The device's own counts of the program as it is, by kernel and line."""
        place = self.scratch / f"counts-{self.plain.name}"
        if not place.exists():
            done, out, err = run_program([str(self.plain), *self.arguments], place)
            assert done.ok, out + err
        objects = code_objects(self.plain, self.scratch)
        return device_lines(dispatches_in(place), objects, self.project)

    def counted_by_device(self) -> dict[Place, Figures]:
        return _named(self.lines_on_device())

    def recorded(self, buffer_bytes: int = _BUFFER_BYTES, words: int = 0, dispatches: int = 1000) -> Recorded:
        file = self.scratch / "records"
        environment = {
            **device.environment(self.scratch / f"counts-{self.recording.name}"),
            **native.record_environment(file, ",".join(self.kernels), buffer_bytes, words),
            "INTELLIPERF_RECORD_DISPATCHES": str(dispatches),
        }
        done, out, err = output_of([str(self.recording), *self.arguments], _DEADLINE_S, environment)
        assert done.ok, out + err
        files = sorted(self.scratch.glob("records.*"))
        return Recorded(*recording.counted(self.modules, files, CHIP, self.scratch))

    def by_line(self, recorded: Recorded) -> dict[Place, Figures]:
        found: dict[Place, Figures] = defaultdict(Figures)
        for dispatch in recorded.dispatches:
            assert dispatch.fate == "recorded" and dispatch.complete
            for access, figures in zip(recorded.accesses, dispatch.figures, strict=True):
                line = self._line(access)
                if figures["executions"] and line and figures["global_requests"] + figures["lds_requests"]:
                    found[_place(access, figures, line)].add(_figures(figures))
        return dict(found)

    def _line(self, access: MachineAccess) -> str | None:
        chain = access.site.chain
        if access.site.moved or not any(at.line for at in chain):
            return NO_LINE
        return next((f"{at.file.name}:{at.line}" for at in reversed(chain) if self._holds(at)), None)

    def _holds(self, at: Frame) -> bool:
        return self.project in at.file.resolve().parents


@dataclass(frozen=True)
class Program:
    """An example, or a program made for this; the sources are relative to its directory."""

    name: str
    sources: tuple[str, ...]
    arguments: tuple[str, ...] = ()

    def twice(self, scratch: Path, build: Build = compile_program, plugin: Path | None = None) -> Twice:
        """`plugin`: of the LLVM that `build` is of."""
        project = scratch / "project"
        own = PROGRAMS / "recorded" / f"{self.name}.hip"
        if own.exists():
            project.mkdir()
            shutil.copy(own, project)
        else:
            shutil.copytree(EXAMPLES / self.name, project)
        sources = [project / source for source in self.sources]
        return build_twice(
            sources, self.arguments, project, scratch, f"-I{project}/include", build=build, plugin=plugin
        )


REDUCTION = Program("reduction", ("signal_energy.hip",), ("4000",))
TRANSPOSE = Program("transpose", ("src/main.cpp", "src/transpose.hip"), ("40", "72"))
PARTICLES = Program("particles", ("src/main.hip", "src/integrator.hip"), ("1500", "2"))
TRIAD = Program("triad", ("triad.hip",), ("3000",))
MIXING = Program("mixing", ("mixing.hip",), ("4096", "3"))
SIDES = Program("sides", ("sides.hip",), ("4096", "10"))
WIDTHS = Program("widths", ("widths.hip",))
SHAPES = Program("shapes", ("shapes.hip",))
ALL = (REDUCTION, TRANSPOSE, PARTICLES, TRIAD, MIXING, SIDES, WIDTHS, SHAPES)


def equal(program: Twice) -> dict[Place, Figures]:
    """The figures per line, after both instruments told the same ones."""
    counted, own = program.counted_by_device(), program.by_line(program.recorded())
    different = [
        f"{place}\n  gfx90a   {counted.get(place)}\n  recorded {own.get(place)}"
        for place in sorted({*counted, *own})
        if counted.get(place) != own.get(place)
    ]
    assert not different, "\n".join(different)
    assert counted and not [site for module in program.modules for site in module.unresolved]
    return own


def build_twice(
    sources: Sequence[Path],
    arguments: Sequence[str],
    project: Path,
    scratch: Path,
    *flags: str,
    build: Build = compile_program,
    plugin: Path | None = None,
) -> Twice:
    plain, instrumented = scratch / "plain", scratch / "recording"
    environment = recording.instrumentation(["*"], scratch, "gfx90a")
    load = ("-Xarch_device", f"-fpass-plugin={plugin or environment['INTELLIPERF_PASS_PLUGIN']}")
    with ThreadPoolExecutor(2) as workers:
        first = workers.submit(build, sources, plain, *flags)
        second = workers.submit(build, sources, instrumented, *load, *flags, environment=environment)
        first.result(), second.result()
    objects = code_objects(plain, scratch)
    kernels = sorted({name for code in objects for name in kernels_in(code)})
    modules = recording.read_modules(recording.sites_directory(scratch))
    return Twice(plain, instrumented, tuple(arguments), project.resolve(), scratch, tuple(kernels), modules)


def _named(found: Mapping[Place, Figures]) -> dict[Place, Figures]:
    """Over all kernels, and over all files of what has no line."""
    sums: dict[Place, Figures] = defaultdict(Figures)
    for place, figures in found.items():
        line = NO_LINE if place.line.endswith(NO_LINE) else place.line
        sums[Place("", line, place.space, place.kind)].add(figures)
    return dict(sums)


def _place(access: MachineAccess, figures: Mapping[str, float], line: str) -> Place:
    space = "global" if figures["global_requests"] else "lds"
    return Place("", line, space, _KINDS.get(access.operation.access, "atomic"))


def _figures(told: Mapping[str, float]) -> Figures:
    names = ("executions", "lanes", "bytes", "lines64", "lds_phases", "lds_phases_ideal", "same_address")
    return Figures(*(int(told[name]) for name in names))


def executed(dispatches: Iterable[Mapping[str, Any]]) -> int:
    """Wave instructions."""
    return sum(one["executions"] for dispatch in dispatches for one in dispatch["instructions"])
