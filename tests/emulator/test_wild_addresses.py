"""Addresses at which nothing lies end the launch, and not the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from inprocess import WITHOUT_FACTS, build_here

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.errors import ApplicationFailed
from intelliperf.records import Application

WILD = """#include <cstdio>
#include <hip/hip_runtime.h>
__global__ void far(const char* base, long offset, int* out) {
  out[threadIdx.x] = *reinterpret_cast<const int*>(base + offset);
}
int main() {
  int* out;
  if (hipMalloc(&out, 256)) return 1;
  far<<<1, 64>>>(reinterpret_cast<const char*>(out), (1L << 44) + 1, out);
  return hipDeviceSynchronize() == hipSuccess ? 0 : 3;
}
"""


def test_a_misaligned_address_outside_of_all_memory_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "app.hip").write_text(WILD)
    build_here("hipcc", "-O2", "app.hip", "-o", "app", directory=tmp_path, environment=WITHOUT_FACTS)
    application = Application((str(tmp_path / "app"),), tmp_path, tmp_path)
    with pytest.raises(ApplicationFailed) as failed:
        EmulatorBackend(tmp_path / "device").profile(application, 60.0)
    assert "SIGSEGV" not in str(failed.value) and "far" in str(failed.value)
