"""The MCP server over standard input and output, with the SDK's own client."""

from __future__ import annotations

import asyncio
import difflib
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from intelliperf.project.journal import SCRATCH

mcp = pytest.importorskip("mcp")
from mcp import Client, StdioServerParameters  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "reduction"
PROGRAM = {"command": ["./app", "262144"], "project": "reduction", "backend": "emulator", "target": "mi300x"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "reduction", ignore=shutil.ignore_patterns(".intelliperf", "app"))
    return tmp_path


def client(root: Path) -> Client:
    words = ["-m", "intelliperf", "mcp", "--root", str(root)]
    return Client(StdioServerParameters(command=sys.executable, args=words))


async def call(
    session: Client, tool: str, told: list[str] | None = None, **arguments: Any
) -> tuple[bool, dict[str, Any], str]:
    async def progress(step: float, total: float | None, message: str | None) -> None:
        if told is not None:
            told.append(message or "")

    answer = await session.call_tool(tool, arguments, progress_callback=progress)
    text = "".join(part.text for part in answer.content if part.type == "text")
    return bool(answer.is_error), answer.structured_content or {}, text


@pytest.mark.slow
def test_an_agent_finds_fixes_and_verifies_a_kernel(root: Path) -> None:
    async def session() -> None:
        async with client(root) as agent:
            tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
            assert set(tools) == {"diagnose", "emulate", "check", "verify", "improve", "replay", "report"}
            assert all(tool.output_schema and tool.input_schema for tool in tools.values())
            told: list[str] = []
            failed, found, text = await call(agent, "diagnose", told, program=PROGRAM)
            assert not failed, text
            assert found["formula"] == "atomicContention" and found["lines"][0]["line"] == 25
            assert told[0] == "build" and "profile" in told
            failed, improved, text = await call(agent, "improve", program=PROGRAM, formula=found["formula"])
            assert not failed and improved["accepted"] and "+  block_atomic_add" in improved["patch"], text
            assert improved["gains"][0]["ratio"] > 1 and improved["gains"][0]["provenance"] == "modelled"
            wrong = improved["patch"].replace("+    block_part += s * s", "+    block_part += s")
            failed, judged, text = await call(agent, "verify", program=PROGRAM, patch=wrong)
            assert not failed and not judged["accepted"], text
            assert judged["attempts"][-1]["outcome"] == "WRONG_OUTPUT"
            failed, again, _ = await call(agent, "report", run=improved["run"])
            assert not failed and again == improved
            failed, _, text = await call(agent, "replay", run=improved["run"])
            assert failed and "no recordings" in text, "a run of a tenth of a second is judged whole"

    asyncio.run(session())
    assert "block_atomic_add" not in (root / "reduction" / "signal_energy.hip").read_text()


RACE = """\
#include <cstdio>
__global__ void last(int *out) { __shared__ int s; s = threadIdx.x; out[threadIdx.x] = s; }
int main() {
    int *out;
    cudaMalloc(&out, 256 * sizeof(int));
    last<<<1, 256>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""


SLOW_START = """\
#include <cstdio>
#include <unistd.h>
__global__ void gather(const float *in, float *out, int n) {
    int i = threadIdx.x * gridDim.x + blockIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
int main() {
    const int n = 1 << 20;
    float *in, *out;
    usleep(2500000);
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    gather<<<n / 128, 128>>>(in, out, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""


@pytest.mark.slow
def test_an_agent_replays_what_was_recorded_of_its_patch(root: Path) -> None:
    project = root / "slow"
    project.mkdir()
    (project / "gather.cu").write_text(SLOW_START)
    better = SLOW_START.replace("threadIdx.x * gridDim.x + blockIdx.x", "blockIdx.x * blockDim.x + threadIdx.x")
    patch = "".join(
        difflib.unified_diff(SLOW_START.splitlines(True), better.splitlines(True), "a/gather.cu", "b/gather.cu")
    )
    program = {"command": ["./gather"], "project": "slow", "build": ["nvcc -O2 -o gather gather.cu"], "target": "h100"}

    async def session() -> None:
        async with client(root) as agent:
            failed, judged, text = await call(agent, "verify", program=program, patch=patch)
            assert not failed and judged["accepted"], text
            failed, played, text = await call(agent, "replay", run=judged["run"])
            assert not failed and played["same_and_faster"], text
            assert any("the same bits as the original in every buffer" in line for line in played["said"])

    asyncio.run(session())


@pytest.mark.slow
def test_an_agent_has_a_program_checked_for_races(root: Path) -> None:
    (root / "race").mkdir()
    (root / "race" / "race.cu").write_text(RACE)
    program = {"command": ["./race"], "project": "race", "build": ["nvcc -O2 -o race race.cu"], "target": "h100"}

    async def session() -> None:
        async with client(root) as agent:
            failed, found, text = await call(agent, "check", program=program)
            assert not failed, text
            assert found["defects"] and found["defects_left_out"] == 0
            assert any("race" in defect["rule"] for defect in found["defects"]), text

    asyncio.run(session())


def test_what_is_outside_of_the_root_or_no_patch_is_refused(root: Path) -> None:
    async def session() -> None:
        async with client(root) as agent:
            for project in ("..", "/", "reduction/../..", "none"):
                failed, _, text = await call(agent, "diagnose", program={**PROGRAM, "project": project})
                assert failed and "is not a directory inside" in text
            failed, _, text = await call(agent, "report", run="/tmp")
            assert failed and "is not a directory inside" in text
            failed, _, text = await call(agent, "verify", program=PROGRAM, patch="nothing")
            assert failed and "the patch does not apply" in text
            failed, _, text = await call(agent, "diagnose", program={**PROGRAM, "command": []})
            assert failed

    asyncio.run(session())


def test_a_cancelled_call_leaves_nothing_running(root: Path) -> None:
    source = root / "reduction" / "Makefile"
    source.write_text("app:\n\ttouch $(CURDIR)/building; sleep 300\n")

    async def session() -> None:
        async with client(root) as agent:
            calling = asyncio.create_task(call(agent, "diagnose", program=PROGRAM))
            runs = root / "reduction" / ".intelliperf" / "runs"
            for _ in range(600):
                await asyncio.sleep(0.05)
                if any(SCRATCH in path.parts for path in runs.rglob("building")):
                    break
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            for _ in range(200):
                await asyncio.sleep(0.05)
                if not sleeping(root):
                    break
            assert not sleeping(root)
            assert (await agent.list_tools()).tools  # it still listens

    asyncio.run(session())


def sleeping(root: Path) -> bool:
    """Does a process below `root` still run?"""
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if entry.resolve(strict=True).is_relative_to(root / "reduction" / ".intelliperf"):
                return True
        except OSError:
            continue
    return False
