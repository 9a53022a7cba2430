"""Which kernel a patch is judged by: the compiler says what it changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from readers import reading_of

from intelliperf.records import FileEdit, content_hash
from intelliperf.validation.edits.ir import parse
from intelliperf.validation.edits.reading import Reading
from intelliperf.validation.edits.targets import Touched, python_functions, touched

SOURCE = """#include <hip/hip_runtime.h>
#define WIDTH 64
__device__ float twice(float x) { return 2.0f * x; }
namespace inner {
template <typename T> __global__ void first(T* x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
}
__global__ void second(float* y) { y[threadIdx.x] = 1.0f; }
extern "C" __global__ void third(float* z) { z[0] = 3.0f; }
int main(int argc, char**) {
  float* x = nullptr;
  const int threads = 128;
  { dim3 grid((argc + threads - 1) / threads); inner::first<<<grid, threads>>>(x); }
  { dim3 grid(1); second<<<grid, WIDTH>>>(x); }
  hipLaunchKernelGGL(third, dim3(4), dim3(5), 0, 0, x);
  return hipDeviceSynchronize();
}
"""
FIRST, SECOND, THIRD = "_ZN5inner5firstIfEEvPT_", "_Z6secondPf", "third"


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    return reading_of(tmp_path_factory.mktemp("target") / "tree", {"app.hip": SOURCE})


def change(reading: Reading, old: str, new: str) -> Touched:
    assert SOURCE.count(old) == 1
    edit = FileEdit("app.hip", content_hash(SOURCE), SOURCE.replace(old, new))
    return touched(reading, [edit], {"app.hip": SOURCE})


CHANGES = {
    "a body": ("y[threadIdx.x] = 1.0f;", "y[threadIdx.x] = 1.5f;", Touched({SECOND}, {SECOND})),
    "a function that one calls": ("2.0f * x", "x + x", Touched(frozenset(), {FIRST})),
    "braces and layout": ("{ y[threadIdx.x] = 1.0f; }", "{\n  { y[threadIdx.x] = 1.0f; }\n}", Touched()),
    "a size that is calculated": ("threads = 128", "threads = 256", Touched(launched={FIRST})),
    "a grid of a name that two have": ("dim3 grid(1)", "dim3 grid(2)", Touched(launched={SECOND})),
    "a macro": ("WIDTH 64", "WIDTH 32", Touched(launched={SECOND})),
    "a macro's arguments": ("dim3(5)", "dim3(6)", Touched(launched={THIRD})),
    "one launch less": ("second<<<grid, WIDTH>>>(x);", "", Touched(launched={SECOND})),
    "what is not a program": ("return hip", "return no such thing", Touched()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_the_kernels_that_a_change_is_about_are_those_that_the_compiler_sees_changed(reading: Reading, name: str):
    old, new, expected = CHANGES[name]
    found = change(reading, old, new)
    assert [set(level) for level in found.levels] == [set(level) for level in expected.levels]


def test_a_file_that_is_new_changes_no_kernel(reading: Reading, tmp_path: Path):
    assert touched(reading, [FileEdit("new.h", "", "int x;\n")], {}) == Touched()


def test_of_a_python_program_the_functions_that_read_otherwise_are_meant():
    before = "def one(x):\n    return x  # as it is\n\ndef two(x):\n    return x\n"
    after = before.replace("  # as it is", "").replace("def two(x):\n    return x", "def two(x):\n    return x + 1")
    edit = FileEdit("app.py", content_hash(before), after)
    assert python_functions([edit], {"app.py": before}) == Touched(frozenset({"two"}))
    assert python_functions([FileEdit("app.py", content_hash(before), "def (")], {"app.py": before}) == Touched()


def test_a_switch_with_a_debug_note_behind_it_is_one_instruction():
    rows = ["define i32 @f(i32 %0) {", "  switch i32 %0, label %3 [", "    i32 7, label %2", "  ], !dbg !1", ""]
    rows += ["2:                      ; preds = %1", "  ret i32 1", "", "3:", "  ret i32 2", "}"]
    texts = [line.text for line in parse("\n".join(rows)).lines("@f")]
    assert sum("ret i32" in text for text in texts) == 2
