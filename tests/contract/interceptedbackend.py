"""The interception half of a backend, for `interceptedchild`, and applications made of plans."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from intelliperf.interception.arena import SharedArena, open_shared_arena
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.protocols import Timing
from intelliperf.records import (
    Application,
    Check,
    CheckStatus,
    Device,
    DeviceLimits,
    Feature,
    Interception,
    Kernel,
    Measurement,
    Provenance,
    Scope,
)
from intelliperf.validation.runs.lockstep import Setting

KERNEL = Kernel("_Z5scalePf", "scale(float*)")
CHILD = Path(__file__).with_name("interceptedchild.py")
_NAMES = {
    Feature.POISON: "INTELLIPERF_POISON",
    Feature.LANE_ORDER: "INTELLIPERF_LANE_ORDER",
    Feature.BLOCK_ORDER: "INTELLIPERF_BLOCK_ORDER",
    Feature.KERNELS: "INTELLIPERF_EXPORT_KERNEL",
    Feature.CLOCK_SCALE: "INTELLIPERF_CLOCK_SCALE",
}


class PlannedBackend:
    """Interception is real, over `interceptedchild`; safety and time say what they are told to."""

    name = "planned"
    honours = frozenset({*_NAMES, Feature.MEMORY, Feature.CHEAP_TRACES})

    def __init__(
        self, gain: float = 2.0, overall: float = 1.5, safety: tuple[Check, ...] = (), floor_ns: float | None = None
    ) -> None:
        self.gain = gain
        self.overall = overall
        self.floor_ns = floor_ns
        self.findings = safety or (Check("races", CheckStatus.PASSED),)

    def intercept_environment(self, socket: Path, kernel: Kernel, interception: Interception) -> Mapping[str, str]:
        environment = {"INTELLIPERF_EXPORT_SOCKET": str(socket), "INTELLIPERF_EXPORT_KERNEL": kernel.symbol}
        return environment | interception.variables(_NAMES)

    def other_wave_build(self) -> Mapping[str, str]:
        return {}

    def probe(self) -> Device:
        limits = DeviceLimits(1, 1e9, 32, 65536, 65536, 32, 65536, 16384, 1 << 20, 1e12, None, None)
        return Device("amd", "gfx942", "planned", 64, True, limits)

    def open_memory(self, hello: Mapping[str, object], descriptors: Sequence[int]) -> SharedArena:
        return open_shared_arena(hello, descriptors)

    def safety(self, *_: object) -> tuple[Check, ...]:
        return self.findings

    def strictness(self, *_: object) -> Check:
        return Check("real-target compile", CheckStatus.PASSED)

    def homes(self, recording: object) -> dict[object, object]:
        return {}

    def is_long(self, application: Application) -> bool:
        return False

    def time(self, *_: object) -> Timing:
        def measured(scope: Scope, ratio: float) -> Measurement:
            return Measurement(scope, 1000.0, 1000.0 / ratio, ratio, ratio * 0.99, ratio * 1.01, Provenance.MODELLED, 5)

        return Timing((measured(Scope.KERNEL, self.gain), measured(Scope.APPLICATION, self.overall)), self.floor_ns)


def plan_of(*steps: Mapping[str, Any], **buffers: Mapping[str, Any]) -> dict[str, Any]:
    return {"buffers": copy.deepcopy(buffers), "steps": copy.deepcopy(list(steps))}


def application(directory: Path, plan: Mapping[str, Any]) -> Application:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "plan.json").write_text(json.dumps(plan))
    command = (sys.executable, "-S", str(CHILD), str(directory / "plan.json"))
    return Application(command, directory, directory)


def setting(tmp_path: Path, deadline_s: float = 20.0, backend: PlannedBackend | None = None) -> Setting:
    return Setting(backend or PlannedBackend(), KERNEL, UNCONFINED, tmp_path / "logs", deadline_s)  # type: ignore[arg-type]
