// Connected components of a binary image (8-neighbourhood), their areas, and the image smoothed within its mask.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

__device__ int find_root(const int* parent, int i) {
  int p = parent[i];
  while (p != i) {
    i = p;
    p = parent[i];
  }
  return i;
}

__device__ void unite(int* parent, int a, int b) {
  bool finished;
  do {
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a < b) {
      int old = atomicMin(&parent[b], a);
      finished = old == b;
      b = old;
    } else if (b < a) {
      int old = atomicMin(&parent[a], b);
      finished = old == a;
      a = old;
    } else {
      finished = true;
    }
  } while (!finished);
}

__global__ void init_labels(const unsigned char* mask, int* parent, int* area, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  parent[i] = mask[i] ? i : -1;
  area[i] = 0;
}

__global__ void merge_labels(const unsigned char* mask, const float* grey, int* parent, float* smooth, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int i = y * width + x;
  float sum = 0.0f;
  int taken = 0;
  for (int dy = -2; dy <= 2; dy++)
    for (int dx = -2; dx <= 2; dx++) {
      int u = x + dx, v = y + dy;
      if (u < 0 || v < 0 || u >= width || v >= height) continue;
      if (mask[v * width + u] == mask[i]) {
        sum += grey[v * width + u];
        taken++;
      }
    }
  smooth[i] = sum / taken;
  if (!mask[i]) return;
  if (x > 0 && mask[i - 1]) unite(parent, i, i - 1);
  if (y > 0) {
    if (mask[i - width]) unite(parent, i, i - width);
    if (x > 0 && mask[i - width - 1]) unite(parent, i, i - width - 1);
    if (x + 1 < width && mask[i - width + 1]) unite(parent, i, i - width + 1);
  }
}

__global__ void flatten(const unsigned char* mask, int* parent, int* area, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || !mask[i]) return;
  int root = find_root(parent, i);
  parent[i] = root;
  atomicAdd(&area[root], 1);
}

int main(int argc, char** argv) {
  int width = argc > 1 ? atoi(argv[1]) : 120, height = argc > 2 ? atoi(argv[2]) : 64;
  int kind = argc > 3 ? atoi(argv[3]) : 0;
  int n = width * height;
  std::vector<unsigned char> mask(n);
  std::vector<float> grey(n);
  unsigned s = 777;
  for (int i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    int x = i % width, y = i / width;
    if (kind == 0) mask[i] = ((x / 5 + y / 7) % 3 != 0) && (s >> 28) != 0;
    if (kind == 1) mask[i] = (s >> 24) < 110;
    if (kind == 2) mask[i] = (y % 2 == 0) || (x == ((y / 2) % 2 ? 0 : width - 1));
    if (kind == 3) mask[i] = 1;
    grey[i] = (s >> 8) * (1.0f / 16777216.0f);
  }
  unsigned char* d_mask; float *d_grey, *d_smooth; int *d_parent, *d_area;
  hipMalloc(&d_mask, n);
  hipMalloc(&d_grey, n * sizeof(float));
  hipMalloc(&d_smooth, n * sizeof(float));
  hipMalloc(&d_parent, n * sizeof(int));
  hipMalloc(&d_area, n * sizeof(int));
  hipMemcpy(d_mask, mask.data(), n, hipMemcpyHostToDevice);
  hipMemcpy(d_grey, grey.data(), n * sizeof(float), hipMemcpyHostToDevice);
  dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
  init_labels<<<(n + 255) / 256, 256>>>(d_mask, d_parent, d_area, n);
  merge_labels<<<grid, block>>>(d_mask, d_grey, d_parent, d_smooth, width, height);
  flatten<<<(n + 255) / 256, 256>>>(d_mask, d_parent, d_area, n);
  std::vector<int> parent(n), area(n);
  std::vector<float> smooth(n);
  hipMemcpy(parent.data(), d_parent, n * sizeof(int), hipMemcpyDeviceToHost);
  hipMemcpy(area.data(), d_area, n * sizeof(int), hipMemcpyDeviceToHost);
  hipMemcpy(smooth.data(), d_smooth, n * sizeof(float), hipMemcpyDeviceToHost);
  int components = 0, largest = 0;
  unsigned long long hash = 0;
  double total = 0;
  for (int i = 0; i < n; i++) {
    components += area[i] > 0;
    largest = area[i] > largest ? area[i] : largest;
    hash = hash * 1099511628211ull + (unsigned)parent[i];
    total += smooth[i] * (1 + i % 7);
  }
  printf("components %d largest %d labels %016llx smooth %.4f\n", components, largest, hash, total);
  hipFree(d_mask); hipFree(d_grey); hipFree(d_smooth); hipFree(d_parent); hipFree(d_area);
  return 0;
}
