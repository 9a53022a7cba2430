/*
 * Histogram of values of any integral type over a power-of-two number of bins.
 * One thread per element for small inputs, a grid-stride loop for large ones.
 */
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

void check(cudaError_t status, const char* what)
{
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

template <typename Value, int Bins>
struct BinOf
{
    static_assert((Bins & (Bins - 1)) == 0, "the number of bins must be a power of two");
    __host__ __device__ unsigned operator()(Value value) const
    {
        return static_cast<unsigned>(value) & (Bins - 1);
    }
};

template <typename Value, int Bins, typename Map = BinOf<Value, Bins>>
__global__ void histogramKernel(const Value* __restrict__ values, size_t n, unsigned* bins, Map map = Map())
{
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
    {
        atomicAdd(&bins[map(values[i])], 1u);
    }
}

template <typename Value, int Bins>
bool run(const char* label, size_t n)
{
    // Photographs have a few dominant tones: a narrow distribution round a middle grey.
    std::mt19937 generator(12345);
    std::normal_distribution<float> tones(Bins / 2.0f, Bins / 24.0f);
    std::vector<Value> values(n);
    for (auto& value : values) value = static_cast<Value>(tones(generator));

    std::vector<unsigned> expected(Bins, 0u);
    for (Value value : values) ++expected[BinOf<Value, Bins>()(value)];

    Value* dValues = nullptr;
    unsigned* dBins = nullptr;
    check(cudaMalloc(&dValues, n * sizeof(Value)), "cudaMalloc");
    check(cudaMalloc(&dBins, Bins * sizeof(unsigned)), "cudaMalloc");
    check(cudaMemcpy(dValues, values.data(), n * sizeof(Value), cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemset(dBins, 0, Bins * sizeof(unsigned)), "cudaMemset");

    const int block = 256;
    const size_t blocks = (n + block - 1) / block;
    const int grid = static_cast<int>(blocks < 4096 ? blocks : 4096);
    histogramKernel<Value, Bins><<<grid, block>>>(dValues, n, dBins);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "histogramKernel");

    std::vector<unsigned> bins(Bins);
    check(cudaMemcpy(bins.data(), dBins, Bins * sizeof(unsigned), cudaMemcpyDeviceToHost), "cudaMemcpy");
    cudaFree(dValues);
    cudaFree(dBins);

    const bool same = bins == expected;
    std::printf("%-8s %zu values, %d bins: %s\n", label, n, Bins, same ? "PASS" : "FAIL");
    return same;
}

}  // namespace

int main(int argc, char** argv)
{
    const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : size_t(1) << 21;
    const bool bytes = run<std::uint8_t, 256>("bytes", n);
    const bool words = run<std::uint32_t, 64>("words", n / 4);
    return bytes && words ? 0 : 1;
}
