"""What the disassembly shows where the driver gives no counters."""

from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.cuda import backend as cuda_backend
from intelliperf.cuda.backend import CudaBackend
from intelliperf.cuda.inlining import Located, parse_disassembly
from intelliperf.cuda.sass import observations
from intelliperf.errors import BackendUnavailable
from intelliperf.records import Application, Kernel, KernelProfile, Provenance

_PROJECT = Path("/project")
_REDUCTION = Path(__file__).resolve().parents[1] / "data" / "nvidia" / "reduction.nvdisasm.txt"


def test_a_recorded_kernel_shows_its_atomic_on_the_users_line() -> None:
    (code,) = parse_disassembly(_REDUCTION.read_text().splitlines()).values()
    assert observations(code, _PROJECT) == (
        "once in its code an atomic on global memory (reduction/signal_energy.hip:25)",
    )


def test_spills_spins_and_doubles_are_told_apart() -> None:
    def at(opcode: str, line: int) -> Located:
        return Located(opcode, (("/usr/include/header.h", 3), ("/project/a.cu", line)))

    code = dict(enumerate([at("ATOMS.CAST.SPIN", 4), at("STL.64", 9), at("LDL", 7), at("LDG.E", 1), at("DFMA", 2)]))
    spin, local, double = observations(code, _PROJECT)
    assert "spins on compare-and-swap (a.cu:4)" in spin
    assert local.startswith("2 times an access to local memory")
    assert local.endswith("(a.cu:7, a.cu:9)")
    assert "double precision (a.cu:2)" in double
    assert observations({}, _PROJECT) == ()


def test_a_profile_without_counters_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise BackendUnavailable("Nsight Compute is not installed")

    monkeypatch.setattr(cuda_backend, "find_ncu", missing)
    monkeypatch.setattr(CudaBackend, "_chains", lambda *_: {0: Located("RED.E.ADD", ())})
    bare = KernelProfile(Kernel("k", "k"), 1, (), (5.0,), Provenance.MEASURED, 1.0)
    application = Application(("./app",), tmp_path, tmp_path)
    (profile,) = CudaBackend(tmp_path).quantities(application, [bare], 1.0)
    assert profile.quantities == {}
    assert profile.notes == (
        "no hardware counters: Nsight Compute is not installed",
        "once in its code an atomic on global memory",
    )
