// A step of particles that are kept as an array of structures.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

struct Particle {
  float x, y, z;
  float vx, vy, vz;
  float mass, charge, age, heat;
  float colour[4];
  float padding[2];
};

__global__ void step(Particle* all, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    Particle p = all[i];
    p.vy -= 9.81f * dt;
    p.x += p.vx * dt;
    p.y += p.vy * dt;
    p.z += p.vz * dt;
    if (p.y < 0) {
      p.y = -p.y;
      p.vy = -0.5f * p.vy;
    }
    all[i] = p;
  }
}

int main() {
  const int n = 400000;
  std::vector<Particle> h(n);
  for (int i = 0; i < n; ++i) h[i] = {i % 10 * 1.f, i % 7 * .1f, i % 3 * 1.f, 1, 2, 3, 1, 0, 0, 0};
  Particle* d;
  hipMalloc(&d, n * sizeof(Particle));
  hipMemcpy(d, h.data(), n * sizeof(Particle), hipMemcpyHostToDevice);
  for (int t = 0; t < 2; ++t) step<<<(n + 255) / 256, 256>>>(d, n, 0.01f);
  hipMemcpy(h.data(), d, n * sizeof(Particle), hipMemcpyDeviceToHost);
  double s = 0;
  for (auto& p : h) s += p.x + 2 * p.y + 3 * p.z;
  printf("%.1f\n", s);
}
