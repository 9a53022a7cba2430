"""Atomics rewritten by rule, run on the emulator before and after."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind

WAVE = "wave_aggregate_atomics"
BLOCK = "block_reduce_atomics"
TABLE = "privatize_atomics"

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
namespace app {
// Keeps this comment with its kernel.
template <typename T>
__global__ void tally(const int* keys, T* sums, int* order, unsigned* n, int* top, unsigned long long* any, int count) {
  int i = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
  if (i >= count) return;
  if (i % 3) {
    atomicAdd(&sums[keys[i] % 5], keys[i]);  //@ wave
  } else {
    unsigned slot = atomicAdd(n, 1u);  //@ wave
    order[slot] = i;
  }
  atomicMax(top + (i & 1), keys[i]);  //@ wave
  if (keys[i] & 1) {
    unsigned long long before = atomicOr(any, 1ull << (keys[i] & 63));  //@ wave
    if (before == ~0ull) order[0] = -1;
  }
  order[count + i] = atomicSub(top + 2, keys[i] & 7);  //@ wave
}
extern "C" __global__ void guarded(const float* in, float* out, int n) {
  int i;
  float v;
  i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    v = in[i];
    if (v > 3) atomicAdd(out, v);  //@ block
  }
}
__global__ void leaving(const int* in, int* best, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i];

  atomicMax(&best[blockIdx.x % 3], v);  //@ block
}
__global__ void striding(const int* in, unsigned long long* total, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    atomicAdd(total, (unsigned long long)in[i] * in[i]);  //@ block
  }
}
__global__ void apart(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&out[0], in[i]);  //@ block
    atomicMax(&out[2 - 1], in[i]);  //@ block
  }
  if (i == 0) out[2] = out[3] + 1;
  if (i == n) atomicInc((unsigned*)&out[2], 9u);
}
struct Extent { int kind; unsigned low, high; };
__global__ void extent(const int* in, Extent* found, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicMin(&found->low, unsigned(in[i]));  //@ block
  if (in[i] & 1) found[0].kind = 3;
}
typedef double DATA_TYPE;
using Sums = DATA_TYPE*;
__global__ void everywhere(const float* in, Sums out) {
  float v = in[threadIdx.x];
  atomicAdd(out + 1, v);  //@ block
}
__global__ void binned(const int* in, int* out, int bins) {
  for (int b = 0; b < bins; ++b) {
    if (in[threadIdx.x] % bins == b) atomicAdd(&out[b], 1);  //@ block
  }
}
}
int main() {
  const int n = 1000;
  static int keys[n];
  static float values[n];
  for (int i = 0; i < n; ++i) { keys[i] = (i * 7919) % 1013; values[i] = i % 97; }
  int *k, *order, *top, *sums; unsigned* used; unsigned long long *any; float *v, *fsums; double* d;
  hipMalloc(&k, sizeof keys); hipMalloc(&v, sizeof values); hipMalloc(&order, 8 * n); hipMalloc(&top, 64);
  hipMalloc(&used, 4); hipMalloc(&any, 16); hipMalloc(&fsums, 64); hipMalloc(&sums, 64); hipMalloc(&d, 16);
  hipMemcpy(k, keys, sizeof keys, hipMemcpyHostToDevice); hipMemcpy(v, values, sizeof values, hipMemcpyHostToDevice);
  hipMemset(order, 0, 8 * n); hipMemset(top, 0, 64); hipMemset(used, 0, 4); hipMemset(any, 0, 16);
  hipMemset(fsums, 0, 64); hipMemset(sums, 0, 64); hipMemset(d, 0, 16);
  app::tally<float><<<4, dim3(16, 16)>>>(k, fsums, order, used, top, any, n);
  app::tally<int><<<4, 250>>>(k, sums, order, used, top, any, n);
  app::guarded<<<5, 250>>>(v, fsums + 8, n);
  app::leaving<<<9, 100>>>(k, top + 4, n);
  app::striding<<<3, 96>>>(k, any + 1, n);
  app::everywhere<<<2, 200>>>(v, d);
  app::binned<<<1, 128>>>(k, sums + 8, 4);
  app::apart<<<4, 250>>>(k, sums + 12, 990);
  app::extent<<<2, 64>>>(k, (app::Extent*)(top + 8), 100);
  static int ho[2 * n]; float hf[16]; int hs[16], ht[16]; unsigned hn; unsigned long long ha[2]; double hd[2];
  hipMemcpy(ho, order, sizeof ho, hipMemcpyDeviceToHost); hipMemcpy(hf, fsums, 64, hipMemcpyDeviceToHost);
  hipMemcpy(hs, sums, 64, hipMemcpyDeviceToHost); hipMemcpy(ht, top, 64, hipMemcpyDeviceToHost);
  hipMemcpy(&hn, used, 4, hipMemcpyDeviceToHost); hipMemcpy(ha, any, 16, hipMemcpyDeviceToHost);
  hipMemcpy(hd, d, 16, hipMemcpyDeviceToHost);
  long long slots = 0, returned = 0;
  for (int i = 0; i < n; ++i) { slots += (long long)ho[i] * ho[i]; returned += ho[n + i]; }
  for (int i = 0; i < 16; ++i) printf("%.3f %d %d\\n", hf[i], hs[i], ht[i]);
  printf("%u %llx %llu %f %lld\\n", hn, ha[0], ha[1], hd[1], slots);
}
"""


def as_cuda(text: str) -> str:
    return text.replace("#include <hip/hip_runtime.h>", "").replace("hip", "cuda")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "program"), [("app.hip", PROGRAM), ("app.cu", as_cuda(PROGRAM))])
def test_aggregated_and_reduced_atomics_leave_the_same_memory(name: str, program: str, tmp_path: Path) -> None:
    original = Bench(tmp_path / "original", {name: program})
    expected = output(tmp_path / "original", original.files)

    waved = original.rewritten(WAVE, AccessKind.ATOMIC, mark="wave")
    both = Bench(tmp_path / "both", waved).rewritten(BLOCK, AccessKind.REDUCTION, mark="block")

    assert both[name].count("wave_atomic_") > 8
    assert "atomicMax(&best" not in both[name]
    assert "atomicAdd(&out[0]" not in both[name] and "atomicMax(&out[2 - 1]" not in both[name]
    assert output(tmp_path / "both", both) == expected


def test_a_call_keeps_its_text_but_for_the_callee(tmp_path: Path) -> None:
    text = Bench(tmp_path, {"app.hip": PROGRAM}).rewritten(WAVE, AccessKind.ATOMIC, mark="wave")["app.hip"]

    assert "wave_atomic_add(&sums[keys[i] % 5], keys[i]);  //@ wave" in text
    assert "unsigned slot = wave_atomic_add_fetch_same(n, 1u);" in text
    assert text.index("static __device__") < text.index("// Keeps this comment") < text.index("void tally")


def test_the_other_rule_contributes_under_the_guard_and_flushes_after_it(tmp_path: Path) -> None:
    text = Bench(tmp_path, {"app.hip": PROGRAM}).rewritten(BLOCK, AccessKind.REDUCTION, mark="block")["app.hip"]

    assert re.search(r"if \(v > 3\) block_part\w* \+= v;", text)
    assert "  if (!(i >= n)) {\n    int v = in[i];\n\n    block_part" in text
    assert "block_atomic_add" in text[text.index("void everywhere") :]
    assert text.index("static __device__") < text.index('extern "C"')


def test_a_second_run_finds_nothing_left_to_do(tmp_path: Path) -> None:
    once = Bench(tmp_path / "a", {"app.hip": PROGRAM}).rewritten(WAVE, AccessKind.ATOMIC, mark="wave")

    reason = Bench(tmp_path / "b", once).declined(WAVE, AccessKind.ATOMIC, mark="wave")
    assert reason.count("has no call of") == 1 and reason.split(" has")[0].count(", ") == 4


def test_line_endings_tabs_and_letters_survive(tmp_path: Path) -> None:
    program = (
        "#include <hip/hip_runtime.h>\n// größer ☃\n__global__ void zähle(int* o)\n{\n\tatomicAdd(o, 1);\t//@ ä\n}\n"
    ).replace("\n", "\r\n")
    text = Bench(tmp_path, {"a.hip": program}).rewritten(WAVE, AccessKind.REDUCTION)["a.hip"]

    assert text.replace("\r\n", "").count("\n") == 0
    assert "\twave_atomic_add_same(o, 1);\t//@ ä\r\n" in text


def test_a_kernel_in_a_header_is_rewritten_in_the_header(tmp_path: Path) -> None:
    header = (
        "#pragma once\ntemplate <typename T>\nstruct Adder {\n  T* out;\n"
        "  __device__ void operator()(T v) const { atomicAdd(out, v); }  //@\n};\n"
    )
    main = (
        '#include <hip/hip_runtime.h>\n#include "lib/add.h"\n'
        "template <typename F> __global__ void each(F f) { f(threadIdx.x); }\n"
        "void go(int* p) { each<<<1, 64>>>(Adder<int>{p}); }\n"
    )
    bench = Bench(tmp_path, {"main.hip": main, "lib/add.h": header})
    changed = bench.rewritten(WAVE, AccessKind.REDUCTION)

    assert changed["main.hip"] == main
    assert "{ wave_atomic_add(out, v); }" in changed["lib/add.h"]
    assert changed["lib/add.h"].index("static __device__") < changed["lib/add.h"].index("struct Adder")


def test_a_helper_is_shared_only_where_it_can_be_seen(tmp_path: Path) -> None:
    kernel = "__global__ void k%d(int* o) { atomicAdd(o, 1); }  //@\n"
    program = (
        f"#include <hip/hip_runtime.h>\nnamespace a {{\n{kernel % 1}{kernel % 2}}}\nnamespace b {{\n{kernel % 3}}}\n"
    )
    text = Bench(tmp_path, {"a.hip": program}).rewritten(WAVE, AccessKind.REDUCTION)["a.hip"]

    assert text.count("static __device__") == 2
    assert text.count("{ wave_atomic_add_same(o, 1); }") == 2
    assert "void k3(int* o) { wave_atomic_add_same_2(o, 1); }" in text


TABLES = """
#include <hip/hip_runtime.h>
#include <cstdio>
constexpr unsigned kBins = 24;
template <int Size> struct Slot { __device__ unsigned operator()(int v) const { return unsigned(v) % Size; } };
__device__ inline int clamped(int v) { return v < 0 ? 0 : v & 31; }
template <typename T, int Size>
__global__ void counted(const T* in, unsigned* out, int n, Slot<Size> slot = Slot<Size>()) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&out[slot(in[i])], 1u);  //@ table
}
__global__ void bytes(const unsigned char* in, unsigned long long* out, int* last, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned char value = in[i];
  if (value != 7) {
    atomicAdd(out + value, 2ull);  //@ table
  }
  atomicMax(&last[value & 15], i);  //@ table
}
__global__ void flags(const int* in, int* out, int n) {
  int i = threadIdx.y * blockDim.x + threadIdx.x;
  unsigned bin = in[i];
  if (i < n && bin < kBins) atomicOr(&out[bin], 1 << (i & 15));  //@ table
}
__global__ void taken(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicSub(&out[clamped(i < n ? in[i] : 0)], i);  //@ table
}
__device__ void put(const float what, float* t, unsigned char which) {
  atomicAdd(t + which, what);  //@ table
}
__global__ void weighed(const unsigned char* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) put(in[i] * 0.5f, out, in[i]);  //^ table
}
template <typename T> __global__ void anywhere(const int* in, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out + 2000 + in[i] * in[i], i);  //@ open
}
__global__ void highest(const int* in, int* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicMax(&out[in[i] - 7], i - 500);  //@ open
}
struct Kept { unsigned count, bins[24]; };
__global__ void kept(const int* in, Kept* k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&k->bins[in[i] & 15], 1u);  //@ table
    atomicAdd(&k->count, 1u);
  }
}
int main() {
  const int n = 1000;
  static int in[n]; static unsigned char small[n]; static unsigned sums[1024];
  for (int i = 0; i < n; ++i) { in[i] = (i * 31) % 57 - 3; small[i] = i % 251; }
  int *a; unsigned char* b; unsigned* o;
  hipMalloc(&a, sizeof in); hipMalloc(&b, sizeof small); hipMalloc(&o, sizeof sums);
  hipMemcpy(a, in, sizeof in, hipMemcpyHostToDevice); hipMemcpy(b, small, sizeof small, hipMemcpyHostToDevice);
  hipMemset(o, 0, sizeof sums);
  counted<int, 40><<<3, 96>>>(a, o, n); counted<unsigned char, 256><<<2, 64>>>(b, o + 40, n);
  bytes<<<5, 250>>>(b, (unsigned long long*)(o + 320), (int*)o + 1000, n);
  flags<<<1, dim3(16, 8)>>>(a, (int*)o + 900, 100); taken<<<4, 250>>>(a, (int*)o + 950, n);
  int *wide, most[64]; static unsigned far[6000]; hipMalloc(&wide, sizeof far); hipMemset(wide, 0, sizeof far);
  anywhere<<<4, 250>>>(a, (unsigned*)wide, n); highest<<<1, 128>>>(a, wide + 10, n);
  kept<<<4, 250>>>(a, (Kept*)(wide + 5900), n);
  hipMemcpy(far, wide, sizeof far, hipMemcpyDeviceToHost); hipMemcpy(most, wide, 256, hipMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) printf("%d ", most[i]);
  hipMemcpy(sums, o, sizeof sums, hipMemcpyDeviceToHost);
  unsigned long long total = 0;
  for (int i = 0; i < 6000; ++i) total = total * 37 + far[i];
  for (int i = 0; i < 1024; ++i) total = total * 31 + sums[i];
  printf("%llx\\n", total);
}
"""


def test_tables_in_lds_leave_the_same_memory(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "a", {"app.hip": TABLES})
    expected = output(tmp_path / "a", bench.files)

    changed = bench.rewritten(TABLE, AccessKind.REDUCTION, mark="table")

    text = changed["app.hip"]
    assert "__shared__ unsigned int block_out[256];" in text
    assert "atomicAdd(block_out_2 + value, 2ull);" in text
    assert "atomicMax(&block_last[value & 15], i);" in text
    assert "__shared__ int block_out_3[24];" in text
    assert "__shared__ int block_out_4[32];" in text
    assert "atomicAdd(&block_bins[in[i] & 15], 1u);" in text
    assert "!= 0) atomicAdd(&k->bins[entry], block_bins[entry]);" in text
    both = Bench(tmp_path / "c", changed).rewritten(TABLE, AccessKind.REDUCTION, mark="open")["app.hip"]
    assert ", out, out + 2000 + in[i] * in[i], i);" in both
    assert "[entry] = (-2147483647 - 1);" in both
    assert output(tmp_path / "b", {"app.hip": both}) == expected


REFUSED = """
#include <hip/hip_runtime.h>
#define BUMP(p) atomicAdd(p, 1)
__global__ void hidden(int* o) { BUMP(o); }  //@ macro
__global__ void swapped(int* o) { o[threadIdx.x + 1] = atomicExch(o, 1); }  //@ exchange
__global__ void compare(int* o) { atomicCAS(o, 0, int(threadIdx.x)); }  //@ compare
__global__ void wrap(unsigned* o) { atomicInc(o, 7u); }  //@ wrap
__global__ void least(float* o) { atomicMin(o, float(threadIdx.x)); }  //@ least
__global__ void fetched(float* o) { o[1 + threadIdx.x] = atomicAdd(o, 1.5f); }  //@ float
template <typename T> __global__ void never(T* o) { atomicAdd(o, T(1)); }  //@ template
__global__ void twice(int* o, int* p) { atomicAdd(o, 1); atomicAdd(p, 2); }  //@ two
__global__ void uneven(const int* in, int* out, int n) {
  if (threadIdx.x & 1) return;
  for (int i = threadIdx.x; i < n; ++i) {
    if (in[i] < 0) return;
    atomicAdd(out, in[i]);  //@ uneven
  }
}
__global__ void varying(const int* in, int* out) {
  int k = threadIdx.x & 3;
  atomicAdd(&out[k], in[threadIdx.x]);  //@ varying
}
__device__ void helper(int* out) { atomicAdd(out, 1); }  //@ device
__global__ void aliased(const int* in, int* out) {
  int seen = out[0];
  if (seen < in[threadIdx.x]) atomicAdd(out, 1);  //@ reads
}
__global__ void overlapping(const int* in, int* out) {
  atomicAdd(&out[1], in[threadIdx.x]);  //@ overlapping
  atomicAdd((unsigned long long*)&out[0], 1ull);
}
__global__ void elsewhere(const int* in, int* out, int k) {
  atomicAdd(&out[1], in[threadIdx.x]);  //@ elsewhere
  atomicAdd(&out[k], 1);
}
__device__ void clear(int& all) { (&all)[0] = (&all)[1] = 0; }
__global__ void referred(const int* in, int* out) {
  atomicAdd(&out[1], in[threadIdx.x]);  //@ referred
  if (in[0] < 0) clear(out[0]);
}
__global__ void everyone(int* o) { atomicAdd_system(o, 1); }  //@ system
__global__ void loaded(const int* where, int* out) {
  atomicAdd(&out[where[blockIdx.x]], 1);  //@ loaded
}
__global__ void barrier(const int* in, int* out, int n) {
  __shared__ int s[256];
  if (threadIdx.x >= n) return;
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  atomicAdd(out, s[n - 1 - threadIdx.x]);  //@ barrier
}
__global__ void moving(const int* in, int* out, int n) {
  int step = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    step += 1;
    atomicAdd(&out[step], in[i]);  //@ moving
  }
}
__global__ void used(int* out, int* last) {
  if (atomicAdd(out, 1) == 255) *last = 1;  //@ used
}
__device__ void sure(int* o, int v) { if (v) atomicAdd(o, v); }  //@ several
__global__ void several(int* o) { sure(o, 1); }
__global__ void single(int* o) { int t = threadIdx.x; if (t == 0 && blockIdx.x) atomicAdd(o, 1); }  //@ single
__global__ void peeking(int* o) {
  __shared__ int s;
  s = 0;
  for (int i = 0; i < 4; ++i) {
    atomicAdd(&s, o[i]);  //@ peeking
    o[i] = s;
  }
}
__global__ void twofold(const unsigned char* in, int* out) {
  atomicAdd(&out[in[threadIdx.x]], 1);  //@ twofold
  out[256] = 1;
}
__global__ void watched(const unsigned char* in, int* out) {
  atomicAdd(&out[in[threadIdx.x]], 1);  //@ watched
  __threadfence();
}
__global__ void leaves(const unsigned char* in, int* out) {
  atomicAdd(&out[in[threadIdx.x]], 1);  //@ leaves
  if (threadIdx.x > 3) return;
}
void launch(int* o) { helper<<<1, 1>>>; }
""".replace("void launch(int* o) { helper<<<1, 1>>>; }\n", "__global__ void calls(int* o) { helper(o); }\n")


@pytest.mark.parametrize(
    ("rule", "mark", "words"),
    [
        (WAVE, "macro", "macro"),
        (WAVE, "exchange", "which of several exchanges comes last"),
        (WAVE, "compare", "atomicCAS cannot be combined"),
        (WAVE, "wrap", "wraps round at a limit"),
        (WAVE, "least", "orders floating-point values"),
        (WAVE, "float", "whose result is used"),
        (WAVE, "template", "template without instantiation"),
        (WAVE, "two", "2 atomics"),
        (BLOCK, "uneven", "leave the kernel early"),
        (BLOCK, "varying", "may differ between the threads"),
        (BLOCK, "device", "that is not known"),
        (BLOCK, "reads", "out is also used on line"),
        (BLOCK, "overlapping", "out is also used on line"),
        (BLOCK, "elsewhere", "out is also used on line"),
        (BLOCK, "referred", "out is also used on line"),
        (BLOCK, "system", "seen by the host and other devices"),
        (BLOCK, "loaded", "may differ between the threads"),
        (BLOCK, "barrier", "barrier after the early return"),
        (BLOCK, "moving", "may differ"),
        (BLOCK, "used", "is used"),
        (TABLE, "used", "is used"),
        (BLOCK, "several", "that is not known"),
        (BLOCK, "single", "one thread of a block issues the atomic already"),
        (BLOCK, "peeking", "s is also used on line"),
        (TABLE, "single", "is not written as an element of an array"),
        (TABLE, "twofold", "out is also used on line"),
        (TABLE, "watched", "other blocks may look at out"),
        (TABLE, "leaves", "leave the kernel"),
    ],
)
def test_a_rule_says_why_it_declines(rule: str, mark: str, words: str, tmp_path: Path) -> None:
    assert words in Bench(tmp_path, {"r.hip": REFUSED}).declined(rule, AccessKind.REDUCTION, mark=mark)


def test_a_table_in_a_union_is_left_alone_whatever_the_union_is_called_by(tmp_path: Path) -> None:
    text = """#include <hip/hip_runtime.h>
typedef union { unsigned bins[64], totals[8]; } Shared;
__global__ void count(const int* in, Shared* k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&k->bins[in[i] & 15], 1u);  //@ table
    if (i == 0) k->totals[7] = n;
  }
}
int main() { int* in = 0; Shared* k = 0; count<<<64, 256>>>(in, k, 1); }
"""
    assert "a union" in Bench(tmp_path, {"app.hip": text}).declined(TABLE, AccessKind.REDUCTION, mark="table")


def test_atomics_of_other_branches_that_compilers_may_join_are_reduced_with_the_blamed_one(tmp_path: Path) -> None:
    program = """
#include <hip/hip_runtime.h>
#include <cstdio>
struct Seen { int low, middle, high; long long other; };
__global__ void classify(const int* v, int n, Seen* seen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (v[i] < 10) {
    atomicAdd(&seen->low, 1);  //@
  } else if (v[i] < 50) {
    atomicAdd(&seen->middle, 1);
  } else {
    atomicAdd(&seen->high, 1);
  }
}
int main() {
  int h[1000], *d; Seen got = {}, *s;
  for (int i = 0; i < 1000; ++i) h[i] = i * 7 % 100;
  hipMalloc(&d, sizeof h); hipMalloc(&s, sizeof got);
  hipMemcpy(d, h, sizeof h, hipMemcpyHostToDevice); hipMemcpy(s, &got, sizeof got, hipMemcpyHostToDevice);
  classify<<<4, 256>>>(d, 1000, s);
  hipMemcpy(&got, s, sizeof got, hipMemcpyDeviceToHost);
  printf("%d %d %d\\n", got.low, got.middle, got.high);
}
"""
    text = Bench(tmp_path / "a", {"app.hip": program}).rewritten(BLOCK, AccessKind.ATOMIC)["app.hip"]
    assert text.count("block_atomic_add(&seen->") == 3 and "atomicAdd(&seen->" not in text
    assert output(tmp_path / "b", {"app.hip": text}) == output(tmp_path / "c", {"app.hip": program})
