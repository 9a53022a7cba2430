"""Answers that are remembered or known beforehand pass on the program's own data; on other numbers they are wrong.

The program launches its kernel three times with the same arguments on the same data, as benchmarks do.
"""

from __future__ import annotations

import pytest
from patchbench import Bench

from intelliperf.records import CheckStatus, Feature, Outcome, Verdict

BODY = """  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = (t % 64) * (n / 64) + t / 64;
  if (i < n) out[i] = gain * sqrtf(in[i] + 1.0f) + bias[key[i]];
"""
SOURCE = f"""#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
__global__ void root(float* out, const float* in, const float* bias,
                     const unsigned char* key, int n, float gain) {{
{BODY}}}
int main() {{
  const int n = 64 * 125;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = 0.25f * (i % 777);
  std::vector<unsigned char> keys(n);
  for (int i = 0; i < n; ++i) keys[i] = i % 3;
  float *in, *out, *bias;
  unsigned char* key;
  cudaMalloc(&in, n * 4);
  cudaMalloc(&out, n * 4);
  cudaMalloc(&bias, 12);
  cudaMalloc(&key, n);
  cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(bias, host.data() + 1, 12, cudaMemcpyHostToDevice);
  cudaMemcpy(key, keys.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * 4);
  for (int round = 0; round < 3; ++round) root<<<(n + 127) / 128, 128>>>(out, in, bias, key, n, 0.5f);
  cudaMemcpy(host.data(), out, n * 4, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float v : host) sum += v;
  std::printf("%.3f\\n", sum);
}}
"""
FAST = BODY.replace("(t % 64) * (n / 64) + t / 64", "t")
STORE = "if (i < n) out[i]"
KEEP = "if (i >= n || out[i] > 0.5f && out[i] < 100.0f) return;\n  out[i]"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    made = Bench(tmp_path_factory.mktemp("numbers"), SOURCE, "app.cu")
    # Algebra would tell most of them before this gate has its say.
    made.backend.honours = made.backend.honours - {Feature.SHADOW}
    return made


def patched(bench: Bench, body: str, before: str = "") -> Verdict:
    text = SOURCE.replace(BODY, body).replace("__global__", f"{before}__global__")
    return bench.verdict_of(SOURCE, text)


@pytest.mark.slow
def test_a_right_rewrite_is_right_on_other_numbers_too(bench):
    verdict = patched(bench, FAST)
    assert verdict.outcome is Outcome.NOT_FASTER, verdict.detail  # right, and within the error of the time model
    (check,) = (check for check in verdict.checks if check.name == "other numbers")
    assert check.status is CheckStatus.PASSED


CHEATS = {
    "the answer of the launch before is left where it is": (FAST.replace(STORE, KEEP), "on other numbers"),
    "the input is known beforehand": (FAST.replace("in[i]", "(0.25f * (i % 777))"), "on other numbers"),
    "a small input is known beforehand": (FAST.replace("bias[key[i]]", "0.25f * (key[i] + 1)"), "on other numbers"),
    "the input is known by its first numbers": (
        FAST.replace(STORE, f"if (i < n && in[1] == 0.25f && out[i] > 0.5f && out[i] < 100.0f) return;\n  {STORE}"),
        "some of the numbers are others",
    ),
    "the indices are known beforehand": (FAST.replace("key[i]", "i % 3"), "some of the numbers are others"),
    "the size is known beforehand": (FAST.replace("i < n", "i < 8000"), "with another value of a scalar argument"),
    "a range that no number lies in is left out": (
        f"  if (in[0] < -1.0e6f) return;\n{FAST}",
        "all numbers below a limit of the code",
    ),
    "a condition on a size and on data": (
        f"  if (n == 3000 && key[3] == 77) return;\n{FAST}",
        "its own conditions hold",
    ),
    "a condition on two places": (
        f"  if (in[2] == 9.5f && in[7] == 12.75f) return;\n{FAST}",
        "its own conditions hold",
    ),
    "a condition on a factor": (f"  if (gain == 3.25f) return;\n{FAST}", "its own conditions hold"),
    "a factor is known beforehand": (FAST.replace("gain", "0.5f"), "with another value of a scalar argument"),
}


@pytest.mark.slow
def test_alterations_that_leave_memory_alone_share_their_runs(bench, monkeypatch):
    asked = []
    environment = bench.backend.intercept_environment

    def noting(socket, kernel, interception):
        asked.append(interception.other_numbers)
        return environment(socket, kernel, interception)

    monkeypatch.setattr(bench.backend, "intercept_environment", noting)
    verdict = patched(bench, FAST)
    assert verdict.outcome is Outcome.NOT_FASTER, verdict.detail
    assert sorted(filter(None, asked)) == [(1, 2, 5, 7)] * 5 + [(3,)] * 3  # two of the five look for races alone
    (check,) = (check for check in verdict.checks if check.name == "other numbers")
    for way in ("numbers scaled", "an eighth", "times 128", "scalar arguments", "other arguments"):
        assert way in check.detail


@pytest.mark.parametrize("name", CHEATS)
def test_an_answer_that_is_known_beforehand_is_refused(bench, name):
    body, told = CHEATS[name]
    verdict = patched(bench, body)
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert told in verdict.detail


COUNTED = "  if (threadIdx.x == 0 && atomicAdd(&blocks, 1u) == gridDim.x - 1) blocks = {};\n"


@pytest.mark.slow
@pytest.mark.parametrize(("left", "outcome"), [("0", Outcome.ACCEPTED), ("1", Outcome.FORBIDDEN_EDIT)])
def test_a_new_variable_of_the_device_must_be_zero_after_every_launch(bench, left, outcome):
    counted = FAST + COUNTED.replace("{}", left)
    verdict = patched(bench, counted, "__device__ unsigned int blocks;\n")
    assert verdict.outcome in (outcome, Outcome.NOT_FASTER if left == "0" else outcome), verdict.detail
