"""The parts of the CUDA interception library that need no driver, held against the Python side."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from intelliperf.cuda.symbols import canonical

PACKAGE = Path(__file__).resolve().parents[2] / "intelliperf"
NATIVE, SHARED = PACKAGE / "cuda" / "native", PACKAGE / "interception" / "native"
SYMBOLS = (
    "_ZN6linalg46_GLOBAL__N__b7d70871_13_transpose_hip_a00f4ba414transposeTiledEPKfPfii",
    "_ZN41_GLOBAL__N__5be91f4f_12_histogram_cu_main4binsEPj",
    "_ZN2a141_GLOBAL__N__5be91f4f_12_histogram_cu_main4binsEPj",
    "_Z5scale4ViewPKfi",
    "_Z4copyIfEvPT_PKS0_m",
    "plain_c_name",
)
MAIN = r"""
#include <cstdio>
#include "calls.h"
#include "signature.h"
using namespace intelliperf;
int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    const std::string symbol = canonical(words[i]);
    std::printf("%s\n", symbol.c_str());
    for (const auto& type : parameter_types(symbol)) {
      const int kind = static_cast<int>(type.kind);
      std::printf("  %s|%d|%d|%s\n", type.text.c_str(), kind, type.constant, type.element.c_str());
    }
  }
  for (const char* name : {"cuLaunchKernel_ptsz", "cuMemcpyHtoDAsync_v2_ptsz", "cuMemsetD32_v2_ptds",
                           "cuMemAlloc_v2", "cuCtxCreate_v2"}) {
    const CallFacts facts = facts_of(name);
    std::printf("%s %d %s %u %d %d\n", name, static_cast<int>(facts.call), facts.operation ? facts.operation : "-",
                facts.element_bytes, facts.asynchronous, facts.per_thread);
  }
}
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    root = tmp_path_factory.mktemp("native")
    (root / "main.cpp").write_text(MAIN)
    sources = [str(NATIVE / "calls.cpp"), str(SHARED / "signature.cpp")]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{NATIVE}", f"-I{SHARED}"]
    subprocess.run(["g++", *flags, "-o", str(root / "main"), str(root / "main.cpp"), *sources], check=True)
    done = subprocess.run([str(root / "main"), *SYMBOLS], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_both_sides_give_a_kernel_the_same_name(told: list[str]) -> None:
    names = [line for line in told if not line.startswith(" ") and " " not in line]
    assert names == [canonical(symbol) for symbol in SYMBOLS]


def test_parameter_types_come_from_the_signature(told: list[str]) -> None:
    at = told.index("_Z5scale4ViewPKfi")
    assert told[at + 1 : at + 4] == ["  View|2|0|", "  float const*|1|1|float", "  int|0|0|"]
    at = told.index("_Z4copyIfEvPT_PKS0_m")
    assert told[at + 1 : at + 4] == ["  float*|1|0|float", "  float const*|1|1|float", "  unsigned long|0|0|"]


def test_every_variant_of_a_call_is_known(told: list[str]) -> None:
    variants = {line.split()[0]: line.split()[2:] for line in told if line.startswith("cu")}
    assert variants["cuMemcpyHtoDAsync_v2_ptsz"] == ["memcpy_htod", "0", "1", "1"]
    assert variants["cuMemsetD32_v2_ptds"] == ["-", "4", "0", "1"]
    assert next(line for line in told if line.startswith("cuCtxCreate")).split()[1] == "0"
    assert next(line for line in told if line.startswith("cuLaunchKernel")).split()[1] != "0"
