// Points moved along their velocities: records of seven floats, of which each thread reads and writes its own.
//// both
#include "cuda_support.h"
constexpr int kCount = 5 << 19;
struct Point {
  float x, y, z, vx, vy, vz, age;
};
//// planted
__global__ void move(Point* points, float dt, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    Point& p = points[i];
    p.x += p.vx * dt;
    p.y += p.vy * dt;
    p.z += p.vz * dt;
    p.age += dt;
  }
}
//// expert
__global__ void move(Point* points, float dt, int count) {
  __shared__ Point held[256];
  const int first = blockIdx.x * 256, words = min(256, count - first) * int(sizeof(Point) / 4);
  float *memory = &points[first].x, *lds = &held[0].x;
  for (int k = threadIdx.x; k < words; k += 256) lds[k] = memory[k];
  __syncthreads();
  Point& p = held[threadIdx.x];
  p.x += p.vx * dt;
  p.y += p.vy * dt;
  p.z += p.vz * dt;
  p.age += dt;
  __syncthreads();
  for (int k = threadIdx.x; k < words; k += 256) memory[k] = lds[k];
}
//// both
int main() {
  std::vector<Point> points(kCount);
  for (int i = 0; i < kCount; ++i)
    points[i] = {noise(i), noise(i + 1), noise(i + 2), noise(i + 3), noise(i + 4), noise(i + 5), 0};
  Point* device = upload(points);
  move<<<(kCount + 255) / 256, 256>>>(device, 0.25f, kCount);
  const auto found = download(device, kCount);
  bool right = true;
  for (int i = 0; i < kCount; ++i) {
    right &= near(found[i].x, points[i].x + points[i].vx * 0.25f, 1e-6) && found[i].age == 0.25f;
    right &= near(found[i].z, points[i].z + points[i].vz * 0.25f, 1e-6) && found[i].vy == points[i].vy;
  }
  return told(right);
}
