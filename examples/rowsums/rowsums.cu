// Row sums and their largest, of a dense row-major matrix.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_OK(expr) \
    if (cudaError_t e_ = (expr)) { \
        std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e_)); \
        return 1; \
    }

struct Matrix {
    const double *elements;
    int rows;
    int columns;
};

// One thread per row.
__global__ void rowSums(Matrix m, double *sums)
{
    int row = threadIdx.x + blockIdx.x * blockDim.x;
    if (row < m.rows) {
        double sum = 0;
        for (int column = 0; column < m.columns; column++)
            sum += fabs(m.elements[row * m.columns + column]);
        sums[row] = sum;
    }
}

int main(int argc, char **argv)
{
    int rows = argc > 1 ? std::atoi(argv[1]) : 32768;
    int columns = argc > 2 ? std::atoi(argv[2]) : 100;
    size_t elements = size_t(rows) * columns;
    std::vector<double> host(elements), expected(rows, 0.0), sums(rows);
    for (size_t i = 0; i < elements; i++) {
        host[i] = double((i * 31) % 257) - 128;
        expected[i / columns] += std::fabs(host[i]);
    }

    double *dMatrix, *dSums;
    CUDA_OK(cudaMalloc(&dMatrix, elements * sizeof(double)));
    CUDA_OK(cudaMalloc(&dSums, rows * sizeof(double)));
    CUDA_OK(cudaMemcpy(dMatrix, host.data(), elements * sizeof(double), cudaMemcpyHostToDevice));

    Matrix m{dMatrix, rows, columns};
    dim3 block(128), grid((rows + block.x - 1) / block.x);
    void (*kernel)(Matrix, double *) = rowSums;
    kernel<<<grid, block>>>(m, dSums);
    CUDA_OK(cudaPeekAtLastError());
    CUDA_OK(cudaMemcpy(sums.data(), dSums, rows * sizeof(double), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaFree(dMatrix));
    CUDA_OK(cudaFree(dSums));

    double largest = 0;
    for (int row = 0; row < rows; row++) {
        if (std::fabs(sums[row] - expected[row]) > 1e-9 * expected[row]) {
            std::printf("FAIL: row %d: %f instead of %f\n", row, sums[row], expected[row]);
            return 1;
        }
        largest = std::fmax(largest, sums[row]);
    }
    std::printf("infinity norm of %d x %d: %.1f PASS\n", rows, columns, largest);
    return 0;
}
