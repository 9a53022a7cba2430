"""An original that is racy in few elements: these say nothing of a candidate, the others of their buffer do."""

from __future__ import annotations

from pathlib import Path

from inprocess import build_here

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.interception.messages import Dispatch
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.records import Application, Kernel
from intelliperf.validation.buffers.tolerance import Steadiness
from intelliperf.validation.calibration import calibrate
from intelliperf.validation.runs.events import Rule
from intelliperf.validation.runs.lockstep import Setting

N = 4000
SOURCE = f"""#include <hip/hip_runtime.h>
__global__ void mark(int* out, int n) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = 3 * i;
  out[n] = i;
}}
int main() {{
  int* out;
  if (hipMalloc(&out, ({N} + 1) * sizeof(int))) return 1;
  mark<<<({N} + 127) / 128, 128>>>(out, {N});
  return hipDeviceSynchronize();
}}
"""


def test_one_racy_element_is_left_out_and_named_and_the_others_are_held_to_every_bit(tmp_path: Path) -> None:
    (tmp_path / "app.hip").write_text(SOURCE)
    build_here("hipcc", "-O2", "app.hip", "-o", "app", directory=tmp_path)
    symbol = "_Z4markPii"
    setting = Setting(EmulatorBackend(tmp_path / "device"), Kernel(symbol, "mark"), UNCONFINED, tmp_path, 60.0)
    application = Application((str(tmp_path / "app"),), tmp_path, tmp_path)
    found = calibrate(setting, application, symbol, Rule(lambda d: d.target))
    assert all(allowance.steadiness is Steadiness.EXACT for allowance in found.allowances.values())
    (key,) = [key for key, name in found.names.items() if name.startswith("out")]
    (dispatch,) = [event.index for event in found.events if isinstance(event, Dispatch)]
    mask = found.undefined.get(dispatch, key, 0, 4 * (N + 1))
    assert mask is not None
    assert mask[: 4 * N].sum() == 0 < mask[4 * N :].sum()
    assert any("depend on the order in the original itself" in note for note in found.notes)
