"""Which other tool a silent process had loaded."""

from __future__ import annotations

from pathlib import Path

from intelliperf.validation.runs.othertools import explained, libraries_below

LIBRARIES = "/opt/rocm/lib"


def process(proc: Path, number: int, parent: int, *libraries: str) -> None:
    place = proc / str(number)
    place.mkdir(parents=True)
    (place / "stat").write_text(f"{number} (a) name) S {parent} {number} {number} 0")
    (place / "maps").write_text("".join(f"7f0-7f1 r-xp 0 00:1 7 {LIBRARIES}/{name}\n" for name in libraries))


def test_the_libraries_are_those_of_the_process_and_of_what_it_started(tmp_path: Path) -> None:
    process(tmp_path, 10, 1, "libc.so.6")
    process(tmp_path, 11, 10, "libhsa-runtime64.so.1.18.0", "librocprofiler-register.so.0")
    process(tmp_path, 12, 11, "librocprofiler-sdk.so.1.0.0")
    process(tmp_path, 20, 1, "libroctracer64.so.4")
    assert libraries_below(10, tmp_path) == {"libhsa-runtime64.so.1.18.0", "librocprofiler-sdk.so.1.0.0"}


def test_another_tool_is_named_with_the_remedy() -> None:
    said = explained({"libhsa-runtime64.so.1", "librocprofiler-sdk.so.1"})
    assert "it loaded libhsa-runtime64 and librocprofiler-sdk.so.1, but not our library of HSA_TOOLS_LIB" in said
    assert "ROCP_TOOL_LIBRARIES" in said
    assert "libcupti.so.13, but not our library of CUDA_INJECTION64_PATH" in explained(
        {"libcuda.so.1", "libcupti.so.13"}
    )


def test_a_cleared_environment_is_guessed_at_and_nothing_else_is() -> None:
    assert "clear its environment" in explained({"libhsa-runtime64.so.1"})
    assert explained({"libhsa-runtime64.so.1", "libintelliperf_hsa.so", "librocprofiler-sdk.so.1"}) == ""
    assert explained({"librocprofiler-sdk.so.1"}) == ""
