"""The calls of a real program: what they cost, and the lines that made them."""

from __future__ import annotations

import dataclasses

import pytest
from profile_programs import RUN_DEADLINE_S, Program, build

from intelliperf.errors import ProtocolError
from intelliperf.formulas import find_formula
from intelliperf.records.timeline import DOWNLOAD, KERNEL, UPLOAD, Timeline

HEADER = """
#pragma once
#include <hip/hip_runtime.h>
#include <vector>
template <class T>
void send(T* to, const std::vector<T>& from) {
  (void)hipMemcpy(to, from.data(), from.size() * sizeof(T), hipMemcpyHostToDevice);  // send
}
"""
SOURCE = """
#include <cstdio>
#include "send.h"
#define LAUNCH(kernel, n, ...) hipLaunchKernelGGL(kernel, dim3((n + 63) / 64), dim3(64), 0, 0, __VA_ARGS__)
__global__ void add(float* data, const float* by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += by[i];
}
int main() {
  const int n = 4096;
  std::vector<float> data(n, 1.0f), by(n, 2.0f);
  float *d, *b, *pinned;
  (void)hipMalloc(&d, n * 4);
  (void)hipMalloc(&b, n * 4);
  send(d, data);
  for (int step = 0; step < 8; ++step) {
    send(b, by);  // again
    LAUNCH(add, n, d, b, n);  // launch
    (void)hipDeviceSynchronize();  // wait
    (void)hipMemcpy(data.data(), d, n * 4, hipMemcpyDeviceToHost);  // out
    (void)hipMemcpy(d, data.data(), n * 4, hipMemcpyHostToDevice);  // back
  }
  (void)hipHostMalloc(&pinned, n * 4, 0);
  hipStream_t stream;
  (void)hipStreamCreate(&stream);
  (void)hipMemcpyAsync(pinned, d, n * 4, hipMemcpyDeviceToHost, stream);
  (void)hipStreamSynchronize(stream);
  double sum = 0;
  for (int round = 0; round < 40000; ++round) sum += pinned[round % n] * round;
  std::printf("%g\\n", sum);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    project = tmp_path_factory.mktemp("calls") / "project"
    project.mkdir()
    (project / "send.h").write_text(HEADER)
    (project / "main.hip").write_text(SOURCE)
    return build(project, [("hipcc", "-O2", "main.hip", "-o", "app")], ("./app",))


@pytest.fixture(scope="module")
def timeline(program: Program) -> Timeline:
    timeline = program.backend.timeline(program.application, RUN_DEADLINE_S)
    assert timeline is not None
    return timeline


def line_of(mark: str, text: str = SOURCE) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.endswith(f"// {mark}"))


def test_calls_stand_in_order_with_bytes_times_and_kind_of_memory(timeline: Timeline) -> None:
    step = [UPLOAD, KERNEL, "wait_device", DOWNLOAD, UPLOAD]
    operations = [call.operation for call in timeline.calls]
    assert operations == [UPLOAD, *step * 8, DOWNLOAD, "wait_stream"]
    copies = [call for call in timeline.calls if call.copies]
    assert {call.size for call in copies} == {4096 * 4}
    assert all(call.pageable and call.waits for call in copies[:-1])
    assert not copies[-1].pageable and not copies[-1].waits and copies[-1].stream != 0
    assert [call.held for call in copies[:7]] == [False, False, False, True, True, False, True]
    kernels = [call for call in timeline.calls if call.operation == KERNEL]
    assert all(0 < call.launch_ns <= call.device_ns for call in kernels)
    assert kernels[0].kernel.startswith("add")
    assert timeline.calls[-1].visible and not timeline.calls[3].visible


def test_the_host_s_own_work_is_timed_and_the_emulation_is_not(timeline: Timeline) -> None:
    assert timeline.after_ns > 10_000  # 40,000 additions
    assert 0 < timeline.host_ns < 1e9
    assert timeline.process_ns >= timeline.host_ns


def test_call_sites_are_the_lines_of_the_project_with_the_caller_of_a_wrapper(timeline: Timeline) -> None:
    def placed(number: int) -> tuple[str, int, str]:
        line = timeline.line(timeline.calls[number].site)
        assert line is not None
        return line.file.name, line.line, line.by

    assert placed(1) == ("send.h", line_of("send", HEADER), f"main.hip:{line_of('again')}")
    assert placed(2)[:2] == ("main.hip", line_of("launch"))
    assert placed(3)[:2] == ("main.hip", line_of("wait"))
    assert [placed(number)[1] for number in (4, 5)] == [line_of("out"), line_of("back")]


def test_what_no_kernel_can_mend_is_found_in_a_real_program(timeline: Timeline) -> None:
    """The host's own work depends on what else this machine does: left out."""
    calls = tuple(dataclasses.replace(call, host_ns=0.0) for call in timeline.calls)
    timeline = dataclasses.replace(timeline, calls=calls, after_ns=0.0)
    transfers, *_ = find_formula("transfers").process_findings(timeline)
    assert "7 bring bytes that are there already" in transfers.sentence
    assert "8 take data to the host and 8 send it back, 8 of them unchanged" in transfers.sentence
    assert line_of("again") in {int(line.by.rpartition(":")[2]) for line in transfers.lines if line.by}
    assert transfers.gain_ceiling > 1.5


def test_records_without_calls_are_refused(program: Program, timeline: Timeline) -> None:
    assert timeline.calls
    (records,) = program.application.project.parent.rglob("calls.jsonl")
    records.write_text('{"operation": "kernel"}\n')
    with pytest.raises(ProtocolError, match=r"calls.jsonl: malformed record"):
        program.backend.timeline(program.application, RUN_DEADLINE_S)
