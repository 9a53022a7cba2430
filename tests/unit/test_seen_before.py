"""A run that is resumed alters launches as the process did that saw the original first."""

from __future__ import annotations

from pathlib import Path

from emulator_records import KERNEL, Recording

from intelliperf.emulator.altering import AlterationPlan, Seen, lines_of
from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.emulator.modulefacts import Quantity
from intelliperf.emulator.tracefiles import Trace
from intelliperf.records import Interception, Kernel


def test_what_is_known_of_the_original_s_launches_survives_the_process(tmp_path: Path) -> None:
    slots = (
        Quantity(2, 0, 4, "signed", (16,), True, False, (7,)),
        Quantity("limit", 8, 8, "unsigned", (), False, True, ()),
    )
    plan = AlterationPlan(slots, 5, True, 640, (0,), (1,), "i", False)
    recording = Recording(tmp_path / "app.hip")
    recording.launch()
    seen = Seen({KERNEL: plan}).and_of(Trace(recording.write(tmp_path / "records")))
    assert seen.plans == {KERNEL: plan} and seen.hip_wave == 64
    seen.write(tmp_path / "device" / "seen.json")
    resumed = EmulatorBackend(tmp_path / "device")
    environment = resumed.intercept_environment(tmp_path / "socket", Kernel(KERNEL, "sum"), Interception())
    assert plan.environment().items() <= environment.items()
    assert resumed.other_wave_build()


def test_plans_of_several_kernels_stand_one_to_a_line() -> None:
    plan = AlterationPlan((), 5, True, 640, (0,), (1, 2), "i", False)
    first, second = lines_of({"_Z1ai": plan, "_Z1bi": plan}).splitlines()
    expected = "|SLOTS=|WINDOW=5|GRID=1|ACCESSES=640|READ=0|WRITTEN=1,2|TYPES=i|WATCH=0"
    assert (first, second) == (f"_Z1ai{expected}", f"_Z1bi{expected}")
