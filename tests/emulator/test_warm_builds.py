"""A second run on an unchanged project compiles nothing anew."""

from __future__ import annotations

import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from intelliperf.processes.storage import cache_directory

PROGRAM = """#include <hip/hip_runtime.h>
__global__ void doubled(float* data) { data[threadIdx.x] *= 2; }
int main() {
  float* data;
  hipMalloc(&data, 256);
  doubled<<<1, 64>>>(data);
  return hipDeviceSynchronize();
}
"""


@pytest.mark.slow
def test_what_one_run_compiled_the_next_one_finds(tmp_path: Path) -> None:
    source = tmp_path / f"{uuid.uuid4().hex}.hip"  # a name that no other entry has
    source.write_text(PROGRAM)
    first, second = compiled_by_a_run(source), compiled_by_a_run(source)
    assert first and second == first


def compiled_by_a_run(source: Path) -> set[str]:
    """The entries of the compile cache that name the source, after another run on it."""
    words = ("diagnose", "--backend", "emulator", "-b", f"hipcc {source.name} -o app", "--", "./app")
    subprocess.run([sys.executable, "-m", "intelliperf", *words], cwd=source.parent, check=True, capture_output=True)
    entries = (cache_directory() / "units").glob("*.json")
    return {entry.name for entry in entries if source.name in entry.read_text()}
