"""Patches of a one-file program, built and judged on the emulator as a run would."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from inprocess import compile_here
from readers import reading_of

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.processes.sandbox import Sandbox
from intelliperf.records import (
    Application,
    Candidate,
    Declaration,
    FileEdit,
    Finding,
    Metric,
    Origin,
    OriginKind,
    Verdict,
    content_hash,
)
from intelliperf.validation.edits.reading import Reading
from intelliperf.validation.judge import Judge
from intelliperf.validation.trial import BuildFailure, Case, Settings

NOTHING = Declaration()
NO_CHIP: Mapping[str, str] = {}


class Bench:
    """`file` tells the language: app.hip or app.cu. `kernel`: which of several is judged."""

    def __init__(self, root: Path, source: str, file: str, kernel: str = "") -> None:
        self.root, self.source, self.file = root, source, file
        self.sandbox = Sandbox.probe(root)
        self.backend = EmulatorBackend(root / "device", sandbox=self.sandbox)
        self.judge = Judge(self.backend, self.sandbox, Settings(60.0, 5.0))
        self.reference = self._reference("reference", source)
        profiles = self.backend.profile(self.reference, 60.0).kernels
        (profile,) = (one for one in profiles if kernel in one.kernel.name)
        self._readings: dict[str, Reading] = {}
        self.finding = Finding("memoryAccess", profile, "", 0.5, Metric.SECTORS, 8.0, 1.0, 4.0)

    def verdict(self, *changes: tuple[str, str], declares: Declaration = NOTHING) -> Verdict:
        """Of the source with each text that occurs once replaced by another."""
        text = self.source
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return self.verdict_of(self.source, text, declares)

    def verdict_of(self, original: str, text: str, declares: Declaration = NOTHING) -> Verdict:
        reference = self.reference if original == self.source else self._reference("other reference", original)
        edit = FileEdit(self.file, content_hash(original), text)
        return self.judge.judge(
            Case(
                candidate=Candidate((edit,), "", Origin(OriginKind.USER, "planted"), declares),
                finding=self.finding,
                reference=reference,
                baseline=reference,
                sources={self.file: original},
                allowed={self.file},
                build=lambda: self._build("candidate", text),
                logs=self.root / "candidate" / "logs",
                reading=self._reading(original),
                other_wave=lambda: self._other_wave(original, text),
            )
        )

    def verdict_upon(self, accepted: str, text: str, standing: Declaration) -> Verdict:
        """Of a candidate upon an accepted one, which has declared `standing`."""
        edit = FileEdit(self.file, content_hash(accepted), text)
        return self.judge.judge(
            Case(
                candidate=Candidate((edit,), "", Origin(OriginKind.USER, "planted"), NOTHING),
                finding=self.finding,
                reference=self.reference,
                baseline=self._reference("accepted", accepted),
                sources={self.file: accepted},
                allowed={self.file},
                build=lambda: self._build("candidate", text),
                logs=self.root / "candidate" / "logs",
                reading=self._reading(accepted),
                standing=standing,
            )
        )

    def _reading(self, original: str) -> Reading:
        """One for all candidates of an original, as in a run."""
        if original not in self._readings:
            tree = self.root / f"sources-{len(self._readings)}"
            self._readings[original] = reading_of(tree, {self.file: original})
        return self._readings[original]

    def _other_wave(self, original: str, text: str) -> tuple[Application, Application] | None:
        chip = self.backend.other_wave_build()
        sides = [self._build(f"other-wave-{i}", one, chip) for i, one in enumerate((original, text))]
        before, after = sides
        assert isinstance(before, Application) and isinstance(after, Application), sides
        return before, after

    def _reference(self, name: str, text: str) -> Application:
        built = self._build(name, text)
        assert isinstance(built, Application), built
        return built

    def _build(self, name: str, text: str, chip: Mapping[str, str] = NO_CHIP) -> Application | BuildFailure:
        directory = self.root / name
        (directory / "logs").mkdir(parents=True, exist_ok=True)
        (directory / self.file).write_text(text)
        compiler = "hipcc" if self.file.endswith(".hip") else "nvcc"
        environment = {**self.backend.build_environment(), **chip}
        done = compile_here(compiler, "-O2", "-g", self.file, "-o", "app", directory=directory, environment=environment)
        if done.status:
            return BuildFailure(tuple(done.said.splitlines()[:3]))
        return Application((str(directory / "app"),), directory, directory)
