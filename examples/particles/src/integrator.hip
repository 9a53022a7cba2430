#include <hip/hip_runtime.h>

#include <stdexcept>

#include "integrator.hpp"

namespace sim {
namespace {

struct Field {
  float e[3];
};

__device__ inline float accelerate(float velocity, float force, float mass, float dt) {
  return velocity + force / mass * dt;
}

__global__ void kick(Particle* particles, std::size_t count, Field field, float dt) {
  std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  for (int axis = 0; axis < 3; ++axis) {
    float force = particles[i].charge * field.e[axis];
    particles[i].velocity[axis] = accelerate(particles[i].velocity[axis], force, particles[i].mass, dt);
  }
}

__global__ void drift(Particle* particles, std::size_t count, float dt) {
  std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  for (int axis = 0; axis < 3; ++axis) particles[i].position[axis] += particles[i].velocity[axis] * dt;
}

void require(hipError_t status) {
  if (status != hipSuccess) throw std::runtime_error(hipGetErrorString(status));
}

}  // namespace

void integrate(Particle* particles, std::size_t count, const float (&field)[3], float dt, int steps) {
  const unsigned threads = 128;
  const unsigned blocks = static_cast<unsigned>((count + threads - 1) / threads);
  const Field uniform{{field[0], field[1], field[2]}};
  for (int step = 0; step < steps; ++step) {
    kick<<<blocks, threads>>>(particles, count, uniform, dt);
    drift<<<blocks, threads>>>(particles, count, dt);
    require(hipGetLastError());
  }
  require(hipDeviceSynchronize());
}

}  // namespace sim
