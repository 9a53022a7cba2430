"""A/A: one source against itself in other formatting. Every buffer must be equal, at level A where it has shadows.

    python benchmarks/same_source.py [variants] [programs...]

The programs are the examples', the zoo's and those for rules, by default; each is formatted anew for every variant,
from a printed seed.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.emulator.buildenvironment import build_environment
from intelliperf.interception.wire import Deadline
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.records import Application, Interception, Kernel, Shadow
from intelliperf.validation.algebraobserver import AlgebraObserver
from intelliperf.validation.buffers.algebra import Level
from intelliperf.validation.buffers.compare import as_bytes, equal
from intelliperf.validation.buffers.field import Field
from intelliperf.validation.calibration import Calibration, Masks
from intelliperf.validation.runs.events import Divergence, Rule
from intelliperf.validation.runs.lockstep import Followed, Paused, Setting, Sync, follow
from intelliperf.validation.runs.pairing import Pairing
from intelliperf.validation.runs.side import SideRun

_ROOT = Path(__file__).parents[1]
_FOLDERS = ("examples/*", "tests/zoo/programs", "benchmarks/rules/programs", "benchmarks/rules/fresh")
_DEADLINE_S = 300.0
_CODE = re.compile(r'("(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/)', re.DOTALL)
_BREAKS = re.compile(r"([;{}])(?=[ \t]*\S)")


def formatted(source: str, seed: int) -> str:
    """The same tokens: other indentation, line breaks, blank lines and comments. Directives stay as they are."""
    draw = random.Random(seed)
    lines: list[str] = []
    continued = False
    for line in source.splitlines():
        if continued or line.lstrip().startswith("#"):
            continued = line.endswith("\\")
            lines.append(line)
            continue
        parts = _CODE.split(line)  # what is quoted or a comment is at the odd places
        for place in range(0, len(parts), 2):
            parts[place] = _BREAKS.sub(lambda found: _broken(found[1], draw), parts[place])
        made = "".join(parts)
        indent = " " * draw.randrange(12) if draw.random() < 0.7 else "\t" * draw.randrange(4)
        lines += [f"{indent}{made.strip()}", *[""] * (draw.random() < 0.2)]
        if "/*" not in made and "//" not in made and draw.random() < 0.2:
            lines[-1] += f"  // note {draw.randrange(1000)}"
    return "\n".join(lines) + "\n"


def _broken(text: str, draw: random.Random) -> str:
    return f"{text}\n{' ' * draw.randrange(8)}" if draw.random() < 0.3 else f"{text}{' ' * draw.randrange(3)}"


class _Free:
    """A calibration that lets everything be compared."""

    allowances: dict[object, object] = {}
    erratic_at: frozenset[object] = frozenset()
    undefined = Masks()


@dataclass
class SameBytes:
    """Beside the shadows, bits: where no kernel adds floats in an order of its own, they are equal, too."""

    algebra: AlgebraObserver
    unequal: int = 0
    buffers: int = field(default=0)

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        for mine, theirs in pairing.pairs:
            self.buffers += 1
            self.unequal += not equal(as_bytes(base.content(mine.id)), as_bytes(other.content(theirs.id)))
        return self.algebra.compare(sync, base, other, pairing, deadline)


def built(directory: Path, program: Path, text: str) -> Application:
    directory.mkdir(parents=True)
    (directory / program.name).write_text(text)
    compiler = "nvcc" if program.suffix == ".cu" else "hipcc"
    environment = {**os.environ, **build_environment(), "INTELLIPERF_SHADOWS": "1"}
    argv = [compiler, "-O2", f"-I{program.parent}", program.name, "-o", "app"]
    subprocess.run(argv, cwd=directory, check=True, env=environment, capture_output=True)
    return Application((str(directory / "app"),), directory, directory)


@dataclass(frozen=True)
class Compared:
    wrong: str  # empty where nothing is
    launches: int
    buffers: int


def compared(root: Path, original: Application, variant: Application, number: int) -> Compared:
    field_ = Field.drawn()
    free: Calibration = _Free()  # type: ignore[assignment]
    observer = SameBytes(AlgebraObserver(free, field_))
    asked = Interception(kernels=("*",), shadow=Shadow(field_.fold, half=True, bfloat=True), poison=90)
    logs = root / f"logs-{number}"
    logs.mkdir()
    setting = Setting(EmulatorBackend(root / "records"), Kernel("*", "*"), UNCONFINED, logs, _DEADLINE_S)
    runs = SideRun("original", original, asked), SideRun("variant", variant, asked)
    followed = follow(setting, runs, Rule(lambda d: d.target), observer)
    return Compared(_wrong(followed, observer), followed.syncs, observer.buffers)


def _wrong(followed: Followed, observer: SameBytes) -> str:
    if "variant" in followed.divergences:
        return followed.divergences["variant"].detail
    if not followed.syncs:
        return "nothing was launched"
    levels = {account.level for account in observer.algebra.accounts.values()}
    if levels - {Level.EQUAL}:
        return f"levels {sorted(level.name for level in levels)}"
    return f"{observer.unequal} of {observer.buffers} buffers differ" if observer.unequal else ""


def variants(programs: list[Path], count: int) -> Iterator[tuple[Path, int]]:
    for number in range(count):
        yield programs[number % len(programs)], number


def _found() -> Iterator[Path]:
    """Programs of one file."""
    for folder in _FOLDERS:
        paths = [path for path in _ROOT.glob(f"{folder}/*") if path.suffix in (".hip", ".cu")]
        beside = Counter(path.parent for path in paths)
        yield from (path for path in paths if beside[path.parent] == 1 or not folder.startswith("examples"))


def main() -> None:
    programs = [Path(name).resolve() for name in sys.argv[2:]] or sorted(_found())
    count = int(sys.argv[1]) if len(sys.argv) > 1 else len(programs)
    wrong = launches = buffers = 0
    with tempfile.TemporaryDirectory(prefix="intelliperf-same-") as name:
        root = Path(name)
        originals: dict[Path, Application] = {}
        for program, number in variants(programs, count):
            if program not in originals:
                originals[program] = built(root / f"original-{number}", program, program.read_text())
            variant = built(root / f"variant-{number}", program, formatted(program.read_text(), number))
            made = compared(root, originals[program], variant, number)
            wrong, launches, buffers = wrong + bool(made.wrong), launches + made.launches, buffers + made.buffers
            if made.wrong:
                print(f"{program.name}, seed {number}: {made.wrong}", flush=True)
    print(f"{wrong} of {count} formattings of {len(originals)} programs are not level A")
    print(f"compared: {buffers:,} buffers after {launches:,} launches")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
