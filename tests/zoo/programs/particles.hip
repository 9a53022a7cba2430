// Bodies that attract each other: two kernels per step. ./app [bodies] [steps] [kind]
#include "zoo.h"

struct Body {
  float x, y, vx, vy, mass, unused[3];
};

__global__ void attract(const Body* bodies, float2* forces, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = bodies[i].x, y = bodies[i].y;
  float fx = 0.0f, fy = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float dx = bodies[j].x - x, dy = bodies[j].y - y;
    const float r2 = dx * dx + dy * dy + 0.01f;
    const float s = bodies[j].mass / (r2 * sqrtf(r2));
    fx += dx * s;
    fy += dy * s;
  }
  forces[i] = make_float2(fx, fy);
}

__global__ void move(Body* bodies, const float2* forces, int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bodies[i].vx += dt * forces[i].x;
  bodies[i].vy += dt * forces[i].y;
  bodies[i].x += dt * bodies[i].vx;
  bodies[i].y += dt * bodies[i].vy;
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 150), steps = zoo::number(argc, argv, 2, 2);
  const char* kind = zoo::word(argc, argv, 3, "signed");
  const std::vector<float> drawn = zoo::floats(3 * n, kind);
  std::vector<Body> start(n);
  std::vector<double> x(n), y(n), vx(n), vy(n);
  for (int i = 0; i < n; ++i) {
    start[i] = {drawn[3 * i], drawn[3 * i + 1], 0.0f, 0.0f, 0.1f + drawn[3 * i + 2], {}};
    x[i] = start[i].x, y[i] = start[i].y;
  }
  Body* bodies = zoo::device(start);
  float2* forces = zoo::device<float2>(n);
  const float dt = 0.0009765625f;
  for (int s = 0; s < steps; ++s) {
    attract<<<(n + 63) / 64, 64>>>(bodies, forces, n);
    move<<<(n + 63) / 64, 64>>>(bodies, forces, n, dt);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double dx = x[j] - x[i], dy = y[j] - y[i], r2 = dx * dx + dy * dy + 0.01f, w = start[j].mass / (r2 * std::sqrt(r2));
        vx[i] += dt * dx * w, vy[i] += dt * dy * w;
      }
    for (int i = 0; i < n; ++i) x[i] += dt * vx[i], y[i] += dt * vy[i];
  }
  const std::vector<Body> found = zoo::host(bodies, n);
  std::vector<float> speeds(n);
  for (int i = 0; i < n; ++i) speeds[i] = found[i].vx;
  zoo::check("speeds", speeds, vx, 1e-4);
  return zoo::failed;
}
