// Where the largest value of each row is.
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void argmax(const float *scores, int *winner, float *best, int samples, int classes)
{
    int sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    float top = -1e30f;
    int where = 0;
    for (int c = 0; c < classes; c++) {
        float v = scores[sample * classes + c];
        if (v > top) {
            top = v;
            where = c;
        }
    }
    winner[sample] = where;
    best[sample] = top;
}

int main(void)
{
    const int samples = 3000, classes = 250;
    size_t bytes = sizeof(float) * samples * classes;
    float *h = (float *)malloc(bytes);
    for (int i = 0; i < samples * classes; i++)
        h[i] = (float)((i * 7919) % 10007);
    float *scores, *best;
    int *winner;
    hipMalloc((void **)&scores, bytes);
    hipMalloc((void **)&best, samples * sizeof(float));
    hipMalloc((void **)&winner, samples * sizeof(int));
    hipMemcpy(scores, h, bytes, hipMemcpyHostToDevice);
    hipLaunchKernelGGL(argmax, dim3((samples + 127) / 128), dim3(128), 0, 0, scores, winner, best, samples, classes);
    int *w = (int *)malloc(samples * sizeof(int));
    hipMemcpy(w, winner, samples * sizeof(int), hipMemcpyDeviceToHost);
    hipMemcpy(h, best, samples * sizeof(float), hipMemcpyDeviceToHost);
    long sum = 0;
    double tops = 0;
    for (int i = 0; i < samples; i++) {
        sum += w[i];
        tops += h[i];
    }
    printf("%ld %.0f\n", sum, tops);
    return 0;
}
