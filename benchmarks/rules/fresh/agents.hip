// Array of structures, one field updated; method on the struct.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

struct Agent {
  float x, y, vx, vy;
  float energy;
  int kind;
  int pad[2];
  __host__ __device__ float speed2() const { return vx * vx + vy * vy; }
};

__global__ void update_energy(Agent* agents, int count, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  agents[i].energy -= dt * agents[i].speed2();
}

int main() {
  const int count = 600000;
  std::vector<Agent> h(count);
  for (int i = 0; i < count; ++i) h[i] = Agent{float(i % 7), 1, float(i % 5), float(i % 3), 100, i % 4, {0, 0}};
  Agent* d;
  hipMalloc(&d, count * sizeof(Agent));
  hipMemcpy(d, h.data(), count * sizeof(Agent), hipMemcpyHostToDevice);
  for (int step = 0; step < 3; ++step) update_energy<<<(count + 127) / 128, 128>>>(d, count, 0.5f);
  hipMemcpy(h.data(), d, count * sizeof(Agent), hipMemcpyDeviceToHost);
  double e = 0;
  for (auto& a : h) e += a.energy;
  printf("%.1f\n", e);
}
